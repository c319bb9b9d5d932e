// SPDX-License-Identifier: GPL-2.0

//! Properties of a new device.

use super::{
    Driver,
    Private, //
};
use core::marker::PhantomData;
use kernel::{
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// A device that is being allocated, whose properties can be set.
///
/// # Invariants
///
/// Points to a device that is not registered and that nobody else uses.
pub struct Setup<'a> {
    dev: *mut bindings::net_device,
    _dev: PhantomData<&'a mut bindings::net_device>,
}

/// `struct device_type` is how sysfs and udev know the kind of a device.
#[repr(transparent)]
pub struct DeviceType(Opaque<bindings::device_type>);

// SAFETY: Never written.
unsafe impl Sync for DeviceType {}

impl DeviceType {
    /// A type of that name.
    pub const fn new(name: &'static CStr) -> Self {
        Self(Opaque::new(bindings::device_type {
            name: name.to_bytes_with_nul().as_ptr(),
            ..pin_init::zeroed()
        }))
    }
}

impl Setup<'_> {
    /// The core is about to create a device of driver `T`.
    ///
    /// # Safety
    ///
    /// `dev` must have been allocated with room for a `Private<T>`, and not be registered.
    pub(in crate::net) unsafe fn run<T: Driver>(dev: *mut bindings::net_device) {
        const { assert!(core::mem::size_of::<Private<T>>() > 0) };
        // SAFETY: The caller's promise.
        unsafe {
            (*dev).needs_free_netdev = true;
            (*dev).netdev_ops = &T::OPS.device;
            (*dev).ethtool_ops = &T::OPS.ethtool;
            bindings::netdev_use_dstats(dev);
        }
        // INVARIANT: The caller's promise.
        T::setup(&mut Setup {
            dev,
            _dev: PhantomData,
        });
    }

    /// A tunnel without a link layer: no addresses, no ARP, packets begin with the IP header.
    pub fn tunnel_without_link_layer(&mut self) {
        let dev = self.raw();
        // CAST: Small constants.
        dev.type_ = bindings::ARPHRD_NONE as u16;
        dev.hard_header_len = 0;
        dev.addr_len = 0;
        dev.flags =
            bindings::net_device_flags_IFF_POINTOPOINT | bindings::net_device_flags_IFF_NOARP;
    }

    /// Transmits without a queue and without the core's lock: a software device that passes each
    /// packet on at once.
    pub fn transmit_directly(&mut self) {
        // SAFETY: By the type invariant.
        unsafe {
            bindings::netdev_set_no_queue(self.dev);
            bindings::netdev_set_lltx(self.dev);
        }
    }

    /// Leaves the route on the packets to send, so that the driver sees their gateway.
    pub fn keep_route(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::netdev_keep_dst(self.dev) };
    }

    /// MTU at first, and its limits, in bytes.
    pub fn mtu(&mut self, mtu: u32, min: u32, max: u32) {
        let dev = self.raw();
        dev.mtu = mtu;
        dev.min_mtu = min;
        dev.max_mtu = max;
    }

    /// Bytes that the driver wants free in front of and behind each packet to send.
    pub fn room(&mut self, head: u16, tail: u16) {
        let dev = self.raw();
        dev.needed_headroom = head;
        dev.needed_tailroom = tail;
    }

    /// Offloads that the device offers, all switched on.
    pub fn features(&mut self, features: Features) {
        let dev = self.raw();
        dev.features |= features.0;
        dev.hw_features |= features.0;
        dev.hw_enc_features |= features.0;
    }

    /// The kind of the device in sysfs and uevents.
    pub fn device_type(&mut self, kind: &'static DeviceType) {
        self.raw().dev.type_ = kind.0.get();
    }

    fn raw(&mut self) -> &mut bindings::net_device {
        // SAFETY: By the type invariant.
        unsafe { &mut *self.dev }
    }
}

/// A set of offloads.
#[derive(Clone, Copy)]
pub struct Features(pub(super) bindings::netdev_features_t);

impl Features {
    /// Packets in many pieces.
    pub const SG: Self = Self(bindings::NETIF_F_SG);
    /// Packets in high memory.
    pub const HIGHDMA: Self = Self(bindings::NETIF_F_HIGHDMA);
    /// Packets whose checksum is yet to be completed.
    pub const CHECKSUM: Self = Self(bindings::NETIF_F_HW_CSUM);
    /// Packets that are lists of packets.
    pub const FRAGLIST: Self = Self(bindings::NETIF_F_FRAGLIST);
    /// UDP segmentation: `tx-udp-segmentation` of `ethtool`.
    pub const UDP_SEGMENTATION: Self = Self(bindings::NETIF_F_GSO_UDP_L4);
    /// Checksums of received packets are checked where that is needed: `rx-checksumming`.
    pub const RECEIVE_CHECKSUM: Self = Self(bindings::NETIF_F_RXCSUM);
    /// The device puts received packets together itself: `rx-gro-hw`.
    pub const RECEIVE_MERGED: Self = Self(bindings::NETIF_F_GRO_HW);
    /// Segmentation in software, of all kinds.
    pub const GSO: Self = Self(bindings::NETIF_F_GSO | bindings::NETIF_F_GSO_SOFTWARE);

    /// All of both.
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

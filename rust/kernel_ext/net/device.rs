// SPDX-License-Identifier: GPL-2.0

//! Network devices with a driver in Rust.
//!
//! # Who calls what, and when
//!
//! `rtnetlink` allocates the device (see [`super::rtnl`]), which calls [`Driver::setup`]; then the
//! private data is initialised and the device registered, which calls [`Driver::init`]. All this,
//! `open` and `uninit` are under RTNL. `start_xmit` runs with bottom halves disabled and under the
//! RCU read lock. After `uninit` the core waits until all references to the device are gone, then
//! drops the private data and frees the device.
//!
//! C header: [`include/linux/netdevice.h`](srctree/include/linux/netdevice.h)

mod ops;
mod reference;
mod setup;

pub use ops::DeviceOps;
pub use reference::{
    DeviceRef,
    Lookup, //
};
pub use setup::{
    DeviceType,
    Features,
    Setup, //
};

use super::skbuff::SkBuff;
use crate::bh::BhDisabled;
use core::{
    marker::PhantomData,
    mem::MaybeUninit,
    ptr, //
};
use kernel::{
    error::to_result,
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// A driver of network devices; `Self` is the private data of one device.
pub trait Driver: Send + Sync + Sized + 'static {
    /// The operations. A `static`, since its address tells this driver's devices from others.
    const OPS: &'static DeviceOps<Self>;

    /// The module; each device keeps it loaded.
    const MODULE: &'static ThisModule;

    /// What `ethtool -i` shows as driver and as bus.
    const NAME: &'static str;

    /// Names of the driver's own counters, as `ethtool -S` shows them.
    const COUNTERS: &'static [&'static str];

    /// Sets the properties of a new device. Its private data does not exist yet.
    fn setup(dev: &mut Setup<'_>);

    /// The device is being registered. RTNL, may sleep.
    fn init(dev: &Device<Self>) -> Result;

    /// The device is no longer reachable; let go of all references to it. RTNL, may sleep.
    fn uninit(dev: &Device<Self>);

    /// The device is brought up. RTNL, may sleep.
    fn open(dev: &Device<Self>) -> Result;

    /// Sends a packet. Consumes it, come what may.
    fn start_xmit(dev: &Device<Self>, skb: SkBuff, bh: &BhDisabled);

    /// The value of the counter `COUNTERS[index]`.
    fn counter(&self, index: usize) -> u64;
}

/// The private area of a device.
#[repr(C)]
pub(super) struct Private<T> {
    /// Whether `data` is initialised. The core hands the area out zeroed.
    live: bool,
    data: MaybeUninit<T>,
}

/// A `struct net_device` of driver `T`.
///
/// # Invariants
///
/// Its private area is a `Private<T>` with live data.
#[repr(transparent)]
pub struct Device<T: Driver> {
    dev: Opaque<bindings::net_device>,
    _driver: PhantomData<T>,
}

// SAFETY: The fields used here are either constant, or the core's functions lock them.
unsafe impl<T: Driver> Send for Device<T> {}
// SAFETY: As above.
unsafe impl<T: Driver> Sync for Device<T> {}

impl<T: Driver> Device<T> {
    /// # Safety
    ///
    /// `dev` must be valid for `'a`, a device of driver `T`, with live private data.
    #[inline]
    pub(crate) unsafe fn from_raw<'a>(dev: *mut bindings::net_device) -> &'a Self {
        // INVARIANT: The caller's promise.
        // SAFETY: As above. CAST: transparent.
        unsafe { &*dev.cast() }
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::net_device {
        self.dev.get()
    }

    /// The driver's private data.
    #[inline]
    pub fn data(&self) -> &T {
        // SAFETY: By the type invariant.
        unsafe { (*private::<T>(self.as_ptr())).data.assume_init_ref() }
    }

    /// Interface index.
    #[inline]
    pub fn ifindex(&self) -> u32 {
        // SAFETY: Constant after registration; a torn read is not possible. CAST: positive.
        unsafe { ptr::addr_of!((*self.as_ptr()).ifindex).read_volatile() as u32 }
    }

    /// Whether all of `features` are switched on. Any context.
    #[inline]
    pub fn has(&self, features: Features) -> bool {
        // SAFETY: The device is valid. Changed under RTNL, in one piece.
        let on = unsafe { ptr::addr_of!((*self.as_ptr()).features).read_volatile() };
        on & features.0 == features.0
    }

    /// Most bytes of an IPv4 packet, headers included, that received ones are made
    /// (`ip link set DEV gro_ipv4_max_size`, which counts one more). Any context.
    #[inline]
    pub fn merged_limit4(&self) -> usize {
        // SAFETY: The device is valid. Changed under RTNL, in one piece.
        let size = unsafe { ptr::addr_of!((*self.as_ptr()).gro_ipv4_max_size).read_volatile() };
        (size as usize).saturating_sub(1)
    }

    /// The same of an IPv6 packet (`ip link set DEV gro_max_size`).
    #[inline]
    pub fn merged_limit6(&self) -> usize {
        // SAFETY: As in `merged_limit4`.
        let size = unsafe { ptr::addr_of!((*self.as_ptr()).gro_max_size).read_volatile() };
        (size as usize).saturating_sub(1)
    }

    /// Switches the carrier on or off. RTNL, or any context once registered.
    pub fn set_carrier(&self, on: bool) {
        // SAFETY: The device is valid.
        unsafe {
            if on {
                bindings::netif_carrier_on(self.as_ptr());
            } else {
                bindings::netif_carrier_off(self.as_ptr());
            }
        }
    }

    /// Stops ICMP redirects for packets that go out where they came in. RTNL.
    pub fn disable_redirects(&self) {
        // SAFETY: The device is valid.
        unsafe { bindings::disable_redirects(self.as_ptr()) };
    }

    /// Counts `packets` received packets of `len` bytes in all.
    #[inline]
    pub fn count_rx(&self, packets: usize, len: usize, _bh: &BhDisabled) {
        // SAFETY: The device has per-CPU statistics, see `Setup`. CAST: A few packets.
        unsafe { bindings::dstats_rx_add(self.as_ptr(), packets as u32, len as u32) };
    }

    /// Counts a received packet that was dropped.
    #[inline]
    pub fn count_rx_dropped(&self, _bh: &BhDisabled) {
        // SAFETY: The device has per-CPU statistics, see `Setup`.
        unsafe { bindings::dstats_rx_dropped(self.as_ptr()) };
    }

    /// Counts a packet of `len` bytes as sent, where the core does not.
    #[inline]
    pub fn count_tx(&self, len: usize, _bh: &BhDisabled) {
        // SAFETY: The device has per-CPU statistics, see `Setup`. CAST: The length of a packet.
        unsafe { bindings::dstats_tx_add(self.as_ptr(), len as u32) };
    }

    /// Counts `packets` more packets as sent, whose bytes are counted already.
    #[inline]
    pub fn count_tx_packets(&self, packets: usize, _bh: &BhDisabled) {
        // SAFETY: The device has per-CPU statistics, see `Setup`. CAST: A few packets.
        unsafe { bindings::dstats_tx_packets(self.as_ptr(), packets as u32) };
    }

    /// Counts a packet that was to be sent and was dropped.
    #[inline]
    pub fn count_tx_dropped(&self, _bh: &BhDisabled) {
        // SAFETY: The device has per-CPU statistics, see `Setup`.
        unsafe { bindings::dstats_tx_dropped(self.as_ptr()) };
    }

    /// Makes a new packet one that `self` received. `protocol` is the ethertype, host byte order.
    #[inline]
    pub fn adopt_new(&self, skb: &mut SkBuff, protocol: u16) {
        // SAFETY: Both are valid.
        unsafe { bindings::skb_arrive(skb.as_ptr(), self.as_ptr(), protocol.to_be()) };
    }

    /// Makes a decapsulated packet one that `self` received, and forgets what described the outer
    /// one. `protocol` is the ethertype, host byte order.
    #[inline]
    pub fn adopt_received(&self, skb: &mut SkBuff, protocol: u16) {
        // SAFETY: Both are valid.
        unsafe { bindings::skb_tunnel_rx(skb.as_ptr(), self.as_ptr(), protocol.to_be()) };
    }
}

#[inline]
fn private<T>(dev: *mut bindings::net_device) -> *mut Private<T> {
    // SAFETY: `netdev_priv()`: the area is at the end of the device.
    unsafe { ptr::addr_of_mut!((*dev).priv_) }.cast()
}

/// Size of the private area.
pub(super) const fn private_size<T: Driver>() -> usize {
    // `netdev_priv()` is aligned to 32 bytes.
    const { assert!(core::mem::align_of::<Private<T>>() <= 32) };
    core::mem::size_of::<Private<T>>()
}

/// Initialises the private data of `dev` and registers it.
///
/// # Safety
///
/// `dev` must have been allocated for `T` and not be registered. RTNL must be held.
pub(super) unsafe fn register<T: Driver>(
    dev: *mut bindings::net_device,
    data: impl PinInit<T, Error>,
) -> Result {
    let private = private::<T>(dev);
    // SAFETY: The module is this one, hence valid.
    if !unsafe { bindings::try_module_get(T::MODULE.as_ptr()) } {
        return Err(EBUSY);
    }
    // SAFETY: The area is there and not initialised; it does not move.
    unsafe {
        if let Err(error) = pin_init::raw_try_init((*private).data.as_mut_ptr(), data) {
            bindings::module_put(T::MODULE.as_ptr());
            return Err(error);
        }
        (*private).live = true;
        (*dev).priv_destructor = Some(destroy::<T>);
    }
    // SAFETY: The caller's promise.
    let registered = to_result(unsafe { bindings::register_netdevice(dev) });
    if registered.is_err() {
        // The core calls the destructor for some failures, but not for all.
        // SAFETY: The device still exists, the caller frees it.
        unsafe { destroy::<T>(dev) };
    }
    registered
}

/// # Safety
///
/// `dev` must have been allocated for `T`, and nobody may use its private data any more.
unsafe extern "C" fn destroy<T: Driver>(dev: *mut bindings::net_device) {
    let private = private::<T>(dev);
    // SAFETY: By the caller's contract; `live` says whether there is something to drop.
    unsafe {
        if core::mem::replace(&mut (*private).live, false) {
            (*private).data.assume_init_drop();
            // Unloading waits until the core is through with all devices that are being
            // unregistered (`rtnl_link_unregister()`), so this function returns before that.
            bindings::module_put(T::MODULE.as_ptr());
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The tables of functions by which the core calls a driver.

use super::{
    Device,
    Driver, //
};
use crate::{
    bh::BhDisabled,
    net::{
        ethtool,
        skbuff::SkBuff, //
    }, //
};
use core::marker::PhantomData;
use kernel::{
    error::from_result,
    ffi::c_int, //
};
use ovpn_bindings as bindings;

/// The operations of a driver's devices: `struct net_device_ops` and `struct ethtool_ops`.
pub struct DeviceOps<T> {
    pub(in crate::net) device: bindings::net_device_ops,
    pub(in crate::net) ethtool: bindings::ethtool_ops,
    _driver: PhantomData<fn() -> T>,
}

// SAFETY: Tables of functions, never written.
unsafe impl<T> Sync for DeviceOps<T> {}

impl<T: Driver> DeviceOps<T> {
    /// The operations that call `T`.
    pub const fn new() -> Self {
        Self {
            device: bindings::net_device_ops {
                ndo_init: Some(init::<T>),
                ndo_uninit: Some(uninit::<T>),
                ndo_open: Some(open::<T>),
                ndo_start_xmit: Some(start_xmit::<T>),
                ..pin_init::zeroed()
            },
            ethtool: ethtool::ops::<T>(),
            _driver: PhantomData,
        }
    }
}

impl<T: Driver> Default for DeviceOps<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// # Safety
///
/// As the core calls `ndo_init`: RTNL held, `dev` is one of driver `T`.
unsafe extern "C" fn init<T: Driver>(dev: *mut bindings::net_device) -> c_int {
    // SAFETY: `register` has initialised the private data.
    from_result(|| T::init(unsafe { Device::from_raw(dev) }).map(|()| 0))
}

/// # Safety
///
/// As the core calls `ndo_uninit`: RTNL held, `dev` is one of driver `T`.
unsafe extern "C" fn uninit<T: Driver>(dev: *mut bindings::net_device) {
    // SAFETY: The private data lives until `priv_destructor`.
    T::uninit(unsafe { Device::from_raw(dev) });
}

/// # Safety
///
/// As the core calls `ndo_open`: RTNL held, `dev` is one of driver `T`.
unsafe extern "C" fn open<T: Driver>(dev: *mut bindings::net_device) -> c_int {
    // SAFETY: The device is registered.
    from_result(|| T::open(unsafe { Device::from_raw(dev) }).map(|()| 0))
}

/// # Safety
///
/// As the core calls `ndo_start_xmit`: bottom halves disabled, `skb` is handed over.
unsafe extern "C" fn start_xmit<T: Driver>(
    skb: *mut bindings::sk_buff,
    dev: *mut bindings::net_device,
) -> bindings::netdev_tx_t {
    // SAFETY: The device is registered, the packet is ours, and the core has disabled softirqs.
    let (dev, skb, bh) = unsafe {
        (
            Device::from_raw(dev),
            SkBuff::from_raw(skb),
            BhDisabled::assert(),
        )
    };
    T::start_xmit(dev, skb, &bh);
    bindings::netdev_tx_NETDEV_TX_OK
}

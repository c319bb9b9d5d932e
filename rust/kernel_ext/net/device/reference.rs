// SPDX-License-Identifier: GPL-2.0

//! Counted references to devices.

use super::{
    Device,
    Driver, //
};
use crate::net::namespace::Net;
use core::{
    ops::Deref,
    ptr::NonNull, //
};
use kernel::sync::rcu;
use ovpn_bindings as bindings;

/// A counted reference to a device. The device cannot be freed, and its unregistration cannot
/// complete, before it is dropped: let go of it in [`Driver::uninit`] at the latest.
///
/// # Invariants
///
/// `dev` is a valid `Device<T>`, and `tracker` belongs to a reference that this holds.
pub struct DeviceRef<T: Driver> {
    dev: NonNull<Device<T>>,
    tracker: bindings::netdevice_tracker,
}

// SAFETY: References may be dropped anywhere.
unsafe impl<T: Driver> Send for DeviceRef<T> {}
// SAFETY: Gives access to a `Device<T>` only, which is `Sync`.
unsafe impl<T: Driver> Sync for DeviceRef<T> {}

impl<T: Driver> DeviceRef<T> {
    /// Takes a reference. Any context.
    pub fn new(dev: &Device<T>) -> Self {
        let mut tracker = pin_init::zeroed();
        // SAFETY: The device is valid.
        unsafe { bindings::netdev_hold(dev.as_ptr(), &mut tracker) };
        // INVARIANT: Just taken.
        Self {
            dev: NonNull::from(dev),
            tracker,
        }
    }
}

impl<T: Driver> Clone for DeviceRef<T> {
    fn clone(&self) -> Self {
        Self::new(self)
    }
}

impl<T: Driver> Deref for DeviceRef<T> {
    type Target = Device<T>;

    #[inline]
    fn deref(&self) -> &Device<T> {
        // SAFETY: By the type invariant.
        unsafe { self.dev.as_ref() }
    }
}

impl<T: Driver> Drop for DeviceRef<T> {
    fn drop(&mut self) {
        let dev = self.as_ptr();
        // SAFETY: By the type invariant.
        unsafe { bindings::netdev_put(dev, &mut self.tracker) };
    }
}

/// What was found under an interface index.
pub enum Lookup<T: Driver> {
    /// A device of the driver.
    Found(DeviceRef<T>),
    /// No device at all.
    NoDevice,
    /// A device of another driver.
    OtherDriver,
}

impl<T: Driver> Device<T> {
    /// Looks up the device with index `ifindex` in `net`. Any context.
    pub fn by_index(net: &Net, ifindex: u32) -> Lookup<T> {
        let _guard = rcu::read_lock();
        let Ok(ifindex) = i32::try_from(ifindex) else {
            return Lookup::NoDevice;
        };
        // SAFETY: The namespace is valid, and the RCU read lock is held.
        let dev = unsafe { bindings::dev_get_by_index_rcu(net.as_ptr(), ifindex) };
        if dev.is_null() {
            return Lookup::NoDevice;
        }
        // SAFETY: Found under the RCU read lock.
        if !core::ptr::eq(unsafe { (*dev).netdev_ops }, &T::OPS.device) {
            return Lookup::OtherDriver;
        }
        // SAFETY: A device of this driver that is listed has live private data, until after a
        // grace period from now at least.
        Lookup::Found(DeviceRef::new(unsafe { Device::from_raw(dev) }))
    }
}

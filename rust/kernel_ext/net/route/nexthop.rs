// SPDX-License-Identifier: GPL-2.0

//! The gateway: through whom a packet goes next.

use super::{
    from_raw_in6,
    raw_in6, //
};
use crate::net::{
    device::{
        Device,
        Driver, //
    },
    skbuff::SkBuff, //
};
use core::{
    net::{
        Ipv4Addr,
        Ipv6Addr, //
    },
    ptr, //
};
use kernel::error::from_err_ptr;
use ovpn_bindings as bindings;

/// # Safety
///
/// `route` must be valid.
unsafe fn gateway4(route: *const bindings::rtable) -> Option<Ipv4Addr> {
    // SAFETY: The caller's promise.
    match unsafe { bindings::rt_gateway(route) } {
        0 => None,
        gateway => Some(Ipv4Addr::from(u32::from_be(gateway))),
    }
}

/// # Safety
///
/// `route` must be valid.
unsafe fn gateway6(route: *const bindings::rt6_info) -> Option<Ipv6Addr> {
    let mut gateway = pin_init::zeroed();
    // SAFETY: The caller's promise.
    unsafe { bindings::rt6_gateway(route, &mut gateway) }.then(|| from_raw_in6(&gateway))
}

impl SkBuff {
    /// The IPv4 gateway of the route that brought the packet here, if it has one.
    #[inline]
    pub fn gateway4(&self) -> Option<Ipv4Addr> {
        // SAFETY: The packet is valid, and so is its route.
        unsafe {
            let route = bindings::skb_rtable(self.as_ptr());
            (!route.is_null()).then(|| gateway4(route)).flatten()
        }
    }

    /// The IPv6 gateway of the route that brought the packet here, if it has one.
    #[inline]
    pub fn gateway6(&self) -> Option<Ipv6Addr> {
        // SAFETY: The packet is valid, and so is its route.
        unsafe {
            let route = bindings::skb_rt6_info(self.as_ptr());
            (!route.is_null()).then(|| gateway6(route)).flatten()
        }
    }
}

impl<T: Driver> Device<T> {
    /// Through whom a packet to `address` would go next in this device's namespace: the gateway, or
    /// `address` itself if there is none, or no route. Any context.
    pub fn nexthop4(&self, address: Ipv4Addr) -> Ipv4Addr {
        let mut flow: bindings::flowi4 = pin_init::zeroed();
        flow.daddr = u32::from(address).to_be();
        // SAFETY: A device keeps its namespace.
        let route = from_err_ptr(unsafe {
            bindings::ip_route_output_flow(bindings::dev_net(self.as_ptr()), &mut flow, ptr::null())
        });
        let Ok(route) = route else {
            return address;
        };
        // SAFETY: The look-up gave a reference.
        unsafe {
            let gateway = gateway4(route);
            bindings::rt_put(route);
            gateway.unwrap_or(address)
        }
    }

    /// As [`Self::nexthop4`] for IPv6.
    pub fn nexthop6(&self, address: Ipv6Addr) -> Ipv6Addr {
        let mut flow: bindings::flowi6 = pin_init::zeroed();
        flow.daddr = raw_in6(address);
        // SAFETY: A device keeps its namespace.
        let route = from_err_ptr(unsafe {
            bindings::ip6_dst_lookup_flow(
                bindings::dev_net(self.as_ptr()),
                ptr::null(),
                &mut flow,
                ptr::null(),
            )
        });
        let Ok(route) = route else {
            return address;
        };
        // SAFETY: The look-up gave a reference.
        unsafe {
            let gateway = gateway6(bindings::dst_rt6_info(route));
            bindings::dst_release(route);
            gateway.unwrap_or(address)
        }
    }
}

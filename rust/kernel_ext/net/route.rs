// SPDX-License-Identifier: GPL-2.0

//! Routes: looking them up, remembering them, and reading the gateway off them.
//!
//! C headers: [`include/net/route.h`](srctree/include/net/route.h),
//! [`include/net/ip6_route.h`](srctree/include/net/ip6_route.h),
//! [`include/net/dst_cache.h`](srctree/include/net/dst_cache.h)

mod cache;
mod nexthop;

pub use cache::DstCache;

use super::{
    namespace::Net,
    sock::Sock, //
};
use core::{
    mem::ManuallyDrop,
    net::{
        Ipv4Addr,
        Ipv6Addr, //
    },
    ptr::{
        self,
        NonNull, //
    },
};
use kernel::{
    error::from_err_ptr,
    prelude::*, //
};
use ovpn_bindings as bindings;

const SCOPE_HOST: i32 = bindings::rt_scope_t_RT_SCOPE_HOST as i32;

/// What an IPv4 datagram's route depends on. Ports in host byte order.
#[derive(Clone, Copy)]
pub struct Flow4 {
    /// Source address; unspecified lets the look-up choose one and write it here.
    pub source: Ipv4Addr,
    /// Destination address.
    pub destination: Ipv4Addr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Firewall mark.
    pub mark: u32,
    /// Interface to go out by, 0 for any.
    pub oif: u32,
}

/// What an IPv6 datagram's route depends on. Else as [`Flow4`].
#[derive(Clone, Copy)]
pub struct Flow6 {
    /// Source address; unspecified lets the look-up choose one and write it here.
    pub source: Ipv6Addr,
    /// Destination address.
    pub destination: Ipv6Addr,
    /// Source port.
    pub source_port: u16,
    /// Destination port.
    pub destination_port: u16,
    /// Firewall mark.
    pub mark: u32,
    /// Interface to go out by, 0 for any.
    pub oif: u32,
}

pub(super) fn raw_in6(address: Ipv6Addr) -> bindings::in6_addr {
    let mut raw: bindings::in6_addr = pin_init::zeroed();
    raw.in6_u.u6_addr8 = address.octets();
    raw
}

pub(super) fn from_raw_in6(raw: &bindings::in6_addr) -> Ipv6Addr {
    // SAFETY: All views of the union are plain bytes.
    Ipv6Addr::from(unsafe { raw.in6_u.u6_addr8 })
}

/// A counted reference to an IPv4 route.
///
/// # Invariants
///
/// Valid, and one of its references belongs to this.
pub struct Route4(NonNull<bindings::rtable>);

impl Route4 {
    /// # Safety
    ///
    /// `route` must be null or valid, and a reference to it pass to the result.
    #[inline]
    unsafe fn from_raw(route: *mut bindings::rtable) -> Option<Self> {
        // INVARIANT: The caller's promise.
        NonNull::new(route).map(Self)
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *mut bindings::rtable {
        self.0.as_ptr()
    }

    #[inline]
    pub(super) fn into_raw(self) -> *mut bindings::rtable {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Looks a route up for a datagram of UDP socket `sock`. Writes the source address that was
    /// chosen to `flow`. Any context.
    pub fn look_up(sock: &Sock, flow: &mut Flow4) -> Result<Self> {
        let mut raw: bindings::flowi4 = pin_init::zeroed();
        raw.saddr = u32::from(flow.source).to_be();
        raw.daddr = u32::from(flow.destination).to_be();
        raw.uli.ports.sport = flow.source_port.to_be();
        raw.uli.ports.dport = flow.destination_port.to_be();
        // CAST: A small constant; indices are positive.
        raw.__fl_common.flowic_proto = bindings::IPPROTO_UDP as u8;
        raw.__fl_common.flowic_mark = flow.mark;
        raw.__fl_common.flowic_oif = flow.oif as i32;
        // SAFETY: The socket and its namespace are valid.
        let route = unsafe {
            from_err_ptr(bindings::ip_route_output_flow(
                sock.net().as_ptr(),
                &mut raw,
                sock.as_ptr(),
            ))?
        };
        flow.source = Ipv4Addr::from(u32::from_be(raw.saddr));
        // SAFETY: A look-up gives a reference.
        unsafe { Self::from_raw(route) }.ok_or(EHOSTUNREACH)
    }
}

impl Route4 {
    /// Whether the device that it leads out by segments UDP itself, or passes the work on: datagrams
    /// of `len` bytes with their IP header, which must not need fragments.
    #[inline]
    pub fn segments_udp(&self, len: u32) -> bool {
        // SAFETY: By the type invariant.
        unsafe { bindings::dst_segments_udp(&raw const (*self.as_ptr()).dst, len) }
    }
}

impl Clone for Route4 {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: By the type invariant.
        unsafe { bindings::dst_hold(&raw mut (*self.as_ptr()).dst) };
        // INVARIANT: The reference just taken.
        Self(self.0)
    }
}

impl Drop for Route4 {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::rt_put(self.as_ptr()) };
    }
}

/// A counted reference to an IPv6 route.
///
/// # Invariants
///
/// Valid, and one of its references belongs to this.
pub struct Route6(NonNull<bindings::dst_entry>);

impl Route6 {
    /// # Safety
    ///
    /// `route` must be null or valid, and a reference to it pass to the result.
    #[inline]
    unsafe fn from_raw(route: *mut bindings::dst_entry) -> Option<Self> {
        // INVARIANT: The caller's promise.
        NonNull::new(route).map(Self)
    }

    #[inline]
    pub(super) fn as_ptr(&self) -> *mut bindings::dst_entry {
        self.0.as_ptr()
    }

    #[inline]
    pub(super) fn into_raw(self) -> *mut bindings::dst_entry {
        ManuallyDrop::new(self).as_ptr()
    }

    /// Looks a route up for a datagram of UDP socket `sock`. Writes the source address that was
    /// chosen to `flow`. Any context.
    ///
    /// # Errors
    ///
    /// `EHOSTUNREACH` if `sock` is one of IPv4, and those of `ip6_dst_lookup_flow`.
    pub fn look_up(sock: &Sock, flow: &mut Flow6) -> Result<Self> {
        if !sock.is_ipv6() {
            return Err(EHOSTUNREACH);
        }
        let mut raw: bindings::flowi6 = pin_init::zeroed();
        raw.saddr = raw_in6(flow.source);
        raw.daddr = raw_in6(flow.destination);
        raw.uli.ports.sport = flow.source_port.to_be();
        raw.uli.ports.dport = flow.destination_port.to_be();
        // CAST: A small constant; indices are positive.
        raw.__fl_common.flowic_proto = bindings::IPPROTO_UDP as u8;
        raw.__fl_common.flowic_mark = flow.mark;
        raw.__fl_common.flowic_oif = flow.oif as i32;
        // SAFETY: The socket and its namespace are valid, and the socket has what IPv6 reads of it.
        let route = unsafe {
            from_err_ptr(bindings::ip6_dst_lookup_flow(
                sock.net().as_ptr(),
                sock.as_ptr(),
                &mut raw,
                ptr::null(),
            ))?
        };
        flow.source = from_raw_in6(&raw.saddr);
        // SAFETY: A look-up gives a reference.
        unsafe { Self::from_raw(route) }.ok_or(EHOSTUNREACH)
    }
}

impl Route6 {
    /// Whether the device that it leads out by segments UDP itself, or passes the work on: datagrams
    /// of `len` bytes with their IP header, which must not need fragments.
    #[inline]
    pub fn segments_udp(&self, len: u32) -> bool {
        // SAFETY: By the type invariant.
        unsafe { bindings::dst_segments_udp(self.as_ptr(), len) }
    }
}

impl Clone for Route6 {
    #[inline]
    fn clone(&self) -> Self {
        // SAFETY: By the type invariant.
        unsafe { bindings::dst_hold(self.as_ptr()) };
        // INVARIANT: The reference just taken.
        Self(self.0)
    }
}

impl Drop for Route6 {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::dst_release(self.as_ptr()) };
    }
}

impl Flow6 {
    #[inline]
    pub(super) fn raw_source(&self) -> bindings::in6_addr {
        raw_in6(self.source)
    }

    #[inline]
    pub(super) fn raw_destination(&self) -> bindings::in6_addr {
        raw_in6(self.destination)
    }
}

/// Addresses of this host.
impl Net {
    /// Whether `address` is one of this namespace's. Any context.
    pub fn has_ipv4(&self, address: Ipv4Addr) -> bool {
        // SAFETY: The namespace is valid, no device is asked for.
        unsafe {
            bindings::inet_confirm_addr(
                self.as_ptr(),
                ptr::null_mut(),
                0,
                u32::from(address).to_be(),
                SCOPE_HOST,
            ) != 0
        }
    }

    /// Whether `address` is one of this namespace's. Any context.
    pub fn has_ipv6(&self, address: Ipv6Addr) -> bool {
        // SAFETY: The namespace is valid, no device is asked for.
        unsafe { bindings::ipv6_chk_addr(self.as_ptr(), &raw_in6(address), ptr::null(), 0) != 0 }
    }
}

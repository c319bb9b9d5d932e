// SPDX-License-Identifier: GPL-2.0

//! Remembering a route per CPU.

use super::{
    from_raw_in6,
    raw_in6,
    Route4,
    Route6, //
};
use crate::{
    alloc::Gfp,
    bh::BhDisabled, //
};
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};
use kernel::{
    error::to_result,
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// One route, as each CPU found it last, until the routing table changes.
///
/// # Invariants
///
/// Initialised.
#[pin_data(PinnedDrop)]
pub struct DstCache {
    #[pin]
    cache: Opaque<bindings::dst_cache>,
}

// SAFETY: Per CPU, and used with bottom halves disabled.
unsafe impl Send for DstCache {}
// SAFETY: As above.
unsafe impl Sync for DstCache {}

impl DstCache {
    /// An empty cache. Context as `gfp` says. In process context give it: there is not much memory
    /// per CPU to be had without sleeping.
    pub fn new(gfp: Gfp) -> impl PinInit<Self, Error> {
        // INVARIANT: Initialised if this succeeds.
        try_pin_init!(Self {
            cache <- Opaque::try_ffi_init(move |cache| {
                // SAFETY: The slot is ours.
                to_result(unsafe { bindings::dst_cache_init(cache, gfp.as_raw()) })
            }),
        }? Error)
    }

    /// This CPU's IPv4 route and its source address.
    #[inline]
    pub fn get4(&self, _bh: &BhDisabled) -> Option<(Route4, Ipv4Addr)> {
        let mut source = 0;
        // SAFETY: By the type invariant, and bottom halves are disabled. A hit is a reference.
        let route = unsafe {
            Route4::from_raw(bindings::dst_cache_get_ip4(self.cache.get(), &mut source))
        }?;
        Some((route, Ipv4Addr::from(u32::from_be(source))))
    }

    /// This CPU's IPv6 route and its source address.
    #[inline]
    pub fn get6(&self, _bh: &BhDisabled) -> Option<(Route6, Ipv6Addr)> {
        let mut source = pin_init::zeroed();
        // SAFETY: By the type invariant, and bottom halves are disabled. A hit is a reference.
        let route = unsafe {
            Route6::from_raw(bindings::dst_cache_get_ip6(self.cache.get(), &mut source))
        }?;
        Some((route, from_raw_in6(&source)))
    }

    /// Remembers an IPv4 route.
    pub fn set4(&self, route: &Route4, source: Ipv4Addr, _bh: &BhDisabled) {
        // SAFETY: By the type invariant, and bottom halves are disabled. The cache takes a
        // reference of its own.
        unsafe {
            bindings::dst_cache_set_ip4(
                self.cache.get(),
                &raw mut (*route.as_ptr()).dst,
                u32::from(source).to_be(),
            )
        };
    }

    /// Remembers an IPv6 route.
    pub fn set6(&self, route: &Route6, source: Ipv6Addr, _bh: &BhDisabled) {
        // SAFETY: By the type invariant, and bottom halves are disabled. The cache takes a
        // reference of its own.
        unsafe { bindings::dst_cache_set_ip6(self.cache.get(), route.as_ptr(), &raw_in6(source)) };
    }
}

#[pinned_drop]
impl PinnedDrop for DstCache {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariant, and nobody uses it any more.
        unsafe { bindings::dst_cache_destroy(self.cache.get()) };
    }
}

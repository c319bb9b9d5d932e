// SPDX-License-Identifier: GPL-2.0

//! The way to a peer: its endpoint, and the route that leads there.

use super::endpoint::Endpoint;
use kernel::prelude::*;
use kernel_ext::{
    alloc::Gfp,
    net::{
        route::DstCache,
        udp_tunnel::SendParams, //
    },
    sync::rcu::RcuArc, //
};

/// An endpoint with the routes that were found to it.
///
/// A path is never changed, only replaced, its remembered routes with it: so a route can never be
/// used for another endpoint than it was looked up for.
#[pin_data]
pub struct Path {
    endpoint: Endpoint,
    /// What else the route depends on, as the socket had it.
    mark: u32,
    bound_dev: u32,
    port: u16,
    #[pin]
    cache: DstCache,
}

impl Path {
    /// A path with no routes yet. Context as `gfp` says.
    pub fn new(endpoint: Endpoint, params: &SendParams, gfp: Gfp) -> Result<RcuArc<Self>> {
        Self::with(
            endpoint,
            params.mark(),
            params.bound_dev(),
            params.port(),
            gfp,
        )
    }

    /// A path to `endpoint` instead, for a socket with `params` if these are given. Any context.
    pub fn moved(&self, endpoint: Endpoint, params: Option<&SendParams>) -> Result<RcuArc<Self>> {
        match params {
            Some(params) => Self::new(endpoint, params, Gfp::Atomic),
            None => Self::with(endpoint, self.mark, self.bound_dev, self.port, Gfp::Atomic),
        }
    }

    fn with(
        endpoint: Endpoint,
        mark: u32,
        bound_dev: u32,
        port: u16,
        gfp: Gfp,
    ) -> Result<RcuArc<Self>> {
        RcuArc::pin_init(
            try_pin_init!(Self {
                endpoint,
                mark,
                bound_dev,
                port,
                cache <- DstCache::new(gfp),
            }? Error),
            gfp.flags(),
        )
    }

    /// Whether its routes hold for a socket with `params`.
    #[inline]
    pub fn is_for(&self, params: &SendParams) -> bool {
        self.mark == params.mark()
            && self.bound_dev == params.bound_dev()
            && self.port == params.port()
    }

    /// Where it leads.
    #[inline]
    pub fn endpoint(&self) -> Endpoint {
        self.endpoint
    }

    /// The routes that were found.
    #[inline]
    pub fn cache(&self) -> &DstCache {
        &self.cache
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Sending through a socket.

use crate::{
    bh::BhDisabled,
    net::{
        device::{
            Device,
            Driver, //
        },
        route::{
            Flow4,
            Flow6,
            Route4,
            Route6, //
        },
        skbuff::SkBuff,
        sock::Sock, //
    },
};
use ovpn_bindings as bindings;

/// What a UDP socket says about the datagrams that are sent through it, as of now: user space may
/// change it at any time.
pub struct SendParams(bindings::ovpn_udp_tx);

impl Clone for SendParams {
    #[inline]
    fn clone(&self) -> Self {
        Self(bindings::ovpn_udp_tx { ..self.0 })
    }
}

impl SendParams {
    /// Reads them. Any context.
    #[inline]
    pub fn of(sock: &Sock) -> Self {
        let mut params = pin_init::zeroed();
        // SAFETY: The socket is valid; writes `params` only.
        unsafe { bindings::udp_tx(sock.as_ptr(), &mut params) };
        Self(params)
    }

    /// Firewall mark (`SO_MARK`).
    #[inline]
    pub fn mark(&self) -> u32 {
        self.0.mark
    }

    /// Index of the interface it is bound to (`SO_BINDTODEVICE`), 0 if none.
    #[inline]
    pub fn bound_dev(&self) -> u32 {
        // CAST: Interface indices are positive.
        self.0.bound_dev as u32
    }

    /// Whether datagrams get a checksum, over either IP version.
    #[inline]
    pub fn has_checksums(&self) -> bool {
        !self.0.no_check4 && !self.0.no_check6
    }

    /// Local port, host byte order.
    #[inline]
    pub fn port(&self) -> u16 {
        u16::from_be(self.0.sport)
    }
}

impl<T: Driver> Device<T> {
    /// Sends `skb`, which becomes a packet of this device, as a datagram over IPv4. The device's
    /// statistics count it as sent.
    #[inline]
    pub fn send_udp4(
        &self,
        skb: SkBuff,
        sock: &Sock,
        params: &SendParams,
        route: Route4,
        flow: &Flow4,
        _bh: &BhDisabled,
    ) {
        let skb = skb.into_raw();
        // SAFETY: All are valid; the packet and the route are handed over. CAST: A hop limit has 8
        // bits.
        unsafe {
            bindings::skb_tunnel_tx(skb, self.as_ptr(), params.mark());
            let ttl = bindings::ip4_hoplimit(route.as_ptr()) as u8;
            bindings::udp_tunnel_xmit_skb(
                route.into_raw(),
                sock.as_ptr(),
                skb,
                u32::from(flow.source).to_be(),
                u32::from(flow.destination).to_be(),
                0,
                ttl,
                0,
                flow.source_port.to_be(),
                flow.destination_port.to_be(),
                false,
                params.0.no_check4,
                0,
            );
        }
    }

    /// Sends `skb` as a datagram over IPv6. Else as [`Self::send_udp4`].
    #[inline]
    pub fn send_udp6(
        &self,
        skb: SkBuff,
        sock: &Sock,
        params: &SendParams,
        route: Route6,
        flow: &Flow6,
        _bh: &BhDisabled,
    ) {
        let skb = skb.into_raw();
        let (source, destination) = (flow.raw_source(), flow.raw_destination());
        // SAFETY: All are valid; the packet and the route are handed over. CAST: A hop limit has 8
        // bits.
        unsafe {
            bindings::skb_tunnel_tx(skb, self.as_ptr(), params.mark());
            let hop_limit = bindings::ip6_hoplimit(route.as_ptr()) as u8;
            bindings::udp_tunnel6_xmit_skb(
                route.into_raw(),
                sock.as_ptr(),
                skb,
                self.as_ptr(),
                &source,
                &destination,
                0,
                hop_limit,
                0,
                flow.source_port.to_be(),
                flow.destination_port.to_be(),
                params.0.no_check6,
                0,
            );
        }
    }
}

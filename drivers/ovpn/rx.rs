// SPDX-License-Identifier: GPL-2.0

//! The way in: from a record to a packet on the tunnel interface.

mod arrivals;
pub mod batch;

use crate::{
    crypto::key::OpenError,
    device::Tunnel,
    inner::{
        self,
        Inner,
        Payload, //
    },
    netlink::rules::Mode,
    peer::{
        endpoint::Endpoint,
        Peer, //
    },
    stats::{
        drop_received,
        DropCause, //
    },
    wire::Header, //
};
use kernel::sync::rcu::Guard;
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::Device,
        skbuff::SkBuff, //
    },
    sync::rcu::RcuBorrow,
    time, //
};

/// What becomes of an authentic record.
enum Outcome {
    /// A packet for the interface.
    Packet(Inner),
    /// A sign of life, done with.
    Keepalive,
}

impl From<OpenError> for DropCause {
    fn from(error: OpenError) -> Self {
        match error {
            OpenError::Short => Self::RxShort,
            OpenError::Auth => Self::RxAuth,
            OpenError::Replay => Self::RxReplay,
            OpenError::Memory => Self::RxMemory,
        }
    }
}

/// Receives the record in `skb`, which came from `peer` over UDP from where `seen` says.
///
/// All of it is one function with what calls it: 40 of 16,000 instructions for a small packet.
#[inline(always)]
pub fn receive(
    dev: &Device<Tunnel>,
    peer: RcuBorrow<'_, Peer>,
    header: Header,
    mut skb: SkBuff,
    seen: Option<Endpoint>,
    guard: &Guard,
    bh: &BhDisabled,
) {
    peer.link.rx.count(skb.len());
    match open(dev, peer, header, &mut skb, seen, guard, bh) {
        Ok(Outcome::Packet(packet)) => deliver(dev, peer.get(), skb, &packet, bh),
        Ok(Outcome::Keepalive) => skb.consume(),
        Err(cause) => drop_received(dev, skb, cause, bh),
    }
}

/// Authenticates and decrypts the record, and checks what is inside.
#[inline]
fn open(
    dev: &Device<Tunnel>,
    peer: RcuBorrow<'_, Peer>,
    header: Header,
    skb: &mut SkBuff,
    seen: Option<Endpoint>,
    guard: &Guard,
    bh: &BhDisabled,
) -> Result<Outcome, DropCause> {
    let key = peer
        .keys
        .by_id(header.key_id, guard)
        .ok_or(DropCause::RxNoKey)?;
    let now = time::boottime_coarse();
    key.open(skb, now, bh)?;

    // From here on it is known to be from the peer.
    peer.heard(now);
    if let Some(seen) = seen {
        peer.follow(peer, &seen, guard);
    }

    let len = skb.len();
    if !skb.make_linear(len.min(inner::MAX_HEAD)) {
        return Err(DropCause::RxMemory);
    }
    match inner::classify(len, skb.head()) {
        Payload::Ip(packet) if may_send(dev, peer.get(), &packet, guard) => {
            Ok(Outcome::Packet(packet))
        }
        Payload::Ip(_) => Err(DropCause::RxSource),
        Payload::Keepalive => Ok(Outcome::Keepalive),
        Payload::Empty | Payload::Unknown => Err(DropCause::RxProtocol),
    }
}

/// Whether `peer` may send from the packet's source address: whether we would send an answer to it.
///
/// So a peer speaks for its own addresses and for the networks that are routed to it.
#[inline(always)]
fn may_send(dev: &Device<Tunnel>, peer: &Peer, packet: &Inner, guard: &Guard) -> bool {
    let tunnel = dev.data();
    if tunnel.mode() == Mode::P2p {
        return true;
    }
    let is_peer = |found: Option<RcuBorrow<'_, Peer>>| {
        found.is_some_and(|found| core::ptr::eq(found.get(), peer))
    };
    match *packet {
        // Its own address is the common case, and needs no look at the routes.
        Inner::V4 { source, .. } => {
            is_peer(tunnel.peers.by_vpn4(source, guard))
                || is_peer(tunnel.peers.by_vpn4(dev.nexthop4(source), guard))
        }
        Inner::V6 { source, .. } => {
            is_peer(tunnel.peers.by_vpn6(source, guard))
                || is_peer(tunnel.peers.by_vpn6(dev.nexthop6(source), guard))
        }
    }
}

/// Hands the packet up the stack as one that the interface has received.
#[inline]
fn deliver(dev: &Device<Tunnel>, peer: &Peer, mut skb: SkBuff, packet: &Inner, bh: &BhDisabled) {
    dev.adopt_received(&mut skb, packet.ethertype());
    let len = skb.len();
    // If the queue is full, the core has counted the drop.
    if dev.data().received.receive(skb, bh) {
        peer.vpn.rx.count(len);
        dev.count_rx(1, len, bh);
    }
}

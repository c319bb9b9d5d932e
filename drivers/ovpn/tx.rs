// SPDX-License-Identifier: GPL-2.0

//! The way out: from a packet on the tunnel interface to a record.

use crate::{
    crypto::{
        key::{
            Key,
            SealError, //
        },
        slots::Slot, //
    },
    device::{
        Tunnel,
        HEADROOM, //
    },
    inner::{
        self,
        Inner, //
    },
    netlink::{
        notify,
        rules::Mode, //
    },
    peer::Peer,
    stats::{
        drop_sent,
        DropCause, //
    },
    transport::udp,
    wire::KEEPALIVE, //
};
use kernel::sync::rcu::{
    self,
    Guard, //
};
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::Device,
        skbuff::{
            SkBuff,
            UDP_HEADROOM, //
        }, //
    },
    sync::rcu::RcuBorrow, //
};

/// Sends a packet, or the packets that a GSO one stands for, to the peer that they are for.
#[inline]
pub fn start(dev: &Device<Tunnel>, mut skb: SkBuff, bh: &BhDisabled) {
    let guard = rcu::read_lock();
    skb.forget_connection();
    let peer = match receiver(dev, &mut skb, &guard) {
        Ok(peer) => peer,
        Err(cause) => return drop_sent(dev, Some(skb), cause, bh),
    };
    // It has named the peer, and is of no use below.
    skb.forget_route();

    if !skb.is_gso() {
        return send(dev, peer.get(), skb, &guard, bh);
    }
    match skb.segment() {
        Ok(segments) => {
            for segment in segments {
                send(dev, peer.get(), segment, &guard, bh);
            }
        }
        Err((_, skb)) => drop_sent(dev, Some(skb), DropCause::TxSegment, bh),
    }
}

/// The peer that the packet is for: the only one, or the one whose address in the VPN is the gateway
/// of the packet's route or, without a gateway, its destination.
#[inline]
fn receiver<'g>(
    dev: &Device<Tunnel>,
    skb: &mut SkBuff,
    guard: &'g Guard,
) -> Result<RcuBorrow<'g, Peer>, DropCause> {
    let peers = &dev.data().peers;
    let packet = ip_header(skb).ok_or(DropCause::TxProtocol)?;
    match (dev.data().mode(), packet) {
        (Mode::P2p, _) => peers.single(guard),
        (Mode::Mp, Inner::V4 { destination, .. }) => {
            peers.by_vpn4(skb.gateway4().unwrap_or(destination), guard)
        }
        (Mode::Mp, Inner::V6 { destination, .. }) => {
            peers.by_vpn6(skb.gateway6().unwrap_or(destination), guard)
        }
    }
    .ok_or(DropCause::TxNoPeer)
}

/// The packet's IP header, if it is what the stack says it is.
#[inline]
fn ip_header(skb: &mut SkBuff) -> Option<Inner> {
    let len = skb.len();
    if !skb.make_linear(len.min(inner::MAX_HEAD)) {
        return None;
    }
    let packet = inner::ip(skb.head())?;
    (packet.ethertype() == skb.protocol()).then_some(packet)
}

/// Sends one packet to `peer`.
#[inline]
fn send(dev: &Device<Tunnel>, peer: &Peer, skb: SkBuff, guard: &Guard, bh: &BhDisabled) {
    let Some(skb) = skb.unshare() else {
        return drop_sent(dev, None, DropCause::TxMemory, bh);
    };
    peer.vpn.tx.count(skb.len());
    send_record(dev, peer, skb, guard, bh);
}

/// Makes a record of what is in `skb` and sends it to `peer`.
#[inline]
fn send_record(dev: &Device<Tunnel>, peer: &Peer, mut skb: SkBuff, guard: &Guard, bh: &BhDisabled) {
    let Some(key) = peer.keys.get(Slot::Primary, guard) else {
        return drop_sent(dev, Some(skb), DropCause::TxNoKey, bh);
    };
    skb.becomes_inner();
    if let Err(error) = key.seal(&mut skb, peer.tx_id()) {
        let cause = match error {
            SealError::Exhausted => {
                key_spent(dev, peer, key.get());
                DropCause::TxKeySpent
            }
            SealError::Memory => DropCause::TxMemory,
            SealError::Crypto => DropCause::TxCrypto,
        };
        return drop_sent(dev, Some(skb), cause, bh);
    }
    let len = skb.len();
    match udp::send(dev, peer, skb, guard, bh) {
        Ok(()) => {
            peer.link.tx.count(len);
            peer.spoke();
        }
        Err(skb) => drop_sent(dev, Some(skb), DropCause::TxNoRoute, bh),
    }
}

/// A key whose packet ids are used up encrypts no more: takes it out and tells the daemon, once.
#[cold]
fn key_spent(dev: &Device<Tunnel>, peer: &Peer, key: &Key) {
    if peer.keys.kill(key) {
        notify::key_spent(dev, peer, key);
    }
}

/// Sends `peer` a sign of life.
pub fn send_keepalive(dev: &Device<Tunnel>, peer: &Peer, bh: &BhDisabled) {
    let guard = rcu::read_lock();
    match SkBuff::with_data(UDP_HEADROOM.saturating_add(HEADROOM), &KEEPALIVE) {
        Ok(skb) => send_record(dev, peer, skb, &guard, bh),
        Err(_) => drop_sent(dev, None, DropCause::TxMemory, bh),
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The way out: from a packet on the tunnel interface to a record.

mod bursts;

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
        count_unsent,
        drop_sent,
        DropCause, //
    },
    transport::{
        tcp,
        udp::{
            self,
            Way, //
        },
        Transport, //
    },
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
        },
        tcp::More, //
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
        Err(cause) => return drop_sent(dev, skb, cause, bh),
    };
    // It has named the peer, and is of no use below.
    skb.forget_route();

    if !skb.is_gso() {
        return send(dev, peer.get(), skb, &guard, bh);
    }
    // What cannot be made one packet of records, or must not, goes record by record.
    if let Err(skb) = bursts::send(dev, peer.get(), skb, &guard, bh) {
        send_segments(dev, peer.get(), skb, &guard, bh);
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
///
/// Not a byte more is made linear: what is behind the header may be the first packet of a list that
/// the stack is to cut up, and bytes taken from there would be missing in it.
#[inline]
fn ip_header(skb: &mut SkBuff) -> Option<Inner> {
    if !skb.make_linear(1) {
        return None;
    }
    let len = inner::header_len(*skb.head().first()?)?;
    if !skb.make_linear(len) {
        return None;
    }
    let packet = inner::ip(skb.head())?;
    (packet.ethertype() == skb.protocol()).then_some(packet)
}

/// Lets the stack cut a GSO packet up, and sends the packets one by one.
fn send_segments(dev: &Device<Tunnel>, peer: &Peer, skb: SkBuff, guard: &Guard, bh: &BhDisabled) {
    let segments = match skb.segment() {
        Ok(segments) => segments,
        Err((_, skb)) => return drop_sent(dev, skb, DropCause::TxSegment, bh),
    };
    let records = segments.filter_map(|segment| seal(dev, peer, segment, guard, bh));
    match peer.transport() {
        Transport::Udp(socket) => {
            records.for_each(|record| send_datagram(dev, peer, socket, record, guard, bh));
        }
        Transport::Tcp(socket) => tcp::send_all(dev, peer, socket, records, bh),
    }
}

/// Sends one packet to `peer`.
#[inline]
fn send(dev: &Device<Tunnel>, peer: &Peer, skb: SkBuff, guard: &Guard, bh: &BhDisabled) {
    if let Some(record) = seal(dev, peer, skb, guard, bh) {
        send_record(dev, peer, record, guard, bh);
    }
}

/// Makes a record of a packet. What cannot be made one is dropped.
#[inline]
fn seal(
    dev: &Device<Tunnel>,
    peer: &Peer,
    skb: SkBuff,
    guard: &Guard,
    bh: &BhDisabled,
) -> Option<SkBuff> {
    let Some(mut skb) = skb.unshare() else {
        count_unsent(dev, 1, DropCause::TxMemory, bh);
        return None;
    };
    // We said that we would, so that bursts come uncut.
    if skb.complete_checksum().is_err() {
        drop_sent(dev, skb, DropCause::TxMemory, bh);
        return None;
    }
    peer.vpn.tx.count(skb.len());
    seal_plain(dev, peer, skb, guard, bh)
}

/// Makes a record of what is in `skb`, be it a packet or not.
#[inline]
fn seal_plain(
    dev: &Device<Tunnel>,
    peer: &Peer,
    mut skb: SkBuff,
    guard: &Guard,
    bh: &BhDisabled,
) -> Option<SkBuff> {
    let Some(key) = peer.keys.get(Slot::Primary, guard) else {
        drop_sent(dev, skb, DropCause::TxNoKey, bh);
        return None;
    };
    skb.becomes_inner();
    match key.seal(&mut skb, peer.tx_id(), bh) {
        Ok(()) => Some(skb),
        Err(error) => {
            drop_sent(dev, skb, unsealed(dev, peer, key.get(), error), bh);
            None
        }
    }
}

/// Sends a record to `peer`.
#[inline]
fn send_record(dev: &Device<Tunnel>, peer: &Peer, skb: SkBuff, guard: &Guard, bh: &BhDisabled) {
    match peer.transport() {
        Transport::Udp(socket) => send_datagram(dev, peer, socket, skb, guard, bh),
        Transport::Tcp(socket) => tcp::send(dev, peer, socket, skb, More::No, bh),
    }
}

/// Sends a record to `peer` in a datagram.
#[inline]
fn send_datagram(
    dev: &Device<Tunnel>,
    peer: &Peer,
    socket: &udp::Socket,
    skb: SkBuff,
    guard: &Guard,
    bh: &BhDisabled,
) {
    let Some(way) = Way::to(peer, socket, guard, bh) else {
        return drop_sent(dev, skb, DropCause::TxNoRoute, bh);
    };
    peer.link.tx.count(skb.len());
    peer.spoke();
    way.send(dev, skb, bh);
}

/// What the loss of a packet that could not be made a record is counted as. A key whose packet ids
/// are used up encrypts no more: takes it out and tells the daemon, once.
#[cold]
fn unsealed(dev: &Device<Tunnel>, peer: &Peer, key: &Key, error: SealError) -> DropCause {
    match error {
        SealError::Exhausted => {
            if peer.keys.kill(key) {
                notify::key_spent(dev, peer, key);
            }
            DropCause::TxKeySpent
        }
        SealError::Memory => DropCause::TxMemory,
        SealError::Crypto => DropCause::TxCrypto,
    }
}

/// Sends `peer` a sign of life.
pub fn send_keepalive(dev: &Device<Tunnel>, peer: &Peer, bh: &BhDisabled) {
    let guard = rcu::read_lock();
    match SkBuff::with_data(UDP_HEADROOM.saturating_add(HEADROOM), &KEEPALIVE) {
        Ok(skb) => {
            if let Some(record) = seal_plain(dev, peer, skb, &guard, bh) {
                send_record(dev, peer, record, &guard, bh);
            }
        }
        Err(_) => count_unsent(dev, 1, DropCause::TxMemory, bh),
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Bursts: a GSO packet becomes one packet of records, without being cut up before.
//!
//! Each packet that the burst stands for is written to where its record will be, and encrypted
//! there. The stack and the network device below see one UDP GSO packet, and
//! cut it up as late as they can.

use super::unsealed;
use crate::{
    burst::{
        Burst,
        Traits,
        MAX_HEADERS, //
    },
    checksum::Sum,
    crypto::{
        batch::Sealer,
        key::{
            Key,
            SealError, //
        },
        packet_id::PacketId,
        slots::Slot, //
    },
    device::Tunnel,
    peer::Peer,
    stats::{
        count_unsent,
        DropCause, //
    },
    transport::{
        gso::{
            Batch,
            Batches, //
        },
        udp::Way,
        Transport, //
    },
    wire::OVERHEAD, //
};
use core::num::NonZeroU32;
use kernel::{
    page::PAGE_SIZE,
    sync::rcu::Guard, //
};
use kernel_ext::{
    bh::BhDisabled,
    net::{
        checksum,
        device::{
            Device,
            Features, //
        },
        skbuff::{
            Added,
            Aggregate,
            RecordRoom,
            SkBuff,
            UDP_HEADROOM, //
        }, //
    },
};

/// Sends a burst to `peer`.
///
/// # Errors
///
/// Gives the packet back, with nothing sent, if the peer is reached by TCP, if the packet is none that
/// can be cut here, or if that was switched off (`ethtool -K tun0 tx-udp-segmentation off`).
pub(super) fn send(
    dev: &Device<Tunnel>,
    peer: &Peer,
    mut skb: SkBuff,
    guard: &Guard,
    bh: &BhDisabled,
) -> Result<(), SkBuff> {
    let Transport::Udp(socket) = peer.transport() else {
        return Err(skb);
    };
    if !dev.has(Features::UDP_SEGMENTATION) {
        return Err(skb);
    }
    let Some(burst) = parse(&mut skb) else {
        return Err(skb);
    };
    let packets = burst.packets();
    let headers = burst
        .headers_len()
        .saturating_mul(packets.saturating_sub(1));
    let len = skb.len().saturating_add(headers);
    peer.vpn.tx.count_many(packets, len);

    let Some(key) = peer.keys.get(Slot::Primary, guard) else {
        count_unsent(dev, packets, DropCause::TxNoKey, bh);
        return Ok(());
    };
    let Some(way) = Way::to(peer, socket, guard, bh) else {
        count_unsent(dev, packets, DropCause::TxNoRoute, bh);
        return Ok(());
    };
    let record_len = OVERHEAD.saturating_add(burst.packet_len());
    let mut plan = match way.takes_aggregates(record_len) {
        true => Batches::new(packets, record_len),
        false => Batches::singly(packets),
    };
    while let Some(batch) = plan.next() {
        match seal(&burst, batch, key.get(), peer, &skb, bh) {
            Ok(aggregate) => {
                let next = batch.first.saturating_add(aggregate.records());
                let owner = match next < packets {
                    true => Owner::Shared(&skb),
                    false => Owner::Taken(&mut skb),
                };
                transmit(dev, peer, way.clone(), aggregate, owner, bh);
                plan.resume(next);
            }
            // There may be ids for some of them.
            Err(SealError::Exhausted) if batch.count > 1 => plan.go_singly(batch.first),
            Err(error) => {
                let cause = unsealed(dev, peer, key.get(), error);
                count_unsent(dev, batch.count, cause, bh);
            }
        }
    }
    peer.spoke();
    skb.consume();
    Ok(())
}

/// What becomes of the socket's charge for a burst when some of its records are sent.
enum Owner<'a> {
    /// There is more to come.
    Shared(&'a SkBuff),
    /// These were the last.
    Taken(&'a mut SkBuff),
}

/// Sends some records of a burst.
#[inline]
fn transmit(
    dev: &Device<Tunnel>,
    peer: &Peer,
    way: Way<'_>,
    aggregate: Aggregate<'_>,
    owner: Owner<'_>,
    bh: &BhDisabled,
) {
    let records = aggregate.records();
    let mut skb = aggregate.finish(records.saturating_mul(OVERHEAD));
    match owner {
        Owner::Shared(burst) => skb.share_owner(burst),
        Owner::Taken(burst) => skb.take_owner(burst),
    }
    peer.link.tx.count_many(records, skb.len());
    way.send(dev, skb, bh);
    // The core has counted one packet.
    dev.count_tx_packets(records.saturating_sub(1), bh);
}

/// The burst in `skb`, if it can be cut here.
fn parse(skb: &mut SkBuff) -> Option<Burst> {
    let gso = skb.plain_gso()?;
    let len = skb.len();
    if !skb.make_linear(len.min(MAX_HEADERS)) {
        return None;
    }
    let traits = Traits {
        piece: gso.size(),
        same_id: gso.same_id(),
        keep_cwr: gso.keep_cwr(),
    };
    let burst = Burst::parse(skb.head(), len, traits)?;
    let record_len = burst.packet_len().checked_add(OVERHEAD)?;
    // A record is written in one piece.
    (record_len <= PAGE_SIZE).then_some(burst)
}

/// Makes a packet of records of a batch, or of as many of it as fit into pages.
fn seal<'a>(
    burst: &Burst,
    batch: Batch,
    key: &'a Key,
    peer: &Peer,
    skb: &SkBuff,
    bh: &'a BhDisabled,
) -> Result<Aggregate<'a>, SealError> {
    // CAST: A few packets, at least one.
    let count = NonZeroU32::new(batch.count as u32).ok_or(SealError::Crypto)?;
    let linear = match batch.count {
        1 => OVERHEAD.saturating_add(burst.packet_len()),
        _ => 0,
    };
    let mut aggregate = Aggregate::new(UDP_HEADROOM, linear, skb, bh)?;
    let mut sealer = Sealer::new(key, peer.tx_id(), bh)?;
    // From here on the ids are used up, come what may.
    for (index, id) in (batch.first..).zip(key.reserve(count)?) {
        let payload = burst.payload(index).ok_or(SealError::Crypto)?;
        let record_len = OVERHEAD
            .saturating_add(burst.headers_len())
            .saturating_add(payload.len());
        let added = aggregate.add(record_len, |room| {
            write(burst, index, id, &mut sealer, skb, room)
        })?;
        if added == Added::Full {
            break;
        }
    }
    match aggregate.records() {
        0 => Err(SealError::Memory),
        _ => Ok(aggregate),
    }
}

/// Writes one record.
#[inline]
fn write(
    burst: &Burst,
    index: usize,
    id: PacketId,
    sealer: &mut Sealer<'_>,
    skb: &SkBuff,
    room: &mut RecordRoom<'_>,
) -> Result<(), SealError> {
    let payload = burst.payload(index).ok_or(SealError::Crypto)?;
    let (headers, text) = room
        .bytes_mut()
        .get_mut(OVERHEAD..)
        .and_then(|packet| packet.split_at_mut_checked(burst.headers_len()))
        .ok_or(SealError::Crypto)?;
    // Checksum and cipher both read all of it: from one piece in the cache that costs less, the copy
    // included, than from where it is.
    if !skb.copy_to(payload.start, text) {
        return Err(SealError::Crypto);
    }
    let sum = Sum::new(checksum::sum(text));
    burst
        .write_headers(index, sum, headers)
        .ok_or(SealError::Crypto)?;
    sealer.seal(room, id)
}

// SPDX-License-Identifier: GPL-2.0

//! Records that have arrived as one list.
//!
//! They are of one peer and one key, and are decrypted one after the other into pages. TCP
//! segments that follow each other go up as one packet, everything else as it was sent.

use super::arrivals::Arrivals;
use crate::{
    crypto::{
        batch::Opener,
        key::{
            Key,
            OpenError, //
        },
        packet_id::PacketId, //
    },
    device::Tunnel,
    peer::{
        endpoint::Endpoint,
        Peer, //
    },
    stats::{
        count_unreceived,
        DropCause, //
    },
    wire::{
        self,
        Header,
        AAD_LEN,
        OVERHEAD, //
    },
};
use kernel::sync::rcu::Guard;
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::Device,
        gro::MAX_RECORDS,
        skbuff::{
            Landing,
            Record,
            Records,
            SkBuff,
            SkBuffList, //
        },
    },
    sync::rcu::RcuBorrow,
    time, //
};

/// What has become of a record.
#[derive(Clone, Copy)]
enum Fate {
    /// It is an authentic one, with a packet in it or a sign of life.
    Good(PacketId),
    /// It is an authentic one, but what is inside is not for the interface.
    Useless(PacketId, DropCause),
    /// It is not from the peer, or could not be looked at.
    Lost(DropCause),
}

impl Fate {
    /// The packet id, if the record is authentic.
    #[inline]
    fn id(self) -> Option<PacketId> {
        match self {
            Self::Good(id) | Self::Useless(id, _) => Some(id),
            Self::Lost(_) => None,
        }
    }

    fn cause(self) -> Option<DropCause> {
        match self {
            Self::Good(_) => None,
            Self::Useless(_, cause) | Self::Lost(cause) => Some(cause),
        }
    }
}

/// Receives `records`, which came from `peer` over UDP from where `seen` says.
pub fn receive(
    dev: &Device<Tunnel>,
    peer: RcuBorrow<'_, Peer>,
    header: Header,
    records: &Records,
    seen: Option<Endpoint>,
    guard: &Guard,
    bh: &BhDisabled,
) {
    let count = records.count();
    peer.link.rx.count_many(count, records.bytes());
    let Some(key) = peer.keys.by_id(header.key_id, guard) else {
        return count_unreceived(dev, count, DropCause::RxNoKey, bh);
    };
    let mut all_fates = [Fate::Lost(DropCause::RxMemory); MAX_RECORDS];
    let fates = all_fates.get_mut(..count).unwrap_or_default();
    let now = time::boottime_coarse();
    let packets = open(dev, peer.get(), key.get(), records, now, fates, guard, bh);

    if fates.iter().any(|fate| fate.id().is_some()) {
        peer.heard(now);
        if let Some(seen) = seen {
            peer.follow(peer, &seen, guard);
        }
    }
    for cause in fates.iter().filter_map(|fate| fate.cause()) {
        count_unreceived(dev, 1, cause, bh);
    }
    deliver(dev, peer.get(), packets, bh);
}

/// Opens the records, and takes note of their packet ids. What is in them, and what has become of
/// each.
#[expect(clippy::too_many_arguments)]
fn open(
    dev: &Device<Tunnel>,
    peer: &Peer,
    key: &Key,
    records: &Records,
    now: u64,
    fates: &mut [Fate],
    guard: &Guard,
    bh: &BhDisabled,
) -> SkBuffList {
    let Ok(mut batch) = Batch::new(dev, peer, key, guard, bh) else {
        return SkBuffList::new();
    };
    let packets = batch.open(records, 0, fates);
    let refused = key.accept(fates.iter().map(|fate| fate.id()), now);
    if refused == 0 {
        return packets;
    }
    // They may be part of packets that cannot be taken apart. It is rare, so all is opened once
    // more, without them.
    packets.for_each(SkBuff::consume);
    for (bit, fate) in (0..u64::BITS).zip(fates.iter_mut()) {
        if has(refused, bit) {
            *fate = Fate::Lost(DropCause::RxReplay);
        }
    }
    batch.open(records, refused, fates)
}

/// Whether a bit is set.
#[inline]
fn has(bits: u64, bit: u32) -> bool {
    bits & 1u64.wrapping_shl(bit) != 0
}

/// Hands the packets up the stack as ones that the interface has received.
fn deliver(dev: &Device<Tunnel>, peer: &Peer, packets: SkBuffList, bh: &BhDisabled) {
    let (mut count, mut bytes) = (0usize, 0usize);
    for skb in packets {
        let of = skb.packets();
        // Each has come with headers of its own.
        let headers = skb.head_len().wrapping_mul(of.wrapping_sub(1));
        let len = skb.len().wrapping_add(headers);
        // If the queue is full, the core has counted the drop.
        if dev.data().received.receive(skb, bh) {
            count = count.wrapping_add(of);
            bytes = bytes.wrapping_add(len);
        }
    }
    peer.vpn.rx.count_many(count, bytes);
    dev.count_rx(count, bytes, bh);
}

/// Takes packets out of records.
struct Batch<'a> {
    opener: Opener<'a>,
    landing: Landing<'a>,
    arrivals: Arrivals<'a>,
}

impl<'a> Batch<'a> {
    fn new(
        dev: &'a Device<Tunnel>,
        peer: &'a Peer,
        key: &'a Key,
        guard: &'a Guard,
        bh: &'a BhDisabled,
    ) -> Result<Self, OpenError> {
        Ok(Self {
            opener: Opener::new(key, bh)?,
            landing: Landing::new(bh)?,
            arrivals: Arrivals::new(dev, peer, guard),
        })
    }

    /// Opens all records but those whose bit is set in `skip`.
    fn open(&mut self, records: &Records, skip: u64, fates: &mut [Fate]) -> SkBuffList {
        for ((bit, record), fate) in (0..u64::BITS).zip(records.iter()).zip(fates) {
            if !has(skip, bit) {
                *fate = self.take(&record);
            }
        }
        self.arrivals.close(self.landing.release());
        self.arrivals.take()
    }

    /// Opens one record.
    #[inline]
    fn take(&mut self, record: &Record<'_>) -> Fate {
        let Some(aad) = record.first::<AAD_LEN>() else {
            return Fate::Lost(DropCause::RxShort);
        };
        let Some(len) = record.len().checked_sub(OVERHEAD) else {
            return Fate::Lost(DropCause::RxShort);
        };
        let Some(id) = wire::packet_id(&aad) else {
            return Fate::Lost(DropCause::RxAuth);
        };
        let opener = &mut self.opener;
        let landed = self.landing.land(self.arrivals.lead(), len, |room| {
            opener.open(record, &aad, id, room)
        });
        match landed.map(|landed| self.arrivals.place(landed, len)) {
            Ok(Ok(())) => Fate::Good(id),
            Ok(Err(cause)) => Fate::Useless(id, cause),
            Err(error) => Fate::Lost(error.into()),
        }
    }
}

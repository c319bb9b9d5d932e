// SPDX-License-Identifier: GPL-2.0

//! Packets that have come out of records, and that go up the stack as they are or put together.

use super::may_send;
use crate::{
    checksum::Sum,
    device::Tunnel,
    inner::{
        self,
        Payload, //
    },
    merge::{
        segment::Segment,
        train::{
            Train,
            Whole, //
        },
    },
    peer::Peer,
    stats::DropCause, //
};
use kernel::sync::rcu::Guard;
use kernel_ext::net::{
    checksum,
    device::Device,
    skbuff::{
        Landed,
        Merged,
        SkBuff,
        SkBuffList, //
    },
};

/// The packet that is being put together.
struct Current {
    ethertype: u16,
    /// What it is made of, if more can be added.
    train: Option<Train>,
}

/// Packets that have come out of records.
pub(super) struct Arrivals<'a> {
    dev: &'a Device<Tunnel>,
    peer: &'a Peer,
    guard: &'a Guard,
    current: Option<Current>,
    packets: SkBuffList,
}

impl<'a> Arrivals<'a> {
    /// None yet, for the interface and from the peer.
    #[inline]
    pub(super) fn new(dev: &'a Device<Tunnel>, peer: &'a Peer, guard: &'a Guard) -> Self {
        Self {
            dev,
            peer,
            guard,
            current: None,
            packets: SkBuffList::new(),
        }
    }

    /// The packets that are complete.
    #[inline]
    pub(super) fn take(&mut self) -> SkBuffList {
        core::mem::take(&mut self.packets)
    }

    fn train(&self) -> Option<&Train> {
        self.current.as_ref()?.train.as_ref()
    }

    /// How many bytes of headers the next packet probably has.
    #[inline]
    pub(super) fn lead(&self) -> usize {
        self.train().map_or(0, Train::headers_len)
    }

    /// Finds the place of a packet of `len` bytes.
    #[inline]
    pub(super) fn place(&mut self, landed: Landed<'_, '_>, len: usize) -> Result<(), DropCause> {
        match Segment::parse(landed.head(), len) {
            Some(segment) => self.place_segment(landed, &segment, len),
            None => self.place_packet(landed, len),
        }
    }

    /// A TCP segment: appends it to the train, or begins a new one.
    #[inline]
    fn place_segment(
        &mut self,
        mut landed: Landed<'_, '_>,
        segment: &Segment,
        len: usize,
    ) -> Result<(), DropCause> {
        landed.part(segment.headers_len());
        let sum = Sum::new(checksum::sum(landed.rest()));
        if landed.lead_len() != segment.headers_len() || !segment.is_intact(landed.head(), sum) {
            return self.place_packet(landed, len);
        }
        if let Some(train) = self
            .current
            .as_mut()
            .and_then(|current| current.train.as_mut())
        {
            if train.takes(segment, landed.head()) {
                match landed.append() {
                    Ok(()) => {
                        train.add(segment);
                        return Ok(());
                    }
                    Err(back) => landed = back,
                }
            }
        }
        let limit = if segment.is_v4() {
            self.dev.merged_limit4()
        } else {
            self.dev.merged_limit6()
        };
        let train = Train::new(segment, landed.head(), limit);
        self.begin(landed, train)
    }

    /// A packet of another kind, or one that is not for the interface.
    #[inline]
    fn place_packet(&mut self, mut landed: Landed<'_, '_>, len: usize) -> Result<(), DropCause> {
        match inner::classify(len, landed.head()) {
            Payload::Ip(_) => {
                landed.part(usize::MAX);
                self.begin(landed, None)
            }
            Payload::Keepalive => Ok(()),
            Payload::Empty | Payload::Unknown => Err(DropCause::RxProtocol),
        }
    }

    /// Begins a new packet, if the peer may send it.
    #[inline]
    fn begin(&mut self, mut landed: Landed<'_, '_>, train: Option<Train>) -> Result<(), DropCause> {
        let packet = inner::ip(landed.head()).ok_or(DropCause::RxProtocol)?;
        if !may_send(self.dev, self.peer, &packet, self.guard) {
            return Err(DropCause::RxSource);
        }
        self.close(landed.release());
        landed.begin().map_err(|_| DropCause::RxMemory)?;
        self.current = Some(Current {
            ethertype: packet.ethertype(),
            train,
        });
        Ok(())
    }

    /// Completes the packet that was put together.
    #[inline]
    pub(super) fn close(&mut self, skb: Option<SkBuff>) {
        let (Some(mut skb), Some(current)) = (skb, self.current.take()) else {
            return;
        };
        self.dev.adopt_new(&mut skb, current.ethertype);
        match current.train {
            Some(train) if train.count() > 1 => {
                // Neither fails: the train did not take more than a packet can have.
                let Some(whole) = train.finish() else {
                    return;
                };
                if skb.merge(merged(&whole)).is_err() {
                    return;
                }
            }
            Some(_) => skb.set_checked(),
            None => {}
        }
        self.packets.push(skb);
    }
}

fn merged(whole: &Whole) -> Merged<'_> {
    Merged {
        headers: whole.headers(),
        transport_at: whole.transport_at(),
        piece: whole.piece(),
        packets: whole.count(),
        same_id: whole.same_id(),
    }
}

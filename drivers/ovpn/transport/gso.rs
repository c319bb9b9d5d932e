// SPDX-License-Identifier: GPL-2.0

//! Which records may travel in one UDP GSO packet.
//!
//! The stack cuts a GSO packet at every `gso_size` bytes, so all records of a batch are of one size
//! but for the last, which may be shorter. The limits are the stack's.

/// Most datagrams that one GSO packet may stand for (`UDP_MAX_SEGMENTS`).
pub const MAX_RECORDS: usize = 128;

/// Most bytes of records in one GSO packet: what the length field of an IPv6 datagram can tell, less
/// the headers of IPv6 and UDP. IPv4, whose field counts its own header, is not worse off.
pub const MAX_BYTES: usize = 65_487;

/// Some of the packets that a burst stands for, which become one packet of records.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Batch {
    /// Number of the first.
    pub first: usize,
    /// How many, at least one. One is sent as it is, without GSO.
    pub count: usize,
}

/// Divides `packets` packets, whose records have `record_len` bytes but for a shorter last one, into
/// batches, in order.
#[derive(Clone, Debug)]
pub struct Batches {
    next: usize,
    packets: usize,
    most: usize,
}

impl Batches {
    /// A plan for all packets. If a record is too long to share a packet, each goes alone.
    pub fn new(packets: usize, record_len: usize) -> Self {
        let fit = MAX_BYTES.checked_div(record_len).unwrap_or(MAX_RECORDS);
        Self {
            next: 0,
            packets,
            most: fit.clamp(1, MAX_RECORDS),
        }
    }

    /// A plan in which each packet goes alone.
    pub fn singly(packets: usize) -> Self {
        Self {
            next: 0,
            packets,
            most: 1,
        }
    }

    /// Goes on with packet number `next`, if less than a batch could be made.
    pub fn resume(&mut self, next: usize) {
        self.next = next;
    }

    /// Goes on with packet number `next`, and lets each go alone.
    pub fn go_singly(&mut self, next: usize) {
        self.next = next;
        self.most = 1;
    }
}

impl Iterator for Batches {
    type Item = Batch;

    fn next(&mut self) -> Option<Batch> {
        let left = self.packets.checked_sub(self.next)?;
        if left == 0 {
            return None;
        }
        let batch = Batch {
            first: self.next,
            count: left.min(self.most),
        };
        self.next = self.next.saturating_add(batch.count);
        Some(batch)
    }
}

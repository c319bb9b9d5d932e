// SPDX-License-Identifier: GPL-2.0

//! Segments that follow each other, and the packet that they become.

use super::segment::{
    pseudo,
    Network,
    Segment, //
};
use crate::{
    checksum::Sum,
    headers::*, //
};

/// Most octets of a packet that is put together, headers included, whatever else is allowed: what
/// an IPv4 header can tell.
const MAX_LEN: usize = 65_535;

/// Whether the IPv4 ids of a train's packets are one and the same, or go up by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    /// There is one packet: it cannot be told yet.
    Unknown,
    Same,
    Counting,
}

/// Ones for the headers but for what says where in the stream a segment is: lengths, id, sequence
/// number, checksums, PSH.
fn mask(segment: &Segment) -> Option<[u8; MAX_HEADERS]> {
    let mut mask = [0xff; MAX_HEADERS];
    match segment.network {
        Network::V4 { .. } => {
            put(&mut mask, IPV4_TOTAL_LEN, [0; 2])?;
            put(&mut mask, IPV4_ID, [0; 2])?;
            put(&mut mask, IPV4_CHECKSUM, [0; 2])?;
        }
        Network::V6 => put(&mut mask, IPV6_PAYLOAD_LEN, [0; 2])?,
    }
    let tcp = mask.get_mut(segment.transport_at..)?;
    put(tcp, TCP_SEQUENCE, [0; 4])?;
    put(tcp, TCP_FLAGS, [!TCP_PSH])?;
    put(tcp, TCP_CHECKSUM, [0; 2])?;
    Some(mask)
}

/// Segments that follow each other.
#[derive(Clone, Debug)]
pub struct Train {
    headers: [u8; MAX_HEADERS],
    /// Ones where the headers of all segments are equal.
    mask: [u8; MAX_HEADERS],
    headers_len: usize,
    network: Network,
    transport_at: usize,
    ids: Ids,
    /// Octets of payload in each segment but the last.
    piece: usize,
    payload_len: usize,
    /// Most octets of the packet, headers included.
    limit: usize,
    count: usize,
    /// The sequence number of the next segment.
    next: u32,
    closed: bool,
}

impl Train {
    /// A train of one segment, whose packet begins with `head`. With others it does not become longer
    /// than `limit` octets, headers included.
    #[inline]
    pub fn new(first: &Segment, head: &[u8], limit: usize) -> Option<Self> {
        let mut headers = [0; MAX_HEADERS];
        headers
            .get_mut(..first.headers_len)?
            .copy_from_slice(head.get(..first.headers_len)?);
        Some(Self {
            headers,
            mask: mask(first)?,
            headers_len: first.headers_len,
            network: first.network,
            transport_at: first.transport_at,
            ids: Ids::Unknown,
            piece: first.payload_len,
            payload_len: first.payload_len,
            limit: limit.min(MAX_LEN),
            count: 1,
            // CAST: A packet's length.
            next: first.sequence.wrapping_add(first.payload_len as u32),
            closed: first.flags & TCP_PSH != 0,
        })
    }

    /// Octets of the headers of each segment.
    #[inline]
    pub fn headers_len(&self) -> usize {
        self.headers_len
    }

    /// How many segments there are.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Whether `segment`, whose packet begins with `head`, continues the train.
    #[inline]
    pub fn takes(&self, segment: &Segment, head: &[u8]) -> bool {
        let len = self
            .headers_len
            .saturating_add(self.payload_len)
            .saturating_add(segment.payload_len);
        !self.closed
            && segment.headers_len == self.headers_len
            && segment.sequence == self.next
            && segment.payload_len <= self.piece
            && len <= self.limit
            && self.ids_with(segment).is_some()
            && self.same_but_for_place(head)
    }

    /// How the ids go on with `segment`, if they do.
    #[inline]
    fn ids_with(&self, segment: &Segment) -> Option<Ids> {
        let (Network::V4 { id, may_fragment }, Network::V4 { id: new, .. }) =
            (self.network, segment.network)
        else {
            return (self.network == segment.network).then_some(Ids::Same);
        };
        // CAST: Ids wrap.
        let counting = new == id.wrapping_add(self.count as u16);
        match self.ids {
            Ids::Unknown | Ids::Same if new == id && !may_fragment => Some(Ids::Same),
            Ids::Unknown | Ids::Counting if counting => Some(Ids::Counting),
            _ => None,
        }
    }

    /// Whether all headers are equal but for what says where in the stream a segment is.
    #[inline]
    fn same_but_for_place(&self, head: &[u8]) -> bool {
        let len = self.headers_len;
        let (Some(first), Some(new), Some(mask)) = (
            self.headers.get(..len),
            head.get(..len),
            self.mask.get(..len),
        ) else {
            return false;
        };
        let eights = first.chunks_exact(8).zip(new.chunks_exact(8));
        let difference =
            eights
                .zip(mask.chunks_exact(8))
                .fold(0, |difference, ((first, new), mask)| {
                    difference | ((eight(first) ^ eight(new)) & eight(mask))
                });
        // Headers are a multiple of four octets.
        let rest = len % 8;
        let ends = [first, new, mask].map(|octets| match (rest, octets.last_chunk::<4>()) {
            (4, Some(four)) => u32::from_ne_bytes(*four),
            _ => 0,
        });
        difference == 0 && (ends[0] ^ ends[1]) & ends[2] == 0
    }

    /// Adds a segment that the train [takes](Self::takes).
    #[inline]
    pub fn add(&mut self, segment: &Segment) {
        self.ids = self.ids_with(segment).unwrap_or(self.ids);
        self.count = self.count.saturating_add(1);
        self.payload_len = self.payload_len.saturating_add(segment.payload_len);
        // CAST: A packet's length.
        self.next = self.next.wrapping_add(segment.payload_len as u32);
        let pushed = segment.flags & TCP_PSH;
        if let Some(flags) = self
            .headers
            .get_mut(self.transport_at.wrapping_add(TCP_FLAGS))
        {
            *flags |= pushed;
        }
        // What the sender pushes, and the end of its data, is not kept waiting.
        self.closed = pushed != 0 || segment.payload_len < self.piece;
    }

    /// What the one packet is like that the train becomes.
    #[inline]
    pub fn finish(mut self) -> Option<Whole> {
        let len = self.headers_len.checked_add(self.payload_len)?;
        let tcp_len = len.checked_sub(self.transport_at)?;
        match self.network {
            Network::V4 { .. } => {
                let total = u16::try_from(len).ok()?;
                put(&mut self.headers, IPV4_TOTAL_LEN, total.to_be_bytes())?;
                put(&mut self.headers, IPV4_CHECKSUM, [0; 2])?;
                let sum = Sum::default().plus(self.headers.get(..IPV4_LEN)?);
                put(&mut self.headers, IPV4_CHECKSUM, sum.checksum())?;
            }
            Network::V6 => {
                let payload = u16::try_from(tcp_len).ok()?;
                put(&mut self.headers, IPV6_PAYLOAD_LEN, payload.to_be_bytes())?;
            }
        }
        let addresses = self.network.addresses_at()..self.transport_at;
        let sum = pseudo(tcp_len).plus(self.headers.get(addresses)?);
        let at = self.transport_at.checked_add(TCP_CHECKSUM)?;
        put(&mut self.headers, at, sum.partial())?;
        Some(Whole(self))
    }
}

/// A packet that was put together. Its checksum is that of the pseudo header, which the stack
/// completes where it must.
#[derive(Clone, Debug)]
pub struct Whole(Train);

impl Whole {
    /// Its headers.
    #[inline]
    pub fn headers(&self) -> &[u8] {
        self.0.headers.get(..self.0.headers_len).unwrap_or_default()
    }

    /// Where the TCP header begins.
    #[inline]
    pub fn transport_at(&self) -> usize {
        self.0.transport_at
    }

    /// Octets of payload in each segment but the last.
    #[inline]
    pub fn piece(&self) -> usize {
        self.0.piece
    }

    /// How many segments it was.
    #[inline]
    pub fn count(&self) -> usize {
        self.0.count
    }

    /// Whether all of them had the same IPv4 id.
    #[inline]
    pub fn same_id(&self) -> bool {
        matches!(self.0.network, Network::V4 { .. }) && self.0.ids == Ids::Same
    }
}

/// The first eight octets.
#[inline]
fn eight(octets: &[u8]) -> u64 {
    u64::from_ne_bytes(*octets.first_chunk().unwrap_or(&[0; 8]))
}

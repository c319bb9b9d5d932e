// SPDX-License-Identifier: GPL-2.0

//! The packets that a GSO packet of TCP or UDP stands for.
//!
//! A burst has one set of headers in front of a long payload. Cutting it up means to repeat the
//! headers in front of each piece of payload, with what differs put right: lengths, IPv4 id, TCP
//! sequence number and flags, checksums. The payload stays where it is.
//!
//! Sources: RFC 791, 8200, 9293, 768; RFC 3168 and the AccECN draft for the CWR flag.

pub use crate::headers::MAX_HEADERS;

use crate::{
    checksum::Sum,
    headers::*, //
};
use core::ops::Range;

const IPV4_ADDRESSES: Range<usize> = IPV4_SOURCE..IPV4_LEN;
const IPV6_ADDRESSES: Range<usize> = IPV6_SOURCE..IPV6_LEN;

/// What the stack says about a burst beside its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Traits {
    /// Bytes of payload in each packet but the last.
    pub piece: usize,
    /// Whether all packets have the IPv4 id of the first.
    pub same_id: bool,
    /// Whether all packets have the CWR flag of the first (AccECN), instead of the first alone.
    pub keep_cwr: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    V4,
    V6,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Tcp { sequence: u32, flags: u8 },
    Udp,
}

/// A burst that can be cut up.
#[derive(Clone, Debug)]
pub struct Burst {
    /// The headers, without what differs from packet to packet.
    headers: [u8; MAX_HEADERS],
    network: Network,
    transport: Transport,
    /// Where the transport header begins, and where the payload does.
    transport_at: usize,
    payload_at: usize,
    payload_len: usize,
    traits: Traits,
    /// IPv4 id of the first packet.
    id: u16,
    /// Sum of the IPv4 header without what differs.
    network_sum: Sum,
    /// Sum of the pseudo header and the transport header without what differs.
    transport_sum: Sum,
}

impl Burst {
    /// The burst whose first bytes are `head`, of `len` bytes in all. `None` if it is none that can
    /// be cut here: IPv4 with options or a fragment, IPv6 with extensions, another protocol,
    /// damaged headers, or a payload that fits into one packet.
    pub fn parse(head: &[u8], len: usize, traits: Traits) -> Option<Self> {
        let (network, transport_at, protocol, addresses) = match head.first()? {
            0x45 => {
                // Only "don't fragment" may be set.
                if number(head, IPV4_FRAGMENT)? & !IPV4_DONT_FRAGMENT != 0 {
                    return None;
                }
                let protocol = *head.get(IPV4_PROTOCOL)?;
                (Network::V4, IPV4_LEN, protocol, IPV4_ADDRESSES)
            }
            first if first >> 4 == 6 => {
                (Network::V6, IPV6_LEN, *head.get(IPV6_NEXT)?, IPV6_ADDRESSES)
            }
            _ => return None,
        };
        let (transport, transport_len) = match protocol {
            PROTOCOL_TCP => {
                let words = head.get(transport_at.checked_add(TCP_OFFSET)?)? >> 4;
                let flags = *head.get(transport_at.checked_add(TCP_FLAGS)?)?;
                let sequence = *bytes(head, transport_at.checked_add(TCP_SEQUENCE)?)?;
                let sequence = u32::from_be_bytes(sequence);
                (Transport::Tcp { sequence, flags }, usize::from(words) * 4)
            }
            PROTOCOL_UDP => (Transport::Udp, UDP_LEN),
            _ => return None,
        };
        let payload_at = transport_at.checked_add(transport_len)?;
        let payload_len = len.checked_sub(payload_at)?;
        let least = match transport {
            Transport::Tcp { .. } => TCP_LEN,
            Transport::Udp => UDP_LEN,
        };
        if transport_len < least || traits.piece == 0 || payload_len <= traits.piece {
            return None;
        }
        let mut burst = Self {
            headers: [0; MAX_HEADERS],
            network,
            transport,
            transport_at,
            payload_at,
            payload_len,
            traits,
            id: match network {
                Network::V4 => number(head, IPV4_ID)?,
                Network::V6 => 0,
            },
            network_sum: Sum::default(),
            transport_sum: Sum::default(),
        };
        burst
            .headers
            .get_mut(..payload_at)?
            .copy_from_slice(head.get(..payload_at)?);
        burst.prepare(protocol, addresses)?;
        Some(burst)
    }

    /// Clears what differs from packet to packet, and sums up the rest.
    fn prepare(&mut self, protocol: u8, addresses: Range<usize>) -> Option<()> {
        let at = self.transport_at;
        match self.network {
            Network::V4 => {
                put(&mut self.headers, IPV4_TOTAL_LEN, [0; 2])?;
                put(&mut self.headers, IPV4_ID, [0; 2])?;
                put(&mut self.headers, IPV4_CHECKSUM, [0; 2])?;
                self.network_sum = Sum::default().plus(self.headers.get(..at)?);
            }
            Network::V6 => put(&mut self.headers, IPV6_PAYLOAD_LEN, [0; 2])?,
        }
        match self.transport {
            Transport::Tcp { .. } => {
                put(&mut self.headers, at.checked_add(TCP_SEQUENCE)?, [0; 4])?;
                put(&mut self.headers, at.checked_add(TCP_FLAGS)?, [0])?;
                put(&mut self.headers, at.checked_add(TCP_CHECKSUM)?, [0; 2])?;
            }
            Transport::Udp => {
                put(&mut self.headers, at.checked_add(UDP_LENGTH)?, [0; 2])?;
                put(&mut self.headers, at.checked_add(UDP_CHECKSUM)?, [0; 2])?;
            }
        }
        self.transport_sum = Sum::default()
            .plus(self.headers.get(addresses)?)
            .plus(&[0, protocol])
            .plus(self.headers.get(at..self.payload_at)?);
        Some(())
    }

    /// Bytes of headers in front of each piece of payload.
    #[inline]
    pub fn headers_len(&self) -> usize {
        self.payload_at
    }

    /// Bytes of the longest packet.
    #[inline]
    pub fn packet_len(&self) -> usize {
        self.payload_at.saturating_add(self.traits.piece)
    }

    /// How many packets it stands for.
    #[inline]
    pub fn packets(&self) -> usize {
        self.payload_len.div_ceil(self.traits.piece)
    }

    /// Which bytes of the burst are the payload of packet number `index`.
    #[inline]
    pub fn payload(&self, index: usize) -> Option<Range<usize>> {
        let from = index.checked_mul(self.traits.piece)?;
        let len = self
            .payload_len
            .checked_sub(from)
            .filter(|left| *left > 0)?
            .min(self.traits.piece);
        let from = from.checked_add(self.payload_at)?;
        Some(from..from.checked_add(len)?)
    }

    /// Writes the headers of packet number `index` to the start of `to`. `payload` is the sum of its
    /// payload.
    #[inline]
    pub fn write_headers(&self, index: usize, payload: Sum, to: &mut [u8]) -> Option<()> {
        let to = to.get_mut(..self.payload_at)?;
        to.copy_from_slice(self.headers.get(..self.payload_at)?);
        let transport_len = self
            .payload(index)?
            .len()
            .checked_add(self.payload_at.checked_sub(self.transport_at)?)?;
        let transport_len = u16::try_from(transport_len).ok()?;

        self.write_network(index, transport_len, to)?;
        self.write_transport(index, transport_len, payload, to)
    }

    #[inline]
    fn write_network(&self, index: usize, transport_len: u16, to: &mut [u8]) -> Option<()> {
        match self.network {
            Network::V6 => put(to, IPV6_PAYLOAD_LEN, transport_len.to_be_bytes()),
            Network::V4 => {
                // CAST: Ids wrap.
                let id = match self.traits.same_id {
                    true => self.id,
                    false => self.id.wrapping_add(index as u16),
                };
                let len = transport_len.checked_add(IPV4_LEN as u16)?.to_be_bytes();
                let sum = self.network_sum.plus(&len).plus(&id.to_be_bytes());
                put(to, IPV4_TOTAL_LEN, len)?;
                put(to, IPV4_ID, id.to_be_bytes())?;
                put(to, IPV4_CHECKSUM, sum.checksum())
            }
        }
    }

    #[inline]
    fn write_transport(
        &self,
        index: usize,
        transport_len: u16,
        payload: Sum,
        to: &mut [u8],
    ) -> Option<()> {
        let to = to.get_mut(self.transport_at..)?;
        let sum = self
            .transport_sum
            .plus_sum(payload)
            .plus(&transport_len.to_be_bytes());
        match self.transport {
            Transport::Tcp { sequence, flags } => {
                // CAST: Sequence numbers wrap.
                let sent = index.wrapping_mul(self.traits.piece) as u32;
                let sequence = sequence.wrapping_add(sent).to_be_bytes();
                let flags = self.flags(index, flags);
                put(to, TCP_SEQUENCE, sequence)?;
                put(to, TCP_FLAGS, [flags])?;
                put(
                    to,
                    TCP_CHECKSUM,
                    sum.plus(&sequence).plus(&[0, flags]).checksum(),
                )
            }
            Transport::Udp => {
                // Once in the pseudo header, once in the header itself.
                let checksum = match sum.plus(&transport_len.to_be_bytes()).checksum() {
                    // 0 would say that there is no checksum.
                    [0, 0] => [0xff, 0xff],
                    checksum => checksum,
                };
                put(to, UDP_LENGTH, transport_len.to_be_bytes())?;
                put(to, UDP_CHECKSUM, checksum)
            }
        }
    }

    /// FIN and PSH belong to the end of the burst, CWR to its start.
    #[inline]
    fn flags(&self, index: usize, flags: u8) -> u8 {
        let mut clear = 0;
        if index.saturating_add(1) < self.packets() {
            clear |= TCP_FIN | TCP_PSH;
        }
        if index > 0 && !self.traits.keep_cwr {
            clear |= TCP_CWR;
        }
        flags & !clear
    }
}

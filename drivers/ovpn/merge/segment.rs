// SPDX-License-Identifier: GPL-2.0

//! A TCP segment that may become part of a larger packet.

pub use crate::headers::MAX_HEADERS;

use crate::{
    checksum::Sum,
    headers::*, //
};

/// What differs between the versions of IP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Network {
    V4 { id: u16, may_fragment: bool },
    V6,
}

impl Network {
    /// Where the addresses begin, which the transport header follows.
    #[inline]
    pub(super) fn addresses_at(self) -> usize {
        match self {
            Self::V4 { .. } => IPV4_SOURCE,
            Self::V6 => IPV6_SOURCE,
        }
    }
}

/// A segment that carries data and nothing out of the ordinary.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    pub(super) headers_len: usize,
    pub(super) network: Network,
    pub(super) transport_at: usize,
    pub(super) payload_len: usize,
    pub(super) sequence: u32,
    pub(super) flags: u8,
}

impl Segment {
    /// The segment in a packet of `len` octets that begins with `head`, which has at least all
    /// headers. `None` if it is none of those that are put together: another protocol, IPv4 options
    /// or a fragment, IPv6 extensions, flags other than ACK and PSH, no data, a length that is not
    /// the packet's, damaged headers.
    #[inline]
    pub fn parse(head: &[u8], len: usize) -> Option<Self> {
        let (network, transport_at, protocol) = match head.first()? {
            0x45 => (ipv4(head, len)?, IPV4_LEN, *head.get(IPV4_PROTOCOL)?),
            first if first >> 4 == 6 => {
                let payload = usize::from(number(head, IPV6_PAYLOAD_LEN)?);
                if payload.checked_add(IPV6_LEN)? != len {
                    return None;
                }
                (Network::V6, IPV6_LEN, *head.get(IPV6_NEXT)?)
            }
            _ => return None,
        };
        if protocol != PROTOCOL_TCP {
            return None;
        }
        let tcp: &[u8; TCP_LEN] = head.get(transport_at..)?.first_chunk()?;
        let transport_len = usize::from(tcp[TCP_OFFSET] >> 4) * 4;
        let flags = tcp[TCP_FLAGS];
        if transport_len < TCP_LEN || flags & !TCP_PSH != TCP_ACK || tcp[TCP_OFFSET] & 1 != 0 {
            return None;
        }
        let headers_len = transport_at.checked_add(transport_len)?;
        let payload_len = len.checked_sub(headers_len).filter(|len| *len > 0)?;
        if head.len() < headers_len {
            return None;
        }
        Some(Self {
            headers_len,
            network,
            transport_at,
            payload_len,
            sequence: u32::from_be_bytes(*tcp[TCP_SEQUENCE..].first_chunk()?),
            flags,
        })
    }

    /// Whether it is in an IPv4 packet; else it is in an IPv6 one.
    #[inline]
    pub fn is_v4(&self) -> bool {
        matches!(self.network, Network::V4 { .. })
    }

    /// Octets of all headers.
    #[inline]
    pub fn headers_len(&self) -> usize {
        self.headers_len
    }

    /// Whether the TCP checksum is right, given the sum of the payload. `head` is what was parsed.
    #[inline]
    pub fn is_intact(&self, head: &[u8], payload: Sum) -> bool {
        // The addresses are right in front of the TCP header.
        let Some(summed) = head.get(self.network.addresses_at()..self.headers_len) else {
            return false;
        };
        let tcp_len = self
            .headers_len
            .wrapping_sub(self.transport_at)
            .wrapping_add(self.payload_len);
        Sum::default()
            .plus(summed)
            .plus_sum(pseudo(tcp_len))
            .plus_sum(payload)
            .checksum()
            == [0; 2]
    }
}

/// What the IPv4 header says, if it is in order.
#[inline]
fn ipv4(head: &[u8], len: usize) -> Option<Network> {
    let header: &[u8; IPV4_LEN] = head.first_chunk()?;
    let fragment = number(head, IPV4_FRAGMENT)?;
    let total = usize::from(number(head, IPV4_TOTAL_LEN)?);
    if fragment & !IPV4_DONT_FRAGMENT != 0 || total != len {
        return None;
    }
    if Sum::default().plus(header).checksum() != [0; 2] {
        return None;
    }
    Some(Network::V4 {
        id: number(head, IPV4_ID)?,
        may_fragment: fragment & IPV4_DONT_FRAGMENT == 0,
    })
}

/// The sum of the pseudo header of a segment of `len` octets, but for the addresses.
#[inline]
pub(super) fn pseudo(len: usize) -> Sum {
    // CAST: A packet's length.
    let [a, b, c, d] = (len as u32).to_be_bytes();
    Sum::default().plus(&[a, b, c, d, 0, PROTOCOL_TCP, 0, 0])
}

// SPDX-License-Identifier: GPL-2.0

//! What travels inside the tunnel: the plaintext of a record, or a packet that is to become one.

use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

use crate::{
    headers::*,
    wire::KEEPALIVE, //
};

/// Octets of a payload that [`classify`] and [`ip`] look at: the longer of the two IP headers.
pub const MAX_HEAD: usize = IPV6_LEN;

/// The addresses of an IP packet.
///
/// Only what choosing and checking a peer needs is read. The rest of the header is the business of
/// the stack, which validates it as it does for any device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Inner {
    /// An IPv4 packet.
    V4 {
        /// Who sent it.
        source: Ipv4Addr,
        /// Who is to get it.
        destination: Ipv4Addr,
    },
    /// An IPv6 packet.
    V6 {
        /// Who sent it.
        source: Ipv6Addr,
        /// Who is to get it.
        destination: Ipv6Addr,
    },
}

impl Inner {
    /// Returns the protocol number for the link layer, in host byte order.
    #[inline]
    pub const fn ethertype(&self) -> u16 {
        match self {
            Self::V4 { .. } => 0x0800,
            Self::V6 { .. } => 0x86dd,
        }
    }
}

/// What a decrypted record holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Payload {
    /// A packet for the tunnel interface.
    Ip(Inner),
    /// A sign of life, which ends here.
    Keepalive,
    /// Nothing at all.
    Empty,
    /// Something that no interface can take.
    Unknown,
}

/// Tells what a payload of `len` octets is, of which `head` is the beginning.
///
/// `head` must be the first `min(len, MAX_HEAD)` octets. If it is shorter, the payload is judged as
/// if it ended there.
#[inline]
pub fn classify(len: usize, head: &[u8]) -> Payload {
    match ip(head) {
        Some(inner) => Payload::Ip(inner),
        None if len == 0 => Payload::Empty,
        None if len == KEEPALIVE.len() && head == KEEPALIVE => Payload::Keepalive,
        None => Payload::Unknown,
    }
}

/// Octets of the shortest IP header of the version that the packet's `first` octet names, [`None`] if
/// it names none.
#[inline]
pub const fn header_len(first: u8) -> Option<usize> {
    match first >> 4 {
        4 => Some(IPV4_LEN),
        6 => Some(IPV6_LEN),
        _ => None,
    }
}

/// Reads the addresses of an IP packet, [`None`] if `head` does not begin with a whole IP header.
///
/// The version decides, together with the octets that must be there. Lengths and checksums that the
/// header claims are not looked at.
#[inline]
pub fn ip(head: &[u8]) -> Option<Inner> {
    match head.first()? >> 4 {
        4 if head.len() >= IPV4_LEN => Some(Inner::V4 {
            source: (*bytes::<4>(head, IPV4_SOURCE)?).into(),
            destination: (*bytes::<4>(head, IPV4_DESTINATION)?).into(),
        }),
        6 if head.len() >= IPV6_LEN => Some(Inner::V6 {
            source: (*bytes::<16>(head, IPV6_SOURCE)?).into(),
            destination: (*bytes::<16>(head, IPV6_DESTINATION)?).into(),
        }),
        _ => None,
    }
}

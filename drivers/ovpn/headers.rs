// SPDX-License-Identifier: GPL-2.0

//! Where things are in the headers of IP, TCP and UDP, in octets from the start of each header.
//!
//! Sources: RFC 791, 8200, 9293, 768.

/// IPv4 without options.
pub(crate) const IPV4_LEN: usize = 20;
pub(crate) const IPV4_TOTAL_LEN: usize = 2;
pub(crate) const IPV4_ID: usize = 4;
pub(crate) const IPV4_FRAGMENT: usize = 6;
pub(crate) const IPV4_PROTOCOL: usize = 9;
pub(crate) const IPV4_CHECKSUM: usize = 10;
/// The source address, and behind it that of the destination, which ends the header.
pub(crate) const IPV4_SOURCE: usize = 12;
pub(crate) const IPV4_DESTINATION: usize = 16;
/// In the word with the offset of the fragment: "don't fragment".
pub(crate) const IPV4_DONT_FRAGMENT: u16 = 0x4000;

/// IPv6 without extensions.
pub(crate) const IPV6_LEN: usize = 40;
pub(crate) const IPV6_PAYLOAD_LEN: usize = 4;
pub(crate) const IPV6_NEXT: usize = 6;
/// As in IPv4.
pub(crate) const IPV6_SOURCE: usize = 8;
pub(crate) const IPV6_DESTINATION: usize = 24;

pub(crate) const PROTOCOL_TCP: u8 = 6;
pub(crate) const PROTOCOL_UDP: u8 = 17;

/// TCP without options.
pub(crate) const TCP_LEN: usize = 20;
pub(crate) const TCP_SEQUENCE: usize = 4;
pub(crate) const TCP_OFFSET: usize = 12;
pub(crate) const TCP_FLAGS: usize = 13;
pub(crate) const TCP_CHECKSUM: usize = 16;
pub(crate) const TCP_FIN: u8 = 0x01;
pub(crate) const TCP_PSH: u8 = 0x08;
pub(crate) const TCP_ACK: u8 = 0x10;
pub(crate) const TCP_CWR: u8 = 0x80;

pub(crate) const UDP_LEN: usize = 8;
pub(crate) const UDP_LENGTH: usize = 4;
pub(crate) const UDP_CHECKSUM: usize = 6;

/// Longest headers of a packet that is cut up or put together: IPv6 without extensions, and TCP with
/// all options.
pub const MAX_HEADERS: usize = IPV6_LEN + 60;

/// The `N` octets at `at`.
#[inline]
pub(crate) fn bytes<const N: usize>(head: &[u8], at: usize) -> Option<&[u8; N]> {
    head.get(at..)?.first_chunk()
}

/// The 16-bit number at `at`.
#[inline]
pub(crate) fn number(head: &[u8], at: usize) -> Option<u16> {
    bytes(head, at).copied().map(u16::from_be_bytes)
}

/// Writes `value` to `at`.
#[inline]
pub(crate) fn put<const N: usize>(to: &mut [u8], at: usize, value: [u8; N]) -> Option<()> {
    *to.get_mut(at..)?.first_chunk_mut()? = value;
    Some(())
}

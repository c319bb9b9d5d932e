// SPDX-License-Identifier: GPL-2.0

//! What a receiver makes of a packet. It knows the formats from their specifications, and nothing
//! of how the packet came about.

use crate::naive_sum::sum;

pub(crate) const TCP: u8 = 6;
pub(crate) const UDP: u8 = 17;

/// A packet that was found in order.
#[derive(Debug)]
pub(crate) struct Packet {
    /// The id of IPv4.
    pub(crate) id: Option<u16>,
    pub(crate) tcp: Option<Tcp>,
    /// The headers, with zeros in the place of all that may differ within a burst.
    pub(crate) constant: Vec<u8>,
    pub(crate) payload: Vec<u8>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tcp {
    pub(crate) sequence: u32,
    pub(crate) flags: u8,
}

fn u16_at(octets: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([octets[at], octets[at + 1]])
}

/// Checks what a stored checksum ought to be: the complement of the sum of all octets beside it.
fn has_checksum(before: &[u8], octets: &[u8], at: usize) -> bool {
    let zeroed = [before, &octets[..at], &[0, 0], &octets[at + 2..]].concat();
    let expected = match (!sum(&zeroed), before.last()) {
        // RFC 768: a checksum of 0 is sent as all ones.
        (0, Some(&UDP)) => 0xffff,
        (expected, _) => expected,
    };
    u16_at(octets, at) == expected
}

/// Takes a packet apart.
///
/// # Panics
///
/// If a length or a checksum in it is wrong, or if there is anything that a burst cannot be.
pub(crate) fn receive(packet: &[u8]) -> Packet {
    let (network_len, protocol, id, addresses) = match packet[0] {
        0x45 => {
            assert_eq!(usize::from(u16_at(packet, 2)), packet.len(), "total length");
            assert_eq!(u16_at(packet, 6) & !0x4000, 0, "a fragment");
            assert!(has_checksum(&[], &packet[..20], 10), "IPv4 checksum");
            assert_eq!(sum(&packet[..20]), 0xffff, "IPv4 checksum");
            (20, packet[9], Some(u16_at(packet, 4)), 12..20)
        }
        first => {
            assert_eq!(first >> 4, 6, "version");
            assert_eq!(
                usize::from(u16_at(packet, 4)),
                packet.len() - 40,
                "payload length"
            );
            (40, packet[6], None, 8..40)
        }
    };
    let segment = &packet[network_len..];
    let pseudo = pseudo_header(&packet[addresses], segment.len(), protocol);
    let (tcp, segment_len) = match protocol {
        TCP => receive_tcp(&pseudo, segment),
        UDP => receive_udp(&pseudo, segment),
        other => panic!("protocol {other}"),
    };
    let payload_at = network_len + segment_len;
    let mut constant = packet[..payload_at].to_vec();
    clear_variable(&mut constant, network_len);
    Packet {
        id,
        tcp,
        constant,
        payload: packet[payload_at..].to_vec(),
    }
}

/// RFC 9293, section 3.1, and RFC 8200, section 8.1: the protocol is last here, which makes no
/// difference to the sum, and the lengths of both are summed alike.
fn pseudo_header(addresses: &[u8], len: usize, protocol: u8) -> Vec<u8> {
    let len = u32::try_from(len).unwrap().to_be_bytes();
    [addresses, &len, &[0, 0, 0, protocol]].concat()
}

fn receive_tcp(pseudo: &[u8], segment: &[u8]) -> (Option<Tcp>, usize) {
    assert!(has_checksum(pseudo, segment, 16), "TCP checksum");
    assert_eq!(sum(&[pseudo, segment].concat()), 0xffff, "TCP checksum");

    let tcp = Tcp {
        sequence: u32::from_be_bytes(*segment[4..].first_chunk().unwrap()),
        flags: segment[13],
    };
    let len = usize::from(segment[12] >> 4) * 4;
    assert!((20..segment.len()).contains(&len), "data offset");
    (Some(tcp), len)
}

fn receive_udp(pseudo: &[u8], segment: &[u8]) -> (Option<Tcp>, usize) {
    assert_eq!(usize::from(u16_at(segment, 4)), segment.len(), "UDP length");
    assert_ne!(u16_at(segment, 6), 0, "no UDP checksum");
    assert!(has_checksum(pseudo, segment, 6), "UDP checksum");
    assert_eq!(sum(&[pseudo, segment].concat()), 0xffff, "UDP checksum");
    (None, 8)
}

/// Puts zeros in the place of all that may differ between the packets of a burst.
pub(crate) fn clear_variable(headers: &mut [u8], network_len: usize) {
    let (network, transport) = headers.split_at_mut(network_len);
    let protocol = if network_len == 20 {
        // Total length, id, checksum.
        network[2..6].fill(0);
        network[10..12].fill(0);
        network[9]
    } else {
        // Payload length.
        network[4..6].fill(0);
        network[6]
    };
    if protocol == TCP {
        // Sequence number, flags, checksum.
        transport[4..8].fill(0);
        transport[13] = 0;
        transport[16..18].fill(0);
    } else {
        // Length, checksum.
        transport[4..8].fill(0);
    }
}

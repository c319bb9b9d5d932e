// SPDX-License-Identifier: GPL-2.0

//! Any octets as a burst: what can be cut is cut, and the packets are shown to a receiver.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    burst::*,
    checksum::Sum, //
};
use receiver::{
    clear_variable,
    receive,
    Packet,
    TCP,
    UDP, //
};

#[path = "../../tests/support/naive_sum.rs"]
mod naive_sum;
#[path = "../../tests/burst/receiver.rs"]
mod receiver;

/// More packets are not looked at one by one.
const PACKETS: usize = 70;

#[derive(Arbitrary, Debug)]
struct Input<'a> {
    piece: u16,
    same_id: bool,
    keep_cwr: bool,
    /// Makes IPv4 or IPv6, TCP or UDP of it, so that not all is refused at the version.
    mend: Option<(bool, bool)>,
    /// Octets of payload that are not in the input.
    more: u16,
    octets: &'a [u8],
}

fn mend(octets: &mut [u8], v6: bool, tcp: bool) {
    let protocol_at = if v6 { 6 } else { 9 };
    if octets.len() > protocol_at {
        octets[0] = if v6 { 0x60 | octets[0] & 0x0f } else { 0x45 };
        octets[protocol_at] = if tcp { TCP } else { UDP };
    }
}

/// Where the transport header and the payload begin, if this can be cut at all.
fn layout(octets: &[u8], piece: usize) -> Option<(usize, usize)> {
    let (network_len, protocol) = match octets.first()? >> 4 {
        4 if octets[0] == 0x45 && octets.len() >= 20 => {
            if octets[6] & !0x40 != 0 || octets[7] != 0 {
                return None;
            }
            (20, octets[9])
        }
        6 if octets.len() >= 40 => (40, octets[6]),
        _ => return None,
    };
    let transport_len = match protocol {
        TCP => usize::from(octets.get(network_len + 12)? >> 4) * 4,
        UDP => 8,
        _ => return None,
    };
    let payload_at = network_len + transport_len;
    let sound = protocol == UDP || transport_len >= 20;
    (sound && piece > 0 && octets.len() > payload_at + piece).then_some((network_len, payload_at))
}

/// Makes packet number `index` as the driver does, `None` if IP could not tell its length.
fn cut(burst: &Burst, octets: &[u8], index: usize) -> Option<Packet> {
    let payload = &octets[burst.payload(index).unwrap()];
    let sum = Sum::new(u16::from_ne_bytes(naive_sum::sum(payload).to_be_bytes()));
    let mut packet = vec![0; burst.headers_len()];
    burst.write_headers(index, sum, &mut packet)?;
    packet.extend_from_slice(payload);
    Some(receive(&packet))
}

fuzz_target!(|input: Input<'_>| {
    let mut octets = input.octets.to_vec();
    octets.resize(octets.len() + usize::from(input.more), 0xff);
    if let Some((v6, tcp)) = input.mend {
        mend(&mut octets, v6, tcp);
    }
    let piece = usize::from(input.piece);
    let traits = Traits {
        piece,
        same_id: input.same_id,
        keep_cwr: input.keep_cwr,
    };
    let head = &octets[..octets.len().min(MAX_HEADERS)];

    let Some(burst) = Burst::parse(head, octets.len(), traits) else {
        assert_eq!(layout(&octets, piece), None);
        return;
    };
    let (transport_at, payload_at) = layout(&octets, piece).unwrap();
    assert_eq!(burst.headers_len(), payload_at);
    let packets = (octets.len() - payload_at).div_ceil(piece);
    assert_eq!(burst.packets(), packets);
    assert_eq!(burst.payload(packets), None);

    let mut constant = octets[..payload_at].to_vec();
    clear_variable(&mut constant, transport_at);
    let mut at = payload_at;
    for index in 0..packets.min(PACKETS) {
        let payload = &octets[at..octets.len().min(at + piece)];
        at += payload.len();
        let Some(packet) = cut(&burst, &octets, index) else {
            let counted = payload_at - if octets[0] >> 4 == 6 { 40 } else { 0 };
            assert!(counted + payload.len() > 0xffff);
            continue;
        };
        assert_eq!(packet.payload, payload);
        assert_eq!(packet.constant, constant);
        if let Some(id) = packet.id {
            let first = u16::from_be_bytes([octets[4], octets[5]]);
            let step = if input.same_id { 0 } else { index };
            assert_eq!(usize::from(id.wrapping_sub(first)), step);
        }
        assert_eq!(
            packet.tcp.is_some(),
            burst.headers_len() - transport_at != 8
        );
        if let Some(tcp) = packet.tcp {
            let first = u32::from_be_bytes(*octets[transport_at + 4..].first_chunk().unwrap());
            assert_eq!(tcp.sequence.wrapping_sub(first) as usize, index * piece);
        }
    }
});

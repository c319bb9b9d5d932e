// SPDX-License-Identifier: GPL-2.0

//! What is no burst that can be cut up, and bytes that are nothing at all.

use std::ops::Range;

use ovpn_host::{
    burst::*,
    checksum::Sum, //
};
use proptest::{
    collection::vec,
    prelude::*, //
};

use crate::{
    receiver::{
        TCP,
        UDP, //
    },
    sample::{
        samples,
        Kind,
        Sample, //
    },
    support, //
};

/// Each kind of burst, with 250 bytes for packets of 100.
fn each() -> impl Iterator<Item = Sample> {
    Kind::ALL.into_iter().map(|kind| kind.plain(250, 100))
}

fn traits(piece: usize) -> Traits {
    Traits {
        piece,
        same_id: false,
        keep_cwr: false,
    }
}

/// IPv4 without options, and IPv6 of every traffic class, are all there is.
#[test]
fn every_first_octet() {
    for sample in each() {
        for first in 0..=u8::MAX {
            let mut other = sample.clone();
            other.octets[0] = first;
            let is_known = match sample.network_len {
                20 => first == 0x45,
                _ => first >> 4 == 6,
            };
            // Another version than it was made for may still make sense, but not these.
            if is_known || (first >> 4 != 6 && first != 0x45) {
                assert_eq!(other.parse().is_some(), is_known, "first octet {first:#x}");
            }
        }
    }
}

#[test]
fn fragments() {
    for sample in each().filter(|sample| sample.network_len == 20) {
        for field in 0..=u16::MAX {
            let mut other = sample.clone();
            other.octets[6..8].copy_from_slice(&field.to_be_bytes());
            let is_whole = field == 0 || field == 0x4000;
            assert_eq!(other.parse().is_some(), is_whole, "{field:#x}");
        }
    }
}

/// The extension headers of IPv6 among them.
#[test]
fn other_protocols() {
    for sample in each() {
        let at = if sample.network_len == 20 { 9 } else { 6 };
        for protocol in (0..=u8::MAX).filter(|p| ![TCP, UDP].contains(p)) {
            let mut other = sample.clone();
            other.octets[at] = protocol;
            assert!(other.parse().is_none(), "protocol {protocol}");
        }
    }
}

#[test]
fn tcp_headers_that_are_too_short() {
    for sample in each().filter(|sample| !sample.is_udp()) {
        for words in 0..16u8 {
            let mut other = sample.clone();
            other.octets[sample.network_len + 12] = (words << 4) | 0x0f;
            assert_eq!(other.parse().is_some(), words >= 5, "{words} words");
        }
    }
}

#[test]
fn a_payload_that_fits_one_packet() {
    for kind in Kind::ALL {
        for (len, piece) in [(0, 1), (1, 1), (100, 100), (99, 100), (250, usize::MAX)] {
            assert!(kind.plain(len, piece).parse().is_none(), "{len} in {piece}");
        }
        assert!(kind.plain(2, 1).parse().is_some());
        assert!(kind.plain(101, 100).parse().is_some());
    }
}

#[test]
fn pieces_of_nothing() {
    for kind in Kind::ALL {
        for len in [0, 1, 250] {
            assert!(kind.plain(len, 0).parse().is_none(), "{len} bytes");
        }
    }
}

/// Packets that end within their headers, and those of which not all headers are at hand.
#[test]
fn truncated_at_every_length() {
    for sample in each() {
        let whole = sample.octets.len();

        for len in 0..=whole {
            let head = &sample.octets[..len];
            let has_headers = len >= sample.headers_len;
            let burst = Burst::parse(head, whole, sample.traits);
            assert_eq!(burst.is_some(), has_headers, "{len} bytes of a head");

            let has_pieces = len > sample.headers_len + 100;
            let burst = Burst::parse(head, len, sample.traits);
            assert_eq!(burst.is_some(), has_pieces, "{len} bytes in all");
            // More at hand than there is.
            let burst = Burst::parse(&sample.octets, len, sample.traits);
            assert_eq!(burst.is_some(), has_pieces, "{len} bytes in all");
        }
    }
}

/// Uses everything that a burst offers. Says nothing about what comes out, but that the payload is
/// divided without a gap.
fn exercise(burst: &Burst, len: usize, index: usize) {
    let mut room = [0; 2 * MAX_HEADERS];
    let last = burst.packets() - 1;
    assert!((1..=MAX_HEADERS).contains(&burst.headers_len()));
    assert!(burst.packet_len() < len);
    assert_eq!(burst.payload(0).unwrap().start, burst.headers_len());
    assert_eq!(burst.payload(last).unwrap().end, len);
    assert_eq!(burst.payload(burst.packets()), None);

    for index in [0, 1, last, burst.packets(), index] {
        let Some(Range { start, end }) = burst.payload(index) else {
            assert!(burst
                .write_headers(index, Sum::new(0xffff), &mut room)
                .is_none());
            continue;
        };
        assert!(start < end && end <= len);
        assert!(index == last || burst.payload(index + 1).unwrap().start == end);
        for at in [0, 1, burst.headers_len() - 1, room.len()] {
            let written = burst.write_headers(index, Sum::new(0xffff), &mut room[..at]);
            assert!(written.is_none() || at == room.len());
        }
    }
}

/// Random bytes. Most begin like a packet would, or they would be refused at once.
fn heads() -> impl Strategy<Value = Vec<u8>> {
    let first = prop_oneof![4 => Just(0x45), 4 => 0x60..=0x6fu8, 1 => any::<u8>()];
    let protocol = prop_oneof![4 => Just(TCP), 2 => Just(UDP), 1 => any::<u8>()];
    (vec(any::<u8>(), 0..150), first, protocol, any::<bool>()).prop_map(
        |(mut head, first, protocol, whole)| {
            if let Some(octet) = head.first_mut() {
                *octet = first;
            }
            for at in [6, 9] {
                if let Some(octet) = head.get_mut(at) {
                    *octet = protocol;
                }
            }
            if whole && first == 0x45 {
                head.iter_mut().skip(6).take(2).for_each(|octet| *octet = 0);
            }
            head
        },
    )
}

/// Lengths, most of them possible.
fn lens() -> impl Strategy<Value = usize> {
    prop_oneof![
        0usize..300,
        0usize..70_000,
        any::<usize>(),
        Just(usize::MAX)
    ]
}

proptest! {
    #![proptest_config(support::cases(100_000))]

    #[test]
    fn random_bytes_do_no_harm(head in heads(), len in lens(), piece in lens(), index in lens()) {
        if let Some(burst) = Burst::parse(&head, len, traits(piece)) {
            exercise(&burst, len, index);
        }
    }

    #[test]
    fn mere_noise_does_no_harm(head in vec(any::<u8>(), 0..150), len in lens(), piece in lens()) {
        if let Some(burst) = Burst::parse(&head, len, traits(piece)) {
            exercise(&burst, len, len / 2);
        }
    }
}

proptest! {
    #![proptest_config(support::cases(5_000))]

    #[test]
    fn every_truncated_head_is_refused(sample in samples()) {
        for len in 0..sample.headers_len {
            let head = &sample.octets[..len];
            prop_assert!(Burst::parse(head, sample.octets.len(), sample.traits).is_none());
        }
        // What is behind the headers makes no difference.
        let head = sample.headers();
        let burst = Burst::parse(head, sample.octets.len(), sample.traits);
        prop_assert!(burst.is_some());
        exercise(&burst.unwrap(), sample.octets.len(), 2);
    }

    /// A bit is flipped in a good burst, which is refused or still cut up soundly.
    #[test]
    fn a_flipped_bit_does_no_harm(mut sample in samples(), bit: prop::sample::Index) {
        let bit = bit.index(sample.headers_len * 8);
        sample.octets[bit / 8] ^= 1 << (bit % 8);
        if let Some(burst) = sample.parse() {
            exercise(&burst, sample.octets.len(), 1);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Bursts are cut up, and the packets shown to a receiver that was written from the specifications.

#[path = "../support/naive_sum.rs"]
mod naive_sum;
mod receiver;
mod refused;
mod sample;
#[path = "../support/mod.rs"]
mod support;
mod vectors;

use ovpn_host::{
    burst::*,
    checksum::Sum, //
};
use proptest::prelude::*;
use receiver::{
    clear_variable,
    receive,
    Packet,
    Tcp, //
};
use sample::{
    samples,
    Kind,
    Sample, //
};

const FIN: u8 = 0x01;
const PSH: u8 = 0x08;
const CWR: u8 = 0x80;

/// Octets that no header is expected to leave behind.
const UNTOUCHED: u8 = 0xa5;

/// Makes packet number `index` as the driver does: headers in front of a piece of payload.
fn cut(burst: &Burst, sample: &Sample, index: usize) -> Vec<u8> {
    let payload = &sample.octets[burst.payload(index).unwrap()];
    // Somebody else sums up the payload, in the byte order of this machine.
    let sum = Sum::new(u16::from_ne_bytes(naive_sum::sum(payload).to_be_bytes()));
    let mut packet = vec![UNTOUCHED; burst.headers_len() + payload.len()];

    assert_eq!(burst.write_headers(index, sum, &mut packet), Some(()));
    let behind = &mut packet[burst.headers_len()..];
    assert!(behind.iter().all(|octet| *octet == UNTOUCHED));
    behind.copy_from_slice(payload);
    packet
}

/// Cuts a burst up and shows all its packets to the receiver.
fn receive_all(sample: &Sample) -> Vec<Packet> {
    let burst = sample.parse().unwrap();
    (0..burst.packets())
        .map(|index| receive(&cut(&burst, sample, index)))
        .collect()
}

/// What packet number `index` must look like to a receiver.
fn expected(sample: &Sample, index: usize) -> (Option<u16>, Option<Tcp>) {
    let headers = sample.headers();
    let id = (sample.network_len == 20).then(|| {
        let first = u16::from_be_bytes([headers[4], headers[5]]);
        let step = if sample.traits.same_id { 0 } else { index };
        ((usize::from(first) + step) % 0x1_0000) as u16
    });
    let tcp = (!sample.is_udp()).then(|| {
        let tcp = &headers[sample.network_len..];
        let first = u32::from_be_bytes(*tcp[4..].first_chunk().unwrap());
        let sent = (index * sample.traits.piece) as u64;
        let mut flags = tcp[13];
        if (index + 1) * sample.traits.piece < sample.payload().len() {
            flags &= !(FIN | PSH);
        }
        if index != 0 && !sample.traits.keep_cwr {
            flags &= !CWR;
        }
        Tcp {
            sequence: ((u64::from(first) + sent) % (1 << 32)) as u32,
            flags,
        }
    });
    (id, tcp)
}

/// Cuts a burst up and checks everything about its packets.
fn check(sample: &Sample) {
    let burst = sample.parse().unwrap();
    let mut constant = sample.headers().to_vec();
    clear_variable(&mut constant, sample.network_len);

    assert_eq!(burst.headers_len(), sample.headers_len);
    assert_eq!(burst.packet_len(), sample.headers_len + sample.traits.piece);
    let packets = receive_all(sample);
    let payloads: Vec<&[u8]> = sample.payload().chunks(sample.traits.piece).collect();
    assert_eq!(burst.packets(), payloads.len());

    for (index, (packet, payload)) in packets.iter().zip(payloads).enumerate() {
        assert_eq!(packet.payload, payload, "payload of {index}");
        assert_eq!(packet.constant, constant, "headers of {index}");
        let found = (packet.id, packet.tcp);
        assert_eq!(found, expected(sample, index), "packet {index}");
    }
}

/// Every value of the flags, and what the middle of a burst is spared.
#[test]
fn all_flags() {
    for flags in 0..=u8::MAX {
        for keep_cwr in [false, true] {
            let mut sample = Kind::ALL[0].plain(250, 100);
            sample.octets[33] = flags;
            sample.traits.keep_cwr = keep_cwr;

            let cwr = if keep_cwr { 0 } else { CWR };
            let all = [
                flags & !(FIN | PSH),
                flags & !(FIN | PSH | cwr),
                flags & !cwr,
            ];
            let found = receive_all(&sample)
                .into_iter()
                .map(|p| p.tcp.unwrap().flags);
            assert!(found.eq(all), "flags {flags:#x}, {keep_cwr}");
        }
    }
}

#[test]
fn ids_go_round() {
    let mut sample = Kind::ALL[0].plain(450, 100);
    sample.octets[4..6].copy_from_slice(&[0xff, 0xfd]);

    let ids: Vec<_> = receive_all(&sample).iter().map(|p| p.id).collect();
    assert_eq!(ids, [0xfffd, 0xfffe, 0xffff, 0, 1].map(Some));

    sample.traits.same_id = true;
    let ids: Vec<_> = receive_all(&sample).iter().map(|p| p.id).collect();
    assert_eq!(ids, [Some(0xfffd); 5]);
}

#[test]
fn sequence_numbers_go_round() {
    for kind in [Kind::ALL[1], Kind::ALL[4]] {
        let mut sample = kind.plain(450, 100);
        let at = sample.network_len + 4;
        sample.octets[at..at + 4].copy_from_slice(&(u32::MAX - 149).to_be_bytes());

        let found = receive_all(&sample)
            .into_iter()
            .map(|p| p.tcp.unwrap().sequence);
        assert!(found.eq([u32::MAX - 149, u32::MAX - 49, 50, 150, 250]));
    }
}

/// A payload that fits into two packets to the byte, and one byte more.
#[test]
fn the_last_packet_is_what_is_left() {
    for kind in Kind::ALL {
        for (len, lens) in [
            (101, &[100, 1][..]),
            (199, &[100, 99]),
            (200, &[100, 100]),
            (201, &[100, 100, 1]),
        ] {
            let sample = kind.plain(len, 100);
            check(&sample);
            let found = receive_all(&sample).into_iter().map(|p| p.payload.len());
            assert!(found.eq(lens.iter().copied()), "{kind:?}, {len}");
        }
    }
}

/// Longer than the length field of IP could tell, and more packets than there are ids of IPv4.
#[test]
fn more_than_64_kilobytes() {
    for kind in Kind::ALL {
        check(&kind.plain(500_000, 1400));
    }
    check(&Kind::ALL[0].plain(66_000, 1));
}

/// The longest packets that IP can carry, and one byte more.
#[test]
fn a_packet_too_long_is_not_written() {
    for kind in Kind::ALL {
        let most = {
            let sample = kind.plain(2, 1);
            // IPv6 does not count its own header.
            let counted = sample.headers_len - if kind.v6 { 40 } else { 0 };
            65_535 - counted
        };
        check(&kind.plain(2 * most, most));

        for piece in [most + 1, most + 20, most + 40, 65_536, 1 << 20] {
            let burst = kind.plain(piece + 1, piece).parse().unwrap();
            let mut room = [0; MAX_HEADERS];
            assert_eq!(burst.write_headers(0, Sum::default(), &mut room), None);
            assert_eq!(burst.write_headers(1, Sum::default(), &mut room), Some(()));
        }
    }
}

#[test]
fn there_is_no_packet_behind_the_last() {
    for kind in Kind::ALL {
        let burst = kind.plain(250, 100).parse().unwrap();

        for index in [3, 4, 0xffff, 0x1_0000, usize::MAX / 100, usize::MAX] {
            let mut room = [0; MAX_HEADERS];
            assert_eq!(burst.payload(index), None);
            assert_eq!(burst.write_headers(index, Sum::default(), &mut room), None);
        }
    }
}

#[test]
fn headers_need_room() {
    for kind in Kind::ALL {
        let burst = kind.plain(250, 100).parse().unwrap();
        let mut room = [0; MAX_HEADERS];

        for len in 0..=MAX_HEADERS {
            let written = burst.write_headers(1, Sum::default(), &mut room[..len]);
            assert_eq!(written.is_some(), len >= burst.headers_len());
        }
    }
}

proptest! {
    #![proptest_config(support::cases(5_000))]

    #[test]
    fn a_receiver_is_content(sample in samples()) {
        check(&sample);
    }

    /// A word of the payload, and the id of IPv4, are set such that the checksums of one packet
    /// become 0: all ones with UDP, where 0 means that there is none.
    #[test]
    fn checksums_become_zero(mut sample in samples(), at: prop::sample::Index) {
        let burst = sample.parse().unwrap();
        let index = at.index(burst.packets());
        let payload = burst.payload(index).unwrap();
        prop_assume!(payload.len() >= 2);
        let checksum_at = sample.network_len + if sample.is_udp() { 6 } else { 16 };

        let mut packet = cut(&burst, &sample, index);
        let checksum = [packet[checksum_at], packet[checksum_at + 1]];
        add(&mut sample.octets, payload.start, checksum);
        if sample.network_len == 20 {
            let checksum = [packet[10], packet[11]];
            add(&mut packet, 4, checksum);
            let id = u16::from_be_bytes([packet[4], packet[5]]);
            let step = if sample.traits.same_id { 0 } else { index as u16 };
            sample.octets[4..6].copy_from_slice(&id.wrapping_sub(step).to_be_bytes());
        }

        check(&sample);
        let packet = cut(&sample.parse().unwrap(), &sample, index);
        let zero = if sample.is_udp() { [0xff; 2] } else { [0; 2] };
        prop_assert_eq!(&packet[checksum_at..][..2], &zero);
        if sample.network_len == 20 {
            prop_assert_eq!(&packet[10..12], &[0, 0]);
        }
    }
}

/// Adds to a word, in ones' complement.
fn add(octets: &mut [u8], at: usize, word: [u8; 2]) {
    let both = [octets[at], octets[at + 1], word[0], word[1]];
    octets[at..at + 2].copy_from_slice(&naive_sum::sum(&both).to_be_bytes());
}

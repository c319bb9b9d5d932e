// SPDX-License-Identifier: GPL-2.0

//! Segments become one packet exactly if that can be cut up into the same segments again. The
//! knife is the driver's own, which a receiver of its own tests.

#[path = "support/naive_sum.rs"]
mod naive_sum;
mod support;

use ovpn_host::{
    burst::{
        Burst,
        Traits, //
    },
    checksum::Sum,
    merge::{
        segment::*,
        train::*, //
    },
};
use proptest::prelude::*;

const PSH: u8 = 0x08;
const ACK: u8 = 0x10;

/// A segment to be made.
#[derive(Clone, Debug)]
struct Spec {
    v6: bool,
    options: usize,
    id: u16,
    dont_fragment: bool,
    sequence: u32,
    flags: u8,
    payload: usize,
}

impl Spec {
    const PLAIN: Self = Self {
        v6: false,
        options: 12,
        id: 7,
        dont_fragment: true,
        sequence: 1000,
        flags: ACK,
        payload: 100,
    };

    fn v6() -> Self {
        Self {
            v6: true,
            ..Self::PLAIN
        }
    }

    /// The segment that follows.
    fn next(&self) -> Self {
        Self {
            id: self.id.wrapping_add(1),
            sequence: self.sequence.wrapping_add(self.payload as u32),
            ..self.clone()
        }
    }

    fn network_len(&self) -> usize {
        if self.v6 {
            40
        } else {
            20
        }
    }

    fn packet(&self) -> Vec<u8> {
        let tcp_len = 20 + self.options + self.payload;
        let mut packet = match self.v6 {
            false => {
                let total = (20 + tcp_len) as u16;
                let fragment = if self.dont_fragment { 0x40 } else { 0 };
                let mut header = vec![0x45, 0, (total >> 8) as u8, total as u8];
                header.extend(self.id.to_be_bytes());
                header.extend([fragment, 0, 64, 6, 0, 0, 10, 9, 0, 1, 10, 9, 0, 2]);
                header
            }
            true => {
                let mut header = vec![0x60, 1, 2, 3, (tcp_len >> 8) as u8, tcp_len as u8, 6, 64];
                header.extend((0..32).map(|n| 0xa0 ^ n));
                header
            }
        };
        let words = (5 + self.options / 4) as u8;
        packet.extend([0x30, 0x39, 0x01, 0xbb]);
        packet.extend(self.sequence.to_be_bytes());
        packet.extend([1, 2, 3, 4, words << 4, self.flags, 0x20, 0, 0, 0, 0, 0]);
        packet.extend((0..self.options).map(|n| n as u8));
        let seed = self.sequence;
        packet.extend((0..self.payload).map(|n| (seed as usize + n) as u8));
        repair(&mut packet);
        packet
    }
}

/// Puts the checksums right.
fn repair(packet: &mut [u8]) {
    let (network_len, addresses) = match packet[0] >> 4 {
        4 => {
            packet[10..12].fill(0);
            let sum = !naive_sum::sum(&packet[..20]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            (20, 12..20)
        }
        _ => (40, 8..40),
    };
    let at = network_len + 16;
    packet[at..at + 2].fill(0);
    let len = (packet.len() - network_len) as u32;
    let pseudo = [&packet[addresses], &len.to_be_bytes(), &[0, 0, 0, 6]].concat();
    let sum = !naive_sum::sum(&[&pseudo, &packet[network_len..]].concat());
    packet[at..at + 2].copy_from_slice(&sum.to_be_bytes());
}

fn parse(packet: &[u8]) -> Option<Segment> {
    Segment::parse(packet, packet.len())
}

fn payload_sum(payload: &[u8]) -> Sum {
    Sum::new(u16::from_ne_bytes(naive_sum::sum(payload).to_be_bytes()))
}

/// What the driver does: packets in, packets out; how many each was.
fn merge(packets: &[Vec<u8>], limit: usize) -> Vec<(Vec<u8>, usize, Option<Whole>)> {
    let mut out = Vec::new();
    let mut current: Option<(Train, Vec<u8>)> = None;
    let close = |current: &mut Option<(Train, Vec<u8>)>, out: &mut Vec<_>| {
        let Some((train, octets)) = current.take() else {
            return;
        };
        if train.count() == 1 {
            out.push((octets, 1, None));
            return;
        }
        let whole = train.finish().unwrap();
        let octets = [whole.headers(), &octets[whole.headers().len()..]].concat();
        out.push((octets, whole.count(), Some(whole)));
    };
    for packet in packets {
        let segment = parse(packet).filter(|segment| {
            segment.is_intact(packet, payload_sum(&packet[segment.headers_len()..]))
        });
        let Some(segment) = segment else {
            close(&mut current, &mut out);
            out.push((packet.clone(), 1, None));
            continue;
        };
        match &mut current {
            Some((train, octets)) if train.takes(&segment, packet) => {
                train.add(&segment);
                octets.extend_from_slice(&packet[segment.headers_len()..]);
            }
            _ => {
                close(&mut current, &mut out);
                let train = Train::new(&segment, packet, limit).unwrap();
                current = Some((train, packet.clone()));
            }
        }
    }
    close(&mut current, &mut out);
    out
}

/// Cuts a packet up that was put together.
fn cut(octets: &[u8], whole: &Whole) -> Vec<Vec<u8>> {
    let traits = Traits {
        piece: whole.piece(),
        same_id: whole.same_id(),
        keep_cwr: false,
    };
    let burst = Burst::parse(octets, octets.len(), traits).unwrap();
    (0..burst.packets())
        .map(|index| {
            let payload = &octets[burst.payload(index).unwrap()];
            let mut packet = vec![0; burst.headers_len()];
            burst
                .write_headers(index, payload_sum(payload), &mut packet)
                .unwrap();
            packet.extend_from_slice(payload);
            packet
        })
        .collect()
}

/// How many segments each packet is that comes out; all must be the same when cut up again.
fn counts(specs: &[Spec]) -> Vec<usize> {
    let packets: Vec<_> = specs.iter().map(Spec::packet).collect();
    check(&packets)
}

fn check(packets: &[Vec<u8>]) -> Vec<usize> {
    let merged = merge(packets, usize::MAX);
    let again: Vec<_> = merged
        .iter()
        .flat_map(|(octets, _, whole)| match whole {
            Some(whole) => cut(octets, whole),
            None => vec![octets.clone()],
        })
        .collect();
    assert_eq!(again, packets);
    merged.iter().map(|(_, count, _)| *count).collect()
}

/// A first segment and `count - 1` that follow it.
fn run(first: Spec, count: usize) -> Vec<Spec> {
    std::iter::successors(Some(first), |spec| Some(spec.next()))
        .take(count)
        .collect()
}

#[test]
fn segments_in_order_become_one() {
    for first in [Spec::PLAIN, Spec::v6()] {
        for options in [0, 4, 12, 40] {
            let first = Spec {
                options,
                ..first.clone()
            };
            assert_eq!(counts(&run(first, 40)), [40]);
        }
    }
}

#[test]
fn no_packet_is_longer_than_the_limit() {
    for first in [Spec::PLAIN, Spec::v6()] {
        let packets: Vec<_> = run(first, 40).iter().map(Spec::packet).collect();
        let (one, two) = (
            packets[0].len(),
            merge(&packets[..2], usize::MAX)[0].0.len(),
        );
        for limit in (0..3 * one).chain([usize::MAX]) {
            let merged = merge(&packets, limit);
            assert_eq!(merged[0].1 > 1, limit >= two);
            for (octets, count, _) in merged {
                // A packet that came longer than that stays as it is.
                assert!(count == 1 || octets.len() <= limit);
            }
        }
    }
}

#[test]
fn a_gap_or_a_repetition_begins_anew() {
    let mut specs = run(Spec::PLAIN, 6);
    specs.remove(2);
    assert_eq!(counts(&specs), [2, 3]);
    let mut specs = run(Spec::PLAIN, 4);
    specs.insert(2, specs[1].clone());
    // The repeated one is followed by the next.
    assert_eq!(counts(&specs), [2, 3]);
}

#[test]
fn the_sequence_number_wraps() {
    let first = Spec {
        sequence: u32::MAX - 150,
        id: u16::MAX - 1,
        ..Spec::PLAIN
    };
    assert_eq!(counts(&run(first, 5)), [5]);
}

#[test]
fn a_shorter_segment_and_a_pushed_one_are_the_last() {
    let mut specs = run(Spec::PLAIN, 3);
    specs[2].payload = 99;
    specs.push(specs[2].next());
    assert_eq!(counts(&specs), [3, 1]);

    let mut specs = run(Spec::PLAIN, 4);
    specs[1].flags |= PSH;
    assert_eq!(counts(&specs), [2, 2]);
    specs[0].flags |= PSH;
    assert_eq!(counts(&specs), [1, 1, 2]);

    let mut longer = run(Spec::PLAIN, 2);
    longer[1].payload = 101;
    assert_eq!(counts(&longer), [1, 1]);
}

#[test]
fn ids_count_or_stay() {
    let same = |dont_fragment: bool| {
        let mut specs = run(Spec::PLAIN, 4);
        for spec in &mut specs {
            spec.id = 9;
            spec.dont_fragment = dont_fragment;
        }
        specs
    };
    assert_eq!(counts(&same(true)), [4]);
    // Fragments of such packets could not be told apart.
    assert_eq!(counts(&same(false)), [1, 1, 1, 1]);
    let mut mixed = run(Spec::PLAIN, 4);
    mixed[2].id = mixed[1].id;
    mixed[3].id = mixed[1].id.wrapping_add(1);
    assert_eq!(counts(&mixed), [2, 2]);
}

#[test]
fn other_headers_begin_anew() {
    for first in [Spec::PLAIN, Spec::v6()] {
        let packets: Vec<_> = run(first.clone(), 2).iter().map(Spec::packet).collect();
        let at = first.network_len();
        let network: &[usize] = match first.v6 {
            false => &[1, 8, 12, 15, 16, 19],
            true => &[1, 3, 7, 8, 23, 24, 39],
        };
        // Ports, acknowledgment, flags but PSH, window, urgent pointer, options.
        let transport = [0, 1, 2, 3, 8, 11, 14, 15, 18, 19, 20, 31].map(|n| at + n);
        for changed in network.iter().copied().chain(transport) {
            let mut packets = packets.clone();
            packets[1][changed] ^= 1;
            repair(&mut packets[1]);
            assert_eq!(check(&packets), [1, 1], "octet {changed} of {first:?}");
        }
    }
}

#[test]
fn what_is_out_of_the_ordinary_is_left_alone() {
    for flags in (0..=255u8).filter(|flags| flags & !PSH != ACK) {
        let packet = Spec {
            flags,
            ..Spec::PLAIN
        }
        .packet();
        assert!(parse(&packet).is_none(), "flags {flags:#x}");
    }
    let change = |at: usize, value: u8| {
        let mut packet = Spec::PLAIN.packet();
        packet[at] = value;
        repair(&mut packet);
        parse(&packet).is_none()
    };
    assert!(change(0, 0x46), "IPv4 options");
    assert!(change(6, 0x20), "more fragments");
    assert!(change(7, 1), "a fragment");
    assert!(change(6, 0x80), "a reserved flag");
    assert!(change(3, 0), "another length");
    assert!(change(9, 17), "UDP");
    assert!(change(32, 0x40), "a TCP header that is too short");
    assert!(change(32, 0x81), "a reserved flag of TCP");
    let no_payload = Spec {
        payload: 0,
        ..Spec::PLAIN
    };
    assert!(parse(&no_payload.packet()).is_none());
}

#[test]
fn damage_is_seen() {
    for first in [Spec::PLAIN, Spec::v6()] {
        let good: Vec<_> = run(first.clone(), 2).iter().map(Spec::packet).collect();
        for at in first.network_len()..good[1].len() {
            let mut packets = good.clone();
            packets[1][at] ^= 0x10;
            assert_eq!(check(&packets), [1, 1], "octet {at}");
        }
    }
    let mut packet = Spec::PLAIN.packet();
    packet[10] ^= 1;
    assert!(parse(&packet).is_none(), "IPv4 checksum");
}

#[test]
fn cut_short_it_is_no_segment() {
    for spec in [Spec::PLAIN, Spec::v6()] {
        let packet = spec.packet();
        let headers = spec.network_len() + 32;
        for len in 0..headers {
            assert!(Segment::parse(&packet[..len], packet.len()).is_none());
        }
        assert!(Segment::parse(&packet[..headers], packet.len()).is_some());
    }
}

#[test]
fn no_more_than_a_packet_can_be() {
    let first = Spec {
        payload: 1400,
        ..Spec::PLAIN
    };
    let full = (65_535 - 52) / 1400;
    assert_eq!(counts(&run(first, full + 3)), [full, 3]);
    let first = Spec {
        payload: 1400,
        ..Spec::v6()
    };
    assert_eq!(counts(&run(first, 46)), [46]);
}

/// The checksum field holds the sum of the pseudo header, for others to complete.
#[test]
fn the_checksum_is_begun() {
    for first in [Spec::PLAIN, Spec::v6()] {
        let packets: Vec<_> = run(first.clone(), 3).iter().map(Spec::packet).collect();
        let (octets, _, _) = merge(&packets, usize::MAX).remove(0);
        let at = first.network_len();
        let addresses = if first.v6 { 8..40 } else { 12..20 };
        let len = (octets.len() - at) as u32;
        let pseudo = [&octets[addresses], &len.to_be_bytes(), &[0, 0, 0, 6]].concat();
        let expected = naive_sum::sum(&pseudo).to_be_bytes();
        assert_eq!(octets[at + 16..at + 18], expected);
        if !first.v6 {
            assert_eq!(naive_sum::sum(&octets[..20]), 0xffff);
        }
    }
}

/// Changes to a run of segments.
fn specs() -> impl Strategy<Value = Vec<Spec>> {
    let first = (
        any::<bool>(),
        0usize..=10,
        any::<u16>(),
        any::<bool>(),
        any::<u32>(),
    )
        .prop_map(|(v6, words, id, dont_fragment, sequence)| Spec {
            v6,
            options: 4 * words,
            id,
            dont_fragment,
            sequence,
            ..Spec::PLAIN
        });
    let change = (0usize..12, 0usize..40);
    (first, 1usize..40, proptest::collection::vec(change, 0..6)).prop_map(
        |(first, count, changes)| {
            let mut specs = run(first, count);
            for (kind, at) in changes {
                let at = at % specs.len();
                match kind {
                    0 => specs[at].flags ^= PSH,
                    1 => specs[at].payload = 1 + at,
                    2 => specs[at].payload = 101,
                    3 => specs[at].id = specs[0].id,
                    4 => specs[at].options = 16,
                    5 => specs[at].sequence ^= 1,
                    6 => specs.iter_mut().for_each(|spec| spec.id = 5),
                    7 => specs[at].dont_fragment ^= true,
                    8 => specs[at].flags ^= 1 << (at % 8),
                    9 => specs[at].payload = 0,
                    10 => specs.swap(0, at),
                    _ => specs[at].v6 ^= true,
                }
            }
            specs
        },
    )
}

proptest! {
    #![proptest_config(support::cases(3_000))]

    #[test]
    fn cut_up_again_it_is_the_same(specs in specs()) {
        counts(&specs);
    }

    #[test]
    fn anything_may_come(head in proptest::collection::vec(any::<u8>(), 0..200), len in 0usize..70_000) {
        if let Some(segment) = Segment::parse(&head, len) {
            prop_assert!(segment.headers_len() <= head.len().min(MAX_HEADERS));
        }
    }
}

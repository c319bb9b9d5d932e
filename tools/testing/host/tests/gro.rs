// SPDX-License-Identifier: GPL-2.0

//! The rule by which datagrams wait for each other: lists that the stack can cut up again, and
//! nothing overtaken.

use ovpn_host::{
    net::gro::{
        ChecksumState,
        Datagram,
        Held,
        Join,
        List,
        MAX_RECORDS, //
    },
    transport::gro::*,
    wire::OVERHEAD, //
};
use proptest::prelude::*;

mod support;

/// The first word of a record: DATA_V2, key id 0, peer id 1.
const WORD: [u8; 4] = [9 << 3, 0, 0, 1];

fn with_id([a, b, c, d]: [u8; 4], id: u32) -> [u8; 8] {
    let [e, f, g, h] = id.to_be_bytes();
    [a, b, c, d, e, f, g, h]
}

fn checksum(summed: u8) -> ChecksumState {
    ChecksumState { summed, level: 0 }
}

fn record(len: usize) -> Datagram {
    Datagram {
        first: with_id(WORD, len as u32),
        len,
        checksum: checksum(0),
    }
}

/// `count` records of `len` octets wait.
fn waiting(len: usize, count: usize) -> List {
    List {
        first: record(len),
        count,
        room: 65_535 - 28 - count * len,
        continued: true,
    }
}

fn judged(new: Datagram, waiting: List) -> Join {
    // However long nothing came together: what waits is proof that something may.
    let verdict = judge(&new, &Held::List(waiting), PATIENCE);
    assert_eq!(verdict, judge(&new, &Held::List(waiting), 0));
    verdict
}

#[test]
fn patience_ends_but_for_a_few() {
    let waits = |alone| {
        (0..800u32)
            .filter(|id| {
                let new = Datagram {
                    first: with_id(WORD, *id),
                    ..record(1400)
                };
                judge(&new, &Held::Nothing, alone) == Join::Hold
            })
            .count()
    };
    assert_eq!(waits(0), 800);
    assert_eq!(waits(PATIENCE - 1), 800);
    assert_eq!(waits(PATIENCE), 100);
    assert_eq!(waits(u32::MAX), 100);
}

#[test]
fn nothing_waits() {
    for held in [Held::Nothing, Held::Other] {
        assert_eq!(judge(&record(1400), &held, 0), Join::Hold);
        assert_eq!(judge(&record(OVERHEAD + 1), &held, 0), Join::Hold);
        assert_eq!(judge(&record(OVERHEAD), &held, 0), Join::Pass);
        assert_eq!(judge(&record(MAX_LEN), &held, 0), Join::Hold);
        assert_eq!(judge(&record(MAX_LEN + 1), &held, 0), Join::Pass);
    }
}

#[test]
fn records_of_one_size_join() {
    assert_eq!(judged(record(900), waiting(900, 1)), Join::Append);
    assert_eq!(judged(record(900), waiting(900, 62)), Join::Append);
    assert_eq!(judged(record(900), waiting(900, 63)), Join::Finish);
    assert_eq!(judged(record(900), waiting(900, 64)), Join::Hold);
}

#[test]
fn a_shorter_record_is_the_last() {
    assert_eq!(judged(record(899), waiting(900, 5)), Join::Finish);
    assert_eq!(judged(record(901), waiting(900, 5)), Join::Hold);
}

#[test]
fn room_is_kept() {
    for (len, expected) in [(900, Join::Append), (901, Join::Append)] {
        let mut full = waiting(len, 5);
        full.room = len;
        assert_eq!(judged(record(len), full), expected);
        full.room = len - 1;
        assert_eq!(judged(record(len), full), Join::Hold);
        full.room = 0;
        assert_eq!(judged(record(len), full), Join::Hold);
    }
}

#[test]
fn only_data_waits() {
    for opcode in (0..32u8).filter(|opcode| *opcode != 9) {
        let other = Datagram {
            first: with_id([opcode << 3, 0, 0, 1], 7),
            ..record(900)
        };
        assert_eq!(judge(&other, &Held::Nothing, 0), Join::Pass, "{opcode}");
        assert_eq!(judged(other, waiting(900, 3)), Join::Pass, "{opcode}");
    }
}

#[test]
fn another_flow_begins_anew() {
    let mut key = record(900);
    key.first[0] |= 1;
    let mut peer = record(900);
    peer.first[3] ^= 1;
    let mut summed = record(900);
    summed.checksum = checksum(1);
    for other in [key, peer, summed] {
        assert_eq!(judged(other, waiting(900, 3)), Join::Hold);
    }
    let mut broken = waiting(900, 3);
    broken.continued = false;
    assert_eq!(judged(record(900), broken), Join::Hold);
}

/// What GRO does with the verdicts, for one flow.
#[derive(Default)]
struct Flow {
    list: Vec<(usize, Datagram)>,
    /// Lists in the order in which they went up.
    up: Vec<Vec<(usize, Datagram)>>,
}

impl Flow {
    fn go_up(&mut self) {
        if !self.list.is_empty() {
            self.up.push(std::mem::take(&mut self.list));
        }
    }

    fn arrive(&mut self, number: usize, new: Datagram, continued: bool) {
        let held = match self.list.first() {
            None => Held::Nothing,
            Some((_, first)) => Held::List(List {
                first: *first,
                count: self.list.len(),
                room: 65_535 - 28 - self.list.iter().map(|(_, one)| one.len).sum::<usize>(),
                continued,
            }),
        };
        match judge(&new, &held, 0) {
            Join::Pass => {
                self.go_up();
                self.up.push(vec![(number, new)]);
            }
            Join::Hold => {
                self.go_up();
                self.list.push((number, new));
            }
            Join::Append => self.list.push((number, new)),
            Join::Finish => {
                self.list.push((number, new));
                self.go_up();
            }
        }
    }
}

fn arrivals() -> impl Strategy<Value = (Datagram, bool)> {
    let first = prop_oneof![
        12 => Just(WORD),
        1 => Just([9 << 3, 0, 0, 2]),
        1 => Just([(9 << 3) | 1, 0, 0, 1]),
        1 => Just([4 << 3, 0, 0, 1]),
        1 => any::<[u8; 4]>(),
    ];
    let len = prop_oneof![12 => Just(1424usize), 2 => 20usize..1500, 1 => 1400usize..5000];
    let summed = prop_oneof![20 => Just(0u8), 1 => 0u8..3];
    let continued = prop_oneof![20 => Just(true), 1 => Just(false)];
    let id = any::<u32>();
    (first, id, len, summed, continued).prop_map(|(first, id, len, summed, continued)| {
        let new = Datagram {
            first: with_id(first, id),
            len,
            checksum: checksum(summed),
        };
        (new, continued)
    })
}

proptest! {
    #![proptest_config(support::cases(5_000))]

    #[test]
    fn lists_can_be_cut_up_and_nothing_is_overtaken(
        arrivals in proptest::collection::vec(arrivals(), 1..300),
    ) {
        let mut flow = Flow::default();
        for (number, (new, continued)) in arrivals.iter().enumerate() {
            flow.arrive(number, *new, *continued);
        }
        flow.go_up();

        let order: Vec<_> = flow.up.iter().flatten().map(|(number, _)| *number).collect();
        prop_assert_eq!(order, (0..arrivals.len()).collect::<Vec<_>>());
        for list in &flow.up {
            let (first, rest) = list.split_first().unwrap();
            let total: usize = list.iter().map(|(_, one)| one.len).sum();
            prop_assert!(list.len() <= MAX_RECORDS && (rest.is_empty() || total + 28 <= 65_535));
            for (at, (_, one)) in rest.iter().enumerate() {
                prop_assert_eq!(&one.first[..4], &first.1.first[..4]);
                prop_assert_eq!(one.checksum, first.1.checksum);
                prop_assert!(one.len == first.1.len || one.len < first.1.len && at + 1 == rest.len());
            }
            // What waits is data.
            prop_assert!(rest.is_empty() || first.1.first[0] >> 3 == 9);
        }
    }
}

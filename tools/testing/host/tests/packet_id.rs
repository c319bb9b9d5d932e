// SPDX-License-Identifier: GPL-2.0

//! The sender's counter: no id twice, none behind the last one.

use std::{
    collections::HashSet,
    num::NonZeroU32,
    sync::atomic::{
        AtomicU32,
        Ordering::Relaxed, //
    },
    thread, //
};

use ovpn_host::crypto::packet_id::*;
use proptest::prelude::*;

mod support;

fn plan(last: u32, count: u32) -> Result<Reservation, Exhausted> {
    reserve(last, NonZeroU32::new(count).unwrap())
}

/// What the driver does with [`reserve`].
fn take(counter: &AtomicU32, count: u32) -> Result<PacketIds, Exhausted> {
    let mut last = counter.load(Relaxed);

    loop {
        let reservation = plan(last, count)?;
        match counter.compare_exchange_weak(last, reservation.last, Relaxed, Relaxed) {
            Ok(_) => return Ok(reservation.ids),
            Err(found) => last = found,
        }
    }
}

fn numbers(ids: PacketIds) -> Vec<u32> {
    ids.map(PacketId::get).collect()
}

#[test]
fn zero_is_no_packet_id() {
    assert_eq!(PacketId::new(0), None);
    assert_eq!(PacketId::new(1).unwrap().get(), 1);
    assert_eq!(PacketId::new(u32::MAX).unwrap().get(), u32::MAX);
}

#[test]
fn a_fresh_counter_begins_with_one() {
    let first = plan(0, 1).unwrap();
    assert_eq!(first.last, 1);
    assert_eq!(numbers(first.ids), [1]);

    let next = plan(1, 3).unwrap();
    assert_eq!(next.last, 4);
    assert_eq!(numbers(next.ids), [2, 3, 4]);
}

/// The last 200 ids, in batches of every size.
#[test]
fn the_end_is_reached_and_not_passed() {
    for left in 0u32..=200 {
        let last = u32::MAX - left;

        for count in 1..=210 {
            match plan(last, count) {
                Ok(reservation) => {
                    assert!(count <= left);
                    assert_eq!(reservation.last, last + count);
                    let expected: Vec<u32> = (1..=count).map(|n| last + n).collect();
                    assert_eq!(numbers(reservation.ids), expected);
                }
                Err(Exhausted) => assert!(count > left),
            }
        }
    }
}

#[test]
fn a_spent_counter_stays_spent() {
    for count in [1, 2, 64, 0x8000_0000, u32::MAX] {
        assert_eq!(plan(u32::MAX, count), Err(Exhausted));
    }

    let counter = AtomicU32::new(u32::MAX - 2);
    assert_eq!(take(&counter, 3), Err(Exhausted));
    assert_eq!(counter.load(Relaxed), u32::MAX - 2);
    assert_eq!(
        numbers(take(&counter, 2).unwrap()),
        [u32::MAX - 1, u32::MAX]
    );
    for _ in 0..1000 {
        assert_eq!(take(&counter, 1), Err(Exhausted));
        assert_eq!(counter.load(Relaxed), u32::MAX);
    }
}

#[test]
fn the_whole_space_in_one_reservation() {
    let mut all = plan(0, u32::MAX).unwrap();

    assert_eq!(all.last, u32::MAX);
    assert_eq!(all.ids.len(), u32::MAX as usize);
    assert_eq!(all.ids.next(), PacketId::new(1));
    assert_eq!(all.ids.len(), u32::MAX as usize - 1);
}

#[test]
fn an_empty_range_stays_empty() {
    let mut ids = plan(u32::MAX - 1, 1).unwrap().ids;

    assert_eq!(ids.next(), PacketId::new(u32::MAX));
    for _ in 0..3 {
        assert_eq!(ids.next(), None);
        assert_eq!(ids.len(), 0);
    }
}

/// Threads race to the end of the space. Every id goes to exactly one of them.
#[test]
fn concurrent_senders_share_nothing() {
    const IDS: u32 = 400_000;
    const SENDERS: u32 = 4;

    for round in 0..4 {
        let counter = AtomicU32::new(u32::MAX - IDS);

        let taken: Vec<Vec<u32>> = thread::scope(|scope| {
            let senders: Vec<_> = (0..SENDERS)
                .map(|sender| {
                    let counter = &counter;
                    scope.spawn(move || race(counter, sender + round * SENDERS))
                })
                .collect();
            senders.into_iter().map(|s| s.join().unwrap()).collect()
        });

        for ids in &taken {
            assert!(ids.is_sorted_by(|a, b| a < b), "a sender went back");
        }
        let all: HashSet<u32> = taken.iter().flatten().copied().collect();
        assert_eq!(all.len(), taken.iter().map(Vec::len).sum::<usize>());
        assert_eq!(all.len(), IDS as usize);
        assert!(all.iter().all(|id| *id > u32::MAX - IDS));
        assert_eq!(counter.load(Relaxed), u32::MAX);
    }
}

/// Takes batches of changing sizes, and single ids when no batch is left, until nothing is.
fn race(counter: &AtomicU32, seed: u32) -> Vec<u32> {
    let mut ids = Vec::new();
    let mut random = seed;

    loop {
        random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let count = (random >> 26) + 1;
        match take(counter, count).or_else(|_| take(counter, 1)) {
            Ok(batch) => {
                assert!(batch.len() == count as usize || batch.len() == 1);
                ids.extend(batch.map(PacketId::get));
            }
            Err(Exhausted) => return ids,
        }
    }
}

proptest! {
    #![proptest_config(support::cases(100_000))]

    #[test]
    fn a_reservation_is_what_lies_between(last: u32, count in 1u32..) {
        match plan(last, count) {
            Ok(mut reservation) => {
                prop_assert_eq!(
                    u64::from(reservation.last),
                    u64::from(last) + u64::from(count)
                );
                prop_assert_eq!(reservation.ids.len(), count as usize);
                prop_assert_eq!(reservation.ids.next().map(PacketId::get), Some(last + 1));
            }
            Err(Exhausted) => {
                prop_assert!(u64::from(last) + u64::from(count) > u64::from(u32::MAX));
            }
        }
    }

    #[test]
    fn reservations_follow_each_other(
        last in prop_oneof![Just(0), u32::MAX - 300..=u32::MAX, any::<u32>()],
        counts in proptest::collection::vec(1u32..70, 1..10),
    ) {
        let counter = AtomicU32::new(last);
        let mut before = last;

        for count in counts {
            let Ok(ids) = take(&counter, count) else {
                prop_assert_eq!(counter.load(Relaxed), before);
                prop_assert!(u32::MAX - before < count);
                continue;
            };
            for id in ids {
                before += 1;
                prop_assert_eq!(id.get(), before);
            }
            prop_assert_eq!(counter.load(Relaxed), before);
        }
    }
}

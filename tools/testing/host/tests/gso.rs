// SPDX-License-Identifier: GPL-2.0

//! The batch plan: every packet in one batch, and none that the stack refuses.

use std::ops::Range;

use ovpn_host::transport::gso::*;
use proptest::prelude::*;

mod support;

/// Which packets are in a batch.
fn members(batch: Batch) -> Range<usize> {
    batch.first..batch.first + batch.count
}

fn counts(packets: usize, record_len: usize) -> Vec<usize> {
    Batches::new(packets, record_len).map(|b| b.count).collect()
}

#[test]
fn limits_are_the_stack_s() {
    assert_eq!(MAX_RECORDS, 128);
    // The largest length of a datagram, without the headers of IPv6 and UDP.
    assert_eq!(MAX_BYTES, 65_535 - 40 - 8);
}

#[test]
fn vectors() {
    let table: [(&str, usize, usize, &[usize]); 13] = [
        ("nothing", 0, 1500, &[]),
        ("one", 1, 1500, &[1]),
        ("a few", 3, 1500, &[3]),
        ("43 of 1500 bytes fit", 100, 1500, &[43, 43, 14]),
        ("one is left over", 44, 1500, &[43, 1]),
        ("no more than 128", 300, 100, &[128, 128, 44]),
        ("the shortest that bytes limit", 200, 512, &[127, 73]),
        ("the longest that they do not", 200, 511, &[128, 72]),
        ("two just fit", 4, MAX_BYTES / 2, &[2, 2]),
        ("two do not", 4, MAX_BYTES / 2 + 1, &[1, 1, 1, 1]),
        ("the longest record", 2, MAX_BYTES, &[1, 1]),
        ("too long even alone", 3, MAX_BYTES + 1, &[1, 1, 1]),
        ("a length that nothing has", 2, usize::MAX, &[1, 1]),
    ];

    for (name, packets, record_len, expected) in table {
        assert_eq!(counts(packets, record_len), expected, "{name}");
    }
}

/// No record is empty, but the plan does not divide by it either.
#[test]
fn empty_records() {
    assert_eq!(counts(300, 0), [128, 128, 44]);
    assert_eq!(counts(0, 0), []);
}

#[test]
fn the_last_packets_there_could_be() {
    let mut plan = Batches::new(usize::MAX, 1500);
    plan.resume(usize::MAX - 50);

    let left: Vec<_> = plan.by_ref().map(members).collect();
    assert_eq!(
        left,
        [usize::MAX - 50..usize::MAX - 7, usize::MAX - 7..usize::MAX]
    );
    assert_eq!(plan.next(), None);
}

#[test]
fn the_end_is_the_end() {
    let mut plan = Batches::new(5, 1500);

    assert_eq!(plan.by_ref().count(), 1);
    for next in [5, 6, usize::MAX] {
        plan.resume(next);
        assert_eq!(plan.next(), None);
        plan.go_singly(next);
        assert_eq!(plan.next(), None);
    }
}

/// A peer that takes no GSO packets.
#[test]
fn singly_from_the_start() {
    for packets in [0, 1, 2, 300] {
        let mut plan = Batches::singly(packets);
        for n in 0..packets {
            assert_eq!(plan.next().map(members), Some(n..n + 1));
            plan.resume(n + 1);
        }
        assert_eq!(plan.next(), None);
    }
}

/// A batch of 43 was planned, but 16 were all that found room.
#[test]
fn less_than_a_batch_was_made() {
    let mut plan = Batches::new(100, 1500);

    assert_eq!(plan.next().map(members), Some(0..43));
    plan.resume(16);
    assert_eq!(plan.next().map(members), Some(16..59));
    assert_eq!(plan.next().map(members), Some(59..100));
    assert_eq!(plan.next(), None);
}

#[test]
fn singly_is_for_good() {
    let mut plan = Batches::new(100, 1500);

    plan.next();
    let batch = plan.next().unwrap();
    plan.go_singly(batch.first);
    for n in 43..70 {
        assert_eq!(plan.next().map(members), Some(n..n + 1));
    }
    plan.resume(90);
    for n in 90..100 {
        assert_eq!(plan.next().map(members), Some(n..n + 1));
    }
    assert_eq!(plan.next(), None);
}

/// Lengths of records, more of them where batches are formed.
fn record_lens() -> impl Strategy<Value = usize> {
    prop_oneof![0usize..2000, 0..=MAX_BYTES + 2, any::<usize>()]
}

proptest! {
    #![proptest_config(support::cases(50_000))]

    #[test]
    fn batches_cover_all_once(packets in 0usize..3000, record_len in record_lens()) {
        let mut next = 0;

        for batch in Batches::new(packets, record_len) {
            prop_assert_eq!(batch.first, next);
            prop_assert!((1..=MAX_RECORDS).contains(&batch.count));
            let bytes = batch.count as u128 * record_len as u128;
            prop_assert!(batch.count == 1 || bytes <= MAX_BYTES as u128);
            next += batch.count;

            // It could not have been larger.
            prop_assert!(
                next == packets
                    || batch.count == MAX_RECORDS
                    || bytes + record_len as u128 > MAX_BYTES as u128
            );
        }
        prop_assert_eq!(next, packets);
    }

    /// Each step shortens the batch by some packets, as if they had found no room.
    #[test]
    fn a_resumed_plan_covers_all_once(
        packets in 1usize..2000,
        record_len in record_lens(),
        short in proptest::collection::vec(0usize..130, 0..20),
        singly_at in proptest::option::of(0usize..25),
    ) {
        let mut plan = Batches::new(packets, record_len);
        let mut short = short.into_iter();
        let (mut next, mut step) = (0, 0);

        while let Some(batch) = plan.next() {
            prop_assert_eq!(batch.first, next);
            if singly_at == Some(step) {
                plan.go_singly(next);
            } else {
                let made = batch.count - short.next().unwrap_or(0).min(batch.count - 1);
                next += made;
                plan.resume(next);
                prop_assert!(singly_at.is_none_or(|at| step < at) || batch.count == 1);
            }
            step += 1;
        }
        prop_assert_eq!(next, packets);
    }
}

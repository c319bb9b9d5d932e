// SPDX-License-Identifier: GPL-2.0

//! The replay window against a model that remembers every id it ever accepted.

use ovpn_host::crypto::{
    packet_id::PacketId,
    replay::*, //
};
use proptest::{
    collection::vec,
    prelude::*, //
};
use replay_model::Model;

#[path = "support/replay_model.rs"]
mod replay_model;
mod support;

/// Ticks. Short, so that random times cross it often.
const EXPIRY: u64 = 30;

/// A window and its model, shown the same records.
struct Pair {
    window: ReplayWindow,
    model: Model,
    now: u64,
}

impl Pair {
    fn new() -> Self {
        Self {
            window: ReplayWindow::new(EXPIRY),
            model: Model::new(EXPIRY),
            now: 1000,
        }
    }

    /// Shows both of them a record. 0 and what lies outside the 32 bits does not exist.
    fn show(&mut self, id: i64) {
        let Ok(id) = u32::try_from(id) else { return };
        let Some(packet_id) = PacketId::new(id) else {
            return;
        };

        let before = self.model.highest;
        let expected = self.model.accept(id, self.now);
        let found = self.window.accept(packet_id, self.now);
        assert_eq!(
            found, expected,
            "id {id} at {}, highest before: {before}",
            self.now
        );
    }

    /// Does one step. `at` counts from the highest id so far.
    fn step(&mut self, at: At, elapsed: i64) {
        self.now = self.now.saturating_add_signed(elapsed);
        self.show(match at {
            At::Offset(offset) => i64::from(self.model.highest) + offset,
            At::Id(id) => i64::from(id),
        });
    }
}

/// Which id comes next.
#[derive(Clone, Copy, Debug)]
enum At {
    Offset(i64),
    Id(u32),
}

/// A window after records with `ids` came in at once, all of which it must take.
fn after(ids: impl IntoIterator<Item = u32>) -> ReplayWindow {
    let mut window = ReplayWindow::new(EXPIRY);

    for id in ids {
        assert_eq!(show(&mut window, id, 0), Ok(()), "id {id}");
    }
    window
}

fn show(window: &mut ReplayWindow, id: u32, now: u64) -> Result<(), Replay> {
    window.accept(PacketId::new(id).unwrap(), now)
}

#[test]
fn it_is_small() {
    assert_eq!(WINDOW, 2048);
    assert!(size_of::<ReplayWindow>() <= 288);
}

#[test]
fn in_order() {
    let mut window = after(1..=10_000);

    assert_eq!(show(&mut window, 10_000, 0), Err(Replay::Seen));
    assert_eq!(show(&mut window, 10_000 - 2047, 0), Err(Replay::Seen));
    assert_eq!(show(&mut window, 10_000 - 2048, 0), Err(Replay::TooOld));
    assert_eq!(show(&mut window, 1, 0), Err(Replay::TooOld));
}

#[test]
fn backwards_from_the_first_id() {
    let mut window = after((1..=2048).rev());

    for id in 1..=2048 {
        assert_eq!(show(&mut window, id, 0), Err(Replay::Seen));
    }
}

/// The lowest id that is still in the window, and the one below it, at every place in the ring.
#[test]
fn the_edge_is_exact() {
    for highest in 2048..3 * 2048 + 7 {
        let mut window = after([highest]);

        if highest > 2048 {
            assert_eq!(show(&mut window, highest - 2048, 0), Err(Replay::TooOld));
        }
        assert_eq!(show(&mut window, highest - 2047, 0), Ok(()));
        assert_eq!(show(&mut window, highest - 2047, 0), Err(Replay::Seen));
    }
}

/// Jumps of every length: what lies between is open, what lies before is kept.
#[test]
fn a_jump_forgets_only_what_it_passes() {
    for delta in 1..=2100 {
        let mut pair = Pair::new();

        for id in 1..=3000 {
            pair.show(id);
        }
        pair.show(3000 + delta);
        for id in 1..=3000 + delta {
            pair.show(id);
        }
    }
}

#[test]
fn the_highest_id_there_is() {
    let mut window = after([u32::MAX - 1, u32::MAX]);

    assert_eq!(show(&mut window, u32::MAX, 0), Err(Replay::Seen));
    assert_eq!(show(&mut window, u32::MAX - 1, 0), Err(Replay::Seen));
    assert_eq!(show(&mut window, u32::MAX - 2, 0), Ok(()));
    assert_eq!(show(&mut window, u32::MAX - 2047, 0), Ok(()));
    assert_eq!(show(&mut window, u32::MAX - 2048, 0), Err(Replay::TooOld));
    assert_eq!(show(&mut window, 1, 0), Err(Replay::TooOld));

    // One jump across the whole space.
    let mut window = after([1, u32::MAX]);
    assert_eq!(show(&mut window, u32::MAX - 2047, 0), Ok(()));
    assert_eq!(show(&mut window, 1, 0), Err(Replay::TooOld));
}

#[test]
fn missing_ids_expire() {
    let mut window = after([10]);

    // In time.
    assert_eq!(show(&mut window, 9, EXPIRY - 1), Ok(()));
    // That record counted as life, so there is time again.
    assert_eq!(show(&mut window, 8, 2 * EXPIRY - 2), Ok(()));
    // A refused one does not.
    assert_eq!(show(&mut window, 8, 3 * EXPIRY - 3), Err(Replay::Seen));
    assert_eq!(show(&mut window, 7, 3 * EXPIRY - 2), Err(Replay::TooOld));
    // The floor stays where it was put, also when new records come in.
    assert_eq!(show(&mut window, 12, 3 * EXPIRY), Ok(()));
    assert_eq!(show(&mut window, 11, 3 * EXPIRY), Ok(()));
    assert_eq!(show(&mut window, 7, 3 * EXPIRY), Err(Replay::TooOld));
    assert_eq!(show(&mut window, 10, 3 * EXPIRY), Err(Replay::TooOld));
}

#[test]
fn the_clock_may_be_anywhere() {
    for now in [0, 1, u64::MAX - 1, u64::MAX] {
        let mut window = ReplayWindow::new(EXPIRY);

        assert_eq!(show(&mut window, 5, now), Ok(()));
        assert_eq!(show(&mut window, 6, now), Ok(()));
        assert!(show(&mut window, 6, 0).is_err());
    }

    // An expiry that no clock reaches, and one that has always passed.
    let mut never = ReplayWindow::new(u64::MAX);
    assert_eq!(show(&mut never, 5, 7), Ok(()));
    assert_eq!(show(&mut never, 4, u64::MAX - 1), Ok(()));
    let mut always = ReplayWindow::new(0);
    assert_eq!(show(&mut always, 5, 7), Ok(()));
    assert_eq!(show(&mut always, 4, 7), Err(Replay::TooOld));
    assert_eq!(show(&mut always, 6, 7), Ok(()));
}

fn at() -> impl Strategy<Value = At> {
    prop_oneof![
        8 => Just(At::Offset(1)),
        4 => (-70i64..70).prop_map(At::Offset),
        4 => (-2200i64..0).prop_map(At::Offset),
        3 => (1i64..2200).prop_map(At::Offset),
        2 => (-2050i64..-2044).prop_map(At::Offset),
        1 => (2044i64..2052).prop_map(At::Offset),
        1 => (2000i64..10_000_000).prop_map(At::Offset),
        1 => any::<u32>().prop_map(At::Id),
        1 => (u32::MAX - 4200..=u32::MAX).prop_map(At::Id),
    ]
}

fn elapsed() -> impl Strategy<Value = i64> {
    prop_oneof![
        30 => Just(0i64),
        8 => -2i64..4,
        1 => 28i64..33,
        1 => 0i64..100,
    ]
}

proptest! {
    #![proptest_config(support::cases(10_000))]

    /// Short sequences, for which a failure is made small and printed.
    #[test]
    fn decisions_are_the_models(
        start in prop_oneof![0u32..5000, u32::MAX - 5000..=u32::MAX],
        steps in vec((at(), elapsed()), 0..200),
    ) {
        let mut pair = Pair::new();

        pair.show(i64::from(start));
        for (at, elapsed) in steps {
            pair.step(at, elapsed);
        }
    }
}

/// Millions of steps in a few long sequences, of a kind that a lossy network could show.
#[test]
fn long_sequences() {
    const SEQUENCES: u64 = 16;
    const STEPS: u32 = 500_000;

    for seed in 0..SEQUENCES {
        let mut random = SplitMix(seed);
        let mut pair = Pair::new();

        if seed % 4 == 3 {
            pair.show(i64::from(u32::MAX) - 200_000);
        }
        for _ in 0..STEPS {
            let offset = match random.below(16) {
                0..=5 => 1,
                6..=9 => -random.below(64),
                10..=12 => -random.below(2100),
                13 | 14 => random.below(8),
                _ => match random.below(20) {
                    0 => random.below(5000),
                    1..=9 => random.below(200),
                    _ => -2040 - random.below(16),
                },
            };
            let elapsed = match random.below(200) {
                0 => random.below(2 * EXPIRY as i64),
                1..=40 => random.below(4) - 1,
                _ => 0,
            };
            pair.step(At::Offset(offset), elapsed);
        }
        assert!(pair.model.accepted.len() > 1000);
    }
}

/// A random generator that is always there and always the same (Steele, Lea, Flood: SplitMix64).
struct SplitMix(u64);

impl SplitMix {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: i64) -> i64 {
        (self.next() % end.unsigned_abs()) as i64
    }
}

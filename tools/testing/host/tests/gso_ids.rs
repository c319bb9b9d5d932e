// SPDX-License-Identifier: GPL-2.0

//! Batches and the packet ids that they spend: none twice, none behind the last one.

use std::num::NonZeroU32;

use ovpn_host::{
    crypto::packet_id::*,
    transport::gso::*, //
};
use proptest::{
    collection::vec,
    prelude::*, //
};

mod support;

/// A key with its counter, as the driver has it.
struct Key {
    last: u32,
    handed_out: Vec<u32>,
}

impl Key {
    /// All ids of the batch, or none.
    fn reserve(&mut self, count: usize) -> Result<Vec<u32>, Exhausted> {
        let count = NonZeroU32::new(u32::try_from(count).unwrap()).unwrap();
        let Reservation { ids, last } = reserve(self.last, count)?;
        let ids: Vec<u32> = ids.map(PacketId::get).collect();

        assert_eq!(ids.len(), count.get() as usize);
        self.last = last;
        self.handed_out.extend(&ids);
        Ok(ids)
    }
}

/// What became of a burst.
#[derive(Default)]
struct Outcome {
    /// Packets and the ids of their records, as they went out.
    sent: Vec<(usize, u32)>,
    /// Packets for which there was no id.
    without_id: Vec<usize>,
    /// Packets whose cipher failed.
    failed: Vec<usize>,
}

impl Outcome {
    /// Every packet has one fate, and those that went out did so in order.
    fn check(&self, packets: usize) {
        let mut all: Vec<usize> = self.sent.iter().map(|(packet, _)| *packet).collect();
        assert!(all.is_sorted_by(|a, b| a < b), "sent out of order");
        all.extend(&self.without_id);
        all.extend(&self.failed);
        all.sort_unstable();
        assert!(
            all.into_iter().eq(0..packets),
            "a packet was lost or doubled"
        );
        assert!(
            self.sent.is_sorted_by(|a, b| a.1 < b.1),
            "an id was used twice, or a later one before"
        );
    }
}

/// What may happen to a batch once its ids are reserved.
#[derive(Clone, Copy, Debug)]
enum Luck {
    Good,
    /// There is room for this many only, at least one.
    Room(usize),
    /// The cipher fails, and with it the batch.
    Fails,
}

/// Sends a burst as the driver does: ids for a batch are reserved at once. If there are not as many
/// left, the packets go singly, for as long as there are ids.
fn send(packets: usize, record_len: usize, key: &mut Key, luck: &[Luck]) -> Outcome {
    let mut plan = Batches::new(packets, record_len);
    let mut outcome = Outcome::default();
    let mut luck = luck.iter().copied();

    while let Some(batch) = plan.next() {
        let packets = batch.first..batch.first + batch.count;
        match key.reserve(batch.count) {
            Ok(ids) => match luck.next().unwrap_or(Luck::Good) {
                Luck::Good => outcome.sent.extend(packets.zip(ids)),
                Luck::Room(room) => {
                    outcome.sent.extend(packets.zip(ids).take(room));
                    plan.resume(batch.first + room.min(batch.count));
                }
                Luck::Fails => outcome.failed.extend(packets),
            },
            Err(Exhausted) if batch.count > 1 => plan.go_singly(batch.first),
            Err(Exhausted) => outcome.without_id.extend(packets),
        }
    }
    outcome
}

/// Bursts at the end of the ids, with every number of ids that is left and every number of packets
/// around a batch or two. Every id is used, and when none is left nothing goes out.
#[test]
fn the_last_ids_are_all_used() {
    for record_len in [511, 1500, 9000, MAX_BYTES] {
        for left in 0u32..=150 {
            for packets in 1..=140 {
                let mut key = Key {
                    last: u32::MAX - left,
                    handed_out: Vec::new(),
                };
                let outcome = send(packets, record_len, &mut key, &[]);
                outcome.check(packets);

                let sent = packets.min(left as usize);
                let expected = (0..sent).zip((u32::MAX - left..).map(|last| last + 1));
                assert!(outcome.sent.into_iter().eq(expected));
                assert_eq!(outcome.without_id.len(), packets - sent);
                assert_eq!(key.last, u32::MAX - left + sent as u32);
                assert_eq!(key.handed_out.len(), sent);
            }
        }
    }
}

/// Burst after burst, until long after the last id.
#[test]
fn many_bursts_share_one_key() {
    const LEFT: u32 = 1000;
    let mut key = Key {
        last: u32::MAX - LEFT,
        handed_out: Vec::new(),
    };

    for packets in (1..=60).chain(1..=60) {
        send(packets, 1500, &mut key, &[]).check(packets);
    }
    assert!(key
        .handed_out
        .iter()
        .copied()
        .eq(u32::MAX - LEFT + 1..=u32::MAX));
    let late = send(50, 1500, &mut key, &[]);
    assert!(late.sent.is_empty());
    assert_eq!(late.without_id.len(), 50);
}

fn lucks() -> impl Strategy<Value = Vec<Luck>> {
    let luck = prop_oneof![
        Just(Luck::Good),
        (1usize..50).prop_map(Luck::Room),
        Just(Luck::Fails),
    ];
    vec(luck, 0..12)
}

proptest! {
    #![proptest_config(support::cases(20_000))]

    #[test]
    fn ids_are_used_once_whatever_fails(
        bursts in vec((1usize..300, 1..=MAX_BYTES + 2, lucks()), 1..5),
        left in 0u32..600,
    ) {
        let mut key = Key { last: u32::MAX - left, handed_out: Vec::new() };
        let mut before = key.last;

        for (packets, record_len, luck) in bursts {
            let outcome = send(packets, record_len, &mut key, &luck);
            outcome.check(packets);
            for (_, id) in outcome.sent {
                prop_assert!(id > before);
                before = id;
            }
            // As long as there are ids, nobody goes without.
            prop_assert!(outcome.without_id.is_empty() || key.last == u32::MAX);
        }
        let from = u32::MAX - left;
        let handed_out = key.handed_out.iter().copied();
        prop_assert!(handed_out.eq((from..key.last).map(|last| last + 1)));
    }
}

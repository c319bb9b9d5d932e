// SPDX-License-Identifier: GPL-2.0

//! The keepalive schedule, looked at by a timer that sleeps as long as it is told to.

use ovpn_host::peer::keepalive::*;
use proptest::{
    collection::btree_map,
    prelude::*, //
};

mod support;

fn schedule(interval: u32, timeout: u32) -> Keepalive {
    Keepalive::new(interval, timeout).unwrap()
}

#[test]
fn off_when_either_is_zero() {
    assert_eq!(Keepalive::new(0, 0), None);
    assert_eq!(Keepalive::new(0, 60), None);
    assert_eq!(Keepalive::new(10, 0), None);

    let on = schedule(10, 60);
    assert_eq!((on.interval(), on.timeout()), (10, 60));
}

#[test]
fn due_table() {
    let nothing = |wait| Due::Nothing { wait };
    let send = |wait| Due::Send { wait };

    // Interval, timeout, now, last sent, last received.
    for (interval, timeout, now, sent, received, expected) in [
        // Just set.
        (10, 60, 1000, 1000, 1000, nothing(10)),
        (60, 10, 1000, 1000, 1000, nothing(10)),
        // Idle, but not for long enough.
        (10, 60, 1009, 1000, 1009, nothing(1)),
        (10, 60, 1009, 1007, 1009, nothing(8)),
        // Idle.
        (10, 60, 1010, 1000, 1000, send(10)),
        (10, 60, 1500, 1000, 1499, send(10)),
        // The peer will be dead before the next keepalive.
        (10, 60, 1057, 1047, 1000, send(3)),
        (10, 60, 1050, 1049, 1000, nothing(9)),
        (10, 60, 1055, 1049, 1000, nothing(4)),
        (10, 60, 1059, 1059, 1000, nothing(1)),
        // Dead. No keepalive is sent any more.
        (10, 60, 1060, 1060, 1000, Due::Expired),
        (10, 60, 1060, 1000, 1000, Due::Expired),
        (10, 60, 9999, 9999, 1000, Due::Expired),
        (10, 10, 1010, 1000, 1000, Due::Expired),
        // A record passed after the clock was read.
        (10, 60, 1000, 1001, 1001, nothing(10)),
    ] {
        assert_eq!(
            schedule(interval, timeout).due(now, sent, received),
            expected,
            "{interval}/{timeout} at {now}, sent {sent}, received {received}"
        );
    }
}

#[test]
fn an_idle_peer_gets_one_keepalive_per_interval() {
    let schedule = schedule(10, u32::MAX);
    let (mut now, mut last_sent, mut sent) = (500, 500, Vec::new());

    while now < 600 {
        match schedule.due(now, last_sent, now) {
            Due::Nothing { wait } => now += wait,
            Due::Send { wait } => {
                sent.push(now);
                last_sent = now;
                now += wait;
            }
            Due::Expired => panic!("it is alive"),
        }
    }
    assert_eq!(sent, [510, 520, 530, 540, 550, 560, 570, 580, 590]);
}

/// Without a key nothing can go out, but tries must not come faster for that.
#[test]
fn a_failed_send_is_tried_again_an_interval_later() {
    let schedule = schedule(10, 45);

    assert_eq!(schedule.due(1010, 1000, 1000), Due::Send { wait: 10 });
    assert_eq!(schedule.due(1020, 1000, 1000), Due::Send { wait: 10 });
    assert_eq!(schedule.due(1030, 1000, 1000), Due::Send { wait: 10 });
    assert_eq!(schedule.due(1040, 1000, 1000), Due::Send { wait: 5 });
    assert_eq!(schedule.due(1045, 1000, 1000), Due::Expired);
}

/// A second of traffic: which directions had a record.
#[derive(Clone, Copy, Debug)]
struct Traffic {
    sent: bool,
    received: bool,
}

fn traffic() -> impl Strategy<Value = Traffic> {
    (any::<bool>(), any::<bool>()).prop_map(|(sent, received)| Traffic { sent, received })
}

proptest! {
    #![proptest_config(support::cases(20_000))]

    /// Second by second, beside a timer that only looks when it was told to: nothing is late,
    /// nothing is early, and an expired peer is the end.
    #[test]
    fn the_timer_misses_nothing(
        interval in 1u32..20,
        timeout in 1u32..60,
        start in 0u64..1_000_000,
        records in btree_map(0u64..300, traffic(), 0..60),
    ) {
        let schedule = schedule(interval, timeout);
        let (mut last_sent, mut last_received) = (start, start);
        let mut next_look = start;

        for now in start..start + 400 {
            if let Some(traffic) = records.get(&(now - start)) {
                if traffic.sent {
                    last_sent = now;
                }
                if traffic.received {
                    last_received = now;
                }
            }

            let dead = now - last_received >= u64::from(timeout);
            let idle = now - last_sent >= u64::from(interval);
            if now != next_look {
                prop_assert!(!dead && !idle, "something is due at {}, but nobody looks", now);
                continue;
            }

            match schedule.due(now, last_sent, last_received) {
                Due::Expired => {
                    prop_assert!(dead);
                    prop_assert_eq!(now, last_received + u64::from(timeout));
                    return Ok(());
                }
                Due::Send { wait } => {
                    prop_assert!(idle && !dead);
                    prop_assert_eq!(now, last_sent + u64::from(interval));
                    last_sent = now;
                    next_look = now + wait;
                }
                Due::Nothing { wait } => {
                    prop_assert!(!idle && !dead);
                    next_look = now + wait;
                }
            }
        }
        prop_assert!(false, "nothing was received for 100 seconds, but the peer lives");
    }
}

proptest! {
    #![proptest_config(support::cases(200_000))]

    #[test]
    fn a_wait_is_short_and_never_zero(
        interval in 1u32..,
        timeout in 1u32..,
        now: u64,
        last_sent: u64,
        last_received: u64,
    ) {
        let due = schedule(interval, timeout).due(now, last_sent, last_received);

        match due {
            Due::Nothing { wait } | Due::Send { wait } => {
                prop_assert!(wait >= 1);
                prop_assert!(wait <= u64::from(interval.min(timeout)));
            }
            Due::Expired => prop_assert!(now - last_received >= u64::from(timeout)),
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! A timer that sleeps as long as it is told to, under any traffic.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::peer::keepalive::*;

/// A second of traffic: which directions had a record.
#[derive(Arbitrary, Clone, Copy, Debug)]
struct Second {
    sent: bool,
    received: bool,
    /// The times of the record were read after the timer's clock.
    late: bool,
}

#[derive(Arbitrary, Debug)]
struct Input {
    interval: u32,
    timeout: u32,
    start: u64,
    /// Not idle for all the time.
    seconds: Vec<Option<Second>>,
}

fuzz_target!(|input: Input| {
    let Some(schedule) = Keepalive::new(input.interval, input.timeout) else {
        assert!(input.interval == 0 || input.timeout == 0);
        return;
    };
    let (interval, timeout) = (u64::from(input.interval), u64::from(input.timeout));
    // No clock of seconds comes near the end.
    let mut now = input.start >> 1;
    let (mut sent, mut received, mut look) = (now, now, now);

    for second in input.seconds {
        if let Some(second) = second {
            let at = now + u64::from(second.late);
            sent = if second.sent { at } else { sent };
            received = if second.received { at } else { received };
        }
        let dead = now >= received + timeout;
        let idle = now >= sent + interval;
        let due = schedule.due(now, sent, received);
        if now < look {
            assert!(!dead && !idle, "nobody looks at {now}: {due:?}");
        } else {
            match due {
                Due::Expired => {
                    assert!(dead);
                    return;
                }
                Due::Send { wait } => {
                    assert!(idle && !dead);
                    assert!(wait >= 1 && wait <= interval.min(received + timeout - now));
                    sent = now;
                    look = now + wait;
                }
                Due::Nothing { wait } => {
                    assert!(!idle && !dead && wait >= 1);
                    look = now + wait;
                }
            }
        }
        now += 1;
    }
});

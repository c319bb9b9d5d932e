// SPDX-License-Identifier: GPL-2.0

//! When to send a keepalive, and when to give a peer up.
//!
//! Two clocks run per peer. A keepalive goes out when nothing was sent for `interval`, so that the
//! other side and every NAT between know we are there. The peer is dead when nothing authenticated
//! came in for `timeout`. Any record counts, a keepalive as well.
//!
//! All times are whole seconds of the boot time clock, which runs on while the machine sleeps.

/// A peer's schedule, if it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keepalive {
    /// Idle seconds after which a keepalive is due, not 0.
    interval: u32,
    /// Silent seconds after which the peer is dead, not 0.
    timeout: u32,
}

/// What there is to do at a look at the clock. `wait` is the number of seconds to the next look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// Nothing now.
    Nothing {
        /// At least 1.
        wait: u64,
    },
    /// Send a keepalive now.
    Send {
        /// At least 1.
        wait: u64,
    },
    /// Remove the peer. There is no next look.
    Expired,
}

impl Keepalive {
    /// Makes a schedule from seconds, [`None`] if it is off, as it is when either of them is 0.
    #[inline]
    pub const fn new(interval: u32, timeout: u32) -> Option<Self> {
        if interval == 0 || timeout == 0 {
            return None;
        }
        Some(Self { interval, timeout })
    }

    /// Returns the seconds of idleness after which a keepalive goes out.
    #[inline]
    pub const fn interval(&self) -> u32 {
        self.interval
    }

    /// Returns the seconds of silence after which the peer is given up.
    #[inline]
    pub const fn timeout(&self) -> u32 {
        self.timeout
    }

    /// Looks at the clock.
    ///
    /// `last_sent` and `last_received` are the times of the last record in each direction. Both
    /// begin at the time when the schedule was set, and they may be ahead of `now` if a record
    /// passed after `now` was read. The data path only stores those times, it never touches the
    /// timer: a look that comes too early finds that out here and waits for the rest.
    ///
    /// The schedule does not depend on a keepalive really going out. If sending fails, `last_sent`
    /// stays behind, and the next try is due an interval later all the same.
    #[inline]
    pub fn due(&self, now: u64, last_sent: u64, last_received: u64) -> Due {
        let Some(alive) = left(self.timeout, last_received, now) else {
            return Due::Expired;
        };

        match left(self.interval, last_sent, now) {
            Some(idle) => Due::Nothing {
                wait: idle.min(alive),
            },
            None => Due::Send {
                wait: u64::from(self.interval).min(alive),
            },
        }
    }
}

/// Returns how much is left at `now` of a `period` that began at `since`, [`None`] if it is over.
#[inline]
fn left(period: u32, since: u64, now: u64) -> Option<u64> {
    match u64::from(period).saturating_sub(now.saturating_sub(since)) {
        0 => None,
        left => Some(left),
    }
}

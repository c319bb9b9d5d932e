// SPDX-License-Identifier: GPL-2.0

//! The receiver's window against replayed records.
//!
//! UDP reorders, so an id below the highest one seen may be new. The window remembers which of the
//! last [`WINDOW`] ids came in: those are judged one by one, what is older is refused. An id that is
//! late by more than the expiry time is refused, too, wherever it stands.
//!
//! The bitmap is a ring: id `n` has bit `n mod WINDOW`, so nothing is shifted when the window
//! advances. The bits that it advances over are cleared, a word at a time (the idea of RFC 6479).

use super::packet_id::PacketId;

/// Ids that the window spans, the highest one included.
pub const WINDOW: u32 = 2048;

/// Words of the ring. Both numbers are powers of two, so that `mod` is a mask.
const WORDS: usize = (WINDOW / u64::BITS) as usize;

/// Why a record is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replay {
    /// This id was accepted before.
    Seen,
    /// The id lies before the window, or its time has expired. It may or may not be new.
    TooOld,
}

/// Which ids a key has accepted.
///
/// Only authenticated records may be shown to it, else anybody could move it.
///
/// The bit of an id in the window is set exactly if the id was accepted. `floor` is never above
/// `highest`.
#[derive(Debug)]
pub struct ReplayWindow {
    ring: [u64; WORDS],
    /// The highest id accepted, 0 if none was.
    highest: u32,
    /// Ids up to here are refused, unseen ones as well.
    floor: u32,
    /// When `floor` rises to `highest`, in ticks.
    expires: u64,
    /// Ticks from an accepted record to `expires`.
    expiry: u64,
}

impl ReplayWindow {
    /// Makes a window that has seen nothing.
    ///
    /// When no record was accepted for `expiry` ticks of the caller's monotonic clock, ids that are
    /// still missing are given up: nothing that was held back for so long comes in any more.
    pub const fn new(expiry: u64) -> Self {
        Self {
            ring: [0; WORDS],
            highest: 0,
            floor: 0,
            expires: 0,
            expiry,
        }
    }

    /// Takes note of record `id` that came in at `now`, or refuses it.
    ///
    /// `now` may step back a little, as it does between CPUs that read the clock before they take
    /// the window's lock.
    #[inline]
    pub fn accept(&mut self, id: PacketId, now: u64) -> Result<(), Replay> {
        let id = id.get();

        if now >= self.expires {
            self.floor = self.highest;
        }

        match id.checked_sub(self.highest) {
            None | Some(0) => self.backtrack(id)?,
            // Next in line. Its bit was that of the id that leaves the window, nothing lies between.
            Some(1) => self.advance(id),
            Some(delta) => {
                self.forget(delta);
                self.advance(id);
            }
        }

        self.expires = now.saturating_add(self.expiry);
        Ok(())
    }

    /// Judges an id that is not above the highest one.
    fn backtrack(&mut self, id: u32) -> Result<(), Replay> {
        if id <= self.floor || self.highest.wrapping_sub(id) >= WINDOW {
            return Err(Replay::TooOld);
        }

        let (word, bit) = self.place(id);
        if *word & bit != 0 {
            return Err(Replay::Seen);
        }
        *word |= bit;
        Ok(())
    }

    /// Makes `id` the highest one.
    #[inline]
    fn advance(&mut self, id: u32) {
        let (word, bit) = self.place(id);
        *word |= bit;
        self.highest = id;
    }

    /// Clears the bits of the ids strictly between the highest one and the one `delta` above it.
    fn forget(&mut self, delta: u32) {
        if delta >= WINDOW {
            self.ring = [0; WORDS];
            return;
        }

        let mut id = self.highest.wrapping_add(1);
        let mut left = delta.wrapping_sub(1);
        while left > 0 {
            // The ids from `id` to the end of its word, or fewer.
            let count = left.min(u64::BITS - id % u64::BITS);
            let ones = u64::MAX >> (u64::BITS - count);
            let (word, bit) = self.place(id);
            // `bit` is the lowest of the run: multiplying by it shifts `ones` there.
            *word &= !ones.wrapping_mul(bit);
            id = id.wrapping_add(count);
            left = left.wrapping_sub(count);
        }
    }

    /// Returns the word of an id and, as a mask, its bit in there.
    #[inline]
    fn place(&mut self, id: u32) -> (&mut u64, u64) {
        let word = (id / u64::BITS) as usize % WORDS;

        (&mut self.ring[word], 1 << (id % u64::BITS))
    }
}

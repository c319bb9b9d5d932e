// SPDX-License-Identifier: GPL-2.0

//! Packet ids and the sender's counter.
//!
//! The packet id is the changing part of the AEAD nonce, so a key may use each value once in its
//! life. 0 is never used. When all ids are spent the key is, too.

use core::num::NonZeroU32;

/// The number of a record under one key, never 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(NonZeroU32);

impl PacketId {
    /// Returns [`None`] for 0.
    #[inline]
    pub const fn new(id: u32) -> Option<Self> {
        match NonZeroU32::new(id) {
            Some(id) => Some(Self(id)),
            None => None,
        }
    }

    /// Returns the number in host byte order.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0.get()
    }
}

/// Packet ids in a row that nobody else has, handed out one by one in rising order.
///
/// There is no way to copy them: an id that was taken from here is spent, whether or not a record
/// went out with it.
#[derive(Debug, PartialEq, Eq)]
pub struct PacketIds {
    /// The next one. Means nothing when `left` is 0.
    next: u32,
    left: u32,
}

impl Iterator for PacketIds {
    type Item = PacketId;

    #[inline]
    fn next(&mut self) -> Option<PacketId> {
        self.left = self.left.checked_sub(1)?;
        let id = self.next;
        // This wraps only behind the very last id, when `left` has become 0.
        self.next = id.wrapping_add(1);
        PacketId::new(id)
    }

    #[inline]
    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.left as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for PacketIds {}

impl core::iter::FusedIterator for PacketIds {}

/// The outcome of [`reserve`]: ids, and what the counter must become for them to be valid.
#[derive(Debug, PartialEq, Eq)]
pub struct Reservation {
    /// The reserved ids, as many as asked for.
    pub ids: PacketIds,
    /// The counter's new value: the highest id handed out.
    pub last: u32,
}

/// The key has not as many ids left as asked for. It must not be used for sending any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exhausted;

/// Plans the step of a sender's counter that takes `count` ids.
///
/// `last` is the counter: the highest id that was handed out so far, 0 if none was. It is all or
/// nothing, and never wraps: the ids end at `u32::MAX`.
///
/// This function only computes. The caller owns the counter, an atomic, and runs the usual loop:
/// load it, plan the step, compare-exchange `last` for [`Reservation::last`], and with the value
/// found instead plan anew if somebody was faster. The ids of a plan whose exchange failed are
/// somebody else's and must be dropped unused. A relaxed exchange is enough: uniqueness needs only
/// the order of changes to the one atomic.
#[inline]
pub fn reserve(last: u32, count: NonZeroU32) -> Result<Reservation, Exhausted> {
    let new_last = last.checked_add(count.get()).ok_or(Exhausted)?;

    Ok(Reservation {
        ids: PacketIds {
            // Cannot wrap, as `last` is below `new_last`.
            next: last.wrapping_add(1),
            left: count.get(),
        },
        last: new_last,
    })
}

// SPDX-License-Identifier: GPL-2.0

//! Which received datagrams may wait for each other and go up as one list.
//!
//! Only data records do, of one peer and sealed with one key: their first words are equal. Anything
//! else goes up at once, behind what waits, so that the control channel sees its datagrams in order.

use crate::wire::{
    Datagram,
    AAD_LEN,
    OVERHEAD, //
};
use kernel_ext::net::gro::{
    self,
    Held,
    Join,
    MAX_RECORDS, //
};

/// Most octets of a record that waits: what fits into a page when it is decrypted.
pub const MAX_LEN: usize = OVERHEAD + 4096;

/// How many records in a row may have waited in vain before most do not wait any more.
pub const PATIENCE: u32 = 32;

/// One in so many waits nevertheless, so that it is seen when it is worth while again.
const PROBE: u32 = 8;

/// The first word of a datagram, and the packet id if it is a record.
#[inline]
fn split(first: [u8; AAD_LEN]) -> ([u8; 4], u32) {
    let [a, b, c, d, e, f, g, h] = first;
    ([a, b, c, d], u32::from_be_bytes([e, f, g, h]))
}

/// Judges a new datagram; the last `alone` records that came through its socket went up alone.
#[inline]
pub fn judge(new: &gro::Datagram, held: &Held, alone: u32) -> Join {
    let (word, id) = split(new.first);
    let is_record = matches!(Datagram::classify(word), Datagram::DataV2(_));
    // One without a text is not worth waiting for.
    if !is_record || new.len <= OVERHEAD || new.len > MAX_LEN {
        return Join::Pass;
    }
    let waiting = match held {
        // Waiting costs something, too.
        Held::Nothing if alone >= PATIENCE && id % PROBE != 0 => return Join::Pass,
        Held::Nothing | Held::Other => return Join::Hold,
        Held::List(waiting) => waiting,
    };
    let same_kind = split(waiting.first.first).0 == word
        && waiting.first.checksum == new.checksum
        && waiting.continued;
    // All are of one size but for the last, which may be shorter.
    if !same_kind
        || new.len > waiting.first.len
        || new.len > waiting.room
        || waiting.count >= MAX_RECORDS
    {
        return Join::Hold;
    }
    if new.len < waiting.first.len || waiting.count.saturating_add(1) >= MAX_RECORDS {
        return Join::Finish;
    }
    Join::Append
}

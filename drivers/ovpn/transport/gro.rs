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

/// Most octets of a record that waits: what fits into a page when it is decrypted.
pub const MAX_LEN: usize = OVERHEAD + 4096;

/// Most records that wait for each other, as in the stack's own lists of datagrams.
pub const MAX_RECORDS: usize = 64;

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<C> {
    /// Its first octets: of a record, the word that names peer and key, and the packet id.
    pub first: [u8; AAD_LEN],
    /// Octets of it.
    pub len: usize,
    /// What is known of its checksum.
    pub checksum: C,
}

/// Datagrams that wait.
#[derive(Clone, Copy, Debug)]
pub struct Waiting<C> {
    /// The first of them.
    pub first: Arrived<C>,
    /// How many they are.
    pub count: usize,
    /// Octets that may still be added.
    pub room: usize,
    /// Whether the new datagram's IP header continues theirs.
    pub continued: bool,
}

/// What waits of the flow of a new datagram.
#[derive(Clone, Copy, Debug)]
pub enum Held<C> {
    /// Nothing.
    Nothing,
    /// Something that was not begun by this rule.
    Other,
    /// Datagrams, of which the first was judged by this rule.
    Waiting(Waiting<C>),
}

/// What becomes of a new datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It does not wait, and what waits goes up before it.
    Pass,
    /// It waits for more. What waited before goes up.
    Begin,
    /// It joins those that wait.
    Join,
    /// It joins those that wait, and all go up.
    Close,
}

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
pub fn judge<C: PartialEq>(new: &Arrived<C>, held: &Held<C>, alone: u32) -> Verdict {
    let (word, id) = split(new.first);
    let is_record = matches!(Datagram::classify(word), Datagram::DataV2(_));
    // One without a text is not worth waiting for.
    if !is_record || new.len <= OVERHEAD || new.len > MAX_LEN {
        return Verdict::Pass;
    }
    let waiting = match held {
        // Waiting costs something, too.
        Held::Nothing if alone >= PATIENCE && id % PROBE != 0 => return Verdict::Pass,
        Held::Nothing | Held::Other => return Verdict::Begin,
        Held::Waiting(waiting) => waiting,
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
        return Verdict::Begin;
    }
    if new.len < waiting.first.len || waiting.count.saturating_add(1) >= MAX_RECORDS {
        return Verdict::Close;
    }
    Verdict::Join
}

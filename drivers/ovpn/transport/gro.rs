// SPDX-License-Identifier: GPL-2.0

//! Which received datagrams may wait for each other and go up as one list.
//!
//! Only data records do, of one peer and sealed with one key: their first words are equal. Anything
//! else goes up at once, behind what waits, so that the control channel sees its datagrams in order.

use crate::wire::{
    Datagram,
    OPCODE_LEN,
    OVERHEAD, //
};

/// Most octets of a record that waits: what fits into a page when it is decrypted.
pub const MAX_LEN: usize = OVERHEAD + 4096;

/// Most records that wait for each other, as in the stack's own lists of datagrams.
pub const MAX_RECORDS: usize = 64;

/// A datagram that has arrived.
#[derive(Clone, Copy, Debug)]
pub struct Arrived<C> {
    /// Its first word.
    pub first: [u8; OPCODE_LEN],
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

/// Judges a new datagram.
#[inline]
pub fn judge<C: PartialEq>(new: &Arrived<C>, held: &Held<C>) -> Verdict {
    let is_record = matches!(Datagram::classify(new.first), Datagram::DataV2(_));
    // One without a text is not worth waiting for.
    if !is_record || new.len <= OVERHEAD || new.len > MAX_LEN {
        return Verdict::Pass;
    }
    let waiting = match held {
        Held::Nothing | Held::Other => return Verdict::Begin,
        Held::Waiting(waiting) => waiting,
    };
    let same_kind = waiting.first.first == new.first
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

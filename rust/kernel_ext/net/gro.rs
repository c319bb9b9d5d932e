// SPDX-License-Identifier: GPL-2.0

//! Generic receive offload: datagrams of one flow that wait for each other below the stack, and go
//! up as one list. Types only, in terms of which a tunnel decides.
//!
//! C header: [`include/net/gro.h`](srctree/include/net/gro.h)

/// Most datagrams in a list, as in the stack's own.
pub const MAX_RECORDS: usize = 64;

/// What is known of a checksum: it is the same for all datagrams of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChecksumState {
    /// `CHECKSUM_*`.
    pub summed: u8,
    /// How many more were verified.
    pub level: u8,
}

/// A datagram in the hands of GRO.
#[derive(Clone, Copy, Debug)]
pub struct Datagram {
    /// The first bytes of its payload.
    pub first: [u8; 8],
    /// Bytes of its payload.
    pub len: usize,
    /// What is known of its checksum.
    pub checksum: ChecksumState,
}

/// Datagrams of one flow that wait for more.
#[derive(Clone, Copy, Debug)]
pub struct List {
    /// The first of them.
    pub first: Datagram,
    /// How many they are.
    pub count: usize,
    /// How many more bytes the list may take.
    pub room: usize,
    /// Whether the IP headers of the new datagram continue those of the list: nothing differs that
    /// would be lost if the list was one packet.
    pub continued: bool,
}

/// What is held of a datagram's flow.
#[derive(Clone, Copy, Debug)]
pub enum Held {
    /// Nothing.
    Nothing,
    /// Something that is not a list.
    Other,
    /// A list.
    List(List),
}

/// What becomes of a datagram, and of what is held of its flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Join {
    /// It goes up at once, behind what is held.
    Pass,
    /// It is held, as the first of a list. What was held goes up.
    Hold,
    /// It is appended to the list.
    Append,
    /// It is appended to the list, which is complete then and goes up.
    Finish,
}

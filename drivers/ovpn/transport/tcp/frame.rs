// SPDX-License-Identifier: GPL-2.0

//! How records stand in a TCP stream: each behind its length.
//!
//! ```text
//!  octet  0        2
//!         +--------+--------------------+--------+------------- ...
//!         | length | record             | length | record
//!         +--------+--------------------+--------+------------- ...
//! ```
//!
//! The length is in network byte order and does not count its own two octets. Packets of the control
//! channel stand there in the same way. The source of this rule is the OpenVPN wire protocol.

use crate::wire::OPCODE_LEN;

/// Octets of the length.
pub const PREFIX_LEN: usize = 2;

/// What stands before a record of `len` octets. [`None`] if no length can say that.
#[inline]
pub fn prefix(len: usize) -> Option<[u8; PREFIX_LEN]> {
    u16::try_from(len).ok().map(u16::to_be_bytes)
}

/// Octets of a frame, the length among them. [`None`] if no packet is that short: what follows cannot
/// be understood then.
#[inline]
pub fn frame_len(prefix: [u8; PREFIX_LEN]) -> Option<u32> {
    let len = u32::from(u16::from_be_bytes(prefix));

    // CAST: Small constants.
    (len >= OPCODE_LEN as u32).then(|| len.saturating_add(PREFIX_LEN as u32))
}

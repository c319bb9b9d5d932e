// SPDX-License-Identifier: GPL-2.0

//! The Internet checksum, as fast as the architecture can.
//!
//! C header: [`include/net/checksum.h`](srctree/include/net/checksum.h)

use ovpn_bindings as bindings;

/// The ones' complement sum of the 16-bit words of `bytes`, folded, as it is in memory. An odd last
/// byte is the first of a word.
#[inline]
pub fn sum(bytes: &[u8]) -> u16 {
    // CAST: What is summed up is packets.
    let len = bytes.len().min(i32::MAX as usize) as i32;
    // SAFETY: The bytes may be read.
    let sum = unsafe { bindings::csum_partial(bytes.as_ptr().cast(), len, 0) };
    let once = (sum & 0xffff).wrapping_add(sum >> 16);
    // CAST: Folding twice leaves 16 bits.
    (once & 0xffff).wrapping_add(once >> 16) as u16
}

// SPDX-License-Identifier: GPL-2.0

//! The ones' complement sum as a number: octets in network order, no folding.

/// Returns the ones' complement sum of `octets`, a zero octet added behind an odd last one.
///
/// Ones' complement arithmetic is arithmetic modulo 65535, and a sum of numbers that are not all 0
/// is never 0 there, but 65535.
pub(crate) fn sum(octets: &[u8]) -> u16 {
    let total: u64 = octets
        .chunks(2)
        .map(|word| u16::from_be_bytes([word[0], word.get(1).copied().unwrap_or(0)]))
        .map(u64::from)
        .sum();

    match total {
        0 => 0,
        total => ((total - 1) % 0xffff + 1) as u16,
    }
}

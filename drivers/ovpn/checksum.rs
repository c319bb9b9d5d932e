// SPDX-License-Identifier: GPL-2.0

//! The Internet checksum (RFC 1071).

/// A ones' complement sum of 16-bit words as they are in memory: the byte order does not matter as
/// long as nothing else is added (RFC 1071, section 2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sum(u32);

impl Sum {
    /// A sum that was computed elsewhere.
    #[inline]
    pub fn new(folded: u16) -> Self {
        Self(u32::from(folded))
    }

    /// With the words of `bytes` added; an odd last byte is the first of a word.
    #[inline]
    pub fn plus(self, bytes: &[u8]) -> Self {
        let mut sum = u64::from(self.0);
        // Many words at a time: their sum is the same when it is folded.
        let mut chunks = bytes.chunks_exact(8);
        for chunk in chunks.by_ref() {
            if let Some(eight) = chunk.first_chunk() {
                let words = u64::from_ne_bytes(*eight);
                sum = sum
                    .wrapping_add(words & 0xffff_ffff)
                    .wrapping_add(words >> 32);
            }
        }
        let mut words = chunks.remainder().chunks_exact(2);
        for word in words.by_ref() {
            if let [high, low] = *word {
                sum = sum.wrapping_add(u64::from(u16::from_ne_bytes([high, low])));
            }
        }
        if let [last] = *words.remainder() {
            sum = sum.wrapping_add(u64::from(u16::from_ne_bytes([last, 0])));
        }
        Self(fold(sum))
    }

    /// With another sum added, which began at an even offset.
    #[inline]
    pub fn plus_sum(self, other: Self) -> Self {
        Self(fold(u64::from(self.0).wrapping_add(u64::from(other.0))))
    }

    /// The sum itself, as it is stored when it is to be completed later.
    #[inline]
    pub fn partial(self) -> [u8; 2] {
        // CAST: Folded, so 16 bits.
        (self.0 as u16).to_ne_bytes()
    }

    /// The checksum: the complement of the sum, as it is stored.
    #[inline]
    pub fn checksum(self) -> [u8; 2] {
        // CAST: Folded, so 16 bits.
        (!(self.0 as u16)).to_ne_bytes()
    }
}

/// Folds the carries in until 16 bits are left.
#[inline]
fn fold(mut sum: u64) -> u32 {
    while sum > 0xffff {
        sum = (sum & 0xffff).wrapping_add(sum >> 16);
    }
    // CAST: 16 bits.
    sum as u32
}

// SPDX-License-Identifier: GPL-2.0

//! Messages in any number of pieces, beside a sum without folding.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ovpn_host::checksum::Sum;

#[path = "../../tests/support/naive_sum.rs"]
mod naive_sum;

fuzz_target!(|pieces: Vec<(bool, &[u8])>| {
    let mut sum = Sum::default();
    let mut whole = Vec::new();
    let last = pieces.len().saturating_sub(1);

    for (index, (at_once, octets)) in pieces.into_iter().enumerate() {
        // Only the last piece may have an odd length.
        let octets = match index == last {
            true => octets,
            false => &octets[..octets.len() & !1],
        };
        sum = match at_once {
            true => sum.plus(octets),
            false => sum.plus_sum(Sum::default().plus(octets)),
        };
        whole.extend_from_slice(octets);
    }
    let found = u16::from_be_bytes(sum.checksum());
    assert_eq!(found, !naive_sum::sum(&whole));

    // What a receiver does.
    whole.resize(whole.len().next_multiple_of(2), 0);
    whole.extend_from_slice(&sum.checksum());
    assert_eq!(naive_sum::sum(&whole), 0xffff);
    assert_eq!(Sum::default().plus(&whole).checksum(), [0, 0]);
});

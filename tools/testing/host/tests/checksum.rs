// SPDX-License-Identifier: GPL-2.0

//! The Internet checksum against vectors and a sum in network order.

use ovpn_host::checksum::Sum;
use proptest::{
    collection::vec,
    prelude::*, //
};

#[path = "support/naive_sum.rs"]
mod naive_sum;
mod support;

fn checksum(octets: &[u8]) -> u16 {
    stored(Sum::default().plus(octets))
}

/// The checksum as a receiver reads it.
fn stored(sum: Sum) -> u16 {
    u16::from_be_bytes(sum.checksum())
}

/// A sum that somebody else computed, in the byte order of this machine.
fn elsewhere(octets: &[u8]) -> Sum {
    Sum::new(u16::from_ne_bytes(naive_sum::sum(octets).to_be_bytes()))
}

/// Octets of all lengths; those of one value bring the most and the fewest carries.
fn octets() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(any::<u8>(), 0..200),
        vec(0xfe..=0xffu8, 0..200),
        vec(0..=1u8, 0..200),
    ]
}

#[test]
fn vectors() {
    let table: [(&str, &[u8], u16); 11] = [
        ("nothing", &[], 0xffff),
        ("a zero", &[0], 0xffff),
        ("zeros", &[0, 0, 0, 0], 0xffff),
        ("one octet is the first of a word", &[0x12], !0x1200),
        ("one word", &[0x12, 0x34], !0x1234),
        ("three octets", &[0x12, 0x34, 0x56], !0x6834),
        ("all ones", &[0xff; 2], 0),
        ("all ones, twice", &[0xff; 4], 0),
        ("a carry goes round", &[0xff, 0xff, 0, 1], !1),
        (
            // Section 3: the sum is dd f2.
            "RFC 1071",
            &[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7],
            !0xddf2,
        ),
        (
            "the header of a UDP datagram from 192.168.0.1 to 192.168.0.199",
            &[
                0x45, 0x00, 0x00, 0x73, 0x00, 0x00, 0x40, 0x00, 0x40, 0x11, 0x00, 0x00, 0xc0, 0xa8,
                0x00, 0x01, 0xc0, 0xa8, 0x00, 0xc7,
            ],
            0xb861,
        ),
    ];

    for (name, octets, expected) in table {
        assert_eq!(checksum(octets), expected, "{name}");
    }
}

/// RFC 1071, section 3, once more: the partial sums of its two halves.
#[test]
fn rfc_1071_in_halves() {
    let half = Sum::default().plus(&[0x00, 0x01, 0xf2, 0x03]);
    assert_eq!(stored(half), !0xf204);

    let other = Sum::default().plus(&[0xf4, 0xf5, 0xf6, 0xf7]);
    assert_eq!(stored(other), !0xebed);
    assert_eq!(stored(half.plus_sum(other)), !0xddf2);
}

/// More words than a counter of 16 bits can count, and more carries than 16 bits can hold.
#[test]
fn long_inputs() {
    for len in [65_535, 65_536, 131_071, 1 << 20, (1 << 20) + 1] {
        for octet in [0x00, 0x01, 0x80, 0xff] {
            let octets = vec![octet; len];
            let found = checksum(&octets);
            assert_eq!(found, !naive_sum::sum(&octets), "{len} times {octet:#x}");
        }
    }
}

/// Every word, added to every sum at a border.
#[test]
fn every_word() {
    for word in 0..=u16::MAX {
        assert_eq!(checksum(&word.to_be_bytes()), !word);

        for before in [0u16, 1, 0x7fff, 0x8000, 0xfffe, 0xffff] {
            let both = [before.to_be_bytes(), word.to_be_bytes()].concat();
            let before = elsewhere(&before.to_be_bytes());
            let after = before.plus(&word.to_be_bytes());
            assert_eq!(stored(after), !naive_sum::sum(&both));
        }
    }
}

proptest! {
    #![proptest_config(support::cases(30_000))]

    #[test]
    fn it_is_the_naive_sum(octets in octets()) {
        prop_assert_eq!(checksum(&octets), !naive_sum::sum(&octets));
    }

    #[test]
    fn an_even_cut_changes_nothing(octets in octets(), at: prop::sample::Index) {
        let whole = Sum::default().plus(&octets);
        let at = at.index(octets.len() / 2 + 1) * 2;
        let (head, tail) = octets.split_at(at);
        let (first, second) = (Sum::default().plus(head), Sum::default().plus(tail));

        prop_assert_eq!(first.plus(tail), whole);
        prop_assert_eq!(first.plus_sum(second), whole);
        prop_assert_eq!(second.plus_sum(first), whole);
        prop_assert_eq!(first.plus_sum(elsewhere(tail)), whole);
        prop_assert_eq!(elsewhere(tail).plus(head), whole);
    }

    #[test]
    fn many_pieces_are_the_whole(words in vec((octets(), any::<bool>()), 0..8)) {
        let mut sum = Sum::default();
        let mut whole = Vec::new();

        for (mut octets, at_once) in words {
            // All but the last piece of a message have an even length.
            octets.truncate(octets.len() & !1);
            sum = match at_once {
                true => sum.plus(&octets),
                false => sum.plus_sum(Sum::default().plus(&octets)),
            };
            whole.extend(octets);
        }
        prop_assert_eq!(sum, Sum::default().plus(&whole));
        prop_assert_eq!(stored(sum), !naive_sum::sum(&whole));
    }

    /// RFC 1071, section 2 (B): octets swapped in all words swap the sum's, and so a machine of
    /// either byte order stores the same checksum.
    #[test]
    fn byte_order_does_not_matter(mut octets in octets()) {
        if octets.len() % 2 == 1 {
            octets.push(0);
        }
        let swapped: Vec<u8> = octets
            .chunks(2)
            .flat_map(|word| [word[1], word[0]])
            .collect();

        prop_assert_eq!(checksum(&swapped), checksum(&octets).swap_bytes());
    }

    #[test]
    fn a_zero_octet_at_the_end_adds_nothing(mut octets in octets()) {
        let before = Sum::default().plus(&octets);
        octets.push(0);
        prop_assert_eq!(Sum::default().plus(&octets), before);
    }

    /// What a receiver does: the sum over everything, the checksum included, is all ones.
    #[test]
    fn a_receiver_is_content(mut octets in octets(), at: prop::sample::Index) {
        prop_assume!(octets.len() >= 2);
        let at = at.index(octets.len() / 2) * 2;
        octets[at..at + 2].fill(0);
        let checksum = Sum::default().plus(&octets).checksum();

        octets[at..at + 2].copy_from_slice(&checksum);
        prop_assert_eq!(naive_sum::sum(&octets), 0xffff);
        prop_assert_eq!(Sum::default().plus(&octets).checksum(), [0, 0]);
    }
}

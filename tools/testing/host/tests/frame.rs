// SPDX-License-Identifier: GPL-2.0

//! Records in a TCP stream: cut out again as they were put in, however the stream comes.

use ovpn_host::{
    transport::tcp::frame::*,
    wire::OPCODE_LEN, //
};
use proptest::prelude::*;

mod support;

#[test]
fn prefixes() {
    let table = [
        (0, Some([0, 0])),
        (4, Some([0, 4])),
        (0x1234, Some([0x12, 0x34])),
        (0xffff, Some([0xff, 0xff])),
        (0x10000, None),
        (usize::MAX, None),
    ];

    for (len, octets) in table {
        assert_eq!(prefix(len), octets, "{len}");
    }
}

#[test]
fn what_is_shorter_than_an_opcode_is_no_packet() {
    let table = [
        ([0, 0], None),
        ([0, 1], None),
        ([0, 3], None),
        ([0, 4], Some(6)),
        ([1, 0], Some(258)),
        ([0xff, 0xff], Some(65_537)),
    ];

    for (octets, len) in table {
        assert_eq!(frame_len(octets), len, "{octets:?}");
    }
}

/// Cuts a stream that comes in `pieces` into packets, as a reader that looks only at whole prefixes
/// and whole packets. [`None`] if the stream makes no sense.
fn cut(pieces: &[&[u8]]) -> Option<Vec<Vec<u8>>> {
    let mut packets = Vec::new();
    let mut seen: Vec<u8> = Vec::new();

    for piece in pieces {
        seen.extend_from_slice(piece);
        while let Some(octets) = seen.first_chunk::<PREFIX_LEN>() {
            let len = frame_len(*octets)? as usize;
            if seen.len() < len {
                break;
            }
            packets.push(seen[PREFIX_LEN..len].to_vec());
            seen.drain(..len);
        }
    }
    Some(packets)
}

proptest! {
    #![proptest_config(support::cases(20_000))]

    #[test]
    fn each_length_is_what_was_said(len in OPCODE_LEN..=0xffff) {
        let octets = prefix(len).unwrap();

        prop_assert_eq!(frame_len(octets), Some((len + PREFIX_LEN) as u32));
    }

    #[test]
    fn packets_survive_any_cut(
        packets in prop::collection::vec(
            prop::collection::vec(any::<u8>(), OPCODE_LEN..600), 1..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
    ) {
        let mut stream = Vec::new();
        for packet in &packets {
            stream.extend_from_slice(&prefix(packet.len()).unwrap());
            stream.extend_from_slice(packet);
        }
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len())).collect();
        at.sort_unstable();
        let mut pieces: Vec<&[u8]> = Vec::new();
        let mut from = 0;
        for to in at {
            pieces.push(&stream[from..to]);
            from = to;
        }
        pieces.push(&stream[from..]);

        prop_assert_eq!(cut(&pieces), Some(packets));
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The record format against octets that were put together by hand.

use ovpn_host::{
    crypto::packet_id::PacketId,
    wire::*, //
};
use proptest::prelude::*;

mod support;

fn header(key_id: u32, peer_id: u32) -> Header {
    Header {
        key_id: KeyId::new(key_id).unwrap(),
        peer_id: PeerId::new(peer_id).unwrap(),
    }
}

fn id(id: u32) -> PacketId {
    PacketId::new(id).unwrap()
}

#[test]
fn lengths_add_up() {
    assert_eq!(OPCODE_LEN, 4);
    assert_eq!(PACKET_ID_LEN, 4);
    assert_eq!(AAD_LEN, 8);
    assert_eq!(TAG_LEN, 16);
    assert_eq!(OVERHEAD, 24);
    assert_eq!(NONCE_TAIL_LEN, 8);
    assert_eq!(NONCE_LEN, 12);
}

#[test]
fn aad_vectors() {
    let table = [
        (0, 0, 1, [0x48, 0, 0, 0, 0, 0, 0, 1]),
        (1, 0, 1, [0x49, 0, 0, 0, 0, 0, 0, 1]),
        (7, 0, 0x100, [0x4f, 0, 0, 0, 0, 0, 1, 0]),
        (0, 1, 2, [0x48, 0, 0, 1, 0, 0, 0, 2]),
        (
            3,
            0x123456,
            0x789abcde,
            [0x4b, 0x12, 0x34, 0x56, 0x78, 0x9a, 0xbc, 0xde],
        ),
        (
            5,
            0xffffff,
            u32::MAX,
            [0x4d, 255, 255, 255, 255, 255, 255, 255],
        ),
    ];

    for (key_id, peer_id, packet, octets) in table {
        assert_eq!(header(key_id, peer_id).aad(id(packet)), octets);
    }
}

#[test]
fn data_v2_is_recognised() {
    assert_eq!(
        Datagram::classify([0x48, 0, 0, 0]),
        Datagram::DataV2(header(0, 0))
    );
    assert_eq!(
        Datagram::classify([0x4e, 0xab, 0xcd, 0xef]),
        Datagram::DataV2(header(6, 0xabcdef))
    );
    assert_eq!(
        Datagram::classify([0x4f, 0xff, 0xff, 0xff]),
        Datagram::DataV2(Header {
            key_id: KeyId::new(7).unwrap(),
            peer_id: PeerId::UNDEF
        })
    );
}

/// Every first octet there is. The other opcodes are the control channel's, or nobody's.
#[test]
fn only_two_opcodes_are_data() {
    for first in 0..=u8::MAX {
        let found = Datagram::classify([first, 1, 2, 3]);

        match first {
            0x30..=0x37 => assert_eq!(found, Datagram::DataV1),
            0x48..=0x4f => {
                assert_eq!(
                    found,
                    Datagram::DataV2(header(u32::from(first) - 0x48, 0x010203))
                );
            }
            _ => assert_eq!(found, Datagram::Other, "first octet {first:#x}"),
        }
    }
}

#[test]
fn ids_fit_their_bits() {
    for n in 0..8 {
        assert_eq!(u32::from(KeyId::new(n).unwrap().get()), n);
    }
    for n in [8, 9, 255, 256, 257, u32::MAX] {
        assert_eq!(KeyId::new(n), None);
    }

    for n in [0, 1, 0xfffffe, 0xffffff] {
        assert_eq!(PeerId::new(n).unwrap().get(), n);
    }
    for n in [0x1000000, 0x1000001, u32::MAX] {
        assert_eq!(PeerId::new(n), None);
    }

    assert_eq!(PeerId::UNDEF.get(), 0xffffff);
    assert!(PeerId::UNDEF.is_undef());
    assert!(!PeerId::new(0).unwrap().is_undef());
    assert!(!PeerId::new(0xfffffe).unwrap().is_undef());
}

#[test]
fn packet_id_vectors() {
    assert_eq!(packet_id(&[0x48, 1, 2, 3, 0, 0, 0, 1]), Some(id(1)));
    assert_eq!(packet_id(&[0, 0, 0, 0, 1, 2, 3, 4]), Some(id(0x01020304)));
    assert_eq!(packet_id(&[255; 8]), Some(id(u32::MAX)));
    assert_eq!(packet_id(&[255, 255, 255, 255, 0, 0, 0, 0]), None);
}

#[test]
fn nonce_is_packet_id_then_tail() {
    let mut tail = NonceTail::new([0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7]);

    assert_eq!(
        tail.nonce(id(0x01020304)),
        [1, 2, 3, 4, 0xa0, 0xa1, 0xa2, 0xa3, 0xa4, 0xa5, 0xa6, 0xa7]
    );

    tail.bytes_mut().fill(0);
    assert_eq!(tail.nonce(id(5)), [0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 0]);
}

#[test]
fn keepalive_is_the_one_that_peers_know() {
    assert_eq!(
        u128::from_be_bytes(KEEPALIVE),
        0x2a187bf3641eb4cb07ed2d0a981fc748
    );
}

proptest! {
    #![proptest_config(support::cases(100_000))]

    #[test]
    fn composed_headers_are_parsed_back(key in 0u32..8, peer in 0u32..0x1000000, n in 1u32..) {
        let aad = header(key, peer).aad(id(n));

        prop_assert_eq!(
            Datagram::classify(*aad.first_chunk().unwrap()),
            Datagram::DataV2(header(key, peer))
        );
        prop_assert_eq!(packet_id(&aad), Some(id(n)));
    }

    #[test]
    fn parsed_headers_are_composed_back(first: [u8; OPCODE_LEN], n in 1u32..) {
        if let Datagram::DataV2(header) = Datagram::classify(first) {
            let aad = header.aad(id(n));
            prop_assert_eq!(aad.first_chunk(), Some(&first));
        } else {
            prop_assert_ne!(first[0] >> 3, 9);
        }
    }

    #[test]
    fn nonces_differ_as_packet_ids_do(tail: [u8; 8], a in 1u32.., b in 1u32..) {
        let tail = NonceTail::new(tail);

        prop_assert_eq!(tail.nonce(id(a)) == tail.nonce(id(b)), a == b);
    }
}

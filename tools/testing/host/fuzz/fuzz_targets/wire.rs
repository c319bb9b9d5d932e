// SPDX-License-Identifier: GPL-2.0

//! Any head of a record, read and composed again.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    crypto::packet_id::PacketId,
    wire::*, //
};

fuzz_target!(|input: ([u8; AAD_LEN], [u8; NONCE_TAIL_LEN])| {
    let (aad, tail) = input;
    let [first, a, b, c, d, e, f, g] = aad;
    let number = u32::from_be_bytes([d, e, f, g]);
    let id = packet_id(&aad);
    assert_eq!(id.map_or(0, PacketId::get), number);

    let found = Datagram::classify([first, a, b, c]);
    match first >> 3 {
        6 => assert_eq!(found, Datagram::DataV1),
        9 => {
            let Datagram::DataV2(header) = found else {
                panic!("{found:?}");
            };
            assert_eq!(header.key_id.get(), first & 7);
            let peer = u32::from_be_bytes([0, a, b, c]);
            assert_eq!(header.peer_id.get(), peer);
            assert_eq!(header.peer_id.is_undef(), peer == 0xff_ffff);
            assert!(id.is_none_or(|id| header.aad(id) == aad));
        }
        _ => assert_eq!(found, Datagram::Other),
    }

    if let Some(id) = id {
        let nonce = NonceTail::new(tail).nonce(id);
        assert_eq!(nonce[..], [&aad[4..], &tail[..]].concat());
    }
});

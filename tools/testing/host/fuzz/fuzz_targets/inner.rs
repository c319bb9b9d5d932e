// SPDX-License-Identifier: GPL-2.0

//! Any payload, also one of which less could be read than there is.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    inner::*,
    wire::KEEPALIVE, //
};

fuzz_target!(|input: (u16, &[u8])| {
    let (unread, head) = input;
    let len = head.len() + usize::from(unread);
    let head = &head[..head.len().min(MAX_HEAD)];
    let (version, head_len) = (head.first().map_or(0, |first| first >> 4), head.len());

    assert_eq!(
        ip(head).is_some(),
        matches!(classify(len, head), Payload::Ip(_))
    );
    match classify(len, head) {
        Payload::Ip(
            inner @ Inner::V4 {
                source,
                destination,
            },
        ) => {
            assert!(version == 4 && head_len >= 20);
            assert_eq!(inner.ethertype(), 0x0800);
            assert_eq!(
                head[12..20],
                [source.octets(), destination.octets()].concat()
            );
        }
        Payload::Ip(
            inner @ Inner::V6 {
                source,
                destination,
            },
        ) => {
            assert!(version == 6 && head_len >= 40);
            assert_eq!(inner.ethertype(), 0x86dd);
            assert_eq!(
                head[8..40],
                [source.octets(), destination.octets()].concat()
            );
        }
        Payload::Keepalive => assert!(len == 16 && head == KEEPALIVE),
        Payload::Empty => assert_eq!(len, 0),
        Payload::Unknown => {
            assert!(len > 0 && head != &KEEPALIVE[..] || len != head_len);
            assert!(!(version == 4 && head_len >= 20 || version == 6 && head_len >= 40));
        }
    }
});

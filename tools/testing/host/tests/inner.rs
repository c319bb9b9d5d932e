// SPDX-License-Identifier: GPL-2.0

//! What a payload is taken for.

use ovpn_host::{
    inner::*,
    wire::KEEPALIVE, //
};
use proptest::prelude::*;

mod support;

/// The first `min(len, MAX_HEAD)` octets of a payload, as the driver passes them.
fn judge(payload: &[u8]) -> Payload {
    classify(payload.len(), &payload[..payload.len().min(MAX_HEAD)])
}

/// A 20 octet IPv4 header from 192.0.2.1 to 198.51.100.7, with `first` in its first octet.
fn v4(first: u8) -> Vec<u8> {
    let mut header = vec![0; 20];
    header[0] = first;
    header[12..16].copy_from_slice(&[192, 0, 2, 1]);
    header[16..20].copy_from_slice(&[198, 51, 100, 7]);
    header
}

/// A 40 octet IPv6 header from 2001:db8::1 to 2001:db8:1::2, with `first` in its first octet.
fn v6(first: u8) -> Vec<u8> {
    let mut header = vec![0; 40];
    header[0] = first;
    header[8..12].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
    header[23] = 1;
    header[24..30].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8, 0, 1]);
    header[39] = 2;
    header
}

const V4: Inner = Inner::V4 {
    source: std::net::Ipv4Addr::new(192, 0, 2, 1),
    destination: std::net::Ipv4Addr::new(198, 51, 100, 7),
};

const V6: Inner = Inner::V6 {
    source: std::net::Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 1),
    destination: std::net::Ipv6Addr::new(0x2001, 0xdb8, 1, 0, 0, 0, 0, 2),
};

#[test]
fn addresses_are_read() {
    assert_eq!(ip(&v4(0x45)), Some(V4));
    assert_eq!(ip(&v6(0x60)), Some(V6));
    // Traffic class and header length have no say.
    assert_eq!(ip(&v4(0x4f)), Some(V4));
    assert_eq!(ip(&v6(0x6f)), Some(V6));
    // More than a header.
    assert_eq!(ip(&[v4(0x45), vec![9; 20]].concat()), Some(V4));
    assert_eq!(ip(&[v6(0x60), vec![9; 20]].concat()), Some(V6));
}

#[test]
fn ethertypes() {
    assert_eq!(V4.ethertype(), 0x0800);
    assert_eq!(V6.ethertype(), 0x86dd);
}

#[test]
fn every_version_and_length() {
    for first in 0..=u8::MAX {
        for len in 1..=64 {
            let mut payload = vec![0; len];
            payload[0] = first;

            let is_ip = match first >> 4 {
                4 => len >= 20,
                6 => len >= 40,
                _ => false,
            };
            let found = judge(&payload);
            assert_eq!(matches!(found, Payload::Ip(_)), is_ip, "{first:#x}, {len}");
            assert!(is_ip || found == Payload::Unknown);
        }
    }
}

/// What [`header_len`] says is enough to read the addresses, and one octet less is not.
#[test]
fn header_lengths() {
    for first in 0..=u8::MAX {
        match header_len(first) {
            Some(len) => {
                let mut packet = vec![0; len];
                packet[0] = first;
                assert!(ip(&packet).is_some());
                assert_eq!(ip(&packet[..len - 1]), None);
            }
            None => {
                let mut packet = vec![0; MAX_HEAD];
                packet[0] = first;
                assert_eq!(ip(&packet), None);
            }
        }
    }
}

#[test]
fn empty() {
    assert_eq!(judge(&[]), Payload::Empty);
    assert_eq!(ip(&[]), None);
}

#[test]
fn keepalive_is_exact() {
    assert_eq!(judge(&KEEPALIVE), Payload::Keepalive);

    // Too short, too long, and each bit flipped.
    assert_eq!(judge(&KEEPALIVE[..15]), Payload::Unknown);
    assert_eq!(judge(&[&KEEPALIVE[..], &[0]].concat()), Payload::Unknown);
    for bit in 0..128 {
        let mut payload = KEEPALIVE;
        payload[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(judge(&payload), Payload::Unknown);
    }

    // 16 octets are read, but more are there.
    assert_eq!(classify(17, &KEEPALIVE), Payload::Unknown);
}

/// A caller that could not read as much as it should have.
#[test]
fn short_head_is_no_ip() {
    assert_eq!(classify(1500, &v4(0x45)[..19]), Payload::Unknown);
    assert_eq!(classify(1500, &v6(0x60)[..39]), Payload::Unknown);
    assert_eq!(classify(1500, &[]), Payload::Unknown);
}

proptest! {
    #![proptest_config(support::cases(100_000))]

    #[test]
    fn any_payload_is_judged(payload in proptest::collection::vec(any::<u8>(), 0..80)) {
        match judge(&payload) {
            Payload::Ip(inner @ Inner::V4 { source, destination }) => {
                prop_assert_eq!(payload[0] >> 4, 4);
                prop_assert_eq!(&payload[12..16], &source.octets());
                prop_assert_eq!(&payload[16..20], &destination.octets());
                prop_assert_eq!(ip(&payload), Some(inner));
            }
            Payload::Ip(inner @ Inner::V6 { source, destination }) => {
                prop_assert_eq!(payload[0] >> 4, 6);
                prop_assert_eq!(&payload[8..24], &source.octets());
                prop_assert_eq!(&payload[24..40], &destination.octets());
                prop_assert_eq!(ip(&payload), Some(inner));
            }
            Payload::Keepalive => prop_assert_eq!(&payload[..], &KEEPALIVE),
            Payload::Empty => prop_assert!(payload.is_empty()),
            Payload::Unknown => prop_assert_eq!(ip(&payload), None),
        }
    }
}

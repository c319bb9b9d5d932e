// SPDX-License-Identifier: GPL-2.0

//! Bursts and packets that were put together elsewhere; tcpdump finds the packets correct.

use ovpn_host::burst::*;

use crate::{
    cut,
    sample::Sample, //
};

/// Octets from hexadecimal digits.
fn octets(text: &str) -> Vec<u8> {
    let digits: String = text.split_whitespace().collect();
    (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&digits[at..at + 2], 16).unwrap())
        .collect()
}

fn check(headers: &str, network_len: usize, payload: &[u8], piece: usize, packets: &[&str]) {
    let headers = octets(headers);
    let sample = Sample {
        network_len,
        headers_len: headers.len(),
        octets: [&headers, payload].concat(),
        traits: Traits {
            piece,
            same_id: false,
            keep_cwr: false,
        },
    };
    let burst = sample.parse().unwrap();

    assert_eq!(burst.packets(), packets.len());
    for (index, packet) in packets.iter().enumerate() {
        assert_eq!(
            cut(&burst, &sample, index),
            octets(packet),
            "packet {index}"
        );
    }
}

/// With FIN, PSH, CWR and ACK. The id and the sequence number go round on the way. The burst's own
/// lengths and checksums are garbage.
#[test]
fn tcp_over_ipv4() {
    check(
        "45 02 dead ffff 4000 40 06 beef c0000201 c6336407
         01bb c350 fffffffd 11223344 80 99 01f5 dead 0000 0101080a 01020304 05060708",
        20,
        b"Hello world",
        4,
        &[
            "45 02 0038 ffff 4000 40 06 4e82 c0000201 c6336407
             01bb c350 fffffffd 11223344 80 90 01f5 b9b2 0000 0101080a 01020304 05060708 48656c6c",
            "45 02 0038 0000 4000 40 06 4e82 c0000201 c6336407
             01bb c350 00000001 11223344 80 10 01f5 8871 0000 0101080a 01020304 05060708 6f20776f",
            "45 02 0037 0001 4000 40 06 4e82 c0000201 c6336407
             01bb c350 00000005 11223344 80 19 01f5 9888 0000 0101080a 01020304 05060708 726c64",
        ],
    );
}

#[test]
fn udp_over_ipv6() {
    check(
        "60212345 dead 11 3f
         20010db8 00000000 00000000 00000001 20010db8 00010000 00000000 00000002
         1151 c738 dead beef",
        40,
        b"Hello, world",
        5,
        &[
            "60212345 000d 11 3f
             20010db8 00000000 00000000 00000001 20010db8 00010000 00000000 00000002
             1151 c738 000d a802 48656c6c6f",
            "60212345 000d 11 3f
             20010db8 00000000 00000000 00000001 20010db8 00010000 00000000 00000002
             1151 c738 000d b644 2c20776f72",
            "60212345 000a 11 3f
             20010db8 00000000 00000000 00000001 20010db8 00010000 00000000 00000002
             1151 c738 000a 5f76 6c64",
        ],
    );
}

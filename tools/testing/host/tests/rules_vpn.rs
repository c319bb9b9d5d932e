// SPDX-License-Identifier: GPL-2.0

//! Which addresses a peer may have in the VPN, and which transports take a remote address.

use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

use ovpn_host::netlink::rules::*;
use proptest::prelude::*;

mod support;

/// Alone, with `::` beside it. What is a subnet's broadcast address is for the stack to know.
#[test]
fn vpn_v4_table() {
    for (address, good) in [
        ("0.0.0.1", true),
        ("10.8.0.2", true),
        ("10.255.255.255", true),
        ("126.255.255.255", true),
        ("127.0.0.0", false),
        ("127.255.255.255", false),
        ("128.0.0.0", true),
        ("223.255.255.255", true),
        ("224.0.0.0", false),
        ("239.255.255.255", false),
        ("240.0.0.1", true),
        ("255.255.255.254", true),
        ("255.255.255.255", false),
    ] {
        let expected = if good { Ok(()) } else { Err(Reject::BadVpnV4) };
        let v4 = address.parse().unwrap();

        assert_eq!(
            check_vpn_addresses(v4, Ipv6Addr::UNSPECIFIED),
            expected,
            "{address}"
        );
        assert_eq!(
            check_vpn_addresses(v4, "fd00::2".parse().unwrap()),
            expected,
            "{address}"
        );
    }
}

/// Alone, with 0.0.0.0 beside it.
#[test]
fn vpn_v6_table() {
    for (address, good) in [
        ("::1", false),
        ("::2", false),
        ("::192.0.2.1", false),
        ("::ffff:0.0.0.0", false),
        ("::ffff:192.0.2.1", false),
        ("::fffe:192.0.2.1", true),
        ("::1:0:0", true),
        ("::1:0:0:0", true),
        ("64:ff9b::192.0.2.1", true),
        ("2001:db8::1", true),
        ("fd00::2", true),
        ("fe80::1", true),
        ("fec0::1", true),
        ("feff::1", true),
        ("ff00::", false),
        ("ff02::1", false),
    ] {
        let expected = if good { Ok(()) } else { Err(Reject::BadVpnV6) };
        let v6 = address.parse().unwrap();

        assert_eq!(
            check_vpn_addresses(Ipv4Addr::UNSPECIFIED, v6),
            expected,
            "{address}"
        );
        assert_eq!(
            check_vpn_addresses([10, 8, 0, 2].into(), v6),
            expected,
            "{address}"
        );
    }
}

#[test]
fn vpn_addresses_together() {
    let check = |v4, v6: &str| check_vpn_addresses(v4, v6.parse().unwrap());

    assert_eq!(
        check(Ipv4Addr::UNSPECIFIED, "::"),
        Err(Reject::MissingVpnAddress)
    );
    assert_eq!(check(Ipv4Addr::LOCALHOST, "::1"), Err(Reject::BadVpnV4));
}

#[test]
fn transports() {
    assert_eq!(check_transport(true, true), Ok(()));
    assert_eq!(check_transport(true, false), Err(Reject::UdpWithoutRemote));
    assert_eq!(check_transport(false, true), Err(Reject::TcpWithRemote));
    assert_eq!(check_transport(false, false), Ok(()));
}

/// Addresses from the corners that matter as well as any others.
fn address_v6() -> impl Strategy<Value = Ipv6Addr> {
    prop_oneof![
        any::<Ipv6Addr>(),
        any::<Ipv4Addr>().prop_map(|v4| v4.to_ipv6_mapped()),
        any::<Ipv4Addr>().prop_map(|v4| v4.to_ipv6_compatible()),
        (0xff00u16..=0xffff).prop_map(|first| [first, 0, 0, 0, 0, 0, 0, 1].into()),
        Just(Ipv6Addr::LOCALHOST),
    ]
}

proptest! {
    #![proptest_config(support::cases(300_000))]

    #[test]
    fn accepted_vpn_addresses_are_unicast(v4: Ipv4Addr, v6 in address_v6()) {
        if check_vpn_addresses(v4, v6).is_ok() {
            prop_assert!(!(v4.is_unspecified() && v6.is_unspecified()));
            prop_assert!(!v4.is_multicast() && !v4.is_loopback() && !v4.is_broadcast());
            prop_assert!(!v6.is_multicast() && !v6.is_loopback());
            prop_assert!(v6.is_unspecified() || v6.to_ipv4().is_none());
        }
    }
}

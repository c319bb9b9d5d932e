// SPDX-License-Identifier: GPL-2.0

//! What records tell about where a peer is.

use std::{
    collections::hash_map::DefaultHasher,
    hash::{
        Hash,
        Hasher, //
    },
    net::{
        Ipv4Addr,
        Ipv6Addr,
        SocketAddrV4, //
    }, //
};

use ovpn_host::peer::endpoint::*;
use proptest::{
    prelude::*,
    sample::select, //
};

mod support;

fn v4(remote: &str, local: &str) -> Endpoint {
    Endpoint::V4 {
        remote: remote.parse().unwrap(),
        local: local.parse().unwrap(),
    }
}

fn v6(remote: &str, port: u16, scope_id: u32, local: &str) -> Endpoint {
    Endpoint::V6 {
        remote: remote.parse().unwrap(),
        port,
        scope_id,
        local: local.parse().unwrap(),
    }
}

/// Where our address of an endpoint is known to be, as text.
fn local(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::V4 { local, .. } => local.to_string(),
        Endpoint::V6 { local, .. } => local.to_string(),
    }
}

fn scope(endpoint: &Endpoint) -> u32 {
    match endpoint {
        Endpoint::V4 { .. } => 0,
        Endpoint::V6 { scope_id, .. } => *scope_id,
    }
}

fn is_link_local(endpoint: &Endpoint) -> bool {
    matches!(endpoint, Endpoint::V6 { remote, .. } if remote.is_unicast_link_local())
}

#[test]
fn observed_over_ipv4() {
    let known = v4("192.0.2.1:1194", "10.0.0.1");

    for (seen, expected) in [
        (known, Change::None),
        (
            v4("192.0.2.1:1194", "10.0.0.2"),
            Change::Local(v4("192.0.2.1:1194", "10.0.0.2")),
        ),
        (
            v4("192.0.2.1:1195", "10.0.0.1"),
            Change::Floated(v4("192.0.2.1:1195", "10.0.0.1")),
        ),
        (
            v4("192.0.2.2:1194", "10.0.0.2"),
            Change::Floated(v4("192.0.2.2:1194", "10.0.0.2")),
        ),
        (
            v6("2001:db8::1", 1194, 0, "2001:db8::2"),
            Change::Floated(v6("2001:db8::1", 1194, 0, "2001:db8::2")),
        ),
        // These can be destinations, but never sources.
        (v4("192.0.2.1:1194", "255.255.255.255"), Change::None),
        (v4("192.0.2.1:1194", "224.0.0.9"), Change::None),
        (v4("192.0.2.1:1194", "0.0.0.0"), Change::None),
        (
            v4("192.0.2.7:1194", "255.255.255.255"),
            Change::Floated(v4("192.0.2.7:1194", "0.0.0.0")),
        ),
    ] {
        assert_eq!(known.observe(&seen), expected, "{seen:?}");
    }

    // Not known yet, so the first record tells.
    assert_eq!(known.forget_local().observe(&known), Change::Local(known));
}

#[test]
fn observed_over_ipv6() {
    let known = v6("2001:db8::1", 1194, 0, "2001:db8::2");

    for (seen, expected) in [
        (known, Change::None),
        // The interface says nothing about a global address.
        (v6("2001:db8::1", 1194, 7, "2001:db8::2"), Change::None),
        (
            v6("2001:db8::1", 1194, 7, "2001:db8::3"),
            Change::Local(v6("2001:db8::1", 1194, 0, "2001:db8::3")),
        ),
        (
            v6("2001:db8::1", 1195, 7, "2001:db8::2"),
            Change::Floated(v6("2001:db8::1", 1195, 0, "2001:db8::2")),
        ),
        (
            v6("2001:db8::9", 1194, 0, "2001:db8::2"),
            Change::Floated(v6("2001:db8::9", 1194, 0, "2001:db8::2")),
        ),
        (
            v6("fe80::9", 1194, 7, "fe80::2"),
            Change::Floated(v6("fe80::9", 1194, 7, "fe80::2")),
        ),
        (
            v4("192.0.2.1:1194", "10.0.0.1"),
            Change::Floated(v4("192.0.2.1:1194", "10.0.0.1")),
        ),
        (v6("2001:db8::1", 1194, 0, "ff02::1"), Change::None),
        (v6("2001:db8::1", 1194, 0, "::"), Change::None),
        (
            v6("2001:db8::9", 1194, 0, "ff02::1"),
            Change::Floated(v6("2001:db8::9", 1194, 0, "::")),
        ),
    ] {
        assert_eq!(known.observe(&seen), expected, "{seen:?}");
    }

    // A scope that user space gave survives what records tell.
    let bound = v6("2001:db8::1", 1194, 3, "::");
    assert_eq!(
        bound.observe(&known),
        Change::Local(v6("2001:db8::1", 1194, 3, "2001:db8::2"))
    );
}

#[test]
fn observed_on_a_link() {
    let known = v6("fe80::1", 1194, 3, "fe80::2");

    for (seen, expected) in [
        (known, Change::None),
        // The caller does not know the interface.
        (v6("fe80::1", 1194, 0, "fe80::2"), Change::None),
        (
            v6("fe80::1", 1194, 0, "fe80::5"),
            Change::Local(v6("fe80::1", 1194, 3, "fe80::5")),
        ),
        // The same address on another link.
        (
            v6("fe80::1", 1194, 4, "fe80::2"),
            Change::Floated(v6("fe80::1", 1194, 4, "fe80::2")),
        ),
    ] {
        assert_eq!(known.observe(&seen), expected, "{seen:?}");
    }

    // All of fe80::/10, and not the next one.
    for (remote, moves) in [("febf::1", true), ("fec0::1", false), ("fe7f::1", false)] {
        let known = v6(remote, 1194, 3, "fe80::2");
        let seen = v6(remote, 1194, 4, "fe80::2");
        assert_eq!(known.observe(&seen) != Change::None, moves, "{remote}");
    }
}

#[test]
fn keys_hold_identity_only() {
    let key = v6("fe80::1", 1194, 3, "fe80::2").key();

    assert_eq!(key, v6("fe80::1", 1194, 4, "fe80::7").key());
    assert_ne!(key, v6("fe80::1", 1195, 3, "fe80::2").key());
    assert_ne!(key, v6("fe80::2", 1194, 3, "fe80::2").key());

    // The same octets in the other family.
    assert_ne!(
        v4("1.2.3.4:5", "0.0.0.0").key(),
        v6("102:304::", 5, 0, "::").key()
    );
    assert_ne!(v4("0.0.0.0:0", "0.0.0.0").key(), v6("::", 0, 0, "::").key());
}

#[test]
fn key_vectors() {
    assert_eq!(
        v4("1.2.3.4:4660", "9.9.9.9").key().bytes(),
        [1, 2, 3, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x12, 0x34, 0, 4]
    );
    assert_eq!(
        v6("102:304:506:708:90a:b0c:d0e:f10", 0x1234, 9, "::9")
            .key()
            .bytes(),
        [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 0x12, 0x34, 0, 6]
    );
}

#[test]
fn unmapping() {
    for (address, expected) in [
        ("::ffff:192.0.2.1", Some(Ipv4Addr::new(192, 0, 2, 1))),
        ("::ffff:0.0.0.0", Some(Ipv4Addr::UNSPECIFIED)),
        ("::192.0.2.1", None),
        ("::fffe:192.0.2.1", None),
        ("::1:ffff:192.0.2.1", None),
        ("64:ff9b::192.0.2.1", None),
        ("::", None),
    ] {
        assert_eq!(unmap(address.parse().unwrap()), expected, "{address}");
    }
}

/// Few enough values that two endpoints often have something in common.
fn endpoint() -> impl Strategy<Value = Endpoint> {
    let port = select(vec![1u16, 1194, 0x1234, 0x3412]);
    let v4_address = || {
        let fixed = [
            "0.0.0.0",
            "10.0.0.1",
            "10.0.0.2",
            "224.0.0.1",
            "255.255.255.255",
        ];
        select(fixed.map(|a| a.parse::<Ipv4Addr>().unwrap()).to_vec())
    };
    let v6_address = || {
        let fixed = [
            "::",
            "fe80::1",
            "fe80::2",
            "2001:db8::1",
            "a00:1::",
            "ff02::1",
        ];
        select(fixed.map(|a| a.parse::<Ipv6Addr>().unwrap()).to_vec())
    };

    prop_oneof![
        (v4_address(), port.clone(), v4_address()).prop_map(|(remote, port, local)| {
            Endpoint::V4 {
                remote: SocketAddrV4::new(remote, port),
                local,
            }
        }),
        (v6_address(), port, 0u32..3, v6_address()).prop_map(|(remote, port, scope_id, local)| {
            Endpoint::V6 {
                remote,
                port,
                scope_id,
                local,
            }
        }),
    ]
}

/// Family, address and port, as text.
fn identity(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::V4 { remote, .. } => format!("4 {remote}"),
        Endpoint::V6 { remote, port, .. } => format!("6 {remote} {port}"),
    }
}

fn hash(key: TransportKey) -> u64 {
    let mut hasher = DefaultHasher::new();

    key.hash(&mut hasher);
    hasher.finish()
}

proptest! {
    #![proptest_config(support::cases(200_000))]

    #[test]
    fn a_change_says_what_changed(known in endpoint(), seen in endpoint()) {
        match known.observe(&seen) {
            Change::None => {
                prop_assert_eq!(known.key(), seen.key());
            }
            Change::Local(new) => {
                prop_assert_eq!(new.key(), known.key());
                prop_assert_eq!(new.key(), seen.key());
                prop_assert_eq!(scope(&new), scope(&known));
                prop_assert_eq!(local(&new), local(&seen));
                prop_assert_ne!(local(&new), local(&known));
            }
            Change::Floated(new) => {
                prop_assert_eq!(new.key(), seen.key());
                prop_assert_eq!(scope(&new), if is_link_local(&seen) { scope(&seen) } else { 0 });
                prop_assert!(known.key() != seen.key() || scope(&known) != scope(&seen));
            }
        }
    }

    /// The second record from the same place changes nothing any more.
    #[test]
    fn a_change_settles(known in endpoint(), seen in endpoint()) {
        if let Change::Local(new) | Change::Floated(new) = known.observe(&seen) {
            prop_assert_eq!(new.observe(&seen), Change::None);
        }
    }

    #[test]
    fn a_peer_that_moved_is_noticed(known in endpoint(), seen in endpoint()) {
        if identity(&known) != identity(&seen) {
            prop_assert!(matches!(known.observe(&seen), Change::Floated(_)));
        }
    }

    #[test]
    fn no_learned_local_is_a_group(known in endpoint(), seen in endpoint()) {
        if let Change::Local(new) | Change::Floated(new) = known.observe(&seen) {
            let local = local(&new);
            prop_assert!(!["224.0.0.1", "255.255.255.255", "ff02::1"].contains(&&local[..]));
        }
    }

    #[test]
    fn keys_are_equal_exactly_for_one_identity(a in endpoint(), b in endpoint()) {
        let same = identity(&a) == identity(&b);

        prop_assert_eq!(a.key() == b.key(), same);
        prop_assert_eq!(a.key().bytes() == b.key().bytes(), same);
        if same {
            prop_assert_eq!(hash(a.key()), hash(b.key()));
        }
    }

    #[test]
    fn forgetting_keeps_the_rest(known in endpoint()) {
        let forgotten = known.forget_local();

        prop_assert_eq!(forgotten.key(), known.key());
        prop_assert_eq!(scope(&forgotten), scope(&known));
        prop_assert!(["0.0.0.0", "::"].contains(&&local(&forgotten)[..]));
        prop_assert_eq!(forgotten.forget_local(), forgotten);
    }
}

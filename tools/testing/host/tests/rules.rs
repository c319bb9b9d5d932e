// SPDX-License-Identifier: GPL-2.0

//! What user space may ask for.

use std::{
    collections::HashSet,
    net::{
        Ipv4Addr,
        Ipv6Addr,
        SocketAddrV4, //
    }, //
};

use ovpn_host::{
    netlink::rules::*,
    peer::endpoint::Endpoint,
    wire::PeerId, //
};
const ALL: [Reject; 19] = [
    Reject::MissingId,
    Reject::IdTooLarge,
    Reject::TxIdTooLarge,
    Reject::TwoRemotes,
    Reject::PortWithoutRemote,
    Reject::RemoteWithoutPort,
    Reject::PortZero,
    Reject::LocalV4WithoutRemote,
    Reject::LocalV6WithoutRemote,
    Reject::MixedFamilies,
    Reject::ScopeWithoutRemoteV6,
    Reject::VpnAddressInP2p,
    Reject::HalfKeepalive,
    Reject::KeepaliveTooLong,
    Reject::MissingVpnAddress,
    Reject::BadVpnV4,
    Reject::BadVpnV6,
    Reject::UdpWithoutRemote,
    Reject::TcpWithRemote,
];

fn v4(address: &str) -> Option<Ipv4Addr> {
    Some(address.parse().unwrap())
}

fn v6(address: &str) -> Option<Ipv6Addr> {
    Some(address.parse().unwrap())
}

/// A request that names a peer and asks for what `fill` puts into it.
fn request(fill: impl FnOnce(&mut PeerAttrs)) -> PeerAttrs {
    let mut attrs = PeerAttrs {
        id: Some(5),
        ..PeerAttrs::default()
    };

    fill(&mut attrs);
    attrs
}

/// Requests that must be refused, and why.
fn refused(attrs: PeerAttrs, mode: Mode, why: Reject) {
    assert_eq!(check_peer(&attrs, mode), Err(why), "{attrs:?}");
}

#[test]
fn a_bare_id_changes_nothing() {
    for mode in [Mode::P2p, Mode::Mp] {
        assert_eq!(
            check_peer(&request(|_| ()), mode),
            Ok(PeerSettings {
                id: PeerId::new(5).unwrap(),
                endpoint: None,
                tx_id: None,
                vpn_v4: None,
                vpn_v6: None,
                keepalive: None,
            })
        );
    }
}

#[test]
fn a_full_request() {
    let attrs = PeerAttrs {
        id: Some(0xffffff),
        remote_v6: v6("fe80::1"),
        scope_id: Some(3),
        remote_port: Some(1194),
        local_v6: v6("fe80::2"),
        vpn_v4: v4("10.8.0.2"),
        vpn_v6: v6("fd00::2"),
        keepalive_interval: Some(10),
        keepalive_timeout: Some(86_400),
        tx_id: Some(0xfffffe),
        ..PeerAttrs::default()
    };

    assert_eq!(
        check_peer(&attrs, Mode::Mp),
        Ok(PeerSettings {
            id: PeerId::UNDEF,
            endpoint: Some(Endpoint::V6 {
                remote: "fe80::1".parse().unwrap(),
                port: 1194,
                scope_id: 3,
                local: "fe80::2".parse().unwrap(),
            }),
            tx_id: PeerId::new(0xfffffe),
            vpn_v4: v4("10.8.0.2"),
            vpn_v6: v6("fd00::2"),
            keepalive: Some((10, 86_400)),
        })
    );
}

#[test]
fn ids() {
    let attrs = request(|a| a.id = None);
    refused(attrs, Mode::P2p, Reject::MissingId);

    for id in [0x1000000, u32::MAX] {
        let attrs = request(|a| a.id = Some(id));
        refused(attrs, Mode::P2p, Reject::IdTooLarge);

        let attrs = request(|a| a.tx_id = Some(id));
        refused(attrs, Mode::P2p, Reject::TxIdTooLarge);
    }
}

#[test]
fn remotes_and_ports() {
    let mut attrs = request(|a| a.remote_port = Some(1194));
    refused(attrs, Mode::P2p, Reject::PortWithoutRemote);
    attrs.remote_v4 = v4("192.0.2.1");
    attrs.remote_v6 = v6("2001:db8::1");
    refused(attrs, Mode::P2p, Reject::TwoRemotes);

    for mut attrs in [
        request(|a| a.remote_v4 = v4("192.0.2.1")),
        request(|a| a.remote_v6 = v6("2001:db8::1")),
    ] {
        refused(attrs, Mode::P2p, Reject::RemoteWithoutPort);
        attrs.remote_port = Some(0);
        refused(attrs, Mode::P2p, Reject::PortZero);
        attrs.remote_port = Some(1);
        assert!(check_peer(&attrs, Mode::P2p).is_ok());
    }
}

/// The endpoint that two addresses make, over IPv4 if they are IPv4. The port is 7.
fn endpoint(remote: &str, local: &str) -> Result<Option<Endpoint>, Reject> {
    Ok(Some(match remote.parse() {
        Ok(remote) => Endpoint::V4 {
            remote: SocketAddrV4::new(remote, 7),
            local: local.parse().unwrap(),
        },
        Err(_) => Endpoint::V6 {
            remote: remote.parse().unwrap(),
            port: 7,
            scope_id: 0,
            local: local.parse().unwrap(),
        },
    }))
}

#[test]
fn endpoints() {
    const R4: &str = "192.0.2.1";
    const R6: &str = "2001:db8::1";
    const MAPPED: &str = "::ffff:192.0.2.1";
    const NO4: Result<Option<Endpoint>, Reject> = Err(Reject::LocalV4WithoutRemote);
    const NO6: Result<Option<Endpoint>, Reject> = Err(Reject::LocalV6WithoutRemote);
    const MIXED: Result<Option<Endpoint>, Reject> = Err(Reject::MixedFamilies);

    // Remote, local ("" for none), and what they make.
    for (remote, local, expected) in [
        (R4, "", endpoint(R4, "0.0.0.0")),
        (R4, "0.0.0.0", endpoint(R4, "0.0.0.0")),
        (R4, "10.0.0.1", endpoint(R4, "10.0.0.1")),
        (R4, "::1", NO6),
        (R4, "::ffff:10.0.0.1", NO6),
        (R6, "", endpoint(R6, "::")),
        (R6, "::", endpoint(R6, "::")),
        (R6, "fd00::1", endpoint(R6, "fd00::1")),
        (R6, "10.0.0.1", NO4),
        (R6, "::ffff:10.0.0.1", MIXED),
        (MAPPED, "", endpoint(R4, "0.0.0.0")),
        (MAPPED, "::ffff:10.0.0.1", endpoint(R4, "10.0.0.1")),
        (MAPPED, "fd00::1", MIXED),
        (MAPPED, "::", MIXED),
        (MAPPED, "10.0.0.1", NO4),
        ("", "10.0.0.1", NO4),
        ("", "fd00::1", NO6),
    ] {
        let attrs = request(|a| {
            a.remote_v4 = remote.parse().ok();
            a.remote_v6 = remote.parse().ok();
            a.local_v4 = local.parse().ok();
            a.local_v6 = local.parse().ok();
            a.remote_port = (!remote.is_empty()).then_some(7);
        });
        let found = check_peer(&attrs, Mode::P2p).map(|settings| settings.endpoint);
        assert_eq!(found, expected, "{remote}, {local}");
    }
}

#[test]
fn scopes() {
    let mut attrs = request(|a| a.scope_id = Some(3));
    refused(attrs, Mode::P2p, Reject::ScopeWithoutRemoteV6);

    attrs.remote_port = Some(1194);
    attrs.remote_v6 = v6("::ffff:192.0.2.1");
    refused(attrs, Mode::P2p, Reject::ScopeWithoutRemoteV6);
    attrs.remote_v6 = v6("2001:db8::1");
    assert!(check_peer(&attrs, Mode::P2p).is_ok());
    (attrs.remote_v4, attrs.remote_v6) = (v4("192.0.2.1"), None);
    refused(attrs, Mode::P2p, Reject::ScopeWithoutRemoteV6);
}

#[test]
fn vpn_addresses_are_for_mp() {
    for attrs in [
        request(|a| a.vpn_v4 = v4("10.8.0.2")),
        request(|a| a.vpn_v6 = v6("fd00::2")),
    ] {
        refused(attrs, Mode::P2p, Reject::VpnAddressInP2p);
        let settings = check_peer(&attrs, Mode::Mp).unwrap();
        assert_eq!(
            (settings.vpn_v4, settings.vpn_v6),
            (attrs.vpn_v4, attrs.vpn_v6)
        );
    }
}

#[test]
fn keepalives() {
    let half = request(|a| a.keepalive_interval = Some(10));
    refused(half, Mode::P2p, Reject::HalfKeepalive);
    let half = request(|a| a.keepalive_timeout = Some(10));
    refused(half, Mode::P2p, Reject::HalfKeepalive);

    let both = |(interval, timeout)| {
        request(|a| {
            a.keepalive_interval = Some(interval);
            a.keepalive_timeout = Some(timeout);
        })
    };
    for pair in [(86_401, 1), (1, 86_401), (u32::MAX, u32::MAX)] {
        refused(both(pair), Mode::P2p, Reject::KeepaliveTooLong);
    }
    for pair in [(0, 0), (0, 60), (10, 0), (10, 60), (86_400, 86_400)] {
        let settings = check_peer(&both(pair), Mode::P2p).unwrap();
        assert_eq!(settings.keepalive, Some(pair));
    }
}

#[test]
fn the_first_broken_rule_is_named() {
    let mut attrs = PeerAttrs {
        id: None,
        remote_v4: v4("192.0.2.1"),
        remote_v6: v6("::ffff:192.0.2.1"),
        scope_id: Some(3),
        remote_port: None,
        local_v4: v4("10.0.0.1"),
        local_v6: v6("fd00::1"),
        vpn_v4: v4("10.8.0.2"),
        vpn_v6: v6("fd00::2"),
        keepalive_interval: Some(10),
        keepalive_timeout: None,
        tx_id: None,
    };
    let mut refused = |why, repair: fn(&mut PeerAttrs)| {
        assert_eq!(check_peer(&attrs, Mode::P2p), Err(why), "{attrs:?}");
        repair(&mut attrs);
    };

    refused(Reject::MissingId, |a| a.id = Some(5));
    refused(Reject::TwoRemotes, |a| a.remote_v4 = None);
    refused(Reject::RemoteWithoutPort, |a| a.remote_port = Some(1));
    refused(Reject::LocalV4WithoutRemote, |a| a.local_v4 = None);
    refused(Reject::MixedFamilies, |a| {
        a.local_v6 = v6("::ffff:10.0.0.1")
    });
    refused(Reject::ScopeWithoutRemoteV6, |a| a.scope_id = None);
    refused(Reject::VpnAddressInP2p, |a| {
        (a.vpn_v4, a.vpn_v6) = (None, None)
    });
    refused(Reject::HalfKeepalive, |a| a.keepalive_interval = None);
    assert!(check_peer(&attrs, Mode::P2p).is_ok());
}

#[test]
fn each_reject_has_its_own_words() {
    let messages: HashSet<_> = ALL.iter().map(|reject| reject.message()).collect();

    assert_eq!(messages.len(), ALL.len());
    for message in messages {
        let text = message.to_str().unwrap();
        assert!(
            text.is_ascii() && text.len() > 10 && text.len() < 80,
            "{text}"
        );
    }
}

#[test]
fn error_numbers() {
    for reject in ALL {
        let expected = match reject {
            Reject::BadVpnV4 | Reject::BadVpnV6 => Errno::AddrNotAvail,
            Reject::IdTooLarge | Reject::TxIdTooLarge => Errno::Range,
            Reject::PortZero | Reject::KeepaliveTooLong => Errno::Range,
            _ => Errno::Inval,
        };
        assert_eq!(reject.errno(), expected, "{reject:?}");
    }
}

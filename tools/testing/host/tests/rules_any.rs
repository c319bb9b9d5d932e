// SPDX-License-Identifier: GPL-2.0

//! What holds for any request of user space, as far as it is accepted.

use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

use ovpn_host::{
    netlink::rules::*,
    peer::endpoint::Endpoint,
    wire::PeerId, //
};
use proptest::{
    option,
    prelude::*,
    sample::select, //
};

mod support;

fn address_v4() -> impl Strategy<Value = Option<Ipv4Addr>> {
    option::of(any::<Ipv4Addr>())
}

fn address_v6() -> impl Strategy<Value = Option<Ipv6Addr>> {
    let mapped = any::<Ipv4Addr>().prop_map(|address| address.to_ipv6_mapped());

    option::of(prop_oneof![any::<Ipv6Addr>(), mapped])
}

/// Any request. Attributes are often missing, so that many requests are right.
fn any_request() -> impl Strategy<Value = PeerAttrs> {
    let rarely = |strategy| option::weighted(0.2, strategy);
    let seconds = || option::of(prop_oneof![0u32..90_000, Just(u32::MAX)]);
    let id = || prop_oneof![9 => 0u32..0x1000000, 1 => any::<u32>()];

    let remote = (
        address_v4(),
        address_v6(),
        option::weighted(0.8, any::<u16>()),
    );
    let local = (address_v4(), address_v6(), rarely(any::<u32>().boxed()));
    let vpn = (address_v4(), address_v6(), option::weighted(0.3, id()));
    let rest = (option::weighted(0.9, id()), seconds(), seconds());

    (remote, local, vpn, rest).prop_map(|(remote, local, vpn, rest)| PeerAttrs {
        id: rest.0,
        remote_v4: remote.0,
        remote_v6: remote.1,
        scope_id: local.2,
        remote_port: remote.2,
        local_v4: local.0,
        local_v6: local.1,
        vpn_v4: vpn.0,
        vpn_v6: vpn.1,
        keepalive_interval: rest.1,
        keepalive_timeout: rest.2,
        tx_id: vpn.2,
    })
}

fn mode() -> impl Strategy<Value = Mode> {
    select(vec![Mode::P2p, Mode::Mp])
}

proptest! {
    #![proptest_config(support::cases(100_000))]

    /// What holds for any request that got through.
    #[test]
    fn settings_are_sound(attrs in any_request(), mode in mode()) {
        let Ok(settings) = check_peer(&attrs, mode) else { return Ok(()) };

        prop_assert_eq!(Some(settings.id.get()), attrs.id);
        prop_assert_eq!(settings.tx_id.map(PeerId::get), attrs.tx_id);
        prop_assert_eq!((settings.vpn_v4, settings.vpn_v6), (attrs.vpn_v4, attrs.vpn_v6));
        if mode == Mode::P2p {
            prop_assert_eq!((settings.vpn_v4, settings.vpn_v6), (None, None));
        }
        if let Some((interval, timeout)) = settings.keepalive {
            prop_assert!(interval <= 86_400 && timeout <= 86_400);
            prop_assert_eq!(Some(interval), attrs.keepalive_interval);
            prop_assert_eq!(Some(timeout), attrs.keepalive_timeout);
        } else {
            prop_assert_eq!((attrs.keepalive_interval, attrs.keepalive_timeout), (None, None));
        }
    }

    /// No endpoint is made up, and none that was given gets lost.
    #[test]
    fn endpoints_are_sound(attrs in any_request(), mode in mode()) {
        let Ok(settings) = check_peer(&attrs, mode) else { return Ok(()) };
        let given_v6 = |address: Ipv4Addr| Some(address.to_ipv6_mapped());

        match settings.endpoint {
            None => {
                prop_assert_eq!((attrs.remote_v4, attrs.remote_v6), (None, None));
                prop_assert_eq!((attrs.local_v4, attrs.local_v6), (None, None));
                prop_assert_eq!((attrs.remote_port, attrs.scope_id), (None, None));
            }
            Some(Endpoint::V4 { remote, local }) => {
                prop_assert_eq!(Some(remote.port()), attrs.remote_port);
                prop_assert_ne!(remote.port(), 0);
                prop_assert_eq!(attrs.scope_id, None);
                if attrs.remote_v6.is_none() {
                    prop_assert_eq!(Some(*remote.ip()), attrs.remote_v4);
                    prop_assert_eq!(local, attrs.local_v4.unwrap_or(Ipv4Addr::UNSPECIFIED));
                } else {
                    prop_assert_eq!(given_v6(*remote.ip()), attrs.remote_v6);
                    let local_v6 = attrs.local_v6.or(given_v6(Ipv4Addr::UNSPECIFIED));
                    prop_assert_eq!(given_v6(local), local_v6);
                }
            }
            Some(Endpoint::V6 { remote, port, scope_id, local }) => {
                prop_assert_eq!(Some(remote), attrs.remote_v6);
                prop_assert_eq!(remote.to_ipv4_mapped(), None);
                prop_assert_eq!(Some(port), attrs.remote_port);
                prop_assert_ne!(port, 0);
                prop_assert_eq!(scope_id, attrs.scope_id.unwrap_or(0));
                prop_assert_eq!(local, attrs.local_v6.unwrap_or(Ipv6Addr::UNSPECIFIED));
                prop_assert_eq!(local.to_ipv4_mapped(), None);
            }
        }
    }

    /// A request that is refused in P2P mode for nothing but its VPN addresses is right in MP mode.
    #[test]
    fn modes_differ_in_one_rule(attrs in any_request()) {
        let without = PeerAttrs { vpn_v4: None, vpn_v6: None, ..attrs };

        prop_assert_eq!(check_peer(&without, Mode::P2p), check_peer(&without, Mode::Mp));
        prop_assert_eq!(
            check_peer(&without, Mode::Mp).err(),
            check_peer(&attrs, Mode::Mp).err()
        );
    }
}

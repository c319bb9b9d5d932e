// SPDX-License-Identifier: GPL-2.0

//! Any request for a peer: what is refused breaks the rule that is named, what is not breaks none.

#![no_main]

use arbitrary::{
    Arbitrary,
    Result,
    Unstructured, //
};
use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    netlink::rules::*,
    peer::endpoint::Endpoint,
    wire::PeerId, //
};
use peer_rules::{
    breaks,
    is_bad_vpn,
    is_mapped,
    RULES, //
};
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

#[path = "../../tests/support/peer_rules.rs"]
mod peer_rules;

/// Numbers at the borders of what is allowed, and any other.
const NUMBERS: [u32; 7] = [0, 1, 86_400, 86_401, 0xff_ffff, 0x100_0000, u32::MAX];

#[derive(Debug)]
struct Request(PeerAttrs);

fn number(u: &mut Unstructured<'_>) -> Result<Option<u32>> {
    Ok(match u.int_in_range(0..=2)? {
        0 => None,
        1 => Some(*u.choose(&NUMBERS)?),
        _ => Some(u.arbitrary()?),
    })
}

fn v6(u: &mut Unstructured<'_>) -> Result<Option<Ipv6Addr>> {
    Ok(match u.int_in_range(0..=2)? {
        0 => None,
        1 => Some(u.arbitrary::<Ipv4Addr>()?.to_ipv6_mapped()),
        _ => Some(u.arbitrary()?),
    })
}

impl<'a> Arbitrary<'a> for Request {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        Ok(Self(PeerAttrs {
            id: number(u)?,
            remote_v4: u.arbitrary()?,
            remote_v6: v6(u)?,
            scope_id: number(u)?,
            remote_port: u.arbitrary()?,
            local_v4: u.arbitrary()?,
            local_v6: v6(u)?,
            vpn_v4: u.arbitrary()?,
            vpn_v6: v6(u)?,
            keepalive_interval: number(u)?,
            keepalive_timeout: number(u)?,
            tx_id: number(u)?,
        }))
    }
}

fn is_faithful(a: &PeerAttrs, settings: &PeerSettings) {
    assert_eq!(Some(settings.id.get()), a.id);
    assert_eq!(settings.tx_id.map(PeerId::get), a.tx_id);
    assert_eq!((settings.vpn_v4, settings.vpn_v6), (a.vpn_v4, a.vpn_v6));
    assert_eq!(
        settings.keepalive,
        a.keepalive_interval.zip(a.keepalive_timeout)
    );
    match settings.endpoint {
        None => assert!(a.remote_v4.is_none() && a.remote_v6.is_none()),
        Some(Endpoint::V4 { remote, local }) => {
            let given = a
                .remote_v4
                .or(a.remote_v6.and_then(|v6| v6.to_ipv4_mapped()));
            assert_eq!(
                (Some(*remote.ip()), Some(remote.port())),
                (given, a.remote_port)
            );
            let given = a.local_v4.or(a.local_v6.and_then(|v6| v6.to_ipv4_mapped()));
            assert_eq!(local, given.unwrap_or(Ipv4Addr::UNSPECIFIED));
        }
        Some(Endpoint::V6 {
            remote,
            port,
            scope_id,
            local,
        }) => {
            assert_eq!((Some(remote), Some(port)), (a.remote_v6, a.remote_port));
            assert!(!is_mapped(Some(remote)) && !is_mapped(Some(local)));
            assert_eq!(scope_id, a.scope_id.unwrap_or(0));
            assert_eq!(local, a.local_v6.unwrap_or(Ipv6Addr::UNSPECIFIED));
        }
    }
}

fuzz_target!(|input: (Request, bool)| {
    let (Request(attrs), mp) = input;
    let mode = if mp { Mode::Mp } else { Mode::P2p };

    match check_peer(&attrs, mode) {
        Ok(settings) => {
            for rule in RULES {
                assert!(!breaks(&attrs, mode, rule), "{rule:?} was not applied");
            }
            is_faithful(&attrs, &settings);
        }
        Err(rule) => {
            assert!(breaks(&attrs, mode, rule), "{rule:?} is not broken");
            assert!(!rule.message().is_empty());
        }
    }
    if let (Some(v4), Some(v6)) = (attrs.vpn_v4, attrs.vpn_v6) {
        assert_eq!(check_vpn_addresses(v4, v6).err(), is_bad_vpn(v4, v6));
    }
});

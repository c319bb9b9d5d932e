// SPDX-License-Identifier: GPL-2.0

//! Records from anywhere, and what a peer's endpoint becomes.

#![no_main]

use arbitrary::{
    Arbitrary,
    Result,
    Unstructured, //
};
use libfuzzer_sys::fuzz_target;
use ovpn_host::peer::endpoint::*;
use std::net::{
    IpAddr,
    Ipv4Addr,
    Ipv6Addr,
    SocketAddrV4, //
};

/// Few enough values that two endpoints often have something in common, and any other.
const V4: [[u8; 4]; 5] = [
    [0; 4],
    [10, 0, 0, 1],
    [10, 0, 0, 2],
    [224, 0, 0, 1],
    [255; 4],
];
const V6: [u128; 5] = [
    0,
    (0xfe80 << 112) | 1,
    (0x2001_0db8 << 96) | 1,
    (0xff02 << 112) | 1,
    1,
];

#[derive(Debug)]
struct Place(Endpoint);

impl<'a> Arbitrary<'a> for Place {
    fn arbitrary(u: &mut Unstructured<'a>) -> Result<Self> {
        let v4 = |u: &mut Unstructured<'a>| -> Result<Ipv4Addr> {
            Ok(match u.arbitrary()? {
                true => (*u.choose(&V4)?).into(),
                false => u.arbitrary()?,
            })
        };
        let v6 = |u: &mut Unstructured<'a>| -> Result<Ipv6Addr> {
            Ok(match u.arbitrary()? {
                true => (*u.choose(&V6)?).into(),
                false => u.arbitrary()?,
            })
        };
        let port = match u.arbitrary()? {
            true => 1194,
            false => u.arbitrary()?,
        };
        Ok(Self(match u.arbitrary()? {
            true => Endpoint::V4 {
                remote: SocketAddrV4::new(v4(u)?, port),
                local: v4(u)?,
            },
            false => Endpoint::V6 {
                remote: v6(u)?,
                port,
                scope_id: u.int_in_range(0..=3)?,
                local: v6(u)?,
            },
        }))
    }
}

/// Remote address, port, scope, local address.
fn parts(endpoint: &Endpoint) -> (IpAddr, u16, u32, IpAddr) {
    match *endpoint {
        Endpoint::V4 { remote, local } => ((*remote.ip()).into(), remote.port(), 0, local.into()),
        Endpoint::V6 {
            remote,
            port,
            scope_id,
            local,
        } => (remote.into(), port, scope_id, local.into()),
    }
}

/// Whether an address of ours may be remembered.
fn is_own(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(v4) => !v4.is_multicast() && !v4.is_broadcast() && !v4.is_unspecified(),
        IpAddr::V6(v6) => !v6.is_multicast() && !v6.is_unspecified(),
    }
}

fn on_link(address: IpAddr) -> bool {
    matches!(address, IpAddr::V6(v6) if v6.octets()[0] == 0xfe && v6.octets()[1] >> 6 == 2)
}

fuzz_target!(|places: (Place, Place)| {
    let (Place(known), Place(seen)) = places;
    let (remote, port, scope, local) = parts(&known);
    let (new_remote, new_port, new_scope, new_local) = parts(&seen);

    let other_link = on_link(new_remote) && new_scope != 0 && new_scope != scope;
    let moved = (remote, port) != (new_remote, new_port) || other_link;
    match known.observe(&seen) {
        Change::None => assert!(!moved && (local == new_local || !is_own(new_local))),
        Change::Local(new) => {
            assert!(!moved && is_own(new_local) && local != new_local);
            assert_eq!(parts(&new), (remote, port, scope, new_local));
        }
        Change::Floated(new) => {
            assert!(moved);
            let (r, p, s, l) = parts(&new);
            assert_eq!((r, p), (new_remote, new_port));
            assert_eq!(s, if on_link(new_remote) { new_scope } else { 0 });
            assert!(l == new_local && is_own(l) || l.is_unspecified() && !is_own(new_local));
        }
    }

    let same = (remote, port) == (new_remote, new_port);
    assert_eq!(known.key() == seen.key(), same);
    assert_eq!(known.key().bytes() == seen.key().bytes(), same);
    let (r, p, s, l) = parts(&known.forget_local());
    assert_eq!((r, p, s), (remote, port, scope));
    assert!(l.is_unspecified());
});

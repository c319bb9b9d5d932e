// SPDX-License-Identifier: GPL-2.0

//! The rules for a peer's attributes, said once more and one by one.

use ovpn_host::netlink::rules::*;
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

/// Whether an IPv6 address stands for an IPv4 one.
pub(crate) fn is_mapped(address: Option<Ipv6Addr>) -> bool {
    address
        .is_some_and(|address| address.octets()[..12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 255, 255])
}

/// Whether a request breaks a rule. None of the rules is about the transport or the final addresses.
pub(crate) fn breaks(a: &PeerAttrs, mode: Mode, rule: Reject) -> bool {
    let remote = a.remote_v4.is_some() || a.remote_v6.is_some();
    let too_long = |seconds: Option<u32>| seconds.is_some_and(|seconds| seconds > 86_400);
    match rule {
        Reject::MissingId => a.id.is_none(),
        Reject::IdTooLarge => a.id.is_some_and(|id| id > 0xff_ffff),
        Reject::TxIdTooLarge => a.tx_id.is_some_and(|id| id > 0xff_ffff),
        Reject::TwoRemotes => a.remote_v4.is_some() && a.remote_v6.is_some(),
        Reject::PortWithoutRemote => a.remote_port.is_some() && !remote,
        Reject::RemoteWithoutPort => remote && a.remote_port.is_none(),
        Reject::PortZero => a.remote_port == Some(0),
        Reject::LocalV4WithoutRemote => a.local_v4.is_some() && a.remote_v4.is_none(),
        Reject::LocalV6WithoutRemote => a.local_v6.is_some() && a.remote_v6.is_none(),
        Reject::MixedFamilies => {
            a.remote_v6.is_some()
                && a.local_v6.is_some()
                && is_mapped(a.remote_v6) != is_mapped(a.local_v6)
        }
        Reject::ScopeWithoutRemoteV6 => {
            a.scope_id.is_some() && (a.remote_v6.is_none() || is_mapped(a.remote_v6))
        }
        Reject::VpnAddressInP2p => mode == Mode::P2p && (a.vpn_v4.is_some() || a.vpn_v6.is_some()),
        Reject::HalfKeepalive => a.keepalive_interval.is_some() != a.keepalive_timeout.is_some(),
        Reject::KeepaliveTooLong => too_long(a.keepalive_interval) || too_long(a.keepalive_timeout),
        _ => false,
    }
}

/// All of them.
pub(crate) const RULES: [Reject; 14] = [
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
];

/// No host has such an address inside the VPN.
pub(crate) fn is_bad_vpn(v4: Ipv4Addr, v6: Ipv6Addr) -> Option<Reject> {
    let [first, ..] = v4.octets();
    let no_v4 = v4.octets() == [0; 4];
    let v4_in_v6 = v6.octets()[..12] == [0; 12] || is_mapped(Some(v6));
    match () {
        () if no_v4 && v6.octets() == [0; 16] => Some(Reject::MissingVpnAddress),
        () if first == 127 || first >> 4 == 14 || v4.octets() == [255; 4] => Some(Reject::BadVpnV4),
        () if v6.octets() == [0; 16] => None,
        () if v4_in_v6 || v6.octets()[0] == 255 => Some(Reject::BadVpnV6),
        () => None,
    }
}

// SPDX-License-Identifier: GPL-2.0

//! What user space may ask for: the rules that span several attributes of a peer.
//!
//! Sizes and ranges of single attributes are the netlink policy's business. What the policy rules
//! out is refused here as well, so that a [`PeerSettings`] is sound wherever it comes from.

use core::{
    ffi::CStr,
    net::{
        Ipv4Addr,
        Ipv6Addr,
        SocketAddrV4, //
    }, //
};

use crate::{
    peer::endpoint::{
        unmap,
        Endpoint, //
    },
    wire::PeerId, //
};

/// The longest interval and timeout of keepalives, in seconds: a day (`ovpn.yaml`).
const KEEPALIVE_MAX: u32 = 86_400;

/// How many peers an interface has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// One.
    P2p,
    /// Many. They are told apart by their addresses in the VPN.
    Mp,
}

/// The attributes of a peer as user space gave them, ports and scopes in host byte order.
///
/// [`None`] is an attribute that is not there.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PeerAttrs {
    /// Number of the peer, put into the records that we receive.
    pub id: Option<u32>,
    /// Transport address of the peer, if it is IPv4.
    pub remote_v4: Option<Ipv4Addr>,
    /// Transport address of the peer, if it is IPv6.
    pub remote_v6: Option<Ipv6Addr>,
    /// Interface of a link-local `remote_v6`.
    pub scope_id: Option<u32>,
    /// Transport port of the peer.
    pub remote_port: Option<u16>,
    /// Our transport address, if it is IPv4.
    pub local_v4: Option<Ipv4Addr>,
    /// Our transport address, if it is IPv6.
    pub local_v6: Option<Ipv6Addr>,
    /// IPv4 address of the peer in the VPN.
    pub vpn_v4: Option<Ipv4Addr>,
    /// IPv6 address of the peer in the VPN.
    pub vpn_v6: Option<Ipv6Addr>,
    /// Idle seconds before a keepalive is sent.
    pub keepalive_interval: Option<u32>,
    /// Silent seconds before the peer is removed.
    pub keepalive_timeout: Option<u32>,
    /// Number of the peer to put into the records that we send, if it is not `id`.
    pub tx_id: Option<u32>,
}

/// What a checked request sets. [`None`] is left as it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSettings {
    /// Which peer.
    pub id: PeerId,
    /// Where it is.
    pub endpoint: Option<Endpoint>,
    /// Its number in records that we send.
    pub tx_id: Option<PeerId>,
    /// Its IPv4 address in the VPN, unspecified for none. Only in [`Mode::Mp`].
    pub vpn_v4: Option<Ipv4Addr>,
    /// Its IPv6 address in the VPN, unspecified for none. Only in [`Mode::Mp`].
    pub vpn_v6: Option<Ipv6Addr>,
    /// Interval and timeout in seconds. Keepalives are off if either is 0.
    pub keepalive: Option<(u32, u32)>,
}

/// The rule that a request breaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reject {
    /// No id. Netlink has a way of its own to report an attribute that is missing.
    MissingId,
    /// The id does not fit into a record.
    IdTooLarge,
    /// The transmit id does not fit into a record.
    TxIdTooLarge,
    /// Two remote addresses.
    TwoRemotes,
    /// A port, but no remote address.
    PortWithoutRemote,
    /// A remote address, but no port.
    RemoteWithoutPort,
    /// Port 0.
    PortZero,
    /// A local IPv4 address, but no remote one.
    LocalV4WithoutRemote,
    /// A local IPv6 address, but no remote one.
    LocalV6WithoutRemote,
    /// One end is IPv4, the other IPv6, once v4-mapped addresses are taken for what they are.
    MixedFamilies,
    /// A scope, but no remote address that could have one.
    ScopeWithoutRemoteV6,
    /// An address in the VPN where there is but one peer to choose from.
    VpnAddressInP2p,
    /// An interval without a timeout, or the other way round.
    HalfKeepalive,
    /// An interval or timeout of more than a day.
    KeepaliveTooLong,
    /// No address in the VPN where peers are told apart by it.
    MissingVpnAddress,
    /// An IPv4 address in the VPN that no host can have.
    BadVpnV4,
    /// An IPv6 address in the VPN that no host can have.
    BadVpnV6,
    /// No remote address for a transport without connections.
    UdpWithoutRemote,
    /// A remote address for a transport that is connected already.
    TcpWithRemote,
}

/// The error number for user space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Errno {
    /// `EINVAL`.
    Inval,
    /// `ERANGE`, which is what netlink policies answer to a number that is out of range.
    Range,
    /// `EADDRNOTAVAIL`.
    AddrNotAvail,
}

impl Reject {
    /// Returns what is wrong and what would be right, for a person.
    pub const fn message(self) -> &'static CStr {
        match self {
            Self::MissingId => c"peer id is missing",
            Self::IdTooLarge => c"peer id is above 16777215",
            Self::TxIdTooLarge => c"transmit peer id is above 16777215",
            Self::TwoRemotes => c"give one remote address, either IPv4 or IPv6",
            Self::PortWithoutRemote => c"remote port needs a remote address",
            Self::RemoteWithoutPort => c"remote address needs a remote port",
            Self::PortZero => c"remote port must not be 0",
            Self::LocalV4WithoutRemote => c"local IPv4 address needs a remote IPv4 address",
            Self::LocalV6WithoutRemote => c"local IPv6 address needs a remote IPv6 address",
            Self::MixedFamilies => {
                c"local and remote address must both be IPv4 (or v4-mapped) or both be IPv6"
            }
            Self::ScopeWithoutRemoteV6 => {
                c"scope id needs a remote IPv6 address that is not v4-mapped"
            }
            Self::VpnAddressInP2p => c"VPN address is for MP mode only, this interface is P2P",
            Self::HalfKeepalive => c"keepalive needs both, interval and timeout",
            Self::KeepaliveTooLong => c"keepalive interval or timeout is above 86400 seconds",
            Self::MissingVpnAddress => c"MP mode needs a VPN address, IPv4 or IPv6 or both",
            Self::BadVpnV4 => c"VPN IPv4 address must be a unicast address, or 0.0.0.0 for none",
            Self::BadVpnV6 => c"VPN IPv6 address must be a unicast address, or :: for none",
            Self::UdpWithoutRemote => c"peer on a UDP socket needs a remote address",
            Self::TcpWithRemote => {
                c"peer on a TCP socket takes no remote address, the socket is connected"
            }
        }
    }

    /// Returns the error number that goes with it.
    pub const fn errno(self) -> Errno {
        match self {
            Self::BadVpnV4 | Self::BadVpnV6 => Errno::AddrNotAvail,
            Self::IdTooLarge | Self::TxIdTooLarge | Self::PortZero | Self::KeepaliveTooLong => {
                Errno::Range
            }
            _ => Errno::Inval,
        }
    }
}

/// Checks the attributes of a peer that is to be made or changed.
///
/// A request that breaks several rules is refused for the first one, in the order that user space
/// is used to.
pub fn check_peer(attrs: &PeerAttrs, mode: Mode) -> Result<PeerSettings, Reject> {
    let id = attrs.id.ok_or(Reject::MissingId)?;
    let id = PeerId::new(id).ok_or(Reject::IdTooLarge)?;
    let endpoint = check_endpoint(attrs)?;

    if mode == Mode::P2p && (attrs.vpn_v4.is_some() || attrs.vpn_v6.is_some()) {
        return Err(Reject::VpnAddressInP2p);
    }

    Ok(PeerSettings {
        id,
        endpoint,
        vpn_v4: attrs.vpn_v4,
        vpn_v6: attrs.vpn_v6,
        keepalive: check_keepalive(attrs)?,
        tx_id: match attrs.tx_id {
            Some(id) => Some(PeerId::new(id).ok_or(Reject::TxIdTooLarge)?),
            None => None,
        },
    })
}

/// Checks what belongs to the transport addresses.
fn check_endpoint(attrs: &PeerAttrs) -> Result<Option<Endpoint>, Reject> {
    let has_remote = attrs.remote_v4.is_some() || attrs.remote_v6.is_some();

    if attrs.remote_v4.is_some() && attrs.remote_v6.is_some() {
        return Err(Reject::TwoRemotes);
    }
    if has_remote && attrs.remote_port.is_none() {
        return Err(Reject::RemoteWithoutPort);
    }
    if !has_remote && attrs.remote_port.is_some() {
        return Err(Reject::PortWithoutRemote);
    }
    if attrs.remote_port == Some(0) {
        return Err(Reject::PortZero);
    }
    if attrs.remote_v4.is_none() && attrs.local_v4.is_some() {
        return Err(Reject::LocalV4WithoutRemote);
    }
    if attrs.remote_v6.is_none() && attrs.local_v6.is_some() {
        return Err(Reject::LocalV6WithoutRemote);
    }

    let endpoint = endpoint(attrs)?;

    if attrs.scope_id.is_some() && !matches!(endpoint, Some(Endpoint::V6 { .. })) {
        return Err(Reject::ScopeWithoutRemoteV6);
    }
    Ok(endpoint)
}

/// Puts the transport addresses together, with v4-mapped ones made IPv4, which they are.
fn endpoint(attrs: &PeerAttrs) -> Result<Option<Endpoint>, Reject> {
    let port = attrs.remote_port.unwrap_or(0);

    let (remote, local) = match (attrs.remote_v4, attrs.remote_v6) {
        (Some(remote), _) => (remote, attrs.local_v4),
        (None, Some(remote)) => match (unmap(remote), attrs.local_v6.map(unmap)) {
            (Some(remote), None) => (remote, None),
            (Some(remote), Some(Some(local))) => (remote, Some(local)),
            (None, None | Some(None)) => {
                return Ok(Some(Endpoint::V6 {
                    remote,
                    port,
                    scope_id: attrs.scope_id.unwrap_or(0),
                    local: attrs.local_v6.unwrap_or(Ipv6Addr::UNSPECIFIED),
                }))
            }
            _ => return Err(Reject::MixedFamilies),
        },
        (None, None) => return Ok(None),
    };

    Ok(Some(Endpoint::V4 {
        remote: SocketAddrV4::new(remote, port),
        local: local.unwrap_or(Ipv4Addr::UNSPECIFIED),
    }))
}

/// Checks what belongs to keepalives.
fn check_keepalive(attrs: &PeerAttrs) -> Result<Option<(u32, u32)>, Reject> {
    match (attrs.keepalive_interval, attrs.keepalive_timeout) {
        (None, None) => Ok(None),
        (Some(interval), Some(timeout)) if interval.max(timeout) <= KEEPALIVE_MAX => {
            Ok(Some((interval, timeout)))
        }
        (Some(_), Some(_)) => Err(Reject::KeepaliveTooLong),
        _ => Err(Reject::HalfKeepalive),
    }
}

/// Checks the addresses in the VPN of a peer in [`Mode::Mp`], as they will be after the change.
///
/// An unspecified address stands for none. What is refused is what no route can lead to: for IPv4
/// multicast, loopback and the limited broadcast address, for IPv6 multicast, loopback and the two
/// ways of writing an IPv4 address, v4-mapped and v4-compatible.
pub fn check_vpn_addresses(v4: Ipv4Addr, v6: Ipv6Addr) -> Result<(), Reject> {
    if v4.is_unspecified() && v6.is_unspecified() {
        return Err(Reject::MissingVpnAddress);
    }
    if v4.is_multicast() || v4.is_loopback() || v4.is_broadcast() {
        return Err(Reject::BadVpnV4);
    }

    // The last two words of 96 zero bits are `::`, loopback, or v4-compatible.
    let embeds_v4 = matches!(v6.segments(), [0, 0, 0, 0, 0, 0 | 0xffff, _, _]);
    if !v6.is_unspecified() && (embeds_v4 || v6.is_multicast()) {
        return Err(Reject::BadVpnV6);
    }
    Ok(())
}

/// Checks that a new peer has a remote address if, and only if, its transport needs one.
///
/// `udp` is the transport (else it is TCP), `remote` whether an address was given.
pub fn check_transport(udp: bool, remote: bool) -> Result<(), Reject> {
    match (udp, remote) {
        (true, false) => Err(Reject::UdpWithoutRemote),
        (false, true) => Err(Reject::TcpWithRemote),
        _ => Ok(()),
    }
}

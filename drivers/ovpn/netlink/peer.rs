// SPDX-License-Identifier: GPL-2.0

//! Making, changing and deleting peers.

use super::{
    explain,
    find,
    number,
    policy,
    rules::{
        self,
        Errno,
        Mode,
        PeerAttrs,
        PeerSettings,
        Reject, //
    },
    target, //
};
use crate::{
    device::Tunnel,
    peer::{
        table::AddError,
        DeleteReason,
        Peer,
        VpnAddresses, //
    },
    transport::{
        tcp,
        udp,
        Attachment,
        Transport, //
    },
};
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};
use kernel::prelude::*;
use kernel_ext::{
    net::{
        device::Device,
        genetlink::{
            Do,
            Request, //
        },
        netlink::{
            Attrs,
            ExtAck, //
        },
        sock::{
            Protocol,
            SocketFile, //
        },
        tcp as tcp_socket,
        udp_tunnel, //
    },
    uapi::ovpn::*, //
};

/// Refuses a request for the rule that it breaks.
fn reject(reject: Reject, extack: ExtAck<'_>) -> Error {
    let error = match reject.errno() {
        Errno::Inval => EINVAL,
        Errno::Range => ERANGE,
        Errno::AddrNotAvail => EADDRNOTAVAIL,
    };
    let text = reject.message().to_str().unwrap_or("invalid request");
    explain!(extack, error, "{text}")
}

/// What the attributes of a peer ask for.
fn settings<const N: usize>(
    attrs: &Attrs<'_, N>,
    mode: Mode,
    extack: ExtAck<'_>,
) -> Result<PeerSettings> {
    attrs.require(OVPN_A_PEER_ID, extack)?;
    let number = |attr| attrs.get(attr).and_then(|attr| attr.u32());
    let v4 = |attr| attrs.get(attr).and_then(|attr| attr.ipv4());
    let v6 = |attr| attrs.get(attr).and_then(|attr| attr.ipv6());
    let given = PeerAttrs {
        id: number(OVPN_A_PEER_ID),
        remote_v4: v4(OVPN_A_PEER_REMOTE_IPV4),
        remote_v6: v6(OVPN_A_PEER_REMOTE_IPV6),
        scope_id: number(OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID),
        remote_port: attrs
            .get(OVPN_A_PEER_REMOTE_PORT)
            .and_then(|attr| attr.be16()),
        local_v4: v4(OVPN_A_PEER_LOCAL_IPV4),
        local_v6: v6(OVPN_A_PEER_LOCAL_IPV6),
        vpn_v4: v4(OVPN_A_PEER_VPN_IPV4),
        vpn_v6: v6(OVPN_A_PEER_VPN_IPV6),
        keepalive_interval: number(OVPN_A_PEER_KEEPALIVE_INTERVAL),
        keepalive_timeout: number(OVPN_A_PEER_KEEPALIVE_TIMEOUT),
        tx_id: number(OVPN_A_PEER_TX_ID),
    };
    rules::check_peer(&given, mode).map_err(|broken| reject(broken, extack))
}

/// In MP mode peers are told apart by their addresses inside the VPN.
fn check_vpn(mode: Mode, vpn: VpnAddresses, extack: ExtAck<'_>) -> Result {
    if mode == Mode::P2p {
        return Ok(());
    }
    let v4 = vpn.v4.unwrap_or(Ipv4Addr::UNSPECIFIED);
    let v6 = vpn.v6.unwrap_or(Ipv6Addr::UNSPECIFIED);
    rules::check_vpn_addresses(v4, v6).map_err(|broken| reject(broken, extack))
}

/// Takes the daemon's socket over.
fn attach(
    dev: &Device<Tunnel>,
    file: &SocketFile,
    fd: u32,
    settings: &PeerSettings,
    extack: ExtAck<'_>,
) -> Result<Attachment> {
    let is_udp = match file.protocol() {
        Protocol::Udp => true,
        Protocol::Tcp => false,
        Protocol::Other => {
            return Err(explain!(
                extack,
                ENOTSOCK,
                "fd {fd} is neither a UDP nor a TCP socket"
            ));
        }
    };
    rules::check_transport(is_udp, settings.endpoint.is_some())
        .map_err(|broken| reject(broken, extack))?;
    if is_udp {
        attach_udp(dev, file, fd, extack).map(Attachment::Udp)
    } else {
        attach_tcp(dev, file, fd, extack).map(Attachment::Tcp)
    }
}

fn attach_udp(
    dev: &Device<Tunnel>,
    file: &SocketFile,
    fd: u32,
    extack: ExtAck<'_>,
) -> Result<udp_tunnel::Attachment<udp::Carrier>> {
    use udp_tunnel::AttachError;

    udp_tunnel::Attachment::new(
        file,
        |carrier: &udp::Carrier| core::ptr::eq::<Device<Tunnel>>(&*carrier.dev, dev),
        || udp::Carrier::new(dev),
    )
    .map_err(|error| match error {
        AttachError::NotUdp => explain!(extack, ENOTSOCK, "fd {fd} is not a UDP socket"),
        AttachError::Busy => explain!(extack, ENOTSOCK, "the socket is in use by another tunnel"),
        AttachError::Failed(error) => error,
    })
}

fn attach_tcp(
    dev: &Device<Tunnel>,
    file: &SocketFile,
    fd: u32,
    extack: ExtAck<'_>,
) -> Result<tcp_socket::Attachment<tcp::Carrier>> {
    use tcp_socket::AttachError;

    tcp_socket::Attachment::new(file, tcp::Carrier::new(dev)).map_err(|error| match error {
        AttachError::NotTcp => explain!(extack, ENOTSOCK, "fd {fd} is not a TCP socket"),
        AttachError::NotConnected => explain!(extack, ENOTSOCK, "the TCP socket is not connected"),
        AttachError::Busy => explain!(
            extack,
            ENOTSOCK,
            "the TCP socket is in use by another peer or another protocol"
        ),
        AttachError::Failed(error) => error,
    })
}

/// Explains why a peer could not be added or changed.
fn refuse(error: AddError, extack: ExtAck<'_>) -> Error {
    match error {
        AddError::Exists => explain!(extack, EEXIST, "there is a peer with this id already"),
        AddError::AddressInUse => explain!(
            extack,
            EADDRINUSE,
            "the VPN address belongs to another peer"
        ),
        AddError::Deleted => explain!(extack, ENOENT, "the peer was deleted meanwhile"),
        AddError::Closed => explain!(extack, ENODEV, "the interface is going away"),
        AddError::Failed(error) => error,
    }
}

/// `peer-new`.
pub enum New {}

impl Do for New {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_PEER, &policy::PEER_NEW_INPUT)?;
        let mode = dev.data().mode();
        let settings = settings(&attrs, mode, extack)?;
        let fd = number(attrs.require(OVPN_A_PEER_SOCKET, extack)?)?;
        check_vpn(mode, VpnAddresses::default().with(&settings), extack)?;

        // Kept until the peer is added: were the socket closed before, nobody would look for it.
        let file = SocketFile::from_fd(fd)
            .map_err(|_| explain!(extack, ENOTSOCK, "fd {fd} is not a socket"))?;
        let attachment = attach(&dev, &file, fd, &settings, extack)?;
        let peer = Peer::new(&dev, &settings, attachment)?;
        if let Transport::Tcp(socket) = peer.transport() {
            socket.data().connect(&peer);
        }
        dev.data().peers.add(&dev, &peer).map_err(|error| {
            // Not added, so nobody else gives the socket back.
            peer.detach();
            refuse(error, extack)
        })?;
        // What has arrived may be of the peer only from here on.
        if let Transport::Tcp(socket) = peer.transport() {
            socket.start();
        }
        Ok(())
    }
}

/// `peer-set`.
pub enum Set {}

impl Do for Set {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_PEER, &policy::PEER_SET_INPUT)?;
        let mode = dev.data().mode();
        let settings = settings(&attrs, mode, extack)?;
        let peer = find(&dev, attrs.require(OVPN_A_PEER_ID, extack)?, extack)?;

        // What can be refused comes first: a request is carried out as a whole, or not at all.
        if matches!(peer.transport(), Transport::Tcp(_)) {
            rules::check_transport(false, settings.endpoint.is_some())
                .map_err(|broken| reject(broken, extack))?;
        }
        let vpn = peer.vpn_addresses().with(&settings);
        check_vpn(mode, vpn, extack)?;
        if settings.vpn_v4.is_some() || settings.vpn_v6.is_some() {
            dev.data()
                .peers
                .change_vpn(&peer, vpn)
                .map_err(|error| refuse(error, extack))?;
        }
        if let Some(endpoint) = settings.endpoint {
            Peer::move_to(&peer, endpoint)?;
        }
        if let Some(id) = settings.tx_id {
            peer.set_tx_id(id);
        }
        if let Some(keepalive) = settings.keepalive {
            Peer::set_keepalive(&peer, keepalive);
        }
        Ok(())
    }
}

/// `peer-del`.
pub enum Del {}

impl Do for Del {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_PEER, &policy::PEER_DEL_INPUT)?;
        let peer = find(&dev, attrs.require(OVPN_A_PEER_ID, extack)?, extack)?;
        if dev
            .data()
            .peers
            .delete(&dev, &peer, DeleteReason::Userspace)
        {
            Ok(())
        } else {
            Err(refuse(AddError::Deleted, extack))
        }
    }
}

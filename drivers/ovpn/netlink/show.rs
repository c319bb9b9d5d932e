// SPDX-License-Identifier: GPL-2.0

//! Showing peers.

use super::{
    device,
    find,
    only,
    policy,
    target,
    FAMILY, //
};
use crate::{
    peer::{
        endpoint::Endpoint,
        Peer, //
    },
    stats::BothWays, //
};
use kernel::{
    prelude::*,
    sync::rcu::{
        self,
        Guard, //
    },
};
use kernel_ext::{
    net::{
        genetlink::{
            Do,
            Dump,
            DumpRequest,
            Request, //
        },
        namespace::Net,
        netlink::Writer, //
    },
    uapi::ovpn::*, //
};

/// Writes all that is to be known of `peer`, for a reader in namespace `net`.
fn write_peer(message: &mut Writer<'_>, peer: &Peer, net: &Net, guard: &Guard) -> Result {
    message.nest(OVPN_A_PEER, |nest| {
        let sock = peer.transport().sock();
        if let Some(id) = net.id_of(sock.net()) {
            nest.put_s32(OVPN_A_PEER_SOCKET_NETNSID, id)?;
        }
        nest.put_u32(OVPN_A_PEER_ID, peer.id().get())?;
        nest.put_u32(OVPN_A_PEER_TX_ID, peer.tx_id().get())?;
        let vpn = peer.vpn_addresses();
        if let Some(v4) = vpn.v4 {
            nest.put_ipv4(OVPN_A_PEER_VPN_IPV4, v4)?;
        }
        if let Some(v6) = vpn.v6 {
            nest.put_ipv6(OVPN_A_PEER_VPN_IPV6, v6)?;
        }
        let (interval, timeout) = peer.keepalive();
        nest.put_u32(OVPN_A_PEER_KEEPALIVE_INTERVAL, interval)?;
        nest.put_u32(OVPN_A_PEER_KEEPALIVE_TIMEOUT, timeout)?;
        if let Some(endpoint) = peer.endpoint(guard) {
            write_remote(nest, endpoint)?;
            write_local(nest, endpoint)?;
        }
        nest.put_be16(OVPN_A_PEER_LOCAL_PORT, sock.local_port())?;
        write_traffic(nest, peer)
    })
}

/// Writes where a peer is.
pub(super) fn write_remote(nest: &mut Writer<'_>, endpoint: Endpoint) -> Result {
    match endpoint {
        Endpoint::V4 { remote, .. } => {
            nest.put_ipv4(OVPN_A_PEER_REMOTE_IPV4, *remote.ip())?;
            nest.put_be16(OVPN_A_PEER_REMOTE_PORT, remote.port())
        }
        Endpoint::V6 {
            remote,
            port,
            scope_id,
            ..
        } => {
            nest.put_ipv6(OVPN_A_PEER_REMOTE_IPV6, remote)?;
            nest.put_u32(OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID, scope_id)?;
            nest.put_be16(OVPN_A_PEER_REMOTE_PORT, port)
        }
    }
}

fn write_local(nest: &mut Writer<'_>, endpoint: Endpoint) -> Result {
    match endpoint {
        Endpoint::V4 { local, .. } => nest.put_ipv4(OVPN_A_PEER_LOCAL_IPV4, local),
        Endpoint::V6 { local, .. } => nest.put_ipv6(OVPN_A_PEER_LOCAL_IPV6, local),
    }
}

fn write_traffic(nest: &mut Writer<'_>, peer: &Peer) -> Result {
    let mut put = |counters: &BothWays, [rx_bytes, rx_packets, tx_bytes, tx_packets]: [u32; 4]| {
        nest.put_uint(rx_bytes, counters.rx.bytes())?;
        nest.put_uint(rx_packets, counters.rx.packets())?;
        nest.put_uint(tx_bytes, counters.tx.bytes())?;
        nest.put_uint(tx_packets, counters.tx.packets())
    };
    put(
        &peer.vpn,
        [
            OVPN_A_PEER_VPN_RX_BYTES,
            OVPN_A_PEER_VPN_RX_PACKETS,
            OVPN_A_PEER_VPN_TX_BYTES,
            OVPN_A_PEER_VPN_TX_PACKETS,
        ],
    )?;
    put(
        &peer.link,
        [
            OVPN_A_PEER_LINK_RX_BYTES,
            OVPN_A_PEER_LINK_RX_PACKETS,
            OVPN_A_PEER_LINK_TX_BYTES,
            OVPN_A_PEER_LINK_TX_PACKETS,
        ],
    )
}

/// `peer-get` of one.
pub enum Get {}

impl Do for Get {
    fn run(request: &Request<'_>) -> Result {
        let extack = request.extack();
        let (dev, attrs) = target(request, OVPN_A_PEER, &policy::PEER)?;
        let id = attrs.require(OVPN_A_PEER_ID, extack)?;
        only(&attrs, &[OVPN_A_PEER_ID], extack)?;
        let peer = find(&dev, id, extack)?;
        request.reply(&FAMILY, OVPN_CMD_PEER_GET, |message| {
            write_peer(message, &peer, request.net(), &rcu::read_lock())
        })
    }
}

/// `peer-get` of all.
pub enum List {}

impl Dump for List {
    fn run(request: &mut DumpRequest<'_>) -> Result {
        let dev = device(&request.request())?;
        let guard = rcu::read_lock();
        // The cursor is the id to go on with; peers come and go between messages.
        // CAST: Ids have 24 bits, and the cursor is only written here.
        while let Some(peer) = dev.data().peers.next(*request.cursor() as u32, &guard) {
            let net = request.net();
            let written = request.message(&FAMILY, OVPN_CMD_PEER_GET, |message| {
                write_peer(message, peer.get(), net, &guard)
            });
            if written.is_err() {
                // The message is full.
                break;
            }
            *request.cursor() = i64::from(peer.id().get()).wrapping_add(1);
        }
        Ok(())
    }
}

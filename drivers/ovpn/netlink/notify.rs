// SPDX-License-Identifier: GPL-2.0

//! What the daemon is told without asking.
//!
//! Notifications go to the namespace of the peer's socket, where the daemon is. One that cannot be
//! made for want of memory is lost: the daemon finds out by its own timers.

use super::{
    show,
    FAMILY,
    GROUP_PEERS, //
};
use crate::{
    crypto::key::Key,
    device::Tunnel,
    peer::{
        endpoint::Endpoint,
        DeleteReason,
        Peer, //
    },
};
use kernel::prelude::*;
use kernel_ext::{
    net::{
        device::Device,
        genetlink::Message,
        netlink::Writer, //
    },
    uapi::ovpn::*, //
};

fn send(
    dev: &Device<Tunnel>,
    peer: &Peer,
    cmd: u32,
    nest: u32,
    fill: impl FnOnce(&mut Writer<'_>) -> Result,
) {
    let message = Message::notification(&FAMILY, cmd, |message| {
        message.put_u32(OVPN_A_IFINDEX, dev.ifindex())?;
        message.nest(nest, fill)
    });
    match message {
        Ok(message) => message.multicast(&FAMILY, peer.transport().sock().net(), GROUP_PEERS),
        Err(_) => pr_warn!(
            "no memory to notify about peer {} of interface {}\n",
            peer.id().get(),
            dev.ifindex()
        ),
    }
}

/// `peer` was deleted. Any context.
pub fn deleted(dev: &Device<Tunnel>, peer: &Peer, reason: DeleteReason) {
    send(dev, peer, OVPN_CMD_PEER_DEL_NTF, OVPN_A_PEER, |nest| {
        nest.put_u32(OVPN_A_PEER_DEL_REASON, reason.to_uapi())?;
        nest.put_u32(OVPN_A_PEER_ID, peer.id().get())
    });
}

/// `peer` has moved to `endpoint`. Any context.
pub fn floated(dev: &Device<Tunnel>, peer: &Peer, endpoint: Endpoint) {
    send(dev, peer, OVPN_CMD_PEER_FLOAT_NTF, OVPN_A_PEER, |nest| {
        nest.put_u32(OVPN_A_PEER_ID, peer.id().get())?;
        show::write_remote(nest, endpoint)
    });
}

/// `key` has used up its packet ids and was taken out: a new one is needed. Any context.
pub fn key_spent(dev: &Device<Tunnel>, peer: &Peer, key: &Key) {
    send(dev, peer, OVPN_CMD_KEY_SWAP_NTF, OVPN_A_KEYCONF, |nest| {
        nest.put_u32(OVPN_A_KEYCONF_PEER_ID, peer.id().get())?;
        nest.put_u32(OVPN_A_KEYCONF_KEY_ID, u32::from(key.id().get()))
    });
}

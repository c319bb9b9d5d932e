// SPDX-License-Identifier: GPL-2.0

//! What the driver must have: interfaces, their peers, and the peers' keys.

use ovpn_host::netlink::rules::{
    Mode,
    PeerAttrs, //
};
use std::{
    collections::BTreeMap,
    net::{
        IpAddr,
        Ipv4Addr,
        Ipv6Addr, //
    }, //
};

/// Where a peer is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Remote {
    pub address: IpAddr,
    pub port: u16,
    /// Of IPv6 only.
    pub scope: u32,
    pub local: IpAddr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key {
    pub id: u32,
    pub cipher: u32,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Peer {
    pub id: u32,
    pub tx_id: u32,
    pub remote: Option<Remote>,
    pub v4: Option<Ipv4Addr>,
    pub v6: Option<Ipv6Addr>,
    pub keepalive: (u32, u32),
    /// Which file it is reached through.
    pub socket: usize,
    /// The primary one first.
    pub keys: [Option<Key>; 2],
}

#[derive(Debug)]
pub struct Link {
    pub name: &'static str,
    pub mode: Mode,
    pub index: u32,
    pub peers: BTreeMap<u32, Peer>,
}

/// Why a peer went, as the driver tells it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Gone {
    pub ifindex: u32,
    pub peer: u32,
    pub reason: u32,
}

pub const TEARDOWN: u32 = 0;
pub const USERSPACE: u32 = 1;
pub const DISCONNECT: u32 = 4;

impl Link {
    pub fn owner_of_v4(&self, address: Ipv4Addr) -> Option<u32> {
        let mut peers = self.peers.values();
        peers
            .find(|peer| peer.v4 == Some(address))
            .map(|peer| peer.id)
    }

    pub fn owner_of_v6(&self, address: Ipv6Addr) -> Option<u32> {
        let mut peers = self.peers.values();
        peers
            .find(|peer| peer.v6 == Some(address))
            .map(|peer| peer.id)
    }

    pub fn uses(&self, socket: usize) -> bool {
        self.peers.values().any(|peer| peer.socket == socket)
    }

    /// Adds a peer; in P2P mode the one before goes.
    pub fn add(&mut self, peer: Peer) -> Vec<Gone> {
        let replaced = match self.mode {
            Mode::P2p => self.remove_all(TEARDOWN, |_| true),
            Mode::Mp => Vec::new(),
        };
        self.peers.insert(peer.id, peer);
        replaced
    }

    pub fn remove_all(&mut self, reason: u32, which: impl Fn(&Peer) -> bool) -> Vec<Gone> {
        let (gone, left) = std::mem::take(&mut self.peers)
            .into_iter()
            .partition(|(_, peer)| which(peer));
        self.peers = left;
        let gone: BTreeMap<u32, Peer> = gone;
        let ifindex = self.index;
        gone.into_keys()
            .map(|peer| Gone {
                ifindex,
                peer,
                reason,
            })
            .collect()
    }
}

impl Peer {
    /// What a request that breaks no rule makes of a peer.
    pub fn change(&mut self, attrs: &PeerAttrs, mode: Mode) {
        if let Some(remote) = remote(attrs) {
            self.remote = Some(remote);
        }
        if mode == Mode::Mp {
            self.v4 = attrs.vpn_v4.or(self.v4).filter(|v4| !v4.is_unspecified());
            self.v6 = attrs.vpn_v6.or(self.v6).filter(|v6| !v6.is_unspecified());
        }
        if let Some(keepalive) = attrs.keepalive_interval.zip(attrs.keepalive_timeout) {
            self.keepalive = keepalive;
        }
        self.tx_id = attrs.tx_id.unwrap_or(self.tx_id);
    }
}

fn remote(attrs: &PeerAttrs) -> Option<Remote> {
    let unmap = |address: Ipv6Addr| match address.to_ipv4_mapped() {
        Some(v4) => IpAddr::from(v4),
        None => address.into(),
    };
    let address = attrs
        .remote_v4
        .map(IpAddr::from)
        .or(attrs.remote_v6.map(unmap))?;
    let (local, none) = match address {
        IpAddr::V4(_) => (
            attrs
                .local_v4
                .map(IpAddr::from)
                .or(attrs.local_v6.map(unmap)),
            Ipv4Addr::UNSPECIFIED.into(),
        ),
        IpAddr::V6(_) => (
            attrs.local_v6.map(IpAddr::from),
            Ipv6Addr::UNSPECIFIED.into(),
        ),
    };
    Some(Remote {
        address,
        port: attrs.remote_port.unwrap_or(0),
        scope: if address.is_ipv6() {
            attrs.scope_id.unwrap_or(0)
        } else {
            0
        },
        local: local.unwrap_or(none),
    })
}

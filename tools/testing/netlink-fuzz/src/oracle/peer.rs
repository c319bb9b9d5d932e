// SPDX-License-Identifier: GPL-2.0

//! Requests about peers.

use super::{
    Reply,
    Verdict,
    World,
    EADDRINUSE,
    EADDRNOTAVAIL,
    EEXIST,
    EINVAL,
    ENOENT,
    ENOTSOCK, //
};
use crate::{
    files::Kind,
    model::{
        Peer,
        USERSPACE, //
    },
    object::Object,
    peer_rules::{
        breaks,
        is_bad_vpn,
        RULES, //
    },
};
use ovpn_host::netlink::rules::{
    Mode,
    PeerAttrs,
    Reject, //
};
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

impl World {
    pub(super) fn peer_new(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let attrs = object.peer_attrs();
        let mode = self.links[at].mode;
        let id = attrs.id.unwrap_or(0);
        let mut peer = Peer {
            id,
            tx_id: id,
            remote: None,
            v4: None,
            v6: None,
            keepalive: (0, 0),
            socket: 0,
            keys: [None; 2],
        };
        peer.change(&attrs, mode);
        let mut verdict = Verdict::default();
        verdict.errors.extend(broken(&attrs, mode));
        verdict.errors.extend(bad_vpn(&peer, &attrs, mode));
        verdict.errors.extend(self.taken(at, &peer));
        if mode == Mode::Mp && self.links[at].peers.contains_key(&id) {
            verdict.errors.insert(EEXIST);
        }
        match object.u32("socket") {
            None => drop(verdict.errors.insert(EINVAL)),
            Some(number) => match self.slots.iter().position(|slot| slot.number() == number) {
                None => drop(verdict.errors.insert(ENOTSOCK)),
                Some(socket) => {
                    peer.socket = socket;
                    verdict
                        .errors
                        .extend(self.bad_socket(at, socket, peer.remote.is_some()));
                }
            },
        }
        if verdict.errors.is_empty() {
            verdict.gone = self.links[at].add(peer);
        }
        verdict
    }

    /// Why a file cannot be a peer's socket.
    fn bad_socket(&self, at: usize, socket: usize, remote: bool) -> Vec<i32> {
        let elsewhere = self
            .links
            .iter()
            .enumerate()
            .any(|(index, link)| index != at && link.uses(socket));
        let anywhere = elsewhere || self.links[at].uses(socket);
        match self.slots[socket].kind {
            Kind::Udp if !remote => vec![EINVAL, ENOTSOCK],
            Kind::Udp if elsewhere => vec![ENOTSOCK],
            Kind::Udp => vec![],
            Kind::Connected if remote => vec![EINVAL, ENOTSOCK],
            Kind::Connected if anywhere => vec![ENOTSOCK],
            Kind::Connected => vec![],
            // Whichever is found first.
            Kind::Tcp => vec![EINVAL, ENOTSOCK],
            Kind::Other => vec![ENOTSOCK],
        }
    }

    /// Whether another peer has an address of this one.
    fn taken(&self, at: usize, peer: &Peer) -> Option<i32> {
        let link = &self.links[at];
        let other = |owner: Option<u32>| owner.is_some_and(|owner| owner != peer.id);
        let v4 = peer.v4.and_then(|v4| link.owner_of_v4(v4));
        let v6 = peer.v6.and_then(|v6| link.owner_of_v6(v6));
        (link.mode == Mode::Mp && (other(v4) || other(v6))).then_some(EADDRINUSE)
    }

    pub(super) fn peer_set(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let attrs = object.peer_attrs();
        let mode = self.links[at].mode;
        let mut verdict = Verdict::default();
        verdict.errors.extend(broken(&attrs, mode));
        match attrs.id.and_then(|id| self.links[at].peers.get(&id)) {
            None => drop(verdict.errors.insert(ENOENT)),
            Some(old) => {
                let mut peer = old.clone();
                peer.change(&attrs, mode);
                verdict.errors.extend(bad_vpn(&peer, &attrs, mode));
                verdict.errors.extend(self.taken(at, &peer));
                // A connection says where its peer is.
                let moves = attrs.remote_v4.is_some() || attrs.remote_v6.is_some();
                if moves && self.slots[peer.socket].kind == Kind::Connected {
                    verdict.errors.insert(EINVAL);
                }
                if verdict.errors.is_empty() {
                    self.links[at].peers.insert(peer.id, peer);
                }
            }
        }
        verdict
    }

    pub(super) fn peer_get(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        if object.has_other_than(&["id"]) {
            verdict.errors.insert(EINVAL);
        }
        match self.peer(at, object, "id", &mut verdict) {
            Some(peer) if verdict.errors.is_empty() => {
                verdict.reply = Some(Reply::Peer(Peer {
                    keys: [None; 2],
                    ..peer.clone()
                }));
            }
            _ => {}
        }
        verdict
    }

    pub(super) fn peer_del(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(id) = self
            .peer(at, object, "id", &mut verdict)
            .map(|peer| peer.id)
        {
            verdict.gone = self.links[at].remove_all(USERSPACE, |peer| peer.id == id);
        }
        verdict
    }
}

/// The rules that attributes break among themselves. What is out of range broke the specification.
fn broken(attrs: &PeerAttrs, mode: Mode) -> Option<i32> {
    RULES
        .into_iter()
        .any(|rule| breaks(attrs, mode, rule))
        .then_some(EINVAL)
}

/// Addresses inside the VPN that a peer cannot have, one of them or both.
fn bad_vpn(peer: &Peer, attrs: &PeerAttrs, mode: Mode) -> Option<i32> {
    let v4 = peer.v4.or(attrs.vpn_v4).unwrap_or(Ipv4Addr::UNSPECIFIED);
    let v6 = peer.v6.or(attrs.vpn_v6).unwrap_or(Ipv6Addr::UNSPECIFIED);
    match is_bad_vpn(v4, v6).filter(|_| mode == Mode::Mp)? {
        Reject::MissingVpnAddress => Some(EINVAL),
        _ => Some(EADDRNOTAVAIL),
    }
}

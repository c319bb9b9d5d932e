// SPDX-License-Identifier: GPL-2.0

//! The attributes of a request's object.

use crate::{
    message::{
        Body,
        Node, //
    },
    spec::{
        find,
        Set, //
    },
};
use ovpn_host::netlink::rules::PeerAttrs;
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

/// The attributes of an object by their names; of several alike the last one counts.
pub struct Object<'a> {
    pub set: &'a Set,
    pub nodes: &'a [Node],
}

impl Object<'_> {
    pub fn node(&self, name: &str) -> Option<&Node> {
        let attr = find(self.set, name)?;
        self.nodes
            .iter()
            .rev()
            .find(|node| node.number == attr.number)
    }

    pub fn bytes(&self, name: &str) -> Option<&[u8]> {
        match &self.node(name)?.body {
            Body::Bytes(bytes) => Some(bytes),
            Body::Nest(_) => None,
        }
    }

    pub fn u32(&self, name: &str) -> Option<u32> {
        self.bytes(name)?.try_into().ok().map(u32::from_ne_bytes)
    }

    pub fn v4(&self, name: &str) -> Option<Ipv4Addr> {
        let octets: [u8; 4] = self.bytes(name)?.try_into().ok()?;
        Some(octets.into())
    }

    pub fn v6(&self, name: &str) -> Option<Ipv6Addr> {
        let octets: [u8; 16] = self.bytes(name)?.try_into().ok()?;
        Some(octets.into())
    }

    pub fn has_other_than(&self, names: &[&str]) -> bool {
        let known = |node: &Node| {
            names
                .iter()
                .any(|name| find(self.set, name).is_some_and(|a| a.number == node.number))
        };
        !self.nodes.iter().all(known)
    }

    pub fn peer_attrs(&self) -> PeerAttrs {
        let port = self
            .bytes("remote-port")
            .and_then(|bytes| bytes.try_into().ok());
        PeerAttrs {
            id: self.u32("id"),
            remote_v4: self.v4("remote-ipv4"),
            remote_v6: self.v6("remote-ipv6"),
            scope_id: self.u32("remote-ipv6-scope-id"),
            remote_port: port.map(u16::from_be_bytes),
            local_v4: self.v4("local-ipv4"),
            local_v6: self.v6("local-ipv6"),
            vpn_v4: self.v4("vpn-ipv4"),
            vpn_v6: self.v6("vpn-ipv6"),
            keepalive_interval: self.u32("keepalive-interval"),
            keepalive_timeout: self.u32("keepalive-timeout"),
            tx_id: self.u32("tx-id"),
        }
    }
}

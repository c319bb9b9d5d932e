// SPDX-License-Identifier: GPL-2.0

//! What the driver tells: peers, keys, notifications.

use crate::{
    message::{
        attr,
        messages,
        number, //
    },
    model::{
        Gone,
        Key,
        Peer,
        Remote, //
    },
    oracle::Reply,
    spec::{
        find,
        Spec, //
    },
};
use std::{
    collections::BTreeMap,
    net::{
        IpAddr,
        Ipv4Addr,
        Ipv6Addr, //
    }, //
};

const GENL_HEADER: usize = 4;

/// What stands behind names in an answer, by the specification.
pub struct Told<'a> {
    spec: &'a Spec,
    set: &'a str,
    data: &'a [u8],
}

impl<'a> Told<'a> {
    fn object(spec: &'a Spec, set: &'a str, payload: &'a [u8]) -> Option<Self> {
        let top = find(spec.set("ovpn"), set)?;
        let data = attr(payload.get(GENL_HEADER..)?, top.number)?;
        Some(Self { spec, set, data })
    }

    fn bytes(&self, name: &str) -> Option<&'a [u8]> {
        attr(self.data, find(self.spec.set(self.set), name)?.number)
    }

    fn u32(&self, name: &str) -> Option<u32> {
        self.bytes(name)?.try_into().ok().map(u32::from_ne_bytes)
    }

    fn port(&self, name: &str) -> Option<u16> {
        self.bytes(name)?.try_into().ok().map(u16::from_be_bytes)
    }

    fn v4(&self, name: &str) -> Option<Ipv4Addr> {
        let octets: [u8; 4] = self.bytes(name)?.try_into().ok()?;
        Some(octets.into())
    }

    fn v6(&self, name: &str) -> Option<Ipv6Addr> {
        let octets: [u8; 16] = self.bytes(name)?.try_into().ok()?;
        Some(octets.into())
    }

    fn remote(&self) -> Option<Remote> {
        let port = self.port("remote-port")?;
        let (address, local): (IpAddr, IpAddr) = match self.v4("remote-ipv4") {
            Some(v4) => (v4.into(), self.v4("local-ipv4")?.into()),
            None => (
                self.v6("remote-ipv6")?.into(),
                self.v6("local-ipv6")?.into(),
            ),
        };
        let scope = if address.is_ipv6() {
            self.u32("remote-ipv6-scope-id")?
        } else {
            0
        };
        Some(Remote {
            address,
            port,
            scope,
            local,
        })
    }
}

/// A peer, without its keys. `socket` tells which file has a port.
pub fn peer(spec: &Spec, payload: &[u8], socket: impl Fn(u16) -> Option<usize>) -> Option<Peer> {
    let told = Told::object(spec, "peer", payload)?;
    for direction in ["vpn-rx", "vpn-tx", "link-rx", "link-tx"] {
        for unit in ["bytes", "packets"] {
            told.bytes(&format!("{direction}-{unit}"))?;
        }
    }
    Some(Peer {
        id: told.u32("id")?,
        tx_id: told.u32("tx-id")?,
        remote: told.remote(),
        v4: told.v4("vpn-ipv4"),
        v6: told.v6("vpn-ipv6"),
        keepalive: (
            told.u32("keepalive-interval")?,
            told.u32("keepalive-timeout")?,
        ),
        socket: socket(told.port("local-port")?)?,
        keys: [None; 2],
    })
}

/// Peer, slot and key.
pub fn key(spec: &Spec, payload: &[u8]) -> Option<Reply> {
    let told = Told::object(spec, "keyconf", payload)?;
    let key = Key {
        id: told.u32("key-id")?,
        cipher: told.u32("cipher-alg")?,
    };
    Some(Reply::Key(told.u32("peer-id")?, told.u32("slot")?, key))
}

/// Counts the peers that went, by the notifications of one read.
pub fn gone(spec: &Spec, family: u16, data: &[u8], into: &mut BTreeMap<Gone, i32>) {
    let ifindex = find(spec.set("ovpn"), "ifindex").map_or(0, |attr| attr.number);
    for message in messages(data)
        .iter()
        .filter(|message| message.kind == family)
    {
        let Some(told) = Told::object(spec, "peer", message.payload) else {
            continue;
        };
        let Some((peer, reason)) = told.u32("id").zip(told.u32("del-reason")) else {
            continue;
        };
        let ifindex =
            attr(&message.payload[GENL_HEADER..], ifindex).map_or(0, |bytes| number(bytes) as u32);
        *into
            .entry(Gone {
                ifindex,
                peer,
                reason,
            })
            .or_default() += 1;
    }
}

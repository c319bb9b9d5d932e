// SPDX-License-Identifier: GPL-2.0

//! Values for single attributes.

use super::{
    Maker,
    PEERS, //
};
use crate::{
    message::Node,
    spec::{
        Attr,
        Kind, //
    },
};
use std::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

/// How many addresses peers share inside the VPN.
const ADDRESSES: usize = 40;

/// Far off, so that no peer expires meanwhile.
const SECONDS: [u32; 4] = [0, 3600, 7200, 86_400];

const BAD_V4: [Ipv4Addr; 4] = [
    Ipv4Addr::UNSPECIFIED,
    Ipv4Addr::LOCALHOST,
    Ipv4Addr::BROADCAST,
    Ipv4Addr::new(224, 0, 0, 1),
];

const BAD_V6: [Ipv6Addr; 5] = [
    Ipv6Addr::UNSPECIFIED,
    Ipv6Addr::LOCALHOST,
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1),
    Ipv6Addr::new(0, 0, 0, 0, 0, 0xffff, 0x0a00, 1),
    Ipv6Addr::new(0, 0, 0, 0, 0, 0, 0x0a00, 1),
];

impl Maker<'_> {
    /// An attribute with a value that the specification allows.
    pub fn attr(&mut self, attr: &Attr) -> Node {
        let number = attr.number;
        match attr.name.as_str() {
            "id" | "peer-id" if self.dice.percent(95) => {
                Node::u32(number, self.dice.below(PEERS) as u32)
            }
            "socket" => Node::u32(number, self.dice.pick(&self.world.slots).number()),
            "keepalive-interval" | "keepalive-timeout" => {
                Node::u32(number, *self.dice.pick(&SECONDS))
            }
            "vpn-ipv4" | "local-ipv4" | "remote-ipv4" => {
                Node::bytes(number, &self.v4(&attr.name).octets())
            }
            "vpn-ipv6" | "local-ipv6" | "remote-ipv6" => {
                Node::bytes(number, &self.v6(&attr.name).octets())
            }
            "cipher-alg" if self.dice.percent(95) => {
                Node::u32(number, 1 + self.dice.below(2) as u32)
            }
            "cipher-key" if self.dice.percent(97) => {
                let len = *self.dice.pick(&[16, 24, 32, 32, 32, 32]);
                Node::bytes(number, &self.dice.bytes(len))
            }
            _ => self.any(attr),
        }
    }

    fn any(&mut self, attr: &Attr) -> Node {
        match &attr.kind {
            Kind::Number {
                len,
                big_endian,
                min,
                max,
            } => {
                let value = match self.dice.below(4) {
                    0 => *min,
                    1 => *max,
                    _ => min + self.dice.next() % (max - min).saturating_add(1).max(1),
                };
                Node::bytes(attr.number, &encode(value, *len, *big_endian))
            }
            Kind::Bytes { exact, max } => {
                let len = exact.unwrap_or_else(|| self.dice.below(max + 1));
                Node::bytes(attr.number, &self.dice.bytes(len))
            }
            Kind::Nest(set) => {
                let set = self.spec.set(set);
                let count = self.dice.below(4);
                let some = (0..count).map(|_| {
                    let attr = self.dice.pick(set).clone();
                    self.attr(&attr)
                });
                Node::nest(attr.number, some.collect())
            }
        }
    }

    fn v4(&mut self, name: &str) -> Ipv4Addr {
        match name {
            "vpn-ipv4" if self.dice.percent(90) => {
                Ipv4Addr::new(10, 0, 0, 1 + self.dice.below(PEERS * 2) as u8)
            }
            "vpn-ipv4" => *self.dice.pick(&BAD_V4),
            _ => Ipv4Addr::new(127, 0, 0, 1 + self.dice.below(4) as u8),
        }
    }

    fn v6(&mut self, name: &str) -> Ipv6Addr {
        let good = Ipv6Addr::new(
            0xfd00,
            0,
            0,
            0,
            0,
            0,
            0,
            1 + self.dice.below(ADDRESSES) as u16,
        );
        match name {
            "vpn-ipv6" if self.dice.percent(95) => good,
            "vpn-ipv6" => *self.dice.pick(&BAD_V6),
            _ if self.dice.percent(20) => Ipv4Addr::new(127, 0, 0, 1).to_ipv6_mapped(),
            _ => *self.dice.pick(&[Ipv6Addr::LOCALHOST, good]),
        }
    }
}

/// A number as it stands in an attribute.
pub fn encode(value: u64, len: usize, big_endian: bool) -> Vec<u8> {
    match big_endian {
        true => value.to_be_bytes()[8 - len..].to_vec(),
        false => value.to_le_bytes()[..len].to_vec(),
    }
}

// SPDX-License-Identifier: GPL-2.0

//! What is inside of a record: packets that are as they should be, and others.

use crate::dice::Dice;
use std::net::{Ipv4Addr, Ipv6Addr};

pub const KEEPALIVE: [u8; 16] = [
    0x2a, 0x18, 0x7b, 0xf3, 0x64, 0x1e, 0xb4, 0xcb, 0x07, 0xed, 0x2d, 0x0a, 0x98, 0x1f, 0xc7, 0x48,
];
const V4: usize = 20;
const V6: usize = 40;
/// Protocols and extension headers; 253 is for experiments.
const PROTOCOLS: [u8; 10] = [1, 6, 17, 47, 50, 58, 59, 132, 253, 255];
const EXTENSIONS: [u8; 7] = [0, 43, 44, 51, 60, 135, 139];

/// The addresses inside the tunnel, as the driver was told them.
pub fn address4(peer: u32) -> Ipv4Addr {
    Ipv4Addr::new(10, 9, 0, 10 + peer as u8)
}

pub fn address6(peer: u32) -> Ipv6Addr {
    Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 0x10 + peer as u16)
}

/// Whose address it is: a peer's own, or one of the network that is routed to a peer.
pub fn owner4(address: Ipv4Addr) -> Option<u32> {
    match address.octets() {
        [10, 9, 0, last] if last > 10 => Some(u32::from(last) - 10),
        [10, net, _, _] if net > 100 => Some(u32::from(net) - 100),
        _ => None,
    }
}

pub fn owner6(address: Ipv6Addr) -> Option<u32> {
    match address.segments() {
        [0xfd09, 0, 0, 0, 0, 0, 0, last] if last > 0x10 => Some(u32::from(last) - 0x10),
        [0xfd0a, net, ..] if net > 0 => Some(u32::from(net)),
        _ => None,
    }
}

/// `len` bytes for a record of `peer`, one of `peers`.
pub fn any(dice: &mut Dice, peer: u32, peers: u32, len: usize) -> Vec<u8> {
    if len == 0 {
        return Vec::new();
    }
    if len == KEEPALIVE.len() && dice.percent(70) {
        let mut data = KEEPALIVE.to_vec();
        if dice.percent(30) {
            data[dice.below(16)] ^= 1 << dice.below(8);
        }
        return data;
    }
    let mut data = dice.bytes(len);
    match dice.below(100) {
        0..=2 => {}
        3..=59 => v4(dice, peer, peers, &mut data),
        _ => v6(dice, peer, peers, &mut data),
    }
    data
}

/// Who says that it has sent the packet: most often who it is.
fn claimed(dice: &mut Dice, peer: u32, peers: u32) -> Option<u32> {
    match dice.below(100) {
        0..=89 => Some(peer),
        // There is none with that number.
        90..=95 => Some(1 + dice.below(peers as usize + 1) as u32),
        _ => None,
    }
}

fn v4(dice: &mut Dice, peer: u32, peers: u32, data: &mut [u8]) {
    data[0] = 0x40 | data[0] & 0xf;
    if data.len() < V4 {
        return;
    }
    let options = if dice.percent(20) { dice.below(11) } else { 0 };
    let words = match dice.below(100) {
        // Shorter than a header may be, or longer than the packet.
        0..=4 => dice.below(16),
        _ => 5 + options,
    };
    data[0] = 0x40 | words as u8;
    let total = if dice.percent(85) {
        data.len() as u16
    } else {
        dice.next() as u16
    };
    data[2..4].copy_from_slice(&total.to_be_bytes());
    if dice.percent(85) {
        // Else a fragment, with any offset.
        data[6..8].fill(0);
    }
    data[9] = *dice.pick(&PROTOCOLS);
    if let Some(claimed) = claimed(dice, peer, peers) {
        let mut source = address4(claimed).octets();
        if dice.percent(20) {
            source = [10, 100 + claimed as u8, source[2], data[15]];
        }
        data[12..16].copy_from_slice(&source);
    }
    if dice.percent(85) {
        data[10..12].fill(0);
        let header = (words * 4).clamp(V4, data.len());
        let sum = checksum(&data[..header]);
        data[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    if words * 4 > V4 && data.len() > V4 + 1 && dice.percent(70) {
        // A kind that there is: end, none, record route, time, security, source routes, router alert.
        data[V4] = *dice.pick(&[0, 1, 7, 68, 130, 131, 137, 148]);
        data[V4 + 1] = dice.below(42) as u8;
    }
}

fn v6(dice: &mut Dice, peer: u32, peers: u32, data: &mut [u8]) {
    data[0] = 0x60 | data[0] & 0xf;
    if data.len() < V6 {
        return;
    }
    let behind = (data.len() - V6) as u16;
    let payload = if dice.percent(85) {
        behind
    } else {
        dice.next() as u16
    };
    data[4..6].copy_from_slice(&payload.to_be_bytes());
    if let Some(claimed) = claimed(dice, peer, peers) {
        if dice.percent(80) {
            data[8..24].copy_from_slice(&address6(claimed).octets());
        } else {
            data[8..12].copy_from_slice(&[0xfd, 0x0a, 0, claimed as u8]);
        }
    }
    // A chain of extension headers, whose lengths may be anything.
    let mut next = 6;
    let mut at = V6;
    while dice.percent(30) && at + 8 <= data.len() {
        data[next] = *dice.pick(&EXTENSIONS);
        next = at;
        if dice.percent(90) {
            data[at + 1] = dice.below(3) as u8;
        }
        at += (usize::from(data[at + 1]) + 1) * 8;
    }
    data[next] = *dice.pick(&PROTOCOLS);
}

fn checksum(header: &[u8]) -> u16 {
    let mut sum: u32 = 0;
    for pair in header.chunks(2) {
        sum += u32::from(u16::from_be_bytes([pair[0], *pair.get(1).unwrap_or(&0)]));
    }
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Keepalive,
    /// IP, with the protocol number of the link layer and the peer that the source address is of.
    Ip(u16, Option<u32>),
    Neither,
}

/// What the receiver must take it for.
pub fn kind(inner: &[u8]) -> Kind {
    match inner.first().map(|first| first >> 4) {
        Some(4) if inner.len() >= V4 => {
            let source: [u8; 4] = inner[12..16].try_into().expect("four bytes");
            Kind::Ip(0x0800, owner4(source.into()))
        }
        Some(6) if inner.len() >= V6 => {
            let source: [u8; 16] = inner[8..24].try_into().expect("sixteen bytes");
            Kind::Ip(0x86dd, owner6(source.into()))
        }
        _ if inner == KEEPALIVE => Kind::Keepalive,
        _ => Kind::Neither,
    }
}

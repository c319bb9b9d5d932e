// SPDX-License-Identifier: GPL-2.0

//! Tunnel interfaces, by route netlink.

use crate::{
    family::Netlink,
    message::Node, //
};
use ovpn_host::netlink::rules::Mode;
use std::io;

const RTM_NEWLINK: u16 = 16;
const RTM_DELLINK: u16 = 17;
const NLM_F_EXCL_CREATE: u16 = 0x600;
const IFLA_IFNAME: u16 = 3;
const IFLA_LINKINFO: u16 = 18;
const IFLA_INFO_KIND: u16 = 1;
const IFLA_INFO_DATA: u16 = 2;
const IFLA_OVPN_MODE: u16 = 1;

/// A header without an index: links go by their names.
const IFINFO: [u8; 16] = [0; 16];

/// Makes a link, and finds out its number.
pub fn add(route: &mut Netlink, name: &str, mode: Mode) -> io::Result<u32> {
    let mode = match mode {
        Mode::P2p => 0,
        Mode::Mp => 1,
    };
    route.ask(RTM_NEWLINK, NLM_F_EXCL_CREATE, |to| {
        to.extend_from_slice(&IFINFO);
        Node::bytes(IFLA_IFNAME, format!("{name}\0").as_bytes()).write(to);
        let data = Node::nest(IFLA_INFO_DATA, vec![Node::bytes(IFLA_OVPN_MODE, &[mode])]);
        Node::nest(
            IFLA_LINKINFO,
            vec![Node::bytes(IFLA_INFO_KIND, b"ovpn\0"), data],
        )
        .write(to);
    })?;
    nix::net::if_::if_nametoindex(name).map_err(io::Error::from)
}

pub fn delete(route: &mut Netlink, name: &str) -> io::Result<()> {
    let answer = route.ask(RTM_DELLINK, 0, |to| {
        to.extend_from_slice(&IFINFO);
        Node::bytes(IFLA_IFNAME, format!("{name}\0").as_bytes()).write(to);
    });
    answer.map(drop)
}

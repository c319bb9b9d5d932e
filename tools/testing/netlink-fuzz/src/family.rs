// SPDX-License-Identifier: GPL-2.0

//! Netlink sockets, and what to ask the kernel before the first request.

use crate::message::{
    self,
    attr,
    attrs,
    messages,
    number,
    Node,
    NLMSG_ERROR, //
};
use netlink_sys::{
    protocols::{
        NETLINK_GENERIC,
        NETLINK_ROUTE, //
    },
    Socket,
    SocketAddr, //
};
use std::io;

const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const CTRL_ATTR_MCAST_GROUPS: u16 = 7;
const CTRL_ATTR_MCAST_GRP_ID: u16 = 2;

/// The longest answer to one read.
const READ: usize = 1 << 16;
/// What a listener can be behind with.
const BACKLOG: usize = 8 << 20;

/// A socket in the network namespace of the thread that makes it.
pub struct Netlink {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Netlink {
    fn new(protocol: isize) -> io::Result<Self> {
        let mut socket = Socket::new(protocol)?;
        socket.bind_auto()?;
        socket.connect(&SocketAddr::new(0, 0))?;
        socket.set_ext_ack(true)?;
        socket.set_cap_ack(true)?;
        socket.set_rx_buf_sz(BACKLOG)?;
        Ok(Self {
            socket,
            buffer: Vec::with_capacity(READ),
        })
    }

    pub fn generic() -> io::Result<Self> {
        Self::new(NETLINK_GENERIC)
    }

    pub fn route() -> io::Result<Self> {
        Self::new(NETLINK_ROUTE)
    }

    /// One that hears what is sent to a group.
    pub fn listener(group: u32) -> io::Result<Self> {
        let listener = Self::generic()?;
        listener.socket.add_membership(group)?;
        listener.socket.set_non_blocking(true)?;
        Ok(listener)
    }

    pub fn send(&self, batch: &[u8]) -> io::Result<()> {
        self.socket.send(batch, 0).map(drop)
    }

    /// What one read gives, empty if there is nothing on a listener.
    pub fn receive(&mut self) -> io::Result<&[u8]> {
        self.buffer.clear();
        self.buffer.reserve(READ);
        match self.socket.recv(&mut self.buffer, 0) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => drop(other?),
        }
        Ok(&self.buffer)
    }

    /// One request, whose answer is the payload of a message or the acknowledgement.
    pub fn ask(
        &mut self,
        kind: u16,
        flags: u16,
        fill: impl FnOnce(&mut Vec<u8>),
    ) -> io::Result<Vec<u8>> {
        let mut request = Vec::new();
        message::write(kind, flags, 1, &mut request, fill);
        self.send(&request)?;
        let mut answer = Vec::new();
        loop {
            for message in messages(self.receive()?) {
                if message.kind != NLMSG_ERROR {
                    answer = message.payload.to_vec();
                    continue;
                }
                return match number(&message.payload[..4]) as i32 {
                    0 => Ok(answer),
                    code => Err(io::Error::from_raw_os_error(-code)),
                };
            }
        }
    }
}

/// The numbers of the family, which the kernel gives out.
#[derive(Clone, Copy, Debug)]
pub struct Family {
    pub id: u16,
    pub group: u32,
}

impl Family {
    pub fn find(netlink: &mut Netlink) -> io::Result<Self> {
        let answer = netlink.ask(GENL_ID_CTRL, 0, |to| {
            to.extend_from_slice(&[CTRL_CMD_GETFAMILY, 1, 0, 0]);
            Node::bytes(CTRL_ATTR_FAMILY_NAME, b"ovpn\0").write(to);
        })?;
        let missing = || io::Error::other("the family's description lacks its id or group");
        let id = attr(&answer[4..], CTRL_ATTR_FAMILY_ID).ok_or_else(missing)?;
        let groups = attr(&answer[4..], CTRL_ATTR_MCAST_GROUPS).ok_or_else(missing)?;
        let (_, group) = *attrs(groups).first().ok_or_else(missing)?;
        let group = attr(group, CTRL_ATTR_MCAST_GRP_ID).ok_or_else(missing)?;
        Ok(Self {
            id: number(id) as u16,
            group: number(group) as u32,
        })
    }
}

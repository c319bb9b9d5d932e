// SPDX-License-Identifier: GPL-2.0

//! The sockets that records travel through.

pub mod gro;
pub mod gso;
pub mod tcp;
pub mod udp;

use kernel_ext::{
    net::{
        sock::Sock,
        tcp as tcp_socket,
        udp_tunnel, //
    },
    sync::rcu::RcuArc, //
};

/// What a peer is reached through.
pub enum Transport {
    /// A socket that it may share with other peers.
    Udp(RcuArc<udp::Socket>),
    /// A connection of its own.
    Tcp(RcuArc<tcp::Socket>),
}

impl Transport {
    /// The socket.
    #[inline]
    pub fn sock(&self) -> &Sock {
        match self {
            Self::Udp(socket) => socket.sock(),
            Self::Tcp(socket) => socket.sock(),
        }
    }
}

/// A peer's hold on its socket. Dropping it gives the socket back, if nobody else uses it, which
/// sleeps: drop it in process context.
pub enum Attachment {
    /// One of many, maybe.
    Udp(udp_tunnel::Attachment<udp::Carrier>),
    /// The only one.
    Tcp(tcp_socket::Attachment<tcp::Carrier>),
}

impl Attachment {
    /// The socket, for the packet path.
    pub fn transport(&self) -> Transport {
        match self {
            Self::Udp(attachment) => Transport::Udp(attachment.socket()),
            Self::Tcp(attachment) => Transport::Tcp(attachment.socket()),
        }
    }
}

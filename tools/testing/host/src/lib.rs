// SPDX-License-Identifier: GPL-2.0

//! The pure rooms of the ovpn driver, compiled for the host.
//!
//! These are not copies: the modules are the driver's own files, at the same paths below the crate
//! root, so that their `crate::` imports mean the same here. They have nothing but [`core`], which
//! is all that the kernel offers them, too. The tests are in `tests/`, a file per room.

#![no_std]
#![forbid(unsafe_code)]

// For the few types that the rooms share with the abstractions.
extern crate self as kernel_ext;

#[path = "../../../../drivers/ovpn/burst.rs"]
pub mod burst;

#[path = "../../../../drivers/ovpn/checksum.rs"]
pub mod checksum;

#[path = "../../../../drivers/ovpn/headers.rs"]
mod headers;

#[path = "../../../../drivers/ovpn/inner.rs"]
pub mod inner;

#[path = "../../../../drivers/ovpn/wire.rs"]
pub mod wire;

/// Key material and what keeps its use sound.
#[path = "../../../../drivers/ovpn/crypto"]
pub mod crypto {
    pub mod packet_id;
    pub mod replay;
}

/// Segments that become one packet.
#[path = "../../../../drivers/ovpn/merge"]
pub mod merge {
    pub mod segment;
    pub mod train;
}

/// The other end of a tunnel.
#[path = "../../../../drivers/ovpn/peer"]
pub mod peer {
    pub mod endpoint;
    pub mod keepalive;
}

/// The conversation with user space.
#[path = "../../../../drivers/ovpn/netlink"]
pub mod netlink {
    pub mod rules;
}

/// What carries records.
#[path = "../../../../drivers/ovpn/transport"]
pub mod transport {
    pub mod gro;
    pub mod gso;

    /// Records in a TCP stream.
    pub mod tcp {
        pub mod frame;
    }
}

/// Types of the abstractions that need nothing but [`core`] either.
#[path = "../../../../rust/kernel_ext/net"]
pub mod net {
    pub mod gro;
}

// SPDX-License-Identifier: GPL-2.0

//! Networking.

pub mod checksum;
pub mod device;
pub mod ethtool;
pub mod genetlink;
pub mod gro;
pub mod gro_cells;
pub mod namespace;
pub mod netlink;
pub mod route;
pub mod rtnl;
pub mod skbuff;
pub mod sock;
pub mod strparser;
pub mod tcp;
pub mod udp_tunnel;

// SPDX-License-Identifier: GPL-2.0

//! The sockets that records travel through.

pub mod gso;
pub mod udp;

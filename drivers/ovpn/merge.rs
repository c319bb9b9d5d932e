// SPDX-License-Identifier: GPL-2.0

//! Which received TCP segments become one packet.
//!
//! A sender cuts a long piece of data up into segments whose headers hardly differ. Put together
//! again they pass through the stack once. The rules are those of generic receive offload: what is
//! put together can be cut up into the very same packets, and nothing is put together whose checksum
//! was not right.
//!
//! Sources: RFC 791, 8200, 9293.

pub mod segment;
pub mod train;

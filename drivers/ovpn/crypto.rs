// SPDX-License-Identifier: GPL-2.0

//! Keys.

pub mod batch;
pub mod key;
pub mod packet_id;
pub mod replay;
pub mod slots;

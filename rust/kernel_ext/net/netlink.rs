// SPDX-License-Identifier: GPL-2.0

//! Netlink attributes: reading, checking and writing them, and telling what is wrong.
//!
//! C header: [`include/net/netlink.h`](srctree/include/net/netlink.h)

mod attr;
mod extack;
mod policy;
#[cfg(CONFIG_KUNIT = "y")]
mod tests;
mod writer;

pub use attr::{
    Attr,
    Attrs, //
};
pub use extack::ExtAck;
pub use policy::{
    Policy,
    Range, //
};
pub use writer::Writer;

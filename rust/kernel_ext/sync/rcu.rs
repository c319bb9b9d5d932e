// SPDX-License-Identifier: GPL-2.0

//! Shared objects that are found without a lock.
//!
//! | here | what it is |
//! |---|---|
//! | [`RcuArc`] | a counted reference to an object that outlives its last reference by a grace period |
//! | [`RcuBorrow`] | a reference found under the RCU read lock, not counted |
//! | [`RcuCell`] | one replaceable [`RcuArc`], or none |
//! | [`RcuIndex`] | [`RcuArc`]s by number |
//! | [`RcuMap`] | [`RcuArc`]s by address |
//!
//! The containers own a counted reference to what they hold. A reader takes the RCU read lock and
//! borrows from a container without touching the count; the borrow lives as long as the read lock.
//! Whoever takes an object out of a container may drop it at once, in any context: the memory stays
//! until all readers are through, and the destructor then runs in process context.

mod arc;
mod cell;
mod index;
mod map;

pub use arc::{
    RcuArc,
    RcuBorrow, //
};
pub use cell::RcuCell;
pub use index::RcuIndex;
pub use map::{
    Key,
    RcuMap, //
};

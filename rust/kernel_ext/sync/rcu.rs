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
#[cfg(CONFIG_KUNIT = "y")]
mod tests;

use core::ptr::NonNull;
use kernel::sync::rcu::Guard;

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

/// The guard of an RCU read side critical section that the core has begun: one less to begin and to
/// end for each packet.
///
/// # Safety
///
/// The caller must be in such a section for all of `'a`.
#[inline]
pub(crate) unsafe fn held<'a>() -> &'a Guard {
    const { assert!(core::mem::size_of::<Guard>() == 0) };
    // SAFETY: Nothing is read, since a guard has no size. What it stands for is the caller's promise.
    unsafe { NonNull::dangling().as_ref() }
}

// SPDX-License-Identifier: GPL-2.0

//! Bottom halves.
//!
//! Per-CPU data of the network stack (statistics, route caches, receive queues) may only be touched
//! while no softirq can run on this CPU. [`BhDisabled`] is the proof of it that functions ask for.
//!
//! C header: [`include/linux/bottom_half.h`](srctree/include/linux/bottom_half.h)

use core::ops::Deref;
use kernel::types::NotThreadSafe;
use ovpn_bindings as bindings;

/// Proof that bottom halves are disabled on this CPU.
///
/// # Invariants
///
/// Bottom halves are disabled on the current CPU while a value of this type exists.
pub struct BhDisabled(NotThreadSafe);

impl BhDisabled {
    /// Asserts that bottom halves are disabled.
    ///
    /// # Safety
    ///
    /// They must be disabled, and stay so while the returned value exists.
    #[inline]
    pub(crate) unsafe fn assert() -> Self {
        // INVARIANT: The caller's promise.
        Self(NotThreadSafe)
    }
}

/// Disables bottom halves until it is dropped. May be nested.
pub struct BhGuard(BhDisabled);

impl BhGuard {
    /// Disables bottom halves on this CPU.
    #[inline]
    pub fn new() -> Self {
        // SAFETY: May be called in any context but hard interrupts.
        unsafe { bindings::local_bh_disable() };
        // INVARIANT: Just disabled, until `drop`.
        Self(BhDisabled(NotThreadSafe))
    }
}

impl Default for BhGuard {
    fn default() -> Self {
        Self::new()
    }
}

impl Deref for BhGuard {
    type Target = BhDisabled;

    #[inline]
    fn deref(&self) -> &BhDisabled {
        &self.0
    }
}

impl Drop for BhGuard {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: Pairs with `new`.
        unsafe { bindings::local_bh_enable() };
    }
}

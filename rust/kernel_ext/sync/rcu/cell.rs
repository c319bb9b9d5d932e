// SPDX-License-Identifier: GPL-2.0

//! One replaceable reference.

use super::{
    RcuArc,
    RcuBorrow, //
};
use core::{
    marker::PhantomData,
    ptr, //
};
use kernel::sync::{
    atomic::{
        Acquire,
        Atomic,
        Full, //
    },
    rcu::Guard, //
};

/// An [`RcuArc`] that can be replaced while readers borrow it, or nothing.
///
/// # Invariants
///
/// The pointer is null, or comes from [`RcuArc::into_raw`] and owns that reference.
pub struct RcuCell<T: 'static> {
    value: Atomic<*mut T>,
    _owns: PhantomData<RcuArc<T>>,
}

impl<T: Send + Sync + 'static> RcuCell<T> {
    /// A cell with `value` in it.
    pub fn new(value: Option<RcuArc<T>>) -> Self {
        // INVARIANT: Null or just made by `into_raw`.
        Self {
            value: Atomic::new(value.map_or(ptr::null_mut(), RcuArc::into_raw)),
            _owns: PhantomData,
        }
    }

    /// What is in the cell now. Any context.
    #[inline]
    pub fn get<'g>(&self, guard: &'g Guard) -> Option<RcuBorrow<'g, T>> {
        // SAFETY: By the type invariant, and loaded under `guard`.
        unsafe { RcuBorrow::from_raw(self.value.load(Acquire), guard) }
    }

    /// Whether the cell holds `value` now. Any context.
    pub fn holds(&self, value: &T) -> bool {
        ptr::eq(self.value.load(Acquire), value)
    }

    /// Puts `value` in and gives back what was there. Readers see one or the other.
    pub fn replace(&self, value: Option<RcuArc<T>>) -> Option<RcuArc<T>> {
        let new = value.map_or(ptr::null_mut(), RcuArc::into_raw);
        // INVARIANT: Null or just made by `into_raw`.
        let old = self.value.xchg(new, Full);
        // SAFETY: By the type invariant the cell owned it; it does not any more.
        (!old.is_null()).then(|| unsafe { RcuArc::from_raw(old) })
    }

    /// Takes `value` out if it is what the cell holds.
    pub fn take_if(&self, value: &T) -> Option<RcuArc<T>> {
        let value = ptr::from_ref(value).cast_mut();
        self.value
            .cmpxchg(value, ptr::null_mut(), Full)
            .ok()
            // SAFETY: By the type invariant the cell owned it; it does not any more.
            .map(|old| unsafe { RcuArc::from_raw(old) })
    }
}

impl<T: 'static> Drop for RcuCell<T> {
    fn drop(&mut self) {
        let value = *self.value.get_mut();
        if !value.is_null() {
            // SAFETY: By the type invariant.
            drop(unsafe { RcuArc::from_raw(value) });
        }
    }
}

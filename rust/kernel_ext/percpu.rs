// SPDX-License-Identifier: GPL-2.0

//! Scratch memory of each CPU.
//!
//! What the packet path needs for a moment, and is too big for the stack (or must not be there: a
//! cipher may put parts of a request on scatterlists), is kept once per CPU and borrowed while bottom
//! halves are disabled. In the rare case that it is borrowed already, by what a hard interrupt has
//! interrupted or by a context that was preempted, there is new memory for that one time.

#[cfg(CONFIG_KUNIT = "y")]
mod tests;

use crate::bh::BhDisabled;
use core::{
    cell::Cell,
    marker::PhantomData,
    ops::{
        Deref,
        DerefMut, //
    },
    ptr, //
};
use kernel::{
    alloc::Flags,
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Full, //
    },
};
use ovpn_bindings as bindings;

struct Slot<T> {
    borrowed: Cell<bool>,
    value: T,
}

impl<T: Zeroable> Slot<T> {
    fn new(flags: Flags) -> Result<KBox<Self>> {
        let slot = KBox::<Self>::new_uninit(flags)?;
        let slot = KBox::into_raw(slot).cast::<Self>();
        // SAFETY: All zeros is "not borrowed", and a valid `T`.
        unsafe {
            slot.write_bytes(0, 1);
            Ok(KBox::from_raw(slot))
        }
    }
}

/// A `T` for each CPU, all zeros at first. To be declared `static`.
///
/// # Invariants
///
/// Null, or one valid slot for each possible CPU, which only that CPU looks at.
pub struct PerCpu<T: 'static> {
    slots: Atomic<*mut *mut Slot<T>>,
}

impl<T: Zeroable + 'static> PerCpu<T> {
    /// Without memory yet, see [`Allocated`].
    pub const fn new() -> Self {
        // INVARIANT: Null.
        Self {
            slots: Atomic::new(ptr::null_mut()),
        }
    }

    /// Borrows this CPU's memory, or allocates some if it is borrowed.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `ENODEV` before it is allocated.
    #[inline]
    pub fn borrow<'a>(&'a self, _bh: &'a BhDisabled) -> Result<Borrowed<'a, T>> {
        let slots = self.slots.load(Acquire);
        if slots.is_null() {
            return Err(ENODEV);
        }
        // SAFETY: By the type invariant; with bottom halves disabled we stay on this CPU.
        let slot = unsafe { *slots.add(bindings::smp_cpu() as usize) };
        // SAFETY: As above.
        if !unsafe { (*slot).borrowed.replace(true) } {
            // INVARIANT: Just marked.
            return Ok(Borrowed {
                slot,
                own: None,
                _bh: PhantomData,
            });
        }
        let mut own = Slot::new(GFP_ATOMIC)?;
        // INVARIANT: It is `own`.
        Ok(Borrowed {
            slot: ptr::from_mut(&mut *own),
            own: Some(own),
            _bh: PhantomData,
        })
    }
}

impl<T: Zeroable + 'static> Default for PerCpu<T> {
    fn default() -> Self {
        Self::new()
    }
}

/// Memory that nobody else uses until this is dropped.
///
/// # Invariants
///
/// `slot` is this CPU's and marked as borrowed, or is `own`.
pub struct Borrowed<'a, T> {
    slot: *mut Slot<T>,
    own: Option<KBox<Slot<T>>>,
    _bh: PhantomData<&'a BhDisabled>,
}

impl<T> Deref for Borrowed<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: By the type invariant.
        unsafe { &(*self.slot).value }
    }
}

impl<T> DerefMut for Borrowed<'_, T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: By the type invariant.
        unsafe { &mut (*self.slot).value }
    }
}

impl<T> Drop for Borrowed<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if self.own.is_none() {
            // SAFETY: By the type invariant.
            unsafe { (*self.slot).borrowed.set(false) };
        }
    }
}

/// Keeps the memory of a [`PerCpu`] allocated. Created before its first user, dropped after the last.
///
/// # Invariants
///
/// `slots` are what `of` points to, if it is not null, and come from boxes.
pub struct Allocated<T: Zeroable + 'static> {
    of: &'static PerCpu<T>,
    slots: KVec<*mut Slot<T>>,
}

// SAFETY: The slots are only used through the `PerCpu`, each by its CPU.
unsafe impl<T: Zeroable + Send> Send for Allocated<T> {}
// SAFETY: As above.
unsafe impl<T: Zeroable + Send> Sync for Allocated<T> {}

impl<T: Zeroable + Send> Allocated<T> {
    /// Allocates the memory of `of`. Process context.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EBUSY` if it is allocated.
    pub fn new(of: &'static PerCpu<T>) -> Result<Self> {
        // SAFETY: Constant after boot. CAST: A number of CPUs.
        let cpus = unsafe { bindings::nr_cpu_ids } as usize;
        let mut new = Self {
            of,
            slots: KVec::with_capacity(cpus, GFP_KERNEL)?,
        };
        for _ in 0..cpus {
            let slot = KBox::into_raw(Slot::new(GFP_KERNEL)?);
            // There is room, so this does not fail, and if it did, the slot would only be lost.
            new.slots.push(slot, GFP_KERNEL)?;
        }
        // INVARIANT: There are as many as CPUs, and the vector does not change any more.
        of.slots
            .cmpxchg(ptr::null_mut(), new.slots.as_mut_ptr(), Full)
            .map_err(|_| EBUSY)?;
        Ok(new)
    }
}

impl<T: Zeroable + 'static> Drop for Allocated<T> {
    fn drop(&mut self) {
        // Left alone if it is somebody else's.
        let _ = self
            .of
            .slots
            .cmpxchg(self.slots.as_mut_ptr(), ptr::null_mut(), Full);
        for slot in self.slots.iter() {
            // SAFETY: By the type invariant; there are no users any more.
            drop(unsafe { KBox::from_raw(*slot) });
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The counted reference.

use crate::workqueue;
use core::{
    marker::PhantomData,
    mem::{
        offset_of,
        ManuallyDrop, //
    },
    ops::Deref,
    ptr::NonNull, //
};
use kernel::{
    alloc::Flags,
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Full,
            Relaxed, //
        },
        rcu::Guard,
        Refcount, //
    },
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// How many objects exist, the ones that wait for their grace period included.
static LIVE: Atomic<i64> = Atomic::new(0);

/// The object with what it takes to free it. `value` is first: a pointer to one is a pointer to the
/// other.
#[repr(C)]
#[pin_data]
struct Inner<T> {
    #[pin]
    value: T,
    refs: Refcount,
    /// Untouched until the last reference is gone.
    reclaim: Opaque<bindings::rcu_work>,
}

/// A counted reference to a `T`, which outlives its last reference by one RCU grace period.
///
/// When the count reaches zero, `T`'s destructor is run after a grace period by the module's queue,
/// in process context: the last reference may be dropped anywhere, a softirq included, and the
/// destructor may sleep.
///
/// # Invariants
///
/// `value` points to the `value` of a live `Inner<T>`, and one of its counts belongs to this.
pub struct RcuArc<T: 'static> {
    value: NonNull<T>,
    _owns: PhantomData<Inner<T>>,
}

// SAFETY: Like `Arc`: references and the destructor may end up on another CPU.
unsafe impl<T: Send + Sync> Send for RcuArc<T> {}
// SAFETY: As above.
unsafe impl<T: Send + Sync> Sync for RcuArc<T> {}

// A reference may be moved; the object stays where it is.
impl<T: 'static> Unpin for RcuArc<T> {}

impl<T: 'static> RcuArc<T> {
    /// Allocates an object and initialises it in place. Context as `flags` allow.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `ENODEV` if the module has no queue (yet), or what `init` fails with.
    pub fn pin_init(init: impl PinInit<T, Error>, flags: Flags) -> Result<Self>
    where
        T: Send + Sync,
    {
        if workqueue::current().is_null() {
            return Err(ENODEV);
        }
        let inner = KBox::try_pin_init(
            try_pin_init!(Inner {
                value <- init,
                refs: Refcount::new(1),
                reclaim: Opaque::uninit(),
            }? Error),
            flags,
        )?;
        LIVE.add(1, Relaxed);
        // SAFETY: The value stays where it is until `reclaim`.
        let inner = KBox::into_raw(unsafe { Pin::into_inner_unchecked(inner) });
        // INVARIANT: Live, and its first count is ours. CAST: `value` is the first field.
        Ok(Self {
            // SAFETY: Comes from a box.
            value: unsafe { NonNull::new_unchecked(inner.cast()) },
            _owns: PhantomData,
        })
    }

    /// Allocates an object that needs no place of its own before it is complete.
    pub fn new(value: T, flags: Flags) -> Result<Self>
    where
        T: Send + Sync,
    {
        // SAFETY: The closure initialises the slot and never fails.
        let init = unsafe {
            pin_init::pin_init_from_closure(move |slot: *mut T| {
                slot.write(value);
                Ok(())
            })
        };
        Self::pin_init(init, flags)
    }

    /// Turns the reference into a pointer, without giving it up.
    #[inline]
    pub(crate) fn into_raw(self) -> *mut T {
        ManuallyDrop::new(self).value.as_ptr()
    }

    /// The pointer that [`Self::into_raw`] would give.
    #[inline]
    pub(crate) fn as_raw(&self) -> *mut T {
        self.value.as_ptr()
    }

    /// Takes a reference back.
    ///
    /// # Safety
    ///
    /// `value` must come from [`Self::into_raw`], and that reference must not have been taken back.
    #[inline]
    pub(crate) unsafe fn from_raw(value: *mut T) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            // SAFETY: `into_raw` gives no null pointers.
            value: unsafe { NonNull::new_unchecked(value) },
            _owns: PhantomData,
        }
    }

    /// Whether the two refer to the same object.
    #[inline]
    pub fn is(&self, other: &T) -> bool {
        core::ptr::eq(self.value.as_ptr(), other)
    }

    #[inline]
    fn inner(&self) -> *mut Inner<T> {
        self.value.as_ptr().cast()
    }

    #[inline]
    fn refs(&self) -> &Refcount {
        // SAFETY: By the type invariant.
        unsafe { &(*self.inner()).refs }
    }
}

impl RcuArc<()> {
    /// How many objects of all types exist.
    pub(crate) fn live() -> i64 {
        LIVE.load(Relaxed)
    }
}

impl<T: 'static> Deref for RcuArc<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: By the type invariant.
        unsafe { self.value.as_ref() }
    }
}

impl<T: 'static> Clone for RcuArc<T> {
    #[inline]
    fn clone(&self) -> Self {
        self.refs().inc();
        // INVARIANT: The count just taken.
        Self {
            value: self.value,
            _owns: PhantomData,
        }
    }
}

impl<T: 'static> Drop for RcuArc<T> {
    #[inline]
    fn drop(&mut self) {
        if self.refs().dec_and_test() {
            let inner = self.inner();
            // SAFETY: Nobody can take a new reference, so the work is ours to initialise and to
            // queue once. The module's queue outlives all objects.
            unsafe {
                let work = Opaque::cast_into(&raw const (*inner).reclaim);
                bindings::init_rcu_work(work, Some(reclaim::<T>));
                bindings::queue_rcu_work(workqueue::current(), work);
            }
        }
    }
}

/// # Safety
///
/// `work` must be the work of the `reclaim` of an `Inner<T>` without references.
unsafe extern "C" fn reclaim<T>(work: *mut bindings::work_struct) {
    // CAST: `work` is the first member of `struct rcu_work`.
    let inner = work
        .wrapping_byte_sub(offset_of!(Inner<T>, reclaim))
        .cast::<Inner<T>>();
    // SAFETY: Comes from `KBox::into_raw`; there are no counted references, and a grace period has
    // passed, so no borrows either.
    drop(unsafe { KBox::from_raw(inner) });
    let _ = LIVE.fetch_sub(1, Full);
}

static_assert!(offset_of!(bindings::rcu_work, work) == 0);

/// A reference found under the RCU read lock. Not counted.
///
/// # Invariants
///
/// `value` points to the `value` of an `Inner<T>` whose memory stays while `'g` lasts, since the
/// read lock was held before its last reference could go. The count may be zero.
pub struct RcuBorrow<'g, T: 'static> {
    value: NonNull<T>,
    _guard: PhantomData<(&'g Guard, &'g T)>,
}

impl<T: 'static> Clone for RcuBorrow<'_, T> {
    #[inline]
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: 'static> Copy for RcuBorrow<'_, T> {}

impl<'g, T: 'static> RcuBorrow<'g, T> {
    /// # Safety
    ///
    /// `value` must be null, or come from [`RcuArc::into_raw`] and have been loaded under `guard`
    /// from where a counted reference is kept.
    #[inline]
    pub(crate) unsafe fn from_raw(value: *mut T, _guard: &'g Guard) -> Option<Self> {
        // INVARIANT: The caller's promise.
        Some(Self {
            value: NonNull::new(value)?,
            _guard: PhantomData,
        })
    }

    /// The object, for as long as the read lock is held.
    #[inline]
    pub fn get(self) -> &'g T {
        // SAFETY: By the type invariant.
        unsafe { self.value.as_ref() }
    }

    /// A counted reference, or `None` if the last one is gone already.
    pub fn to_owned(self) -> Option<RcuArc<T>> {
        // SAFETY: By the type invariant.
        let refs = unsafe { &(*self.value.as_ptr().cast::<Inner<T>>()).refs };
        let mut count = refs.as_atomic().load(Relaxed);
        while count > 0 {
            match refs.as_atomic().cmpxchg(count, count.wrapping_add(1), Full) {
                // INVARIANT: The count just taken.
                Ok(_) => {
                    return Some(RcuArc {
                        value: self.value,
                        _owns: PhantomData,
                    })
                }
                Err(now) => count = now,
            }
        }
        None
    }
}

impl<T: 'static> Deref for RcuBorrow<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.get()
    }
}

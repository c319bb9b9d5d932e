// SPDX-License-Identifier: GPL-2.0

//! The module's own workqueue, and delayed work on it.
//!
//! Work that runs module text must be over before the module goes. On the system queues nobody can
//! wait for that, so everything deferred runs on one queue that the module owns: [`ModuleQueue`].
//!
//! C header: [`include/linux/workqueue.h`](srctree/include/linux/workqueue.h)

#[cfg(CONFIG_KUNIT = "y")]
mod tests;

use crate::sync::rcu::RcuArc;
use core::ptr;
use kernel::{
    ffi::c_ulong,
    prelude::*,
    sync::{
        atomic::{
            Acquire,
            Atomic,
            Full, //
        },
        rcu, //
    },
    types::Opaque, //
};
use ovpn_bindings as bindings;

static QUEUE: Atomic<*mut bindings::workqueue_struct> = Atomic::new(ptr::null_mut());

/// The queue that all deferred work of the module runs on.
///
/// A module creates it first in its init function and drops it last. Until it exists,
/// [`RcuArc`]s cannot be created.
///
/// # Invariants
///
/// `QUEUE` is a valid workqueue as long as this value exists.
pub struct ModuleQueue(());

impl ModuleQueue {
    /// Creates the queue. Process context.
    ///
    /// # Errors
    ///
    /// `EBUSY` if the module has one already, `ENOMEM`.
    pub fn new(name: &'static CStr) -> Result<Self> {
        // SAFETY: `name` is a NUL-terminated string without format directives that matter: it is
        // passed as the argument of "%s".
        let queue = unsafe {
            bindings::alloc_workqueue_noprof(
                c"%s".as_char_ptr(),
                bindings::wq_flags_WQ_PERCPU,
                0,
                name.as_char_ptr(),
            )
        };
        if queue.is_null() {
            return Err(ENOMEM);
        }
        if QUEUE.cmpxchg(ptr::null_mut(), queue, Full).is_err() {
            // SAFETY: Just created, nothing is queued on it.
            unsafe { bindings::destroy_workqueue(queue) };
            return Err(EBUSY);
        }
        // INVARIANT: `queue` is valid and stays in `QUEUE` until `drop`.
        Ok(Self(()))
    }
}

impl Drop for ModuleQueue {
    fn drop(&mut self) {
        let queue = current();
        // What is reclaimed may let go of further objects, which are then queued in turn: the end is
        // reached when none is left, not after a fixed number of rounds.
        loop {
            rcu::rcu_barrier();
            // SAFETY: By the type invariant the queue is valid.
            unsafe { bindings::__flush_workqueue(queue) };
            if RcuArc::<()>::live() == 0 {
                break;
            }
        }
        let _ = QUEUE.xchg(ptr::null_mut(), Full);
        // SAFETY: Valid, and nobody can reach it any more.
        unsafe { bindings::destroy_workqueue(queue) };
    }
}

/// The module's queue, or null outside its life.
#[inline]
pub(crate) fn current() -> *mut bindings::workqueue_struct {
    QUEUE.load(Acquire)
}

/// A `struct delayed_work` embedded in a shared object. See [`Run`].
///
/// Idle until [`schedule`] queues it; a pending run owns a reference to the object.
#[repr(transparent)]
pub struct DelayedWork(Opaque<bindings::delayed_work>);

// SAFETY: The workqueue code does its own locking on it.
unsafe impl Send for DelayedWork {}
// SAFETY: As above.
unsafe impl Sync for DelayedWork {}

impl DelayedWork {
    /// An idle work that will run `T::run`.
    pub fn new<T: Run>() -> impl PinInit<Self> {
        // SAFETY: The slot is initialised by `init_delayed_work`, and its address is stable.
        unsafe {
            pin_init::pin_init_from_closure(move |slot: *mut Self| {
                bindings::init_delayed_work(
                    Opaque::cast_into(&raw const (*slot).0),
                    Some(run::<T>),
                );
                Ok(())
            })
        }
    }
}

/// An object with a [`DelayedWork`] in it.
///
/// # Safety
///
/// `OFFSET` must be the offset of a [`DelayedWork`] in `Self`. Use [`impl_has_delayed_work`].
///
/// [`impl_has_delayed_work`]: crate::impl_has_delayed_work
pub unsafe trait HasDelayedWork: Send + Sync + Sized + 'static {
    /// Where the work is, in bytes from the start of the object.
    const OFFSET: usize;
}

/// Declares which field of a type is its [`DelayedWork`].
#[macro_export]
macro_rules! impl_has_delayed_work {
    ($type:ty, $field:ident) => {
        // SAFETY: `OFFSET` is the offset of the field, whose type is checked by the closure.
        unsafe impl $crate::workqueue::HasDelayedWork for $type {
            const OFFSET: usize = {
                let _: fn(&$type) -> &$crate::workqueue::DelayedWork = |object| &object.$field;
                ::core::mem::offset_of!($type, $field)
            };
        }
    };
}

/// What the work does.
pub trait Run: HasDelayedWork {
    /// Runs in process context on the module's queue, with the reference that the pending work held.
    fn run(this: RcuArc<Self>);
}

fn work_of<T: HasDelayedWork>(object: &T) -> *mut bindings::delayed_work {
    let work = ptr::from_ref(object).wrapping_byte_add(T::OFFSET);
    // By the contract of `HasDelayedWork` this is a `DelayedWork`, which is transparent.
    work.cast::<bindings::delayed_work>().cast_mut()
}

/// Lets `object`'s work run once, `jiffies` from now. If it is pending already, that stands.
///
/// Any context.
pub fn schedule<T: Run>(object: RcuArc<T>, jiffies: c_ulong) {
    let work = work_of::<T>(&object);
    let object = object.into_raw();
    // SAFETY: The queue exists as long as there are `RcuArc`s, and the work is initialised. Its
    // object stays alive by the reference that the pending work owns.
    let queued = unsafe {
        bindings::queue_delayed_work_on(
            // CAST: A small enumerator.
            bindings::wq_misc_consts_WORK_CPU_UNBOUND as i32,
            current(),
            work,
            jiffies,
        )
    };
    if !queued {
        // SAFETY: The reference was not handed over.
        drop(unsafe { RcuArc::from_raw(object) });
    }
}

/// Lets `object`'s work run once, `jiffies` from now, also if it was pending for another time.
///
/// Any context.
pub fn reschedule<T: Run>(object: RcuArc<T>, jiffies: c_ulong) {
    let work = work_of::<T>(&object);
    let object = object.into_raw();
    // SAFETY: As in `schedule`.
    let was_pending = unsafe {
        bindings::mod_delayed_work_on(
            // CAST: A small enumerator.
            bindings::wq_misc_consts_WORK_CPU_UNBOUND as i32,
            current(),
            work,
            jiffies,
        )
    };
    if was_pending {
        // SAFETY: The pending work has a reference already, this one was not handed over.
        drop(unsafe { RcuArc::from_raw(object) });
    }
}

/// Cancels `object`'s work if it is pending. A run in progress goes on. Any context.
pub fn cancel<T: Run>(object: &RcuArc<T>) {
    // SAFETY: The work is initialised.
    if unsafe { bindings::cancel_delayed_work(work_of::<T>(object)) } {
        // SAFETY: It was pending, so it owned a reference, which is ours now.
        drop(unsafe { RcuArc::from_raw(object.as_raw()) });
    }
}

/// # Safety
///
/// `work` must be the work of a delayed work that was queued by [`schedule`].
unsafe extern "C" fn run<T: Run>(work: *mut bindings::work_struct) {
    // CAST: `work` is the first member of `struct delayed_work`.
    let object = work.wrapping_byte_sub(T::OFFSET).cast::<T>();
    // SAFETY: It is the work of a `T` that owned a reference while it was pending.
    T::run(unsafe { RcuArc::from_raw(object) });
}

static_assert!(core::mem::offset_of!(bindings::delayed_work, work) == 0);

// SPDX-License-Identifier: GPL-2.0

//! A spinlock that keeps softirqs off while it is held.
//!
//! For data that both a softirq (the packet path) and process context change.
//!
//! C header: [`include/linux/spinlock.h`](srctree/include/linux/spinlock.h)

use kernel::{
    ffi::c_char,
    sync::lock::{
        Backend,
        Guard,
        Lock, //
    }, //
};
use ovpn_bindings as bindings;

/// Creates a [`SpinLockBh`] initialiser with a new lock class.
#[macro_export]
macro_rules! new_spinlock_bh {
    ($inner:expr, $name:literal $(,)?) => {
        $crate::sync::spinlock_bh::SpinLockBh::new(
            $inner,
            ::kernel::optional_name!($name),
            ::kernel::static_lock_class!(),
        )
    };
}

/// A spinlock taken by `spin_lock_bh()`. Process context and softirq.
pub type SpinLockBh<T> = Lock<T, SpinLockBhBackend>;

/// The guard of a [`SpinLockBh`].
pub type SpinLockBhGuard<'a, T> = Guard<'a, T, SpinLockBhBackend>;

/// The backend of [`SpinLockBh`].
pub struct SpinLockBhBackend;

// SAFETY: `spinlock_t` ensures mutual exclusion. `relock` is the default, the same operation.
unsafe impl Backend for SpinLockBhBackend {
    type State = bindings::spinlock_t;
    type GuardState = ();

    #[inline]
    unsafe fn init(ptr: *mut Self::State, name: *const c_char, key: *mut bindings::lock_class_key) {
        // SAFETY: By the caller's contract `ptr` may be written, `name` and `key` live for ever.
        unsafe { bindings::__spin_lock_init(ptr, name, key) }
    }

    #[inline]
    unsafe fn lock(ptr: *mut Self::State) {
        // SAFETY: By the caller's contract it is initialised.
        unsafe { bindings::spin_lock_bh(ptr) }
    }

    #[inline]
    unsafe fn try_lock(ptr: *mut Self::State) -> Option<()> {
        // SAFETY: By the caller's contract it is initialised.
        let taken = unsafe { bindings::spin_trylock_bh(ptr) };
        (taken != 0).then_some(())
    }

    #[inline]
    unsafe fn unlock(ptr: *mut Self::State, _state: &()) {
        // SAFETY: By the caller's contract we own it.
        unsafe { bindings::spin_unlock_bh(ptr) }
    }

    #[inline]
    unsafe fn assert_is_held(ptr: *mut Self::State) {
        // SAFETY: By the caller's contract it is initialised.
        unsafe { bindings::lockdep_spin_assert_is_held(ptr) }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! References by number.

use super::{
    RcuArc,
    RcuBorrow, //
};
use core::{
    marker::PhantomData,
    mem::align_of, //
};
use kernel::{
    ffi::c_void,
    prelude::*,
    sync::rcu::Guard,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// [`RcuArc`]s by number, in order. An XArray: a lookup is a few loads, whatever it holds.
///
/// C header: [`include/linux/xarray.h`](srctree/include/linux/xarray.h)
///
/// # Invariants
///
/// Each entry comes from [`RcuArc::into_raw`] and owns that reference.
#[pin_data(PinnedDrop)]
pub struct RcuIndex<T: 'static> {
    #[pin]
    xa: Opaque<bindings::xarray>,
    _owns: PhantomData<RcuArc<T>>,
}

// SAFETY: The XArray does its own locking, the entries are `Send` and `Sync`.
unsafe impl<T: Send + Sync> Send for RcuIndex<T> {}
// SAFETY: As above.
unsafe impl<T: Send + Sync> Sync for RcuIndex<T> {}

impl<T: Send + Sync + 'static> RcuIndex<T> {
    /// An empty index.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            // SAFETY: `xa_init` initialises the slot.
            xa <- Opaque::ffi_init(|xa| unsafe { bindings::xa_init(xa) }),
            _owns: PhantomData,
        })
    }

    /// The entry at `index`. Any context.
    #[inline]
    pub fn get<'g>(&self, index: u32, guard: &'g Guard) -> Option<RcuBorrow<'g, T>> {
        // SAFETY: The array is initialised.
        let entry = unsafe { bindings::xa_load(self.xa.get(), index as usize) };
        // SAFETY: By the type invariant, and loaded under `guard`.
        unsafe { RcuBorrow::from_raw(entry.cast(), guard) }
    }

    /// The first entry at `from` or behind it, with its index. Any context.
    pub fn next<'g>(&self, from: u32, guard: &'g Guard) -> Option<(u32, RcuBorrow<'g, T>)> {
        let mut index = from as usize;
        // SAFETY: The array is initialised.
        let entry = unsafe {
            bindings::xa_find(
                self.xa.get(),
                &mut index,
                u32::MAX as usize,
                bindings::XA_PRESENT,
            )
        };
        // SAFETY: By the type invariant, and loaded under `guard`.
        let entry = unsafe { RcuBorrow::from_raw(entry.cast(), guard) }?;
        // CAST: At most `u32::MAX`, see above.
        Some((index as u32, entry))
    }

    /// Puts `value` at `index`. Process context, may sleep.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is an entry already, `ENOMEM`. `value` is dropped then.
    pub fn insert(&self, index: u32, value: RcuArc<T>) -> Result {
        const {
            assert!(
                align_of::<T>() >= 4,
                "the XArray wants two free bits in a pointer"
            )
        };

        let value = value.into_raw();
        // INVARIANT: On success the entry owns the reference.
        // SAFETY: The array is initialised, and the pointer is aligned to four bytes.
        let ret = unsafe {
            bindings::xa_insert(
                self.xa.get(),
                index as usize,
                value.cast::<c_void>(),
                bindings::OVPN_GFP_KERNEL,
            )
        };
        if ret == 0 {
            return Ok(());
        }
        // SAFETY: Not inserted, so the reference is still ours.
        drop(unsafe { RcuArc::from_raw(value) });
        Err(match Error::from_errno(ret) {
            error if error == EBUSY => EEXIST,
            error => error,
        })
    }

    /// Takes the entry at `index` out. Process context.
    pub fn remove(&self, index: u32) -> Option<RcuArc<T>> {
        // SAFETY: The array is initialised.
        let entry = unsafe { bindings::xa_erase(self.xa.get(), index as usize) };
        // SAFETY: By the type invariant the array owned it; it does not any more.
        (!entry.is_null()).then(|| unsafe { RcuArc::from_raw(entry.cast()) })
    }
}

#[pinned_drop]
impl<T: 'static> PinnedDrop for RcuIndex<T> {
    fn drop(self: Pin<&mut Self>) {
        let mut index = 0;
        loop {
            // SAFETY: The array is initialised, and nobody else has it any more.
            let entry = unsafe {
                bindings::xa_find(self.xa.get(), &mut index, usize::MAX, bindings::XA_PRESENT)
            };
            if entry.is_null() {
                break;
            }
            // SAFETY: As above.
            unsafe { bindings::xa_erase(self.xa.get(), index) };
            // SAFETY: By the type invariant the array owned it.
            drop(unsafe { RcuArc::<T>::from_raw(entry.cast()) });
        }
        // SAFETY: As above.
        unsafe { bindings::xa_destroy(self.xa.get()) };
    }
}

// SPDX-License-Identifier: GPL-2.0

//! References by address.

use super::{
    RcuArc,
    RcuBorrow, //
};
use core::{
    marker::PhantomData,
    ptr::NonNull, //
};
use kernel::{
    alloc::Flags,
    error::to_result,
    ffi::c_void,
    prelude::*,
    sync::rcu::{
        self,
        Guard, //
    },
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// What an entry is found by: room for an IPv6 address and one more word.
pub type Key = [u32; bindings::OVPN_MAP_KEY_WORDS as usize];

/// [`RcuArc`]s by [`Key`]. A resizable hash table with a secret seed.
///
/// C header: [`include/linux/rhashtable.h`](srctree/include/linux/rhashtable.h)
///
/// # Invariants
///
/// The `value` of each node comes from [`RcuArc::into_raw`] and owns that reference. Nodes are
/// never changed while they are in the table, and are freed a grace period after they left it.
#[pin_data(PinnedDrop)]
pub struct RcuMap<T: 'static> {
    #[pin]
    table: Opaque<bindings::rhashtable>,
    _owns: PhantomData<RcuArc<T>>,
}

// SAFETY: The table does its own locking, the entries are `Send` and `Sync`.
unsafe impl<T: Send + Sync> Send for RcuMap<T> {}
// SAFETY: As above.
unsafe impl<T: Send + Sync> Sync for RcuMap<T> {}

impl<T: Send + Sync + 'static> RcuMap<T> {
    /// An empty map. Process context.
    pub fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            // SAFETY: `map_init` initialises the slot if it succeeds.
            table <- Opaque::try_ffi_init(|table| to_result(unsafe { bindings::map_init(table) })),
            _owns: PhantomData,
        })
    }

    /// The entry under `key`. Any context.
    #[inline]
    pub fn get<'g>(&self, key: &Key, guard: &'g Guard) -> Option<RcuBorrow<'g, T>> {
        let node = self.node(key, guard)?;
        // SAFETY: The node is readable while `guard` is held; by the type invariant of the map its
        // value owned a reference when it was found under `guard`.
        unsafe { RcuBorrow::from_raw((*node.as_ptr()).value.cast(), guard) }
    }

    /// Puts `value` under `key`. Any context that `flags` allow.
    ///
    /// # Errors
    ///
    /// `EEXIST` if there is an entry already, `ENOMEM`.
    pub fn insert(&self, key: &Key, value: RcuArc<T>, flags: Flags) -> Result {
        let node = Node::new(key, value, flags)?;
        // SAFETY: The table is initialised, and the node is not in it.
        to_result(unsafe { bindings::map_insert(self.table.get(), node.as_ptr()) })?;
        // INVARIANT: The table owns the node from here on.
        node.into_table();
        Ok(())
    }

    /// Puts `value` under `key`, in the place of what may be there. Context as for `insert`.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn set(&self, key: &Key, value: RcuArc<T>, flags: Flags) -> Result {
        let node = Node::new(key, value, flags)?;
        let guard = rcu::read_lock();
        loop {
            let Some(old) = self.node(key, &guard) else {
                // SAFETY: The table is initialised, and the node is not in it.
                match to_result(unsafe { bindings::map_insert(self.table.get(), node.as_ptr()) }) {
                    // Somebody was faster: replace that.
                    Err(error) if error == EEXIST => continue,
                    Err(error) => return Err(error),
                    Ok(()) => break,
                }
            };
            // SAFETY: `old` is readable under `guard`, and has the same key.
            let ret =
                unsafe { bindings::map_replace(self.table.get(), old.as_ptr(), node.as_ptr()) };
            // Anything else means that `old` has just left the table: look again.
            if ret == 0 {
                // SAFETY: It was in the table until now, and we took it out.
                unsafe { Self::left(old) };
                break;
            }
        }
        // INVARIANT: The table owns the node from here on.
        node.into_table();
        Ok(())
    }

    /// Takes the entry under `key` out if it is `value`. Any context.
    pub fn remove(&self, key: &Key, value: &T) {
        let guard = rcu::read_lock();
        let Some(node) = self.node(key, &guard) else {
            return;
        };
        // SAFETY: The node is readable under `guard`.
        let found = unsafe { (*node.as_ptr()).value };
        if !core::ptr::eq(found.cast::<T>(), value) {
            return;
        }
        // SAFETY: As above. If somebody else took it out in between, this says so.
        if unsafe { bindings::map_remove(self.table.get(), node.as_ptr()) } == 0 {
            // SAFETY: It was in the table until now, and we took it out.
            unsafe { Self::left(node) };
        }
    }

    #[inline]
    fn node(&self, key: &Key, _guard: &Guard) -> Option<NonNull<bindings::ovpn_map_node>> {
        // SAFETY: The table is initialised, and the RCU read lock is held.
        NonNull::new(unsafe { bindings::map_lookup(self.table.get(), key.as_ptr()) })
    }

    /// Gives up a node that has just left the table.
    ///
    /// # Safety
    ///
    /// The node must have been in a table of `T`s, and nobody else may give it up.
    unsafe fn left(node: NonNull<bindings::ovpn_map_node>) {
        // SAFETY: By the type invariant of the map the node owned this reference. Readers that are
        // still at the node may use the value: it outlives its last reference by a grace period.
        drop(unsafe { RcuArc::<T>::from_raw((*node.as_ptr()).value.cast()) });
        // SAFETY: Comes from a `KBox`.
        unsafe { bindings::map_node_free(node.as_ptr()) };
    }
}

#[pinned_drop]
impl<T: 'static> PinnedDrop for RcuMap<T> {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: The table is initialised, and nobody else has it any more.
        unsafe {
            bindings::rhashtable_free_and_destroy(
                self.table.get(),
                Some(free::<T>),
                core::ptr::null_mut(),
            )
        };
    }
}

/// # Safety
///
/// `node` must have been in a map of `T`s that is going away.
unsafe extern "C" fn free<T: 'static>(node: *mut c_void, _arg: *mut c_void) {
    let node = node.cast::<bindings::ovpn_map_node>();
    // SAFETY: By the type invariant of the map the node owned this reference.
    unsafe {
        drop(RcuArc::<T>::from_raw((*node).value.cast()));
        bindings::map_node_free(node);
    }
}

/// A node that is not in a table.
struct Node<T: 'static> {
    node: KBox<bindings::ovpn_map_node>,
    value: RcuArc<T>,
}

impl<T: 'static> Node<T> {
    fn new(key: &Key, value: RcuArc<T>, flags: Flags) -> Result<Self> {
        let mut node: bindings::ovpn_map_node = pin_init::zeroed();
        node.key = *key;
        node.value = value.as_raw().cast();
        Ok(Self {
            node: KBox::new(node, flags)?,
            value,
        })
    }

    fn as_ptr(&self) -> *mut bindings::ovpn_map_node {
        core::ptr::from_ref(&*self.node).cast_mut()
    }

    /// Hands the node and the reference in it over to the table.
    fn into_table(self) {
        let _ = KBox::into_raw(self.node);
        let _ = self.value.into_raw();
    }
}

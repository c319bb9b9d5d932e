// SPDX-License-Identifier: GPL-2.0

//! Network namespaces.
//!
//! C header: [`include/net/net_namespace.h`](srctree/include/net/net_namespace.h)

use kernel::types::Opaque;
use ovpn_bindings as bindings;

/// A `struct net`, borrowed from what keeps it alive: a socket, a request.
#[repr(transparent)]
pub struct Net(Opaque<bindings::net>);

// SAFETY: What is used of it here is safe to use from any CPU.
unsafe impl Sync for Net {}

impl Net {
    /// # Safety
    ///
    /// `net` must be valid, and stay so, for `'a`.
    #[inline]
    pub(crate) unsafe fn from_raw<'a>(net: *mut bindings::net) -> &'a Self {
        // SAFETY: The caller's promise. CAST: transparent.
        unsafe { &*net.cast() }
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::net {
        self.0.get()
    }

    /// The id that `other` is known by in this namespace; one is given if there is none yet. `None`
    /// if the two are the same. Any context.
    pub fn id_of(&self, other: &Net) -> Option<i32> {
        // SAFETY: Both are valid.
        unsafe {
            if bindings::net_eq(self.as_ptr(), other.as_ptr()) {
                return None;
            }
            Some(bindings::peernet2id_alloc(
                self.as_ptr(),
                other.as_ptr(),
                bindings::OVPN_GFP_ATOMIC,
            ))
        }
    }
}

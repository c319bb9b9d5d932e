// SPDX-License-Identifier: GPL-2.0

//! Software segmentation.

use super::SkBuff;
use core::ptr;
use kernel::{
    error::from_err_ptr,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// The packets that a GSO packet stands for, in order. What is not taken is freed.
///
/// # Invariants
///
/// `next` is null or the first of a list, linked by `next`, of packets that this owns.
pub struct Segments {
    next: *mut bindings::sk_buff,
}

impl SkBuff {
    /// Cuts a GSO packet up, checksums completed. Softirq or process context.
    ///
    /// # Errors
    ///
    /// What `skb_gso_segment()` fails with. The packet is given back then.
    pub fn segment(self) -> Result<Segments, (Error, Self)> {
        // SAFETY: By the type invariant; no offloads are asked for, so all is done in software.
        let list = unsafe { bindings::__skb_gso_segment(self.as_ptr(), 0, true) };
        match from_err_ptr(list) {
            Err(error) => Err((error, self)),
            // Null says that the packet needs no segmentation after all.
            Ok(list) if list.is_null() => Ok(Segments {
                next: self.into_raw(),
            }),
            Ok(next) => {
                self.consume();
                // INVARIANT: The list is new, and ours.
                Ok(Segments { next })
            }
        }
    }
}

impl Iterator for Segments {
    type Item = SkBuff;

    fn next(&mut self) -> Option<SkBuff> {
        let skb = self.next;
        if skb.is_null() {
            return None;
        }
        // SAFETY: By the type invariant; unlinked, it is on no list any more.
        unsafe {
            let link = &mut (*skb).__bindgen_anon_1.__bindgen_anon_1.next;
            self.next = *link;
            *link = ptr::null_mut();
            Some(SkBuff::from_raw(skb))
        }
    }
}

impl Drop for Segments {
    fn drop(&mut self) {
        for segment in self.by_ref() {
            drop(segment);
        }
    }
}

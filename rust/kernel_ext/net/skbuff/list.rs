// SPDX-License-Identifier: GPL-2.0

//! Lists of packets.

use super::SkBuff;
use core::ptr;
use ovpn_bindings as bindings;

/// Packets in order, taken from the front. What is not taken is freed.
///
/// # Invariants
///
/// `first` is null or the first of a list, linked by `next`, of packets that this owns. If it is not
/// null, `last` is null or the last of them.
pub struct SkBuffList {
    first: *mut bindings::sk_buff,
    last: *mut bindings::sk_buff,
}

impl SkBuffList {
    /// No packets.
    #[inline]
    pub const fn new() -> Self {
        Self {
            first: ptr::null_mut(),
            last: ptr::null_mut(),
        }
    }

    /// Takes a list over.
    ///
    /// # Safety
    ///
    /// `first` must be null or the first of a list of packets, whose references pass to the result.
    #[inline]
    pub(super) unsafe fn from_raw(first: *mut bindings::sk_buff) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            first,
            last: ptr::null_mut(),
        }
    }

    /// Appends a packet.
    #[inline]
    pub fn push(&mut self, skb: SkBuff) {
        let skb = skb.into_raw();
        // INVARIANT: It was on no list, and is the last one now.
        if self.first.is_null() {
            self.first = skb;
        } else {
            if self.last.is_null() {
                self.last = self.first;
            }
            // SAFETY: By the type invariant.
            unsafe {
                while !(*next(self.last)).is_null() {
                    self.last = *next(self.last);
                }
                *next(self.last) = skb;
            }
        }
        self.last = skb;
    }
}

/// # Safety
///
/// `skb` must be valid.
#[inline]
unsafe fn next(skb: *mut bindings::sk_buff) -> *mut *mut bindings::sk_buff {
    // SAFETY: The caller's promise.
    unsafe { &raw mut (*skb).__bindgen_anon_1.__bindgen_anon_1.next }
}

impl Default for SkBuffList {
    fn default() -> Self {
        Self::new()
    }
}

impl Iterator for SkBuffList {
    type Item = SkBuff;

    #[inline]
    fn next(&mut self) -> Option<SkBuff> {
        let skb = self.first;
        if skb.is_null() {
            return None;
        }
        // SAFETY: By the type invariant; unlinked, it is on no list any more.
        unsafe {
            self.first = ptr::replace(next(skb), ptr::null_mut());
            Some(SkBuff::from_raw(skb))
        }
    }
}

impl Drop for SkBuffList {
    fn drop(&mut self) {
        for skb in self.by_ref() {
            drop(skb);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Packets that wait in line.

use super::SkBuff;
use kernel::{
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// A queue of packets, with a lock of its own: `struct sk_buff_head`. Any context.
///
/// # Invariants
///
/// Initialised, and owns the packets that are in it.
#[pin_data(PinnedDrop)]
pub struct Queue {
    #[pin]
    head: Opaque<bindings::sk_buff_head>,
}

// SAFETY: The queue does its own locking.
unsafe impl Send for Queue {}
// SAFETY: As above.
unsafe impl Sync for Queue {}

impl Queue {
    /// An empty queue.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            // SAFETY: Initialises the slot.
            head <- Opaque::ffi_init(|head| unsafe { bindings::skb_queue_head_init(head) }),
        })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::sk_buff_head {
        self.head.get()
    }

    /// How many packets wait, as of now.
    #[inline]
    pub fn len(&self) -> usize {
        // SAFETY: By the type invariant.
        unsafe { bindings::skb_queue_len(self.as_ptr()) as usize }
    }

    /// Whether none waits, as of now.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Lets `skb` wait behind all others.
    #[inline]
    pub fn push(&self, skb: SkBuff) {
        // INVARIANT: The queue owns it from here on.
        // SAFETY: By the type invariant; the packet is on no other list.
        unsafe { bindings::skb_queue_tail(self.as_ptr(), skb.into_raw()) };
    }

    /// Lets `skb` wait before all others.
    #[inline]
    pub fn push_front(&self, skb: SkBuff) {
        // INVARIANT: The queue owns it from here on.
        // SAFETY: By the type invariant; the packet is on no other list.
        unsafe { bindings::skb_queue_head(self.as_ptr(), skb.into_raw()) };
    }

    /// Takes the first packet.
    #[inline]
    pub fn pop(&self) -> Option<SkBuff> {
        // SAFETY: By the type invariant.
        let skb = unsafe { bindings::skb_dequeue(self.as_ptr()) };
        // SAFETY: Taken off the queue, it is ours.
        (!skb.is_null()).then(|| unsafe { SkBuff::from_raw(skb) })
    }

    /// The first packet, left where it is.
    ///
    /// # Safety
    ///
    /// Nobody else may take packets from the queue while the pointer is used.
    #[inline]
    pub(crate) unsafe fn first(&self) -> *mut bindings::sk_buff {
        // SAFETY: By the type invariant; the caller's promise.
        unsafe { bindings::skb_peek(self.as_ptr()) }
    }
}

#[pinned_drop]
impl PinnedDrop for Queue {
    fn drop(self: Pin<&mut Self>) {
        while let Some(skb) = self.pop() {
            drop(skb);
        }
    }
}

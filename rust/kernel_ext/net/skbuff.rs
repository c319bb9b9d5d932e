// SPDX-License-Identifier: GPL-2.0

//! Packets.
//!
//! [`SkBuff`] owns one packet. What consumes a packet takes the `SkBuff`; what is dropped is freed.
//!
//! C header: [`include/linux/skbuff.h`](srctree/include/linux/skbuff.h)

mod aggregate;
mod checksum;
mod flow;
mod gso;
mod landing;
mod list;
mod make;
mod merged;
mod page;
mod queue;
mod reason;
mod records;
mod segments;
#[cfg(CONFIG_KUNIT = "y")]
mod tests;
mod writable;

pub use aggregate::{
    Added,
    Aggregate,
    RecordRoom, //
};
pub use flow::UdpFlow;
pub use gso::Gso;
pub use landing::{
    Landed,
    Landing, //
};
pub use list::SkBuffList;
pub use merged::Merged;
pub use page::PageMemory;
pub use queue::Queue;
pub use reason::Reason;
pub use records::{
    Record,
    Records, //
};
pub(crate) use writable::Writable;

use core::{
    mem::ManuallyDrop,
    ptr::{
        self,
        NonNull, //
    },
    slice, //
};
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// Bytes that a packet needs free in front to be sent in UDP over IP without being copied.
pub const UDP_HEADROOM: usize = bindings::OVPN_LL_RESERVE as usize;

/// An owned `struct sk_buff`. Dropping it frees the packet without a reason; say one with
/// [`SkBuff::drop_for`], or that it was used up with [`SkBuff::consume`].
///
/// # Invariants
///
/// Points to a valid packet that is on no list and that this owns a reference to.
pub struct SkBuff(NonNull<bindings::sk_buff>);

// SAFETY: A packet is not bound to a CPU.
unsafe impl Send for SkBuff {}

impl SkBuff {
    /// Takes a packet over.
    ///
    /// # Safety
    ///
    /// `skb` must be valid and on no list, and a reference to it passes to the result.
    #[inline]
    pub(crate) unsafe fn from_raw(skb: *mut bindings::sk_buff) -> Self {
        // INVARIANT: The caller's promise.
        // SAFETY: A valid packet is not null.
        Self(unsafe { NonNull::new_unchecked(skb) })
    }

    /// Hands the packet over to C.
    #[inline]
    pub(crate) fn into_raw(self) -> *mut bindings::sk_buff {
        ManuallyDrop::new(self).0.as_ptr()
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::sk_buff {
        self.0.as_ptr()
    }

    #[inline]
    fn raw(&self) -> &bindings::sk_buff {
        // SAFETY: By the type invariant.
        unsafe { self.0.as_ref() }
    }

    /// Bytes in the packet.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.raw().len as usize
    }

    /// Bytes of it that are in the linear buffer.
    #[inline]
    pub fn head_len(&self) -> usize {
        self.raw().len.wrapping_sub(self.raw().data_len) as usize
    }

    /// The part of the packet that is in the linear buffer.
    #[inline]
    pub fn head(&self) -> &[u8] {
        // SAFETY: `head_len` bytes from `data` on are the linear part. It may be shared with
        // clones, which nobody writes to.
        unsafe { slice::from_raw_parts(self.raw().data, self.head_len()) }
    }

    /// The first `N` bytes, if the linear buffer has them.
    #[inline]
    pub fn first<const N: usize>(&self) -> Option<[u8; N]> {
        self.head().first_chunk().copied()
    }

    /// Makes the first `len` bytes linear. Whether the packet has that many and memory sufficed.
    #[inline]
    pub fn make_linear(&mut self, len: usize) -> bool {
        let Some(missing) = len.checked_sub(self.head_len()) else {
            return true;
        };
        if missing == 0 {
            return true;
        }
        if len > self.len() {
            return false;
        }
        // SAFETY: `missing` bytes are in the packet behind the linear part. CAST: at most `len`.
        !unsafe { bindings::__pskb_pull_tail(self.as_ptr(), missing as i32) }.is_null()
    }

    /// Removes the first `len` bytes. Whether the linear buffer had that many.
    #[inline]
    #[must_use]
    pub fn pull(&mut self, len: usize) -> bool {
        if len > self.head_len() {
            return false;
        }
        // SAFETY: By the type invariant; the bytes are in the linear part. CAST: at most `len`.
        unsafe {
            let skb = self.0.as_mut();
            skb.len = skb.len.wrapping_sub(len as u32);
            skb.data = skb.data.add(len);
        }
        true
    }

    /// How many packets it stands for.
    #[inline]
    pub fn packets(&self) -> usize {
        usize::from(self.shared_info().gso_segs).max(1)
    }

    /// Makes room for `headroom` bytes in front that may be written to.
    #[inline]
    pub fn cow_head(&mut self, headroom: usize) -> Result {
        let headroom = u32::try_from(headroom).map_err(|_| EMSGSIZE)?;
        // SAFETY: By the type invariant.
        to_result(unsafe { bindings::skb_cow_head(self.as_ptr(), headroom) })
    }

    /// Adds `len` bytes in front, which the caller fills, if there is room and the buffer is ours
    /// alone (see [`Self::cow_head`]).
    #[inline]
    pub fn push(&mut self, len: usize) -> Option<&mut [u8]> {
        let skb = self.raw();
        // CAST: Both point into one buffer, `head` being its start.
        if (skb.data as usize).wrapping_sub(skb.head as usize) < len {
            return None;
        }
        // SAFETY: There is room. CAST: at most the size of the buffer.
        let data = unsafe { bindings::skb_push(self.as_ptr(), len as u32) };
        // SAFETY: These bytes are in the linear part, and borrowed with `self`.
        Some(unsafe { slice::from_raw_parts_mut(data.cast(), len) })
    }

    /// A packet whose `sk_buff` nobody else holds, in place of this one. `None` without memory.
    #[inline]
    pub fn unshare(self) -> Option<Self> {
        // SAFETY: Consumes the packet, gives back another or the same one.
        let skb = unsafe { bindings::skb_share_check(self.into_raw()) };
        // SAFETY: If there is one it is ours.
        (!skb.is_null()).then(|| unsafe { Self::from_raw(skb) })
    }

    /// Whether it stands for many packets (GSO).
    #[inline]
    pub fn is_gso(&self) -> bool {
        self.shared_info().gso_size != 0
    }

    #[inline]
    pub(crate) fn shared_info(&self) -> &bindings::skb_shared_info {
        let skb = self.raw();
        // SAFETY: The shared info is at the end of the linear buffer.
        unsafe { &*skb.head.add(skb.end as usize).cast() }
    }

    #[inline]
    fn headers(&self) -> bindings::ovpn_skb_headers {
        let mut headers = pin_init::zeroed();
        // SAFETY: By the type invariant; writes `headers` only.
        unsafe { bindings::skb_headers(self.as_ptr(), &mut headers) };
        headers
    }

    /// The ethertype of the network header, host byte order.
    #[inline]
    pub fn protocol(&self) -> u16 {
        u16::from_be(self.headers().protocol)
    }

    /// Copies bytes from `from` on to all of `to`. Whether the packet has that many.
    #[inline]
    pub fn copy_to(&self, from: usize, to: &mut [u8]) -> bool {
        let (Ok(from), Ok(len)) = (i32::try_from(from), i32::try_from(to.len())) else {
            return false;
        };
        // SAFETY: By the type invariant; `to` may be written to, and lengths are checked.
        unsafe { bindings::skb_copy_bits(self.as_ptr(), from, to.as_mut_ptr().cast(), len) == 0 }
    }

    /// The packet, which begins here, is about to be put into another one. Statistics of the tunnel
    /// device count from here.
    #[inline]
    pub fn becomes_inner(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::skb_becomes_inner(self.as_ptr()) };
    }

    /// Forgets what netfilter knows of the connection the packet belongs to.
    #[inline]
    pub fn forget_connection(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::skb_forget_ct(self.as_ptr()) };
    }

    /// Forgets the route that brought the packet here.
    #[inline]
    pub fn forget_route(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::skb_dst_drop(self.as_ptr()) };
    }

    /// Frees the packet: it was used up, nothing was lost.
    #[inline]
    pub fn consume(self) {
        // SAFETY: Ours to free.
        unsafe { bindings::consume_skb(self.into_raw()) };
    }

    /// Frees the packet: it is lost for `reason`.
    pub fn drop_for(self, reason: Reason) {
        // SAFETY: Ours to free.
        unsafe { bindings::sk_skb_reason_drop(ptr::null(), self.into_raw(), reason.as_raw()) };
    }
}

impl Drop for SkBuff {
    fn drop(&mut self) {
        // SAFETY: Ours to free.
        unsafe {
            bindings::sk_skb_reason_drop(ptr::null(), self.as_ptr(), Reason::NotSpecified.as_raw())
        };
    }
}

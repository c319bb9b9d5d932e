// SPDX-License-Identifier: GPL-2.0

//! Packets that may be written to.

use super::SkBuff;
use core::{
    ptr,
    slice, //
};
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// A packet, all of which may be written to.
pub(crate) enum Writable<'a> {
    /// In the linear buffer alone.
    Whole(&'a mut [u8]),
    /// In so many pieces, each of which is ours.
    Pieces(usize),
}

impl SkBuff {
    /// Makes the whole packet writable.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    #[inline]
    pub(crate) fn make_writable(&mut self) -> Result<Writable<'_>> {
        if self.is_whole() {
            // SAFETY: Just checked.
            return Ok(Writable::Whole(unsafe { self.whole() }));
        }
        // Reassembled packets may be in more pieces than a scatterlist has.
        // SAFETY: By the type invariant.
        if unsafe { bindings::skb_has_frag_list(self.as_ptr()) } && !self.make_linear(self.len()) {
            return Err(ENOMEM);
        }
        let mut trailer = ptr::null_mut();
        // SAFETY: By the type invariant; the caller has unshared the packet.
        let pieces = unsafe { bindings::skb_cow_data(self.as_ptr(), 0, &mut trailer) };
        usize::try_from(pieces)
            .map(Writable::Pieces)
            .map_err(|_| ENOMEM)
    }

    /// Whether all of it is in the linear buffer, which no clone shares.
    #[inline]
    pub(super) fn is_whole(&self) -> bool {
        // SAFETY: By the type invariant.
        self.head_len() == self.len() && !unsafe { bindings::skb_cloned(self.as_ptr()) }
    }

    /// The bytes of a packet that is in one piece.
    ///
    /// # Safety
    ///
    /// It must be, see [`Self::is_whole`].
    #[inline]
    pub(super) unsafe fn whole(&mut self) -> &mut [u8] {
        // SAFETY: `len` bytes from `data` on are the linear buffer's, which is ours alone: the
        // caller's promise.
        unsafe { slice::from_raw_parts_mut(self.raw().data, self.len()) }
    }
}

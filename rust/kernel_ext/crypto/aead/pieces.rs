// SPDX-License-Identifier: GPL-2.0

//! Where a record is in memory: scatterlists in the order of the crypto API, which is associated
//! data, text, tag.

use super::Layout;
use crate::net::skbuff::{
    RecordRoom,
    SkBuff, //
};
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// Most pieces that a packet may be in, the linear buffer included.
const MAX_PIECES: usize = bindings::OVPN_MAX_SKB_FRAGS as usize;

/// A scatterlist for any packet: associated data, the pieces of the packet, the tag.
pub(super) struct Pieces([bindings::scatterlist; MAX_PIECES + 2]);

// CAST (in this file): A packet's length.
impl Pieces {
    #[inline]
    pub(super) fn as_mut_ptr(&mut self) -> *mut bindings::scatterlist {
        self.0.as_mut_ptr()
    }

    /// Starts a list of `len` entries, at most as many as there are.
    #[inline]
    fn start(&mut self, len: usize) -> *mut bindings::scatterlist {
        let list = self.as_mut_ptr();
        // SAFETY: There are that many entries.
        unsafe { bindings::sg_init_table(list, len.min(self.0.len()) as u32) };
        list
    }

    /// Makes `skb` writable and lists it: one list for a record that is changed in place. The first
    /// `layout.text_at()` bytes are linear, the caller has seen to that.
    #[inline]
    pub(super) fn map_packet(&mut self, skb: &mut SkBuff, layout: Layout) -> Result {
        let pieces = skb.make_writable()?;
        if pieces > MAX_PIECES {
            return Err(EMSGSIZE);
        }
        let list = self.start(pieces.wrapping_add(2));
        let text = skb.len().wrapping_sub(layout.text_at());
        // SAFETY: There are two more entries than pieces. The bytes are in the packet.
        unsafe {
            let data = (*skb.as_ptr()).data;
            bindings::sg_set_buf(list, data.cast(), layout.aad as u32);
            let used = map_range(list.add(1), skb, layout.text_at(), text)?;
            let tag = list.add(used.wrapping_add(1));
            bindings::sg_set_buf(tag, data.add(layout.aad).cast(), layout.tag as u32);
        }
        Ok(())
    }

    /// Lists a record that is in one piece, to be changed in place.
    #[inline]
    pub(super) fn map_record(&mut self, record: &mut RecordRoom<'_>, layout: Layout) {
        let list = self.start(3);
        let text = record.len().wrapping_sub(layout.text_at());
        // SAFETY: There are three entries, and the bytes are in the record.
        unsafe {
            let data = record.as_mut_ptr();
            bindings::sg_set_buf(list, data.cast(), layout.aad as u32);
            bindings::sg_set_buf(list.add(1), data.add(layout.text_at()).cast(), text as u32);
            bindings::sg_set_buf(list.add(2), data.add(layout.aad).cast(), layout.tag as u32);
        }
    }
}

/// Lists `len` bytes of `skb` from `from` on. How many entries that took.
///
/// # Safety
///
/// The bytes must be in the packet, and `list` have an entry for each of its pieces.
#[inline]
unsafe fn map_range(
    list: *mut bindings::scatterlist,
    skb: &SkBuff,
    from: usize,
    len: usize,
) -> Result<usize> {
    if len == 0 {
        return Ok(0);
    }
    // SAFETY: The caller's promise.
    let used =
        unsafe { bindings::skb_to_sgvec_nomark(skb.as_ptr(), list, from as i32, len as i32) };
    usize::try_from(used).map_err(|_| EMSGSIZE)
}

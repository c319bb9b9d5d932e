// SPDX-License-Identifier: GPL-2.0

//! Where a record is in memory: scatterlists in the order of the crypto API, which is associated
//! data, text, tag.

use super::Layout;
use crate::net::skbuff::{
    Record,
    RecordRoom,
    SkBuff,
    Writable, //
};
use core::ptr;
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// Most pieces that a packet may be in, the linear buffer included.
const MAX_PIECES: usize = bindings::OVPN_MAX_SKB_FRAGS as usize;

/// Where the text of a record is written to: behind room for associated data, one piece.
///
/// # Invariants
///
/// As [`Pieces`].
pub(super) struct Target([bindings::scatterlist; 2]);

impl Target {
    /// Lists `room`, behind the associated data, which is at `aad` and is not written.
    #[inline]
    pub(super) fn map(
        &mut self,
        room: &mut RecordRoom<'_>,
        aad: *const u8,
        layout: Layout,
    ) -> *mut bindings::scatterlist {
        let list = self.0.as_mut_ptr();
        let parts = bindings::ovpn_sg_record {
            aad: aad.cast(),
            text: room.as_mut_ptr().cast(),
            tag: ptr::null(),
            aad_len: layout.aad as u32,
            text_len: room.len() as u32,
            tag_len: 0,
        };
        // SAFETY: There are two entries, by the type invariant of a list; the bytes are in the room.
        unsafe { bindings::sg_record(list, &parts) };
        list
    }
}

/// A scatterlist for any packet: associated data, the pieces of the packet, the tag.
///
/// # Invariants
///
/// All zeros, or a list of some entries without a chain.
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
        let pieces = match skb.make_writable()? {
            Writable::Whole(record) => {
                self.list_in_place((record.as_mut_ptr(), record.len()), layout);
                return Ok(());
            }
            Writable::Pieces(pieces) if pieces > MAX_PIECES => return Err(EMSGSIZE),
            Writable::Pieces(pieces) => pieces,
        };
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

    /// Lists a received record, to be read only, behind the associated data, which is at `aad`.
    #[inline]
    pub(super) fn map_received(
        &mut self,
        record: &Record<'_>,
        aad: *const u8,
        layout: Layout,
    ) -> Result {
        let text = record.len().wrapping_sub(layout.text_at());
        let behind_aad = record.len().wrapping_sub(layout.aad);
        if let Some(bytes) = record.bytes(layout.aad, behind_aad) {
            let (tag, text) = bytes.split_at_checked(layout.tag).ok_or(EMSGSIZE)?;
            self.list(aad, text.as_ptr(), text.len(), tag.as_ptr(), layout);
            return Ok(());
        }
        let entries = self.0.len();
        let list = self.start(entries);
        // SAFETY: The list ends with its last entry, behind which nothing is listed.
        unsafe {
            bindings::sg_set_buf(list, aad.cast(), layout.aad as u32);
            let texts = record.map(list.add(1), layout.text_at(), text);
            let texts = usize::try_from(texts).map_err(|_| EMSGSIZE)?;
            let used = texts.wrapping_add(1);
            if used >= entries {
                return Err(EMSGSIZE);
            }
            if record.map(list.add(used), layout.aad, layout.tag) < 0 {
                return Err(EMSGSIZE);
            }
        }
        Ok(())
    }

    /// Lists a record that is in one piece, to be changed in place.
    #[inline]
    pub(super) fn map_record(&mut self, record: &mut RecordRoom<'_>, layout: Layout) {
        self.list_in_place((record.as_mut_ptr(), record.len()), layout);
    }

    /// Lists a record of so many bytes from there on, as long as its associated data and its tag at
    /// least.
    #[inline]
    fn list_in_place(&mut self, (record, len): (*mut u8, usize), layout: Layout) {
        // SAFETY: There are three entries, by the type invariant of a list.
        unsafe {
            bindings::sg_in_place(
                self.as_mut_ptr(),
                record.cast(),
                len as u32,
                layout.aad as u32,
                layout.tag as u32,
            );
        }
    }

    /// Lists a record whose parts are in one piece each.
    #[inline]
    fn list(
        &mut self,
        aad: *const u8,
        text: *const u8,
        text_len: usize,
        tag: *const u8,
        layout: Layout,
    ) {
        let parts = bindings::ovpn_sg_record {
            aad: aad.cast(),
            text: text.cast(),
            tag: tag.cast(),
            aad_len: layout.aad as u32,
            text_len: text_len as u32,
            tag_len: layout.tag as u32,
        };
        // SAFETY: There are three entries, by the type invariant of a list.
        unsafe { bindings::sg_record(self.as_mut_ptr(), &parts) };
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

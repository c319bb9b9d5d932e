// SPDX-License-Identifier: GPL-2.0

//! Many records in one UDP GSO packet.

use super::{
    page::{
        Page,
        SENDING, //
    },
    SkBuff, //
};
use crate::{
    bh::BhDisabled,
    percpu::Borrowed, //
};
use core::{
    marker::PhantomData,
    ptr::NonNull, //
};
use kernel::{
    page::PAGE_SIZE,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// A packet that records are written into, one behind the other, each in one piece. Its payload is
/// in pages; in front of it is room for headers only.
pub struct Aggregate<'a> {
    skb: SkBuff,
    /// Bytes that are free in the linear buffer.
    linear: usize,
    page: Borrowed<'a, Page>,
    first_len: usize,
    records: u16,
}

/// Whether a record was added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// Yes.
    Yes,
    /// No, and it was not written: the packet can take no more pages.
    Full,
}

/// Room for one record, all of it writable and in the kernel's direct map.
///
/// # Invariants
///
/// `len` bytes from `data` on are in the buffer or a page of a packet, and nobody else uses them for `'a`.
pub struct RecordRoom<'a> {
    pub(super) data: NonNull<u8>,
    pub(super) len: usize,
    pub(super) _page: PhantomData<&'a mut [u8]>,
}

impl RecordRoom<'_> {
    /// Bytes of the record.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The record. What is in it at first is garbage, of packets that were encrypted before.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: By the type invariant.
        unsafe { core::slice::from_raw_parts_mut(self.data.as_ptr(), self.len) }
    }

    #[inline]
    pub(crate) fn as_mut_ptr(&mut self) -> *mut u8 {
        self.data.as_ptr()
    }
}

impl<'a> Aggregate<'a> {
    /// An empty packet with `headroom` bytes for headers, of the same flow as `like`. The first
    /// `linear` bytes of records go into the linear buffer, which suits a packet of one record: who
    /// receives it need not make it linear.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    #[inline]
    pub fn new(headroom: usize, linear: usize, like: &SkBuff, bh: &'a BhDisabled) -> Result<Self> {
        let skb = SkBuff::with_room(headroom, linear)?;
        // SAFETY: Both are valid.
        unsafe { bindings::skb_inherit(skb.as_ptr(), like.as_ptr()) };
        Ok(Self {
            skb,
            linear,
            page: SENDING.borrow(bh)?,
            first_len: 0,
            records: 0,
        })
    }

    /// How many records are in it.
    #[inline]
    pub fn records(&self) -> usize {
        usize::from(self.records)
    }

    /// Adds a record of `len` bytes, at most a page, which `write` writes. If that fails the record
    /// is not added.
    ///
    /// # Errors
    ///
    /// `ENOMEM` without memory, or what `write` fails with.
    #[inline]
    pub fn add<E: From<Error>>(
        &mut self,
        len: usize,
        write: impl FnOnce(&mut RecordRoom<'_>) -> Result<(), E>,
    ) -> Result<Added, E> {
        // CAST (in this function): At most a page.
        if len == 0 || len > PAGE_SIZE {
            return Err(EMSGSIZE.into());
        }
        match self.linear.checked_sub(len) {
            Some(left) if self.skb.head_len() == self.skb.len() => {
                // SAFETY: There are that many bytes of tail room.
                let data = unsafe { bindings::skb_put(self.skb.as_ptr(), len as u32) };
                self.linear = left;
                self.write(data.cast(), len, write)?;
            }
            _ => {
                // SAFETY: By the type invariant of `Page`.
                let data = unsafe { bindings::page_frag_room(&mut self.page.0, len as u32) };
                // SAFETY: The packet is ours alone, and the page was just looked at.
                if !data.is_null() && !unsafe { self.has_room() } {
                    return Ok(Added::Full);
                }
                self.write(data.cast(), len, write)?;
                let skb = self.skb.as_ptr();
                // SAFETY: As above, and there is room.
                unsafe { bindings::skb_append_frag(skb, &mut self.page.0, len as u32) };
            }
        }
        if self.records == 0 {
            self.first_len = len;
        }
        self.records = self.records.saturating_add(1);
        Ok(Added::Yes)
    }

    /// # Safety
    ///
    /// The page must have room.
    #[inline]
    unsafe fn has_room(&self) -> bool {
        // SAFETY: The packet is ours alone; the caller's promise.
        unsafe { bindings::skb_has_room(self.skb.as_ptr(), &self.page.0) }
    }

    /// Lets `write` write a record to `len` bytes at `data`, which are ours alone.
    #[inline]
    fn write<E: From<Error>>(
        &mut self,
        data: *mut u8,
        len: usize,
        write: impl FnOnce(&mut RecordRoom<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        // INVARIANT: The callers have just got this room, and `self` is borrowed.
        let mut room = RecordRoom {
            data: NonNull::new(data).ok_or(ENOMEM)?,
            len,
            _page: PhantomData,
        };
        write(&mut room)
    }

    /// The packet, ready to be sent: a UDP GSO one if it has more than one record. Statistics of the
    /// tunnel device will not count `headers` bytes of it.
    #[inline]
    pub fn finish(self, headers: usize) -> SkBuff {
        let skb = self.skb.as_ptr();
        let counted = self.skb.len().saturating_sub(headers);
        // SAFETY: The packet is ours alone. CAST: A record is at most a page, the packet 64 kB.
        unsafe {
            bindings::skb_count_as(skb, counted as u32);
            if self.records > 1 {
                bindings::skb_make_udp_gso(skb, self.first_len as u16, self.records);
            }
        }
        self.skb
    }
}

impl SkBuff {
    /// Charges `self` to the socket that `from` is charged to, besides.
    ///
    /// So the socket sees one charge from when it has sent `from` until all that was made of it has
    /// left (TCP small queues). The last one that is made takes over, see [`SkBuff::take_owner`].
    #[inline]
    pub fn share_owner(&mut self, from: &SkBuff) {
        // SAFETY: Both are valid, and `self` has no owner.
        unsafe { bindings::skb_share_owner(self.as_ptr(), from.as_ptr()) };
    }

    /// Charges `self` to the socket that `from` is charged to, in its place, without telling the
    /// socket. Requests for a time stamp move, too.
    #[inline]
    pub fn take_owner(&mut self, from: &mut SkBuff) {
        // SAFETY: Both are valid, and `self` has no owner.
        unsafe { bindings::skb_take_owner(self.as_ptr(), from.as_ptr()) };
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Where decrypted packets land: one behind the other, in pages.
//!
//! The payload of packets that will be one packet has to be in one piece, so that it can be a few
//! fragments. But what is decrypted is headers and payload, and the headers come before the payload
//! is known to be wanted. So the headers of a packet are written over the end of the payload
//! before it, which is put back afterwards, and nothing has to be moved.

use super::{
    page::{
        Page,
        RECEIVING, //
    },
    RecordRoom,
    SkBuff, //
};
use crate::{
    bh::BhDisabled,
    percpu::Borrowed, //
};
use core::{
    marker::PhantomData,
    mem::MaybeUninit,
    ptr::{
        self,
        NonNull, //
    },
    slice, //
};
use kernel::{
    page::PAGE_SIZE,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// Most bytes of a packet that can be kept apart from the rest.
const MAX_LEAD: usize = 128;

/// Bytes free in front of a new packet, for the headers of a device that it may be forwarded to.
const HEADROOM: usize = 80;

/// The pages of this CPU, and the packet that is being put together.
///
/// # Invariants
///
/// As long as the page and its offset are those of `end`, the last `ours` bytes in front of the
/// offset belong to `packet` alone, or to nobody.
pub struct Landing<'a> {
    page: Borrowed<'a, Page>,
    packet: Option<SkBuff>,
    ours: usize,
    end: (*mut bindings::page, u32),
    /// What is kept apart of the packet that has landed last.
    lead: [u8; MAX_LEAD],
}

// CAST (in this file): At most a page.
impl<'a> Landing<'a> {
    /// Borrows this CPU's.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    #[inline]
    pub fn new(bh: &'a BhDisabled) -> Result<Self> {
        // INVARIANT: Nothing is ours.
        Ok(Self {
            page: RECEIVING.borrow(bh)?,
            packet: None,
            ours: 0,
            end: (ptr::null_mut(), 0),
            lead: [0; MAX_LEAD],
        })
    }

    /// Hands the packet on that was put together.
    #[inline]
    pub fn release(&mut self) -> Option<SkBuff> {
        // INVARIANT: Nothing is ours any more.
        self.ours = 0;
        self.packet.take()
    }

    /// Lets `write` write a packet of `len` bytes, at most a page. If the packet that is being put
    /// together ends in front of it, its first `lead` bytes are kept apart; else
    /// [`Landed::part`] can do that.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EMSGSIZE`, or what `write` fails with.
    #[inline]
    pub fn land<'l, E: From<Error>>(
        &'l mut self,
        lead: usize,
        len: usize,
        write: impl FnOnce(&mut RecordRoom<'_>) -> Result<(), E>,
    ) -> Result<Landed<'l, 'a>, E> {
        let data = self.room(len)?;
        let lead = match lead {
            lead if lead <= self.ours && lead < len && lead <= MAX_LEAD => lead,
            _ => 0,
        };
        let mut kept = [const { MaybeUninit::<u8>::uninit() }; MAX_LEAD];
        // SAFETY: The `lead` bytes in front of the room are ours, and fit into both arrays.
        unsafe {
            let start = data.sub(lead);
            ptr::copy_nonoverlapping(start.as_ptr(), kept.as_mut_ptr().cast(), lead);
            // INVARIANT: Ours, or free.
            let written = write(&mut RecordRoom {
                data: start,
                len,
                _page: PhantomData,
            });
            ptr::copy_nonoverlapping(start.as_ptr(), self.lead.as_mut_ptr(), lead);
            ptr::copy_nonoverlapping(kept.as_ptr().cast(), start.as_ptr(), lead);
            written?;
        }
        // INVARIANT: The room is behind the offset, and as long as the packet.
        Ok(Landed {
            landing: self,
            lead_len: lead,
            data,
            len: len.wrapping_sub(lead),
            skip: 0,
        })
    }

    /// Room for `len` bytes behind the page's offset.
    #[inline]
    fn room(&mut self, len: usize) -> Result<NonNull<u8>> {
        if len == 0 || len > PAGE_SIZE {
            return Err(EMSGSIZE);
        }
        // SAFETY: By the type invariant of `Page`.
        let data = unsafe { bindings::page_frag_room(&mut self.page.0, len as u32) };
        let data = NonNull::new(data.cast()).ok_or(ENOMEM)?;
        if self.end != (self.page.0.page, self.page.0.offset) {
            self.ours = 0;
        }
        Ok(data)
    }
}

/// A packet that has landed. It is forgotten if nothing is made of it.
///
/// # Invariants
///
/// `len` bytes from `data` on are in the page, `skip` bytes behind its offset.
pub struct Landed<'l, 'a> {
    landing: &'l mut Landing<'a>,
    lead_len: usize,
    data: NonNull<u8>,
    len: usize,
    skip: usize,
}

impl Landed<'_, '_> {
    /// Its beginning, in one piece: what is kept apart or, if that is nothing, all of it.
    #[inline]
    pub fn head(&self) -> &[u8] {
        match self.lead_len {
            0 => self.rest(),
            _ => self.lead(),
        }
    }

    /// What is kept apart.
    #[inline]
    fn lead(&self) -> &[u8] {
        self.landing.lead.get(..self.lead_len).unwrap_or_default()
    }

    /// How many bytes are kept apart.
    #[inline]
    pub fn lead_len(&self) -> usize {
        self.lead_len
    }

    /// What follows what is kept apart.
    #[inline]
    pub fn rest(&self) -> &[u8] {
        // SAFETY: By the type invariant.
        unsafe { slice::from_raw_parts(self.data.as_ptr(), self.len) }
    }

    /// Keeps its first `len` bytes apart, if nothing is yet. At most [`MAX_LEAD`].
    #[inline]
    pub fn part(&mut self, len: usize) {
        let len = len.min(self.len).min(MAX_LEAD);
        if self.lead_len != 0 {
            return;
        }
        // SAFETY: There are that many bytes, and the array has room for them.
        unsafe {
            ptr::copy_nonoverlapping(self.data.as_ptr(), self.landing.lead.as_mut_ptr(), len);
            self.data = self.data.add(len);
        }
        // INVARIANT: As many bytes further on.
        self.lead_len = len;
        self.skip = len;
        self.len = self.len.wrapping_sub(len);
    }

    /// Hands the packet on that was put together so far.
    #[inline]
    pub fn release(&mut self) -> Option<SkBuff> {
        self.landing.release()
    }

    /// Begins a new packet with it: what is kept apart is the linear part. There must be none that
    /// was not released, else that is lost.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    #[inline]
    pub fn begin(mut self) -> Result {
        let mut skb = SkBuff::with_data(HEADROOM, self.lead())?;
        self.append_to(&mut skb)?;
        self.landing.packet = Some(skb);
        Ok(())
    }

    /// Appends it to the packet that is being put together, without what is kept apart.
    ///
    /// # Errors
    ///
    /// Gives it back if there is none, or that can take no more pages.
    #[inline]
    pub fn append(mut self) -> Result<(), Self> {
        let Some(mut skb) = self.landing.packet.take() else {
            return Err(self);
        };
        let appended = self.append_to(&mut skb);
        self.landing.packet = Some(skb);
        appended.map_err(|_| self)
    }

    #[inline]
    fn append_to(&mut self, skb: &mut SkBuff) -> Result {
        if self.len == 0 {
            return Ok(());
        }
        let page = &mut self.landing.page.0;
        let offset = page.offset;
        page.offset = offset.wrapping_add(self.skip as u32);
        // SAFETY: The packet is ours alone; the bytes are at the page's offset.
        unsafe {
            if !bindings::skb_has_room(skb.as_ptr(), page) {
                page.offset = offset;
                return Err(EMSGSIZE);
            }
            bindings::skb_append_frag(skb.as_ptr(), page, self.len as u32);
        }
        // INVARIANT: What was skipped is nobody's.
        self.landing.end = (page.page, page.offset);
        let added = self.skip.wrapping_add(self.len);
        self.landing.ours = self.landing.ours.wrapping_add(added);
        Ok(())
    }
}

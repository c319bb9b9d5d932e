// SPDX-License-Identifier: GPL-2.0

//! Datagrams that were received as one list.
//!
//! They are read where they are, and nothing of them is written: taps may look at the same list, and
//! its members' headers are not those of the first.

use super::{
    SkBuff,
    UdpFlow, //
};
use crate::net::gro::MAX_RECORDS;
use core::{
    marker::PhantomData,
    ptr, //
};
use ovpn_bindings as bindings;

const UDP_HEADER_LEN: usize = core::mem::size_of::<bindings::udphdr>();

/// A list of datagrams of one flow.
///
/// # Invariants
///
/// The packet begins with a UDP header, which `first_len` bytes follow that are its own. Behind them
/// it has a list of packets, each the payload of one datagram. There are `count` of them in all, at
/// most [`MAX_RECORDS`].
pub struct Records {
    skb: SkBuff,
    first_len: usize,
    count: usize,
}

impl Records {
    /// The datagrams in `skb`, which begins with the UDP header of the first. Gives it back if it is
    /// no list of that kind, or was one and has been changed since GRO made it.
    #[inline]
    pub(crate) fn of(skb: SkBuff) -> Result<Self, SkBuff> {
        let shared = skb.shared_info();
        // CAST: Flags.
        let kind = shared.gso_type as i32;
        let is_list = kind & bindings::SKB_GSO_FRAGLIST != 0
            && kind & bindings::SKB_GSO_DODGY == 0
            && !shared.frag_list.is_null();
        let size = usize::from(shared.gso_size);
        // SAFETY: By the type invariant.
        let own_len = unsafe { bindings::skb_pagelen(skb.as_ptr()) } as usize;
        let first_len = own_len.wrapping_sub(UDP_HEADER_LEN);
        if !is_list || own_len < UDP_HEADER_LEN || first_len != size {
            return Err(skb);
        }
        // INVARIANT: GRO makes such lists only, and the number is checked.
        let mut records = Self {
            skb,
            first_len,
            count: 0,
        };
        records.count = records.iter().take(MAX_RECORDS.wrapping_add(1)).count();
        match records.count {
            ..=MAX_RECORDS => Ok(records),
            _ => Err(records.skb),
        }
    }

    /// How many they are, at least one.
    #[inline]
    pub fn count(&self) -> usize {
        self.count
    }

    /// From where to where they went.
    #[inline]
    pub fn udp_flow(&self) -> Option<UdpFlow> {
        self.skb.udp_flow()
    }

    /// Bytes of all of them.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.skb.len().wrapping_sub(UDP_HEADER_LEN)
    }

    /// One after the other.
    #[inline]
    pub fn iter(&self) -> Iter<'_> {
        Iter {
            // INVARIANT: By the type invariant.
            next: Some(Record {
                skb: self.skb.as_ptr(),
                at: UDP_HEADER_LEN,
                len: self.first_len,
                _records: PhantomData,
            }),
            list: self.skb.shared_info().frag_list,
        }
    }

    /// Frees all of them: they were used up.
    #[inline]
    pub fn consume(self) {
        self.skb.consume();
    }
}

/// The payload of one of many datagrams.
///
/// # Invariants
///
/// `skb` is valid for `'a`, and has `len` bytes of its own from `at` on.
#[derive(Clone, Copy)]
pub struct Record<'a> {
    skb: *mut bindings::sk_buff,
    at: usize,
    len: usize,
    _records: PhantomData<&'a Records>,
}

// CAST (in this file): Lengths of packets.
impl<'a> Record<'a> {
    /// Bytes of it.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// The first `N` bytes, if there are that many.
    #[inline]
    pub fn first<const N: usize>(&self) -> Option<[u8; N]> {
        if N > self.len {
            return None;
        }
        if let Some(bytes) = self.bytes(0, N) {
            return bytes.first_chunk().copied();
        }
        let mut first = [0; N];
        let to = first.as_mut_ptr().cast();
        // SAFETY: The bytes are in the packet, and as many may be written.
        let copied = unsafe { bindings::skb_copy_bits(self.skb, self.at as i32, to, N as i32) };
        (copied == 0).then_some(first)
    }

    /// `len` bytes from `from` on, if they are there and in one piece.
    #[inline]
    pub(crate) fn bytes(&self, from: usize, len: usize) -> Option<&'a [u8]> {
        if from.checked_add(len)? > self.len {
            return None;
        }
        let at = self.at.wrapping_add(from) as u32;
        // SAFETY: By the type invariant.
        let bytes = unsafe { bindings::skb_bytes(self.skb, at, len as u32) };
        // SAFETY: They are in the packet, which nobody writes to.
        (!bytes.is_null()).then(|| unsafe { core::slice::from_raw_parts(bytes.cast(), len) })
    }

    /// Lists `len` bytes from `from` on, which it must have. How many entries that took, or an error
    /// number of the kernel.
    ///
    /// # Safety
    ///
    /// `list` must be a table of scatterlist entries that ends as it should.
    #[inline]
    pub(crate) unsafe fn map(
        &self,
        list: *mut bindings::scatterlist,
        from: usize,
        len: usize,
    ) -> i32 {
        let at = self.at.wrapping_add(from) as i32;
        // SAFETY: By the type invariant; the caller's promise.
        unsafe { bindings::skb_to_sgvec_nomark(self.skb, list, at, len as i32) }
    }
}

/// See [`Records::iter`].
///
/// # Invariants
///
/// `list` is null, or a list of packets that are valid for `'a`.
#[derive(Clone)]
pub struct Iter<'a> {
    next: Option<Record<'a>>,
    list: *mut bindings::sk_buff,
}

impl<'a> Iterator for Iter<'a> {
    type Item = Record<'a>;

    #[inline]
    fn next(&mut self) -> Option<Record<'a>> {
        let record = self.next.take()?;
        if !self.list.is_null() {
            // SAFETY: By the type invariant.
            unsafe {
                // INVARIANT: A packet of the list has all of its bytes.
                self.next = Some(Record {
                    skb: self.list,
                    at: 0,
                    len: (*self.list).len as usize,
                    _records: PhantomData,
                });
                self.list =
                    ptr::read(&raw const (*self.list).__bindgen_anon_1.__bindgen_anon_1.next);
            }
        }
        Some(record)
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Authenticated encryption of packets, synchronous.
//!
//! The layout of a record is that of protocols that put the tag in front: associated data, tag,
//! text. Records are sealed and opened in place.
//!
//! C header: [`include/crypto/aead.h`](srctree/include/crypto/aead.h)

mod memory;
mod pieces;
#[cfg(CONFIG_KUNIT = "y")]
mod tests;

pub use memory::CryptoMemory;

use crate::{
    bh::BhDisabled,
    net::skbuff::{
        Record,
        RecordRoom,
        SkBuff, //
    },
    percpu::Borrowed, //
};
use core::ptr::NonNull;
use kernel::{
    error::{
        from_err_ptr,
        to_result, //
    },
    prelude::*, //
};
use memory::Memory;
use ovpn_bindings as bindings;

/// Bytes of the nonce of all ciphers that are supported.
pub const NONCE_LEN: usize = 12;

/// A cipher with a key. Its crypto runs where it is called, softirqs included.
///
/// # Invariants
///
/// Valid, with a key, tags of a fixed length and nonces of [`NONCE_LEN`].
pub struct SyncAead(NonNull<bindings::crypto_sync_aead>);

// SAFETY: A transform with its key set is used read-only.
unsafe impl Send for SyncAead {}
// SAFETY: As above.
unsafe impl Sync for SyncAead {}

/// Where things are in a record: `aad` bytes of associated data, `tag` bytes of tag, then the text.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Bytes of associated data, at the start.
    pub aad: usize,
    /// Bytes of tag, behind them.
    pub tag: usize,
}

impl Layout {
    /// Where the text begins. Both lengths are a few bytes.
    #[inline]
    pub(crate) fn text_at(&self) -> usize {
        self.aad.wrapping_add(self.tag)
    }
}

/// What to do with a record.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Operation {
    Seal,
    Open,
}

impl SyncAead {
    /// A cipher by its name in the crypto API. Process context, may load modules.
    ///
    /// # Errors
    ///
    /// `ENOENT` if there is no synchronous implementation, `EINVAL` if the key has a length that
    /// the cipher does not know, `ENOMEM`.
    pub fn new(name: &CStr, key: &[u8], tag_len: usize) -> Result<Self> {
        // CAST: Both are a few bytes; the API rejects others.
        let (key_len, tag_len) = (key.len() as u32, tag_len as u32);
        // SAFETY: `name` is a NUL-terminated string.
        let aead = unsafe { bindings::crypto_alloc_sync_aead(name.as_char_ptr(), 0, 0) };
        let aead = from_err_ptr(aead)?;
        // INVARIANT: The rest is checked and set below, or else it is dropped.
        // SAFETY: Not an error, hence valid.
        let aead = Self(unsafe { NonNull::new_unchecked(aead) });
        // SAFETY: Valid; `key` may be read.
        unsafe {
            let base = &raw mut (*aead.0.as_ptr()).base;
            to_result(bindings::crypto_aead_setkey(base, key.as_ptr(), key_len))?;
            to_result(bindings::crypto_aead_setauthsize(base, tag_len))?;
            if bindings::sync_aead_ivsize(aead.0.as_ptr()) as usize != NONCE_LEN {
                return Err(EINVAL);
            }
        }
        Ok(aead)
    }

    /// Encrypts the text of `skb` in place and writes the tag. The associated data must be there,
    /// the tag's bytes be reserved. Makes the packet writable as needed.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EMSGSIZE` if the packet is in too many pieces or too short.
    #[inline]
    pub fn seal(
        &self,
        skb: &mut SkBuff,
        layout: Layout,
        nonce: [u8; NONCE_LEN],
        bh: &BhDisabled,
    ) -> Result {
        self.in_place(skb, layout, nonce, Operation::Seal, bh)
    }

    /// Checks the tag of `skb` and decrypts its text in place. Makes the packet writable as needed.
    ///
    /// # Errors
    ///
    /// `EBADMSG` if it is not authentic; then its text is garbage. Else as [`Self::seal`].
    #[inline]
    pub fn open(
        &self,
        skb: &mut SkBuff,
        layout: Layout,
        nonce: [u8; NONCE_LEN],
        bh: &BhDisabled,
    ) -> Result {
        self.in_place(skb, layout, nonce, Operation::Open, bh)
    }

    #[inline]
    fn in_place(
        &self,
        skb: &mut SkBuff,
        layout: Layout,
        nonce: [u8; NONCE_LEN],
        operation: Operation,
        bh: &BhDisabled,
    ) -> Result {
        let text = skb.len().checked_sub(layout.text_at()).ok_or(EMSGSIZE)?;
        if !skb.make_linear(layout.text_at()) {
            return Err(EMSGSIZE);
        }
        let mut memory = Memory::borrow(bh)?;
        memory.pieces.map_packet(skb, layout)?;
        let list = memory.pieces.as_mut_ptr();
        self.run(&mut memory, (list, list), layout, text, nonce, operation)
    }

    /// Many records, sealed or opened one after the other: what is needed once for all.
    #[inline]
    pub fn batch<'a>(&'a self, bh: &'a BhDisabled) -> Result<Batch<'a>> {
        Ok(Batch {
            aead: self,
            memory: Memory::borrow(bh)?,
        })
    }

    /// Runs a request from the first list to the second, both in `memory`. What they list is ours
    /// until this returns.
    #[inline]
    fn run(
        &self,
        memory: &mut Memory,
        (source, target): (*mut bindings::scatterlist, *mut bindings::scatterlist),
        layout: Layout,
        text: usize,
        mut nonce: [u8; NONCE_LEN],
        operation: Operation,
    ) -> Result {
        // CAST (in this function): A packet's length.
        let request = memory.request.reset();
        // SAFETY: The request was just reset; the transform is valid. All it points to lives until
        // the call returns, which is when it is through: the crypto is synchronous.
        let ret = unsafe {
            (*request).base.tfm = &raw mut (*self.0.as_ptr()).base.base;
            (*request).assoclen = layout.aad as u32;
            (*request).iv = nonce.as_mut_ptr();
            (*request).src = source;
            (*request).dst = target;
            match operation {
                Operation::Seal => {
                    (*request).cryptlen = text as u32;
                    bindings::crypto_aead_encrypt(request)
                }
                Operation::Open => {
                    (*request).cryptlen = text.wrapping_add(layout.tag) as u32;
                    bindings::crypto_aead_decrypt(request)
                }
            }
        };
        if ret == 0 {
            Ok(())
        } else {
            Err(Error::from_errno(ret))
        }
    }
}

impl Drop for SyncAead {
    fn drop(&mut self) {
        // SAFETY: By the type invariant. Wipes the key and frees it; may sleep.
        unsafe {
            let tfm = &raw mut (*self.0.as_ptr()).base.base;
            bindings::crypto_destroy_tfm(self.0.as_ptr().cast(), tfm);
        }
    }
}

/// Seals or opens records one after the other. See [`SyncAead::batch`].
pub struct Batch<'a> {
    aead: &'a SyncAead,
    memory: Borrowed<'a, Memory>,
}

impl Batch<'_> {
    /// Seals one record in place. Its associated data and its text are there.
    ///
    /// # Errors
    ///
    /// `EMSGSIZE` if it is too short to be one.
    #[inline]
    pub fn seal(
        &mut self,
        record: &mut RecordRoom<'_>,
        layout: Layout,
        nonce: [u8; NONCE_LEN],
    ) -> Result {
        let text = record.len().checked_sub(layout.text_at()).ok_or(EMSGSIZE)?;
        self.memory.pieces.map_record(record, layout);
        let list = self.memory.pieces.as_mut_ptr();
        self.aead.run(
            &mut self.memory,
            (list, list),
            layout,
            text,
            nonce,
            Operation::Seal,
        )
    }

    /// Checks the tag of one record and decrypts its text to `room`, which must be as long. `aad` is
    /// the associated data, the record's first bytes.
    ///
    /// # Errors
    ///
    /// `EBADMSG` if it is not authentic; then what is in the room is garbage. `EMSGSIZE` if it is
    /// too short, in too many pieces, or the room or the associated data have the wrong length.
    #[inline]
    pub fn open(
        &mut self,
        record: &Record<'_>,
        layout: Layout,
        aad: &[u8],
        nonce: [u8; NONCE_LEN],
        room: &mut RecordRoom<'_>,
    ) -> Result {
        let text = record.len().checked_sub(layout.text_at());
        if text != Some(room.len()) || aad.len() != layout.aad {
            return Err(EMSGSIZE);
        }
        let memory = &mut *self.memory;
        memory
            .aad
            .get_mut(..layout.aad)
            .ok_or(EMSGSIZE)?
            .copy_from_slice(aad);
        let aad = memory.aad.as_ptr();
        memory.pieces.map_received(record, aad, layout)?;
        let source = memory.pieces.as_mut_ptr();
        let target = memory.target.map(room, aad, layout);
        self.aead.run(
            memory,
            (source, target),
            layout,
            room.len(),
            nonce,
            Operation::Open,
        )
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Authenticated encryption of packets, synchronous.
//!
//! A packet is sealed and opened in place. Its layout is that of protocols that put the tag in
//! front: associated data, tag, text.
//!
//! C header: [`include/crypto/aead.h`](srctree/include/crypto/aead.h)

use crate::net::skbuff::SkBuff;
use core::{
    mem::{
        size_of,
        MaybeUninit, //
    },
    ptr::NonNull, //
};
use kernel::{
    error::{
        from_err_ptr,
        to_result, //
    },
    prelude::*, //
};
use ovpn_bindings as bindings;

/// Bytes of the nonce of all ciphers that are supported.
pub const NONCE_LEN: usize = 12;

/// Most pieces that a packet may be in, the linear buffer included.
const MAX_PIECES: usize = bindings::OVPN_MAX_SKB_FRAGS as usize;

/// A cipher with a key. Its crypto runs where it is called, softirqs included.
///
/// # Invariants
///
/// Valid, with a key, tags of `TAG_LEN` bytes and nonces of [`NONCE_LEN`].
pub struct SyncAead(NonNull<bindings::crypto_sync_aead>);

// SAFETY: A transform with its key set is used read-only.
unsafe impl Send for SyncAead {}
// SAFETY: As above.
unsafe impl Sync for SyncAead {}

/// Where things are in a packet: `aad` bytes of associated data, `tag` bytes of tag, then the text.
#[derive(Clone, Copy)]
pub struct Layout {
    /// Bytes of associated data, at the start.
    pub aad: usize,
    /// Bytes of tag, behind them.
    pub tag: usize,
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
    /// the tag's bytes be reserved. Makes the packet writable as needed. Any context.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EMSGSIZE` if the packet is in too many pieces or too short.
    #[inline]
    pub fn seal(&self, skb: &mut SkBuff, layout: Layout, nonce: [u8; NONCE_LEN]) -> Result {
        self.crypt(skb, layout, nonce, |request, text| {
            request.cryptlen = text;
            // SAFETY: The request is complete.
            unsafe { bindings::crypto_aead_encrypt(request) }
        })
    }

    /// Checks the tag of `skb` and decrypts its text in place. Makes the packet writable as needed.
    /// Any context.
    ///
    /// # Errors
    ///
    /// `EBADMSG` if it is not authentic; then its text is garbage. Else as [`Self::seal`].
    #[inline]
    pub fn open(&self, skb: &mut SkBuff, layout: Layout, nonce: [u8; NONCE_LEN]) -> Result {
        self.crypt(skb, layout, nonce, |request, text| {
            // CAST: A tag is a few bytes.
            request.cryptlen = text.wrapping_add(layout.tag as u32);
            // SAFETY: The request is complete.
            unsafe { bindings::crypto_aead_decrypt(request) }
        })
    }

    #[inline]
    fn crypt(
        &self,
        skb: &mut SkBuff,
        layout: Layout,
        mut nonce: [u8; NONCE_LEN],
        run: impl FnOnce(&mut bindings::aead_request, u32) -> i32,
    ) -> Result {
        let header = layout.aad.checked_add(layout.tag).ok_or(EMSGSIZE)?;
        let text = skb.len().checked_sub(header).ok_or(EMSGSIZE)?;
        if !skb.make_linear(header) {
            return Err(EMSGSIZE);
        }
        let mut sg = Pieces::map(skb, layout)?;
        let mut memory = RequestMemory::new();
        let request = memory.request(self);
        // CAST: A packet's length.
        request.assoclen = layout.aad as u32;
        request.iv = nonce.as_mut_ptr();
        request.src = sg.0.as_mut_ptr().cast();
        request.dst = request.src;
        // What the request points to lives until `run` is through: the crypto is synchronous.
        to_result(run(request, text as u32))
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

/// The pieces of a packet in the order of the crypto API: associated data, text, tag.
struct Pieces([MaybeUninit<bindings::scatterlist>; MAX_PIECES + 2]);

impl Pieces {
    /// Makes the packet writable and lists its pieces.
    #[inline]
    fn map(skb: &mut SkBuff, layout: Layout) -> Result<Self> {
        let text_at = layout.aad.wrapping_add(layout.tag);
        let pieces = writable_pieces(skb)?;
        if pieces > MAX_PIECES {
            return Err(EMSGSIZE);
        }
        let text = skb.len().wrapping_sub(text_at);
        let mut list = Self([const { MaybeUninit::uninit() }; MAX_PIECES + 2]);
        let sg = list.0.as_mut_ptr().cast::<bindings::scatterlist>();
        // SAFETY: There are at least `pieces` + 2 entries. The first `text_at` bytes are linear, as
        // the caller has made sure. CAST: A packet's length.
        unsafe {
            let data = (*skb.as_ptr()).data;
            bindings::sg_init_table(sg, pieces as u32 + 2);
            bindings::sg_set_buf(sg, data.cast(), layout.aad as u32);
            let used = if text == 0 {
                0
            } else {
                bindings::skb_to_sgvec_nomark(skb.as_ptr(), sg.add(1), text_at as i32, text as i32)
            };
            let used = usize::try_from(used).map_err(|_| EMSGSIZE)?;
            let tag = sg.add(used.wrapping_add(1));
            bindings::sg_set_buf(tag, data.add(layout.aad).cast(), layout.tag as u32);
        }
        Ok(list)
    }
}

/// Makes the whole packet writable. In how many pieces it is then.
#[inline]
fn writable_pieces(skb: &mut SkBuff) -> Result<usize> {
    // SAFETY: The packet is valid.
    if skb.head_len() == skb.len() && !unsafe { bindings::skb_cloned(skb.as_ptr()) } {
        return Ok(1);
    }
    let mut trailer = core::ptr::null_mut();
    // SAFETY: The packet is valid, and nobody else has its `sk_buff`.
    let pieces = unsafe { bindings::skb_cow_data(skb.as_ptr(), 0, &mut trailer) };
    usize::try_from(pieces).map_err(|_| ENOMEM)
}

/// Room for a request, as `SYNC_AEAD_REQUEST_ON_STACK()` has it.
#[repr(C, align(64))]
struct RequestMemory {
    request: MaybeUninit<bindings::aead_request>,
    context: [MaybeUninit<u8>; bindings::OVPN_MAX_SYNC_AEAD_REQSIZE],
}

static_assert!(size_of::<bindings::aead_request>() % 8 == 0);

impl RequestMemory {
    #[inline]
    fn new() -> Self {
        Self {
            request: MaybeUninit::uninit(),
            context: [MaybeUninit::uninit(); bindings::OVPN_MAX_SYNC_AEAD_REQSIZE],
        }
    }

    /// An empty request to `aead`; the memory behind it is the cipher's.
    #[inline]
    fn request(&mut self, aead: &SyncAead) -> &mut bindings::aead_request {
        // The request is used through a pointer to the whole memory, since the cipher also uses
        // what is behind it.
        let request = core::ptr::from_mut(self).cast::<bindings::aead_request>();
        // SAFETY: The memory is ours, and big enough for all synchronous ciphers.
        unsafe {
            request.write_bytes(0, 1);
            (*request).base.tfm = &raw mut (*aead.0.as_ptr()).base.base;
            &mut *request
        }
    }
}

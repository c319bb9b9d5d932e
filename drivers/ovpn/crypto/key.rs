// SPDX-License-Identifier: GPL-2.0

//! One key: the ciphers of both directions, the sender's counter and the receiver's window.

use super::{
    packet_id::{
        self,
        Exhausted,
        PacketId,
        PacketIds, //
    },
    replay::ReplayWindow, //
};
use crate::wire::{
    self,
    Header,
    KeyId,
    NonceTail,
    PeerId,
    AAD_LEN,
    OVERHEAD,
    TAG_LEN, //
};
use core::num::NonZeroU32;
use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};
use kernel_ext::{
    bh::BhDisabled,
    crypto::{
        aead::{
            Layout,
            SyncAead, //
        },
        wipe, //
    },
    net::skbuff::SkBuff,
    new_spinlock_bh,
    sync::spinlock_bh::SpinLockBh,
    time::NSEC_PER_SEC,
    uapi::ovpn::*, //
};

/// For how long records may come late if none came since, in nanoseconds.
const REPLAY_EXPIRY: u64 = 30 * NSEC_PER_SEC;

/// Where things are in a record.
pub(super) const RECORD: Layout = Layout {
    aad: AAD_LEN,
    tag: TAG_LEN,
};

/// A cipher that records can be encrypted with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cipher {
    /// AES-GCM; the length of the key says with how many bits.
    AesGcm,
    /// ChaCha20-Poly1305 as in RFC 7539.
    ChaCha20Poly1305,
}

impl Cipher {
    /// The cipher with that number in the netlink interface.
    pub fn from_uapi(number: u32) -> Option<Self> {
        match number {
            OVPN_CIPHER_ALG_AES_GCM => Some(Self::AesGcm),
            OVPN_CIPHER_ALG_CHACHA20_POLY1305 => Some(Self::ChaCha20Poly1305),
            _ => None,
        }
    }

    /// Its number in the netlink interface.
    pub fn to_uapi(self) -> u32 {
        match self {
            Self::AesGcm => OVPN_CIPHER_ALG_AES_GCM,
            Self::ChaCha20Poly1305 => OVPN_CIPHER_ALG_CHACHA20_POLY1305,
        }
    }

    fn crypto_name(self) -> &'static CStr {
        match self {
            Self::AesGcm => c"gcm(aes)",
            Self::ChaCha20Poly1305 => c"rfc7539(chacha20,poly1305)",
        }
    }
}

/// What the daemon gives for one direction. Borrowed from its request, so that no copy is left on a
/// stack.
pub struct KeyMaterial<'a> {
    /// Key of the cipher.
    pub cipher_key: &'a [u8],
    /// The constant part of the nonce.
    pub nonce_tail: &'a [u8; wire::NONCE_TAIL_LEN],
}

/// A direction's cipher and the constant part of its nonce.
pub(super) struct Direction {
    pub(super) aead: SyncAead,
    pub(super) tail: NonceTail,
}

impl Direction {
    /// Made in place: what is moved leaves a copy behind that nobody wipes.
    fn new<'a>(cipher: Cipher, material: &'a KeyMaterial<'a>) -> impl Init<Self, Error> + 'a {
        try_init!(Self {
            aead: SyncAead::new(cipher.crypto_name(), material.cipher_key, TAG_LEN)?,
            tail: NonceTail::new(*material.nonce_tail),
        }? Error)
    }
}

impl Drop for Direction {
    fn drop(&mut self) {
        // The cipher wipes its own part.
        wipe(self.tail.bytes_mut());
    }
}

/// One key of a peer.
#[pin_data]
pub struct Key {
    id: KeyId,
    cipher: Cipher,
    pub(super) encrypt: Direction,
    pub(super) decrypt: Direction,
    /// The last packet id that was given out, 0 if none was.
    last_id: Atomic<u32>,
    #[pin]
    pub(super) window: SpinLockBh<ReplayWindow>,
}

/// Why a record could not be made.
#[derive(Clone, Copy, Debug)]
pub enum SealError {
    /// All packet ids are used up: the key is spent.
    Exhausted,
    /// No memory to make room.
    Memory,
    /// Encryption failed.
    Crypto,
}

/// Why a record was not accepted.
#[derive(Clone, Copy, Debug)]
pub enum OpenError {
    /// Shorter than a record's header.
    Short,
    /// Not authentic, or with the invalid packet id 0.
    Auth,
    /// Accepted before, or too old to know.
    Replay,
    /// No memory to make it writable.
    Memory,
}

impl From<Error> for SealError {
    fn from(error: Error) -> Self {
        match error {
            error if error == ENOMEM => Self::Memory,
            _ => Self::Crypto,
        }
    }
}

impl From<Error> for OpenError {
    fn from(error: Error) -> Self {
        match error {
            error if error == ENOMEM => Self::Memory,
            _ => Self::Auth,
        }
    }
}

impl Key {
    /// Sets a key up. Process context, may load the cipher's module.
    ///
    /// # Errors
    ///
    /// What [`SyncAead::new`] fails with.
    pub fn new<'a>(
        id: KeyId,
        cipher: Cipher,
        encrypt: &'a KeyMaterial<'a>,
        decrypt: &'a KeyMaterial<'a>,
    ) -> impl PinInit<Self, Error> + 'a {
        try_pin_init!(Self {
            encrypt <- Direction::new(cipher, encrypt),
            decrypt <- Direction::new(cipher, decrypt),
            id,
            cipher,
            last_id: Atomic::new(0),
            window <- new_spinlock_bh!(ReplayWindow::new(REPLAY_EXPIRY), "ovpn_replay_window"),
        }? Error)
    }

    /// Its id, by which records name it.
    #[inline]
    pub fn id(&self) -> KeyId {
        self.id
    }

    /// Its cipher.
    pub fn cipher(&self) -> Cipher {
        self.cipher
    }

    /// Makes a record of the packet in `skb`, to the peer that calls us `peer`.
    #[inline]
    pub fn seal(&self, skb: &mut SkBuff, peer: PeerId, bh: &BhDisabled) -> Result<(), SealError> {
        skb.cow_head(crate::device::HEADROOM)
            .map_err(|_| SealError::Memory)?;
        let id = self
            .reserve(NonZeroU32::MIN)?
            .next()
            .ok_or(SealError::Exhausted)?;
        let room = skb.push(OVERHEAD).ok_or(SealError::Memory)?;
        self.write_aad(room, peer, id);
        self.encrypt
            .aead
            .seal(skb, RECORD, self.encrypt.tail.nonce(id), bh)
            .map_err(SealError::from)
    }

    #[inline]
    pub(super) fn write_aad(&self, record: &mut [u8], peer: PeerId, id: PacketId) {
        let header = Header {
            key_id: self.id,
            peer_id: peer,
        };
        if let Some(aad) = record.first_chunk_mut() {
            *aad = header.aad(id);
        }
    }

    /// Checks the record in `skb` and takes the packet out of it. `now` is the boot time clock in
    /// nanoseconds.
    #[inline]
    pub fn open(&self, skb: &mut SkBuff, now: u64, bh: &BhDisabled) -> Result<(), OpenError> {
        if !skb.make_linear(OVERHEAD) {
            return Err(OpenError::Short);
        }
        let aad = skb.first::<AAD_LEN>().ok_or(OpenError::Short)?;
        let id = wire::packet_id(&aad).ok_or(OpenError::Auth)?;
        self.decrypt
            .aead
            .open(skb, RECORD, self.decrypt.tail.nonce(id), bh)
            .map_err(OpenError::from)?;
        self.window
            .lock()
            .accept(id, now)
            .map_err(|_| OpenError::Replay)?;
        if skb.pull(OVERHEAD) {
            Ok(())
        } else {
            Err(OpenError::Short)
        }
    }

    /// Takes the next `count` packet ids, all or none. Each is given out once, and none after the
    /// last: an id that was taken and not used is lost.
    #[inline]
    pub fn reserve(&self, count: NonZeroU32) -> Result<PacketIds, SealError> {
        let mut last = self.last_id.load(Relaxed);
        loop {
            let reserved =
                packet_id::reserve(last, count).map_err(|Exhausted| SealError::Exhausted)?;
            match self.last_id.cmpxchg(last, reserved.last, Relaxed) {
                Ok(_) => return Ok(reserved.ids),
                Err(now) => last = now,
            }
        }
    }
}

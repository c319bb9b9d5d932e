// SPDX-License-Identifier: GPL-2.0

//! Records, made as the other end of a tunnel makes them.

use aes_gcm::{
    aead::{consts::U12, AeadInPlace, KeyInit},
    aes::Aes192,
    Aes128Gcm, Aes256Gcm, AesGcm,
};
use chacha20poly1305::ChaCha20Poly1305;

pub const AAD_LEN: usize = 8;
pub const OVERHEAD: usize = 24;
/// A sender that does not know its number with the receiver.
pub const NO_PEER: u32 = 0xff_ffff;
const DATA_V2: u32 = 9;

enum Aead {
    Aes128(Box<Aes128Gcm>),
    Aes192(Box<AesGcm<Aes192, U12>>),
    Aes256(Box<Aes256Gcm>),
    ChaCha(Box<ChaCha20Poly1305>),
}

/// One direction of a key.
pub struct Key {
    pub peer: u32,
    pub id: u8,
    aead: Aead,
    tail: [u8; 8],
}

impl Key {
    /// By the words "PEER:ID:CIPHER:KEY:TAIL", the last two in hexadecimal digits.
    pub fn parse(words: &str) -> Option<Self> {
        let mut words = words.split(':');
        let peer = words.next()?.parse().ok()?;
        let id = words.next()?.parse().ok()?;
        let cipher = words.next()?;
        let key = unhex(words.next()?)?;
        let tail = unhex(words.next()?)?.try_into().ok()?;
        let aead = match (cipher, key.len()) {
            ("aes", 16) => Aead::Aes128(Box::new(KeyInit::new_from_slice(&key).ok()?)),
            ("aes", 24) => Aead::Aes192(Box::new(KeyInit::new_from_slice(&key).ok()?)),
            ("aes", 32) => Aead::Aes256(Box::new(KeyInit::new_from_slice(&key).ok()?)),
            ("chacha", 32) => Aead::ChaCha(Box::new(KeyInit::new_from_slice(&key).ok()?)),
            _ => return None,
        };
        Some(Self {
            peer,
            id,
            aead,
            tail,
        })
    }

    /// The record with packet id `id` of `inner`, which says that it is of `peer` and its key `key_id`.
    pub fn seal(&self, peer: u32, key_id: u8, id: u32, inner: &[u8]) -> Vec<u8> {
        let word = (DATA_V2 << 27) | (u32::from(key_id) << 24) | peer;
        let mut nonce = [0; 12];
        nonce[..4].copy_from_slice(&id.to_be_bytes());
        nonce[4..].copy_from_slice(&self.tail);
        let nonce = (&nonce).into();
        let mut record = Vec::with_capacity(OVERHEAD + inner.len());
        record.extend(word.to_be_bytes());
        record.extend(id.to_be_bytes());
        record.extend([0; OVERHEAD - AAD_LEN]);
        record.extend(inner);
        let (head, text) = record.split_at_mut(OVERHEAD);
        let (aad, tag) = head.split_at_mut(AAD_LEN);
        let sealed = match &self.aead {
            Aead::Aes128(aead) => aead.encrypt_in_place_detached(nonce, aad, text),
            Aead::Aes192(aead) => aead.encrypt_in_place_detached(nonce, aad, text),
            Aead::Aes256(aead) => aead.encrypt_in_place_detached(nonce, aad, text),
            Aead::ChaCha(aead) => aead.encrypt_in_place_detached(nonce, aad, text),
        };
        tag.copy_from_slice(&sealed.expect("a record is shorter than any limit of a cipher"));
        record
    }
}

/// What the first word of a datagram says.
pub struct Header {
    pub is_data_v2: bool,
    pub key_id: u8,
    pub peer: u32,
}

impl Header {
    pub fn of(datagram: &[u8]) -> Option<Self> {
        let word = u32::from_be_bytes(*datagram.first_chunk()?);
        Some(Self {
            is_data_v2: word >> 27 == DATA_V2,
            key_id: ((word >> 24) & 7) as u8,
            peer: word & NO_PEER,
        })
    }
}

fn unhex(digits: &str) -> Option<Vec<u8>> {
    let pairs = (0..digits.len()).step_by(2);
    pairs
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect()
}

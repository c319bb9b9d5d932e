// SPDX-License-Identifier: GPL-2.0

//! The format of a data channel record. Nothing else in the driver knows a byte offset of it.
//!
//! A `DATA_V2` record is the whole payload of a UDP datagram (over TCP, of one length-prefixed
//! frame). All numbers are in network byte order:
//!
//! ```text
//!  octet  0         4           8         24
//!         +---------+-----------+---------+------------------+
//!         | opcode  | packet id |   tag   | ciphertext ...   |
//!         +---------+-----------+---------+------------------+
//!         |<---- AAD, clear --->|
//!
//!  opcode: 5 bits opcode, 3 bits key id, 24 bits peer id
//! ```
//!
//! The source of these rules is the OpenVPN wire protocol, in the form that AEAD ciphers use.

use crate::crypto::packet_id::PacketId;

/// Octets of the word that holds opcode, key id and peer id.
pub const OPCODE_LEN: usize = 4;

/// Octets of the packet id.
pub const PACKET_ID_LEN: usize = 4;

/// Octets that are authenticated but not encrypted: the record's first ones.
pub const AAD_LEN: usize = OPCODE_LEN + PACKET_ID_LEN;

/// Octets of the authentication tag, which stands before the ciphertext.
pub const TAG_LEN: usize = 16;

/// Octets of a record before its ciphertext. The ciphertext is as long as the plaintext.
pub const OVERHEAD: usize = AAD_LEN + TAG_LEN;

/// Octets of the AEAD nonce.
pub const NONCE_LEN: usize = PACKET_ID_LEN + NONCE_TAIL_LEN;

/// Octets of the nonce that both sides know beforehand and that never travel.
pub const NONCE_TAIL_LEN: usize = 8;

/// The plaintext of a keepalive. It cannot be an IP packet, as its first nibble is 2.
pub const KEEPALIVE: [u8; 16] = [
    0x2a, 0x18, 0x7b, 0xf3, 0x64, 0x1e, 0xb4, 0xcb, 0x07, 0xed, 0x2d, 0x0a, 0x98, 0x1f, 0xc7, 0x48,
];

/// Opcode of a data record without a peer id, which offload does not handle.
const DATA_V1: u32 = 6;

/// Opcode of a data record with a peer id.
const DATA_V2: u32 = 9;

/// Places of the opcode and of the key id in the first word.
const OPCODE_SHIFT: u32 = 27;
const KEY_ID_SHIFT: u32 = 24;

/// Which of a peer's keys sealed a record: 0 to 7.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct KeyId(u8);

impl KeyId {
    const MAX: u32 = 0x7;

    /// Returns [`None`] if `id` does not fit into the record's three bits.
    #[inline]
    pub const fn new(id: u32) -> Option<Self> {
        if id <= Self::MAX {
            Some(Self(id as u8))
        } else {
            None
        }
    }

    /// Returns the number, which is at most 7.
    #[inline]
    pub const fn get(self) -> u8 {
        self.0
    }
}

/// Which peer a record belongs to, by the number that its receiver gave out: 24 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct PeerId(u32);

impl PeerId {
    const MAX: u32 = 0x00ff_ffff;

    /// Says that the sender knows no peer id. The receiver finds the peer by the transport address.
    pub const UNDEF: Self = Self(Self::MAX);

    /// Returns [`None`] if `id` does not fit into the record's 24 bits.
    #[inline]
    pub const fn new(id: u32) -> Option<Self> {
        if id <= Self::MAX {
            Some(Self(id))
        } else {
            None
        }
    }

    /// Returns the number, which is at most `0xffffff`.
    #[inline]
    pub const fn get(self) -> u32 {
        self.0
    }

    /// Returns whether this is [`PeerId::UNDEF`].
    #[inline]
    pub const fn is_undef(self) -> bool {
        self.0 == Self::MAX
    }
}

/// The first word of a `DATA_V2` record, less the opcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// The key that seals the record.
    pub key_id: KeyId,
    /// The peer, by the receiver's number.
    pub peer_id: PeerId,
}

impl Header {
    /// Returns the first octets of the record with packet id `id`, ready to be sent and to be
    /// authenticated.
    #[inline]
    pub fn aad(self, id: PacketId) -> [u8; AAD_LEN] {
        let word = (DATA_V2 << OPCODE_SHIFT)
            | (u32::from(self.key_id.get()) << KEY_ID_SHIFT)
            | self.peer_id.get();

        ((u64::from(word) << u32::BITS) | u64::from(id.get())).to_be_bytes()
    }
}

/// What a datagram is, as far as its first word tells. Nothing is authenticated yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Datagram {
    /// A data record that names its peer.
    DataV2(Header),
    /// A data record that does not.
    DataV1,
    /// The control channel's, or not OpenVPN at all. It belongs to the daemon.
    Other,
}

impl Datagram {
    /// Tells by its first octets what a datagram is.
    #[inline]
    pub fn classify(first: [u8; OPCODE_LEN]) -> Self {
        let word = u32::from_be_bytes(first);

        match word >> OPCODE_SHIFT {
            DATA_V2 => Self::DataV2(Header {
                key_id: KeyId(((word >> KEY_ID_SHIFT) & KeyId::MAX) as u8),
                peer_id: PeerId(word & PeerId::MAX),
            }),
            DATA_V1 => Self::DataV1,
            _ => Self::Other,
        }
    }
}

/// Returns the packet id of a record, [`None`] if it is 0, which no sender may use.
#[inline]
pub fn packet_id(aad: &[u8; AAD_LEN]) -> Option<PacketId> {
    PacketId::new(u64::from_be_bytes(*aad) as u32)
}

/// The secret part of the nonce. It is key material: no [`Debug`], no copies.
///
/// [`Debug`]: core::fmt::Debug
pub struct NonceTail([u8; NONCE_TAIL_LEN]);

impl NonceTail {
    /// Takes over the tail as user space gave it.
    #[inline]
    pub const fn new(tail: [u8; NONCE_TAIL_LEN]) -> Self {
        Self(tail)
    }

    /// Returns the nonce of the record with packet id `id`: the packet id, then the tail.
    #[inline]
    pub fn nonce(&self, id: PacketId) -> [u8; NONCE_LEN] {
        let [a, b, c, d] = id.get().to_be_bytes();
        let [e, f, g, h, i, j, k, l] = self.0;

        [a, b, c, d, e, f, g, h, i, j, k, l]
    }

    /// Gives access to the octets for wiping them.
    #[inline]
    pub fn bytes_mut(&mut self) -> &mut [u8; NONCE_TAIL_LEN] {
        &mut self.0
    }
}

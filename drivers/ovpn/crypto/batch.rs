// SPDX-License-Identifier: GPL-2.0

//! Many records with one key: what is needed once for all of them.

use super::{
    key::{
        Key,
        OpenError,
        SealError,
        RECORD, //
    },
    packet_id::PacketId, //
};
use crate::wire::{
    PeerId,
    AAD_LEN, //
};
use kernel_ext::{
    bh::BhDisabled,
    crypto::aead::Batch,
    net::skbuff::{
        Record,
        RecordRoom, //
    },
};

/// Makes records with one key.
pub struct Sealer<'a> {
    key: &'a Key,
    peer: PeerId,
    batch: Batch<'a>,
}

impl<'a> Sealer<'a> {
    /// For records to the peer that calls us `peer`.
    #[inline]
    pub fn new(key: &'a Key, peer: PeerId, bh: &'a BhDisabled) -> Result<Self, SealError> {
        Ok(Self {
            key,
            peer,
            batch: key.encrypt.aead.batch(bh)?,
        })
    }

    /// Makes a record with packet id `id` of the packet that is in `record`, as many bytes from its
    /// start as a record has overhead.
    #[inline]
    pub fn seal(&mut self, record: &mut RecordRoom<'_>, id: PacketId) -> Result<(), SealError> {
        self.key.write_aad(record.bytes_mut(), self.peer, id);
        let nonce = self.key.encrypt.tail.nonce(id);
        self.batch
            .seal(record, RECORD, nonce)
            .map_err(SealError::from)
    }
}

/// Checks and decrypts records with one key. It knows nothing of replays, see [`Key::accept`].
pub struct Opener<'a> {
    key: &'a Key,
    batch: Batch<'a>,
}

impl<'a> Opener<'a> {
    /// For records that were sealed with `key`.
    #[inline]
    pub fn new(key: &'a Key, bh: &'a BhDisabled) -> Result<Self, OpenError> {
        Ok(Self {
            key,
            batch: key.decrypt.aead.batch(bh)?,
        })
    }

    /// Decrypts `record`, which begins with `aad` and has packet id `id`, to `room`. If it is not
    /// authentic, what is in there is garbage.
    #[inline]
    pub fn open(
        &mut self,
        record: &Record<'_>,
        aad: &[u8; AAD_LEN],
        id: PacketId,
        room: &mut RecordRoom<'_>,
    ) -> Result<(), OpenError> {
        let nonce = self.key.decrypt.tail.nonce(id);
        self.batch
            .open(record, RECORD, aad, nonce, room)
            .map_err(OpenError::from)
    }
}

impl Key {
    /// Takes note of authentic records, `now` nanoseconds after boot. Bit `n` of the result says
    /// that the `n`th is refused: its packet id was accepted before, or is too old to know. At most
    /// 64.
    #[inline]
    pub fn accept(&self, ids: impl Iterator<Item = Option<PacketId>>, now: u64) -> u64 {
        let mut refused = 0;
        let mut window = self.window.lock();
        for (bit, id) in (0..u64::BITS).zip(ids) {
            if id.is_some_and(|id| window.accept(id, now).is_err()) {
                refused |= 1u64.wrapping_shl(bit);
            }
        }
        refused
    }
}

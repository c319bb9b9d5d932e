// SPDX-License-Identifier: GPL-2.0

//! The two key slots of a peer.
//!
//! The key in the primary slot encrypts. Both decrypt, so that records under way are not lost when
//! the keys are changed: the daemon installs a new key as the secondary one, and swaps the slots
//! when the peer has it, too.

use super::key::Key;
use crate::wire::KeyId;
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        rcu::Guard, //
    },
};
use kernel_ext::{
    new_spinlock_bh,
    sync::{
        rcu::{
            RcuArc,
            RcuBorrow,
            RcuCell, //
        },
        spinlock_bh::SpinLockBh, //
    },
    uapi::ovpn::*, //
};

/// Which of the two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// Encrypts and decrypts.
    Primary,
    /// Decrypts only.
    Secondary,
}

impl Slot {
    /// The slot with that number in the netlink interface.
    pub fn from_uapi(number: u32) -> Option<Self> {
        match number {
            OVPN_KEY_SLOT_PRIMARY => Some(Self::Primary),
            OVPN_KEY_SLOT_SECONDARY => Some(Self::Secondary),
            _ => None,
        }
    }

    /// Its number in the netlink interface.
    pub fn to_uapi(self) -> u32 {
        match self {
            Self::Primary => OVPN_KEY_SLOT_PRIMARY,
            Self::Secondary => OVPN_KEY_SLOT_SECONDARY,
        }
    }
}

/// The slots. Read under RCU, written under a lock.
#[pin_data]
pub struct KeySlots {
    cells: [RcuCell<Key>; 2],
    /// Whether the second cell is the primary slot. Changed under `lock`.
    second_is_primary: Atomic<bool>,
    #[pin]
    lock: SpinLockBh<()>,
}

impl KeySlots {
    /// No keys.
    pub fn new() -> impl PinInit<Self> {
        pin_init!(Self {
            cells: [RcuCell::new(None), RcuCell::new(None)],
            second_is_primary: Atomic::new(false),
            lock <- new_spinlock_bh!((), "ovpn_key_slots"),
        })
    }

    #[inline]
    fn cell(&self, slot: Slot) -> &RcuCell<Key> {
        let [first, second] = &self.cells;
        if self.second_is_primary.load(Relaxed) == (slot == Slot::Primary) {
            second
        } else {
            first
        }
    }

    /// The key in `slot`. Any context.
    #[inline]
    pub fn get<'g>(&self, slot: Slot, guard: &'g Guard) -> Option<RcuBorrow<'g, Key>> {
        self.cell(slot).get(guard)
    }

    /// The key that records name by `id`. Any context.
    #[inline]
    pub fn by_id<'g>(&self, id: KeyId, guard: &'g Guard) -> Option<RcuBorrow<'g, Key>> {
        // By cell, not by slot: a swap in between must not hide a key.
        let first_to_try = usize::from(self.second_is_primary.load(Relaxed));
        let [first, second] = &self.cells;
        let order = if first_to_try == 0 {
            [first, second]
        } else {
            [second, first]
        };
        order
            .into_iter()
            .filter_map(|cell| cell.get(guard))
            .find(|key| key.id() == id)
    }

    /// Puts `key` into `slot`, in the place of what may be there.
    pub fn install(&self, slot: Slot, key: RcuArc<Key>) {
        self.replace(slot, Some(key));
    }

    /// Empties `slot`.
    pub fn delete(&self, slot: Slot) {
        self.replace(slot, None);
    }

    fn replace(&self, slot: Slot, key: Option<RcuArc<Key>>) {
        let _lock = self.lock.lock();
        drop(self.cell(slot).replace(key));
    }

    /// Makes the primary key the secondary one, and the other way round.
    pub fn swap(&self) {
        let _lock = self.lock.lock();
        let swapped = !self.second_is_primary.load(Relaxed);
        self.second_is_primary.store(swapped, Relaxed);
    }

    /// Takes `key` out, wherever it is. Whether it was there: of many who find a key spent, one is
    /// told so. Any context.
    pub fn kill(&self, key: &Key) -> bool {
        self.cells.iter().any(|cell| cell.take_if(key).is_some())
    }
}

// SPDX-License-Identifier: GPL-2.0

//! What the replay window must decide, without a bitmap: every accepted id is remembered.

use ovpn_host::crypto::replay::{
    Replay,
    WINDOW, //
};
use std::collections::HashSet;

#[derive(Default)]
pub(crate) struct Model {
    pub(crate) accepted: HashSet<u32>,
    /// 0 if none was accepted.
    pub(crate) highest: u32,
    floor: u32,
    expires: u64,
    expiry: u64,
}

impl Model {
    pub(crate) fn new(expiry: u64) -> Self {
        Self {
            expiry,
            ..Self::default()
        }
    }

    pub(crate) fn accept(&mut self, id: u32, now: u64) -> Result<(), Replay> {
        if now >= self.expires {
            self.floor = self.highest;
        }
        if i64::from(id) <= i64::from(self.highest) - i64::from(WINDOW) || id <= self.floor {
            return Err(Replay::TooOld);
        }
        if !self.accepted.insert(id) {
            return Err(Replay::Seen);
        }
        self.highest = self.highest.max(id);
        self.expires = now + self.expiry;
        Ok(())
    }
}

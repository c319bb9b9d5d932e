// SPDX-License-Identifier: GPL-2.0

//! Checksums that were left to the device.

use super::SkBuff;
use crate::net::checksum;
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

impl SkBuff {
    /// Completes the checksum in software, if that was left to the device.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EINVAL` if what was left cannot be done.
    #[inline]
    pub fn complete_checksum(&mut self) -> Result {
        let mut left: bindings::ovpn_skb_checksum = pin_init::zeroed();
        // SAFETY: By the type invariant; writes `left` only.
        if !unsafe { bindings::skb_checksum_left(self.as_ptr(), &mut left) } {
            return Ok(());
        }
        // A datagram as its socket sent it: half of the work of the general way.
        if self.is_whole() {
            // SAFETY: Just checked.
            let bytes = unsafe { self.whole() };
            if complete(bytes, usize::from(left.start), usize::from(left.field)).is_some() {
                return Ok(());
            }
        }
        // SAFETY: By the type invariant.
        to_result(unsafe { bindings::skb_checksum_help(self.as_ptr()) })
    }
}

/// Replaces the sum of the pseudo header, `field` bytes behind `start`, by the checksum of what is
/// from `start` on.
#[inline]
fn complete(packet: &mut [u8], start: usize, field: usize) -> Option<()> {
    let covered = packet.get_mut(start..)?;
    let check = match !checksum::sum(covered) {
        // It would say that there is none (RFC 768); to TCP it means the same.
        0 => u16::MAX,
        check => check,
    };
    *covered.get_mut(field..)?.first_chunk_mut()? = check.to_ne_bytes();
    Some(())
}

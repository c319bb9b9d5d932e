// SPDX-License-Identifier: GPL-2.0

//! Packets that were put together of many.

use super::SkBuff;
use core::ptr;
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// What a packet stands for that was put together of many.
#[derive(Clone, Copy, Debug)]
pub struct Merged<'a> {
    /// Its headers, in the place of those of the first.
    pub headers: &'a [u8],
    /// Where the TCP header begins.
    pub transport_at: usize,
    /// Bytes of payload in each packet but the last.
    pub piece: usize,
    /// How many packets.
    pub packets: usize,
    /// Whether all packets have the IPv4 id of the first.
    pub same_id: bool,
}

impl SkBuff {
    /// Makes it a GSO packet of TCP, over IPv4 or IPv6 as its protocol says. The checksum in the
    /// headers is that of the pseudo header, to be completed by whoever needs it.
    ///
    /// # Errors
    ///
    /// `EINVAL` if the linear part is not ours alone, or not as long as the headers.
    #[inline]
    pub fn merge(&mut self, merged: Merged<'_>) -> Result {
        let len = merged.headers.len();
        // SAFETY: By the type invariant.
        if len != self.head_len() || unsafe { bindings::skb_cloned(self.as_ptr()) } {
            return Err(EINVAL);
        }
        let mut kind = match u32::from(self.protocol()) {
            bindings::ETH_P_IPV6 => bindings::SKB_GSO_TCPV6,
            _ => bindings::SKB_GSO_TCPV4,
        };
        if merged.same_id {
            kind |= bindings::SKB_GSO_TCP_FIXEDID;
        }
        // SAFETY: The headers are the linear part, which nobody else has. CAST: Small numbers, and
        // flags.
        unsafe {
            ptr::copy_nonoverlapping(merged.headers.as_ptr(), (*self.as_ptr()).data, len);
            bindings::skb_make_tcp_gso(
                self.as_ptr(),
                merged.transport_at as u16,
                merged.piece as u16,
                merged.packets as u16,
                kind as u32,
            );
        }
        Ok(())
    }

    /// Its checksum was checked and is right.
    #[inline]
    pub fn set_checked(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::skb_set_checked(self.as_ptr()) };
    }
}

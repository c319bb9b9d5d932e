// SPDX-License-Identifier: GPL-2.0

//! Software segmentation.

use super::{
    SkBuff,
    SkBuffList, //
};
use crate::net::sock::Sock;
use kernel::{
    error::from_err_ptr,
    prelude::*, //
};
use ovpn_bindings as bindings;

impl SkBuff {
    /// Cuts a GSO packet up, checksums completed. Softirq or process context.
    ///
    /// # Errors
    ///
    /// What `skb_gso_segment()` fails with. The packet is given back then.
    pub fn segment(self) -> Result<SkBuffList, (Error, Self)> {
        // SAFETY: By the type invariant; no offloads are asked for, so all is done in software.
        let list = unsafe { bindings::__skb_gso_segment(self.as_ptr(), 0, true) };
        match from_err_ptr(list) {
            Err(error) => Err((error, self)),
            // Null says that the packet needs no segmentation after all.
            Ok(list) if list.is_null() => {
                let mut list = SkBuffList::new();
                list.push(self);
                Ok(list)
            }
            Ok(list) => {
                self.consume();
                // SAFETY: The list is new, and ours.
                Ok(unsafe { SkBuffList::from_raw(list) })
            }
        }
    }

    /// Cuts a received GSO packet that begins with a UDP header into datagrams that do. What cannot
    /// be cut is dropped, and counted as lost by `sock`. Softirq.
    pub fn segment_received(self, sock: &Sock) -> SkBuffList {
        // SAFETY: The packet was received, so its headers are in front of it. Consumes it; the list
        // is new, and ours.
        unsafe {
            let list = bindings::skb_udp_segments(sock.as_ptr(), self.into_raw());
            SkBuffList::from_raw(list)
        }
    }
}

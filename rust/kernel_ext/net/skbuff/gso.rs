// SPDX-License-Identifier: GPL-2.0

//! What a GSO packet stands for.

use super::SkBuff;
use ovpn_bindings as bindings;

/// A GSO packet of TCP or UDP that can be cut up without the stack's help: linear headers, pages of
/// payload that nobody else writes to, and a transport checksum that is yet to be completed.
#[derive(Clone, Copy, Debug)]
pub struct Gso {
    size: u16,
    kind: i32,
}

/// Kinds that are cut in the same way; the rest (frag lists, tunnels, packets of untrusted origin)
/// is left to the stack.
const PLAIN: i32 = bindings::SKB_GSO_TCPV4
    | bindings::SKB_GSO_TCPV6
    | bindings::SKB_GSO_UDP_L4
    | bindings::SKB_GSO_TCP_ECN
    | bindings::SKB_GSO_TCP_ACCECN
    | bindings::SKB_GSO_TCP_FIXEDID;

impl Gso {
    /// Bytes of payload in each packet but the last.
    #[inline]
    pub fn size(&self) -> usize {
        usize::from(self.size)
    }

    /// Whether all packets have the IPv4 id of the first.
    #[inline]
    pub fn same_id(&self) -> bool {
        self.kind & bindings::SKB_GSO_TCP_FIXEDID != 0
    }

    /// Whether all packets have the CWR flag of the first.
    #[inline]
    pub fn keep_cwr(&self) -> bool {
        self.kind & bindings::SKB_GSO_TCP_ACCECN != 0
    }
}

impl SkBuff {
    /// What the packet stands for, if it is a plain GSO packet.
    #[inline]
    pub fn plain_gso(&self) -> Option<Gso> {
        let mut gso: bindings::ovpn_skb_gso = pin_init::zeroed();
        // SAFETY: By the type invariant; writes `gso` only.
        unsafe { bindings::skb_gso(self.as_ptr(), &mut gso) };
        (gso.plain && gso.size > 0 && gso.type_ & !PLAIN == 0).then_some(Gso {
            size: gso.size,
            kind: gso.type_,
        })
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Why a packet was dropped.

use ovpn_bindings as bindings;

/// A reason that the kernel shows to those who trace drops (`dropwatch`, `perf trace`).
///
/// C header: [`include/net/dropreason-core.h`](srctree/include/net/dropreason-core.h)
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// None was given.
    NotSpecified,
    /// A header is damaged or missing.
    HeaderError,
    /// Shorter than its headers say.
    TooSmall,
    /// Out of memory.
    NoMemory,
    /// Nobody handles this protocol.
    UnhandledProtocol,
    /// The source address is not one that the sender may use.
    ReversePath,
    /// It failed the check of a security protocol (authentication, replay).
    SecurityCheck,
    /// The tunnel it belongs to has no state for it (peer, key).
    NoTunnelState,
    /// No route to the destination.
    NoRoute,
    /// Segmentation failed.
    Segmentation,
    /// A queue is full.
    FullRing,
    /// The device is not ready to send.
    DeviceReady,
}

impl Reason {
    pub(crate) fn as_raw(self) -> bindings::skb_drop_reason {
        use bindings as b;
        match self {
            Self::NotSpecified => b::skb_drop_reason_SKB_DROP_REASON_NOT_SPECIFIED,
            Self::HeaderError => b::skb_drop_reason_SKB_DROP_REASON_HDR_TRUNC,
            Self::TooSmall => b::skb_drop_reason_SKB_DROP_REASON_PKT_TOO_SMALL,
            Self::NoMemory => b::skb_drop_reason_SKB_DROP_REASON_NOMEM,
            Self::UnhandledProtocol => b::skb_drop_reason_SKB_DROP_REASON_UNHANDLED_PROTO,
            Self::ReversePath => b::skb_drop_reason_SKB_DROP_REASON_IP_RPFILTER,
            Self::SecurityCheck => b::skb_drop_reason_SKB_DROP_REASON_SECURITY_HOOK,
            Self::NoTunnelState => b::skb_drop_reason_SKB_DROP_REASON_NO_SOCKET,
            Self::NoRoute => b::skb_drop_reason_SKB_DROP_REASON_IP_OUTNOROUTES,
            Self::Segmentation => b::skb_drop_reason_SKB_DROP_REASON_SKB_GSO_SEG,
            Self::FullRing => b::skb_drop_reason_SKB_DROP_REASON_FULL_RING,
            Self::DeviceReady => b::skb_drop_reason_SKB_DROP_REASON_DEV_READY,
        }
    }
}

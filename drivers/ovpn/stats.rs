// SPDX-License-Identifier: GPL-2.0

//! Counters, and why packets are dropped.

use crate::device::Tunnel;
use kernel::sync::atomic::{
    Atomic,
    Relaxed, //
};
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::Device,
        skbuff::{
            Reason,
            SkBuff, //
        }, //
    },
};

/// Packets and their bytes, of one direction.
pub struct Traffic {
    bytes: Atomic<u64>,
    packets: Atomic<u64>,
}

impl Traffic {
    const fn new() -> Self {
        Self {
            bytes: Atomic::new(0),
            packets: Atomic::new(0),
        }
    }

    /// Counts a packet of `len` bytes. Any context.
    #[inline]
    pub fn count(&self, len: usize) {
        self.count_many(1, len);
    }

    /// Counts `packets` packets of `len` bytes in all. Any context.
    #[inline]
    pub fn count_many(&self, packets: usize, len: usize) {
        self.bytes.add(len as u64, Relaxed);
        self.packets.add(packets as u64, Relaxed);
    }

    /// Bytes so far.
    pub fn bytes(&self) -> u64 {
        self.bytes.load(Relaxed)
    }

    /// Packets so far.
    pub fn packets(&self) -> u64 {
        self.packets.load(Relaxed)
    }
}

/// Both directions.
pub struct BothWays {
    /// From the peer.
    pub rx: Traffic,
    /// To the peer.
    pub tx: Traffic,
}

impl BothWays {
    /// Nothing so far.
    pub const fn new() -> Self {
        Self {
            rx: Traffic::new(),
            tx: Traffic::new(),
        }
    }
}

impl Default for BothWays {
    fn default() -> Self {
        Self::new()
    }
}

macro_rules! drop_causes {
    ($($(#[$doc:meta])* $cause:ident, $name:literal, $reason:ident;)*) => {
        /// Why a packet was dropped: what `ethtool -S` counts, and what the kernel's tracing of drops
        /// says.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum DropCause {
            $($(#[$doc])* $cause,)*
        }

        impl DropCause {
            /// Names of the counters, in the order of the causes.
            pub const NAMES: [&'static str; [$($name),*].len()] = [$($name),*];

            fn reason(self) -> Reason {
                match self {
                    $(Self::$cause => Reason::$reason,)*
                }
            }
        }
    };
}

drop_causes! {
    /// Too short to be what it claims to be.
    RxShort, "rx_drop_short", TooSmall;
    /// From nobody we know.
    RxNoPeer, "rx_drop_no_peer", NoTunnelState;
    /// Encrypted with a key that we do not have.
    RxNoKey, "rx_drop_no_key", NoTunnelState;
    /// Not authentic.
    RxAuth, "rx_drop_auth", SecurityCheck;
    /// Received before, or too old to know.
    RxReplay, "rx_drop_replay", SecurityCheck;
    /// Neither IP nor a keepalive inside.
    RxProtocol, "rx_drop_protocol", UnhandledProtocol;
    /// From an address inside the VPN that is not the sender's.
    RxSource, "rx_drop_source", ReversePath;
    /// A stream that makes no sense.
    RxStream, "rx_drop_stream", HeaderError;
    /// No memory on the way in.
    RxMemory, "rx_drop_memory", NoMemory;
    /// Not an IP packet, or not the one it was said to be.
    TxProtocol, "tx_drop_protocol", UnhandledProtocol;
    /// To an address that is no peer's.
    TxNoPeer, "tx_drop_no_peer", NoTunnelState;
    /// No key to encrypt with.
    TxNoKey, "tx_drop_no_key", NoTunnelState;
    /// The key has used up its packet ids.
    TxKeySpent, "tx_drop_key_spent", NoTunnelState;
    /// A burst could not be cut into packets.
    TxSegment, "tx_drop_segment", Segmentation;
    /// Encryption failed.
    TxCrypto, "tx_drop_crypto", SecurityCheck;
    /// No route to the peer.
    TxNoRoute, "tx_drop_no_route", NoRoute;
    /// Too many wait for the peer's TCP connection already, or it is down.
    TxQueueFull, "tx_drop_queue_full", FullRing;
    /// No memory on the way out.
    TxMemory, "tx_drop_memory", NoMemory;
}

/// How many packets were dropped, by cause.
pub struct DropCounters([Atomic<u64>; DropCause::NAMES.len()]);

impl DropCounters {
    /// None so far.
    pub const fn new() -> Self {
        Self([const { Atomic::new(0) }; DropCause::NAMES.len()])
    }

    /// How many for the cause with that number.
    pub fn get(&self, index: usize) -> u64 {
        self.0.get(index).map_or(0, |counter| counter.load(Relaxed))
    }

    fn count(&self, cause: DropCause) {
        // CAST: Fieldless; each cause has a counter.
        if let Some(counter) = self.0.get(cause as usize) {
            counter.add(1, Relaxed);
        }
    }
}

impl Default for DropCounters {
    fn default() -> Self {
        Self::new()
    }
}

/// Drops a received packet: the one place that frees and counts it.
#[cold]
pub fn drop_received(dev: &Device<Tunnel>, skb: SkBuff, cause: DropCause, bh: &BhDisabled) {
    count_unreceived(dev, 1, cause, bh);
    skb.drop_for(cause.reason());
}

/// Counts `packets` received packets that are lost already.
#[cold]
pub fn count_unreceived(dev: &Device<Tunnel>, packets: usize, cause: DropCause, bh: &BhDisabled) {
    for _ in 0..packets {
        dev.data().drops.count(cause);
        dev.count_rx_dropped(bh);
    }
}

/// Drops a packet that was to be sent: the one place that frees and counts it.
#[cold]
pub fn drop_sent(dev: &Device<Tunnel>, skb: SkBuff, cause: DropCause, bh: &BhDisabled) {
    count_unsent(dev, 1, cause, bh);
    skb.drop_for(cause.reason());
}

/// Counts `packets` packets that were to be sent and are lost already.
#[cold]
pub fn count_unsent(dev: &Device<Tunnel>, packets: usize, cause: DropCause, bh: &BhDisabled) {
    for _ in 0..packets {
        dev.data().drops.count(cause);
        dev.count_tx_dropped(bh);
    }
}

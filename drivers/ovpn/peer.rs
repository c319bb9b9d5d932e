// SPDX-License-Identifier: GPL-2.0

//! The other end of a tunnel.

pub mod endpoint;
pub mod keepalive;
mod location;
pub mod path;
pub mod table;
pub mod timer;
mod vpn;

pub use vpn::VpnAddresses;

use crate::{
    crypto::slots::KeySlots,
    device::Tunnel,
    netlink::rules::PeerSettings,
    stats::BothWays,
    transport::{
        Attachment,
        Transport, //
    },
    wire::PeerId, //
};
use endpoint::{
    Endpoint,
    TransportKey, //
};
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
    alloc::Gfp,
    net::{
        device::{
            Device,
            DeviceRef, //
        },
        udp_tunnel::SendParams, //
    },
    new_spinlock_bh,
    sync::{
        rcu::{
            RcuArc,
            RcuCell, //
        },
        spinlock_bh::SpinLockBh, //
    },
    time,
    uapi::ovpn::*,
    workqueue::DelayedWork, //
};
use path::Path;

/// Why a peer was deleted, as the daemon is told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteReason {
    /// The interface is going away, or in P2P mode another peer has taken the place.
    Teardown,
    /// The daemon asked for it.
    Userspace,
    /// Nothing was heard from it for too long.
    Expired,
    /// Its socket was closed.
    TransportDisconnect,
    /// Its TCP stream makes no sense, or its connection is down.
    TransportError,
}

impl DeleteReason {
    /// Its number in the netlink interface.
    pub fn to_uapi(self) -> u32 {
        match self {
            Self::Teardown => OVPN_DEL_PEER_REASON_TEARDOWN,
            Self::Userspace => OVPN_DEL_PEER_REASON_USERSPACE,
            Self::Expired => OVPN_DEL_PEER_REASON_EXPIRED,
            Self::TransportDisconnect => OVPN_DEL_PEER_REASON_TRANSPORT_DISCONNECT,
            Self::TransportError => OVPN_DEL_PEER_REASON_TRANSPORT_ERROR,
        }
    }
}

/// Whether and how a peer is found by its transport address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Listed {
    /// Not yet, or in P2P mode.
    No,
    /// Under this one.
    At(TransportKey),
    /// Not any more, for ever.
    Deleted,
}

/// What changes in the life of a peer, but not with each packet.
struct State {
    vpn: VpnAddresses,
    /// Seconds, as they were set. Either may be 0, which turns keepalives off.
    keepalive: (u32, u32),
    listed: Listed,
    /// Given back when the peer is deleted.
    attachment: Option<Attachment>,
}

/// A peer.
///
/// Lock order: the lock of the peer table, then `state`. The packet path takes `state` only when the
/// peer has moved.
#[pin_data]
pub struct Peer {
    id: PeerId,
    /// What the peer calls us.
    tx_id: Atomic<u32>,
    tunnel: DeviceRef<Tunnel>,
    transport: Transport,
    /// Where the peer is. Replaced under `state`.
    path: RcuCell<Path>,
    /// Its keys.
    #[pin]
    pub keys: KeySlots,
    /// Records and their bytes, without the headers of the transport.
    pub link: BothWays,
    /// Packets and their bytes, as they are on the tunnel interface.
    pub vpn: BothWays,
    /// Nanoseconds of the boot time clock.
    last_sent: Atomic<u64>,
    /// Nanoseconds of the boot time clock.
    last_received: Atomic<u64>,
    /// Whether nothing can reach it any more by its transport. The timer will delete it.
    failed: Atomic<bool>,
    #[pin]
    state: SpinLockBh<State>,
    #[pin]
    timer: DelayedWork,
}

kernel_ext::impl_has_delayed_work!(Peer, timer);

impl Peer {
    /// A peer that nobody can find yet. Process context.
    pub fn new(
        dev: &Device<Tunnel>,
        settings: &PeerSettings,
        attachment: Attachment,
    ) -> Result<RcuArc<Self>> {
        let transport = attachment.transport();
        let path = match (&transport, settings.endpoint) {
            (Transport::Udp(socket), Some(endpoint)) => {
                let params = SendParams::of(socket.sock());
                Some(Path::new(endpoint, &params, Gfp::Kernel)?)
            }
            _ => None,
        };
        let now = time::boottime_coarse();
        let state = State {
            vpn: VpnAddresses::default().with(settings),
            keepalive: settings.keepalive.unwrap_or((0, 0)),
            listed: Listed::No,
            attachment: Some(attachment),
        };
        RcuArc::pin_init(
            try_pin_init!(Self {
                id: settings.id,
                tx_id: Atomic::new(settings.tx_id.unwrap_or(settings.id).get()),
                tunnel: DeviceRef::new(dev),
                transport,
                path: RcuCell::new(path),
                keys <- KeySlots::new(),
                link: BothWays::new(),
                vpn: BothWays::new(),
                last_sent: Atomic::new(now),
                last_received: Atomic::new(now),
                failed: Atomic::new(false),
                state <- new_spinlock_bh!(state, "ovpn_peer"),
                timer <- DelayedWork::new::<Self>(),
            }? Error),
            GFP_KERNEL,
        )
    }

    /// Its number, in records that we receive.
    #[inline]
    pub fn id(&self) -> PeerId {
        self.id
    }

    /// Its number, in records that we send.
    #[inline]
    pub fn tx_id(&self) -> PeerId {
        PeerId::new(self.tx_id.load(Relaxed)).unwrap_or(self.id)
    }

    /// Sets its number in records that we send.
    pub fn set_tx_id(&self, id: PeerId) {
        self.tx_id.store(id.get(), Relaxed);
    }

    /// What it is reached through.
    #[inline]
    pub fn transport(&self) -> &Transport {
        &self.transport
    }

    /// Gives the socket back, if that has not been done. Process context, may sleep.
    pub fn detach(&self) {
        let attachment = self.state.lock().attachment.take();
        // Sleeps, hence not under the lock.
        drop(attachment);
    }

    /// The addresses that it has inside the VPN.
    pub fn vpn_addresses(&self) -> VpnAddresses {
        self.state.lock().vpn
    }

    /// Interval and timeout of keepalives in seconds, as they were set.
    pub fn keepalive(&self) -> (u32, u32) {
        self.state.lock().keepalive
    }

    /// Where it is.
    pub fn endpoint(&self, guard: &Guard) -> Option<Endpoint> {
        self.path.get(guard).map(|path| path.endpoint())
    }

    /// A record of it has arrived, `now` nanoseconds after boot.
    #[inline]
    pub fn heard(&self, now: u64) {
        self.last_received.store(now, Relaxed);
    }

    /// A record to it was sent.
    #[inline]
    pub fn spoke(&self) {
        self.last_sent.store(time::boottime_coarse(), Relaxed);
    }
}

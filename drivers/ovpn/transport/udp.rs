// SPDX-License-Identifier: GPL-2.0

//! Records in UDP datagrams. One socket serves all peers that the daemon talks to through it.

mod way;

pub use way::Way;

use super::gro as rule;
use crate::{
    device::Tunnel,
    headers::UDP_LEN,
    peer::{
        endpoint::Endpoint,
        Peer, //
    },
    rx,
    stats::{
        count_unreceived,
        drop_received,
        DropCause, //
    },
    wire::{
        Datagram,
        Header,
        OPCODE_LEN, //
    },
};
use core::net::SocketAddrV4;
use kernel::{
    module::this_module,
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
    bh::BhDisabled,
    net::{
        device::{
            Device,
            DeviceRef,
            Features, //
        },
        gro::{
            self,
            Join, //
        },
        skbuff::{
            Records,
            SkBuff,
            UdpFlow, //
        },
        udp_tunnel::{
            Encap,
            UdpSocket,
            Verdict, //
        },
    },
    sync::rcu::RcuBorrow,
    uapi, //
};

/// What we keep per socket.
pub struct Carrier {
    /// The interface that it belongs to.
    pub dev: DeviceRef<Tunnel>,
    /// How many records came alone since some came together, up to a limit. A hint.
    alone: Atomic<u32>,
}

impl Carrier {
    /// For an interface.
    pub fn new(dev: &Device<Tunnel>) -> Self {
        Self {
            dev: DeviceRef::new(dev),
            alone: Atomic::new(0),
        }
    }

    /// A record came alone. Written to only if that is news: all CPUs share it.
    #[inline]
    fn came_alone(&self) {
        let alone = self.alone.load(Relaxed);
        if alone < rule::PATIENCE {
            self.alone.store(alone.wrapping_add(1), Relaxed);
        }
    }

    /// Records came together.
    #[inline]
    fn came_together(&self) {
        if self.alone.load(Relaxed) != 0 {
            self.alone.store(0, Relaxed);
        }
    }
}

/// A socket that carries records.
pub type Socket = UdpSocket<Carrier>;

impl Encap for Carrier {
    const TYPE: u32 = uapi::UDP_ENCAP_OVPNINUDP;
    const MODULE: &'static ThisModule = this_module::<crate::LocalModule>();

    /// Records wait for each other unless that was switched off (`ethtool -K tun0 rx-gro-hw off`).
    #[inline]
    fn join(socket: &Socket, new: &gro::Datagram, held: &gro::Held) -> Join {
        let carrier = socket.data();
        if !carrier.dev.has(Features::RECEIVE_MERGED) {
            return Join::Pass;
        }
        let alone = carrier.alone.load(Relaxed);
        rule::judge(new, held, alone)
    }

    #[inline]
    fn receive(
        socket: RcuBorrow<'_, Socket>,
        mut skb: SkBuff,
        guard: &Guard,
        bh: &BhDisabled,
    ) -> Verdict {
        let carrier = socket.get().data();
        let dev = &*carrier.dev;
        carrier.came_alone();
        let header = match classify(&mut skb) {
            Some(Datagram::DataV2(header)) => header,
            // Of the control channel, or of a version that the daemon may know.
            Some(Datagram::DataV1 | Datagram::Other) => return Verdict::Deliver(skb),
            None => {
                drop_received(dev, skb, DropCause::RxShort, bh);
                return Verdict::Consumed;
            }
        };
        let seen = skb.udp_flow().map(endpoint);
        let Some(peer) = sender(dev.data(), header, seen.as_ref(), guard) else {
            drop_received(dev, skb, DropCause::RxNoPeer, bh);
            return Verdict::Consumed;
        };
        if skb.pull(UDP_LEN) {
            rx::receive(dev, peer, header, skb, seen, guard, bh);
        } else {
            drop_received(dev, skb, DropCause::RxShort, bh);
        }
        Verdict::Consumed
    }

    fn receive_many(
        socket: RcuBorrow<'_, Socket>,
        records: Records,
        guard: &Guard,
        bh: &BhDisabled,
    ) {
        let carrier = socket.get().data();
        let dev = &*carrier.dev;
        carrier.came_together();
        let seen = records.udp_flow().map(endpoint);
        let first = records.iter().next().and_then(|record| record.first());
        let peer = match first.map(Datagram::classify) {
            Some(Datagram::DataV2(header)) => {
                sender(dev.data(), header, seen.as_ref(), guard).map(|peer| (peer, header))
            }
            _ => None,
        };
        match peer {
            Some((peer, header)) => {
                rx::batch::receive(dev, peer, header, &records, seen, guard, bh);
            }
            None => count_unreceived(dev, records.count(), DropCause::RxNoPeer, bh),
        }
        records.consume();
    }

    fn closed(socket: &Socket) {
        let dev = &*socket.data().dev;
        dev.data().peers.socket_closed(dev, socket.sock());
    }
}

/// What kind of datagram this is, by the first bytes behind the UDP header.
#[inline]
fn classify(skb: &mut SkBuff) -> Option<Datagram> {
    if !skb.make_linear(UDP_LEN + OPCODE_LEN) {
        return None;
    }
    let first = skb.head().get(UDP_LEN..)?.first_chunk()?;
    Some(Datagram::classify(*first))
}

/// The peer that a record is from: by its id, or if the sender does not know that, by its address.
#[inline]
fn sender<'g>(
    tunnel: &Tunnel,
    header: Header,
    seen: Option<&Endpoint>,
    guard: &'g Guard,
) -> Option<RcuBorrow<'g, Peer>> {
    if header.peer_id.is_undef() {
        tunnel.peers.by_transport(&seen?.key(), guard)
    } else {
        tunnel.peers.by_id(header.peer_id, guard)
    }
}

/// The two ends of a received datagram, as we would answer it.
#[inline]
fn endpoint(flow: UdpFlow) -> Endpoint {
    match flow {
        UdpFlow::V4 {
            source,
            port,
            destination,
        } => Endpoint::V4 {
            remote: SocketAddrV4::new(source, port),
            local: destination,
        },
        UdpFlow::V6 {
            source,
            port,
            destination,
            iif,
        } => Endpoint::V6 {
            remote: source,
            port,
            scope_id: iif,
            local: destination,
        },
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Records in a TCP stream. Each peer has a socket of its own.

pub mod frame;

use crate::{
    device::Tunnel,
    peer::{
        DeleteReason,
        Peer, //
    },
    rx,
    stats::{
        count_unreceived,
        drop_received,
        drop_sent,
        DropCause, //
    },
    wire::{
        Datagram,
        OPCODE_LEN,
        OVERHEAD, //
    },
};
use frame::PREFIX_LEN;
use kernel::{
    module::this_module,
    prelude::*,
    sync::rcu::{
        self,
        Guard, //
    },
};
use kernel_ext::{
    bh::{
        BhDisabled,
        BhGuard, //
    },
    net::{
        device::{
            Device,
            DeviceRef, //
        },
        skbuff::{
            Queue,
            SkBuff, //
        },
        tcp::{
            Broken,
            More,
            Protocol,
            Stream,
            StreamBytes,
            TcpSocket,
            Verdict, //
        },
    },
    sync::rcu::{
        RcuArc,
        RcuBorrow,
        RcuCell, //
    },
};

static PROTOCOL: Protocol<Carrier> = Protocol::new(c"ovpn");

/// What we keep per socket.
pub struct Carrier {
    dev: DeviceRef<Tunnel>,
    /// The peer at the other end, while the socket is attached.
    peer: RcuCell<Peer>,
}

/// A socket that carries records.
pub type Socket = TcpSocket<Carrier>;

impl Carrier {
    /// For a socket of `dev`, with no peer yet.
    pub fn new(dev: &Device<Tunnel>) -> Self {
        Self {
            dev: DeviceRef::new(dev),
            peer: RcuCell::new(None),
        }
    }

    /// Says who is at the other end.
    pub fn connect(&self, peer: &RcuArc<Peer>) {
        drop(self.peer.replace(Some(peer.clone())));
    }
}

impl Stream for Carrier {
    const MODULE: &'static ThisModule = this_module::<crate::LocalModule>();

    type Prefix = [u8; PREFIX_LEN];

    #[inline]
    fn protocol() -> &'static Protocol<Self> {
        &PROTOCOL
    }

    #[inline]
    fn message_len(prefix: [u8; PREFIX_LEN]) -> Option<u32> {
        frame::frame_len(prefix)
    }

    #[inline]
    fn receive(socket: &Socket, message: StreamBytes, guard: &Guard, bh: &BhDisabled) -> Verdict {
        let mut first = [0; OPCODE_LEN];
        if !message.copy_to(PREFIX_LEN, &mut first) {
            return Verdict::Consumed;
        }
        // Of the control channel, or of a version that the daemon may know.
        let Datagram::DataV2(header) = Datagram::classify(first) else {
            return Verdict::Deliver(message);
        };
        let carrier = socket.data();
        let dev = &*carrier.dev;
        let Some(peer) = carrier.peer.get(guard) else {
            drop_received(dev, message.into_packet(), DropCause::RxNoPeer, bh);
            return Verdict::Consumed;
        };
        // Out of the stream's pages, which other records share, to where it can be decrypted and
        // kept.
        let Some(record) = message.to_packet(PREFIX_LEN) else {
            drop_received(dev, message.into_packet(), DropCause::RxMemory, bh);
            return Verdict::Consumed;
        };
        message.into_packet().consume();
        rx::receive(dev, peer, header, record, None, guard, bh);
        Verdict::Consumed
    }

    #[inline]
    fn sent(&self, message: &SkBuff, bh: &BhDisabled) {
        let head = message.head().get(PREFIX_LEN..);
        let is_record = head
            .and_then(<[u8]>::first_chunk)
            .is_some_and(|first| matches!(Datagram::classify(*first), Datagram::DataV2(_)));
        if is_record {
            let len = message.len().saturating_sub(PREFIX_LEN + OVERHEAD);
            self.dev.count_tx(len, bh);
        }
    }

    fn lost(&self, bh: &BhDisabled) {
        count_unreceived(&self.dev, 1, DropCause::RxMemory, bh);
    }

    fn broken(socket: &Socket, error: Broken) {
        let carrier = socket.data();
        if error == Broken::Received {
            count_unreceived(&carrier.dev, 1, DropCause::RxStream, &BhGuard::new());
        }
        let guard = rcu::read_lock();
        if let Some(peer) = carrier.peer.get(&guard).and_then(RcuBorrow::to_owned) {
            Peer::fail_transport(&peer);
        }
    }

    fn closed(socket: &Socket) {
        let carrier = socket.data();
        let peer = {
            let guard = rcu::read_lock();
            carrier.peer.get(&guard).and_then(RcuBorrow::to_owned)
        };
        if let Some(peer) = peer {
            let peers = &carrier.dev.data().peers;
            peers.delete(&carrier.dev, &peer, DeleteReason::TransportDisconnect);
        }
    }

    fn detached(&self, unsent: &Queue) {
        let bh = BhGuard::new();
        while let Some(skb) = unsent.pop() {
            drop_sent(&self.dev, skb, DropCause::TxNoPeer, &bh);
        }
        drop(self.peer.replace(None));
    }
}

/// Sends `peer` records that are made one after the other. TCP does not begin a segment for what is
/// not the last of them, but fills up the one before.
pub fn send_all(
    dev: &Device<Tunnel>,
    peer: &Peer,
    socket: &RcuArc<Socket>,
    records: impl Iterator<Item = SkBuff>,
    bh: &BhDisabled,
) {
    let mut records = records.peekable();
    while let Some(record) = records.next() {
        let more = match records.peek() {
            Some(_) => More::Yes,
            None => More::No,
        };
        send(dev, peer, socket, record, more, bh);
    }
}

/// Sends `peer` the record in `skb`.
#[inline]
pub fn send(
    dev: &Device<Tunnel>,
    peer: &Peer,
    socket: &RcuArc<Socket>,
    mut skb: SkBuff,
    more: More,
    bh: &BhDisabled,
) {
    let len = skb.len();
    let Some(prefix) = frame::prefix(len) else {
        return drop_sent(dev, skb, DropCause::TxProtocol, bh);
    };
    match skb.push(PREFIX_LEN) {
        Some(room) => room.copy_from_slice(&prefix),
        None => return drop_sent(dev, skb, DropCause::TxMemory, bh),
    }
    match Socket::send(socket, skb, more, bh) {
        Ok(()) => {
            peer.link.tx.count(len);
            peer.spoke();
        }
        Err(skb) => drop_sent(dev, skb, DropCause::TxQueueFull, bh),
    }
}

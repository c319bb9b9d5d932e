// SPDX-License-Identifier: GPL-2.0

//! UDP sockets that carry a tunnel: who gets their datagrams, and how to send through them.
//!
//! A tunnel takes a socket of user space by an [`Attachment`]. From then on each datagram that
//! arrives is shown to [`Encap::receive`] first. A socket can have many users of one tunnel; when
//! the last [`Attachment`] goes, the socket is a plain one again.
//!
//! C header: [`include/net/udp_tunnel.h`](srctree/include/net/udp_tunnel.h)

mod attach;
mod gro;
mod xmit;

pub use attach::{
    AttachError,
    Attachment,
    UdpSocket, //
};
pub use xmit::SendParams;

use super::{
    gro::{
        Datagram,
        Held,
        Join, //
    },
    skbuff::{
        Records,
        SkBuff, //
    }, //
};
use crate::{
    bh::BhDisabled,
    sync::rcu::{
        held,
        RcuBorrow, //
    },
};
use kernel::{
    ffi::c_int,
    prelude::*,
    sync::rcu, //
};
use ovpn_bindings as bindings;

/// What becomes of a datagram.
pub enum Verdict {
    /// The tunnel has used it.
    Consumed,
    /// It is for the socket's owner in user space.
    Deliver(SkBuff),
}

/// A tunnel on UDP sockets; `Self` is what it keeps per socket.
pub trait Encap: Send + Sync + Sized + 'static {
    /// The `UDP_ENCAP_*` number of the protocol.
    const TYPE: u32;

    /// The module, which stays loaded until all sockets that were ever attached are freed.
    const MODULE: &'static ThisModule;

    /// Whether a datagram for `socket` may wait for more of its flow. Softirq.
    fn join(socket: &UdpSocket<Self>, new: &Datagram, held: &Held) -> Join;

    /// A datagram has arrived, the UDP header first. Softirq.
    fn receive(
        socket: RcuBorrow<'_, UdpSocket<Self>>,
        skb: SkBuff,
        guard: &rcu::Guard,
        bh: &BhDisabled,
    ) -> Verdict;

    /// Datagrams of one flow that have waited for each other have arrived. Softirq.
    fn receive_many(
        socket: RcuBorrow<'_, UdpSocket<Self>>,
        datagrams: Records,
        guard: &rcu::Guard,
        bh: &BhDisabled,
    );

    /// User space has closed the socket: let go of all attachments. Process context, may sleep.
    fn closed(socket: &UdpSocket<Self>);
}

/// # Safety
///
/// As the core calls `encap_rcv`: in a softirq and an RCU section; unless 1 is returned, `skb` is handed over.
unsafe extern "C" fn receive<E: Encap>(
    sk: *mut bindings::sock,
    skb: *mut bindings::sk_buff,
) -> c_int {
    // SAFETY: As the core calls us: `sk` is valid, `skb` ours for now, RCU locked, and softirqs do
    // not nest.
    let (guard, socket, skb, bh) = unsafe {
        let guard = held();
        (
            guard,
            UdpSocket::<E>::of(sk, guard),
            SkBuff::from_raw(skb),
            BhDisabled::assert(),
        )
    };
    let verdict = match socket {
        Some(socket) if skb.is_gso() => receive_list(socket, skb, guard, &bh),
        Some(socket) => E::receive(socket, skb, guard, &bh),
        // It was detached a moment ago, and is a plain socket now.
        None => Verdict::Deliver(skb),
    };
    match verdict {
        Verdict::Consumed => 0,
        Verdict::Deliver(skb) => {
            // The core still has its pointer.
            let _ = skb.into_raw();
            1
        }
    }
}

/// Many datagrams. If something has torn the list that they were received as, the stack's own
/// segmentation puts it right.
fn receive_list<E: Encap>(
    socket: RcuBorrow<'_, UdpSocket<E>>,
    skb: SkBuff,
    guard: &rcu::Guard,
    bh: &BhDisabled,
) -> Verdict {
    match Records::of(skb) {
        Ok(datagrams) => E::receive_many(socket, datagrams, guard, bh),
        Err(skb) => {
            for datagram in skb.segment_received(socket.get().sock()) {
                // Only the core can give datagrams to user space; of a list it gets none.
                drop(E::receive(socket, datagram, guard, bh));
            }
        }
    }
    Verdict::Consumed
}

/// # Safety
///
/// As the core calls `encap_destroy`: in process context, the socket not locked.
unsafe extern "C" fn destroy<E: Encap>(sk: *mut bindings::sock) {
    let guard = rcu::read_lock();
    // SAFETY: `sk` is valid.
    let socket = unsafe { UdpSocket::<E>::of(sk, &guard) }.and_then(RcuBorrow::to_owned);
    drop(guard);
    if let Some(socket) = socket {
        E::closed(&socket);
    }
}

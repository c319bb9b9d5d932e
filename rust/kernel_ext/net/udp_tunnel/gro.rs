// SPDX-License-Identifier: GPL-2.0

//! The hook by which GRO asks a tunnel which datagrams may wait for each other.

use super::{
    Encap,
    UdpSocket, //
};
use crate::{
    net::gro::{
        ChecksumState,
        Datagram,
        Held,
        Join,
        List, //
    },
    sync::rcu::held, //
};
use core::ptr;
use ovpn_bindings as bindings;

/// # Safety
///
/// As the core calls `gro_receive` of a UDP socket: in a softirq and an RCU section, the UDP header
/// pulled. The socket may be any, tunnels of other kinds and plain ones included.
pub(super) unsafe extern "C" fn gro_receive<E: Encap>(
    sk: *mut bindings::sock,
    head: *mut bindings::list_head,
    skb: *mut bindings::sk_buff,
) -> *mut bindings::sk_buff {
    let mut gro = pin_init::zeroed();
    // SAFETY: The packet is in GRO, and `head` lists what is held.
    unsafe { bindings::gro_look(head, skb, &mut gro) };
    // SAFETY: The socket is valid, RCU locked.
    let join = unsafe { judge::<E>(sk, &gro) };
    // SAFETY: The packet is in GRO; what is held is a list if it is to be appended to.
    unsafe { carry_out(join, &gro, skb) }
}

/// # Safety
///
/// `sk` must be a valid UDP socket, and the caller in an RCU section.
#[inline]
unsafe fn judge<E: Encap>(sk: *mut bindings::sock, gro: &bindings::ovpn_gro) -> Join {
    // SAFETY: The caller's promise. A socket that has left us is a plain one.
    let socket = unsafe { UdpSocket::<E>::of(sk, held()) };
    match socket {
        Some(socket) if !gro.blocked => {
            E::join(socket.get(), &datagram(&gro.packet), &what_is_held(gro))
        }
        _ => Join::Pass,
    }
}

/// Does as told. Gives back what is held of the flow if that is to go up.
///
/// # Safety
///
/// `skb` must be in GRO, and `gro` be what was found then.
#[inline]
unsafe fn carry_out(
    join: Join,
    gro: &bindings::ovpn_gro,
    skb: *mut bindings::sk_buff,
) -> *mut bindings::sk_buff {
    // SAFETY: By the contract, for all of these.
    unsafe {
        match join {
            Join::Append | Join::Finish if gro.held.is_null() || !gro.is_list => {
                bindings::gro_pass(skb);
            }
            Join::Append | Join::Finish if bindings::gro_append(gro.held, skb) => {
                return match join {
                    Join::Append => ptr::null_mut(),
                    _ => gro.held,
                };
            }
            Join::Hold if bindings::gro_hold(skb) => {}
            _ => bindings::gro_pass(skb),
        }
    }
    gro.held
}

#[inline]
fn datagram(packet: &bindings::ovpn_gro_packet) -> Datagram {
    Datagram {
        first: packet.first.to_ne_bytes(),
        len: packet.len as usize,
        checksum: ChecksumState {
            summed: packet.summed,
            level: packet.level,
        },
    }
}

#[inline]
fn what_is_held(gro: &bindings::ovpn_gro) -> Held {
    if gro.held.is_null() {
        return Held::Nothing;
    }
    if !gro.is_list {
        return Held::Other;
    }
    Held::List(List {
        first: datagram(&gro.first),
        count: usize::from(gro.count),
        room: gro.limit.saturating_sub(gro.len) as usize,
        continued: !gro.other_headers,
    })
}

// SPDX-License-Identifier: GPL-2.0

//! What comes out of the stream.

use super::{
    Broken,
    Stream,
    TcpSocket,
    Verdict, //
};
use crate::{
    bh::{
        BhDisabled,
        BhGuard, //
    },
    net::strparser::{
        Callbacks,
        StreamBytes, //
    }, //
};
use core::mem::offset_of;
use kernel::{
    ffi::c_int,
    prelude::*,
    sync::rcu, //
};
use ovpn_bindings as bindings;

/// What the parser of a socket calls.
pub(super) fn callbacks<S: Stream>() -> Callbacks {
    Callbacks {
        parse: parse::<S>,
        message: message::<S>,
        abort: abort::<S>,
    }
}

/// # Safety
///
/// `parser` must be the one of a `TcpSocket<S>` that is attached.
unsafe fn socket_of<'a, S: Stream>(parser: *mut bindings::strparser) -> &'a TcpSocket<S> {
    // SAFETY: The caller's promise.
    unsafe {
        &*parser
            .wrapping_byte_sub(offset_of!(TcpSocket<S>, parser))
            .cast()
    }
}

/// # Safety
///
/// As a socket calls `sk_data_ready`: locked.
pub(super) unsafe extern "C" fn data_ready<S: Stream>(sk: *mut bindings::sock) {
    let guard = rcu::read_lock();
    // SAFETY: A TCP socket, as only these have this callback. It is locked.
    unsafe {
        if let Some(socket) = TcpSocket::<S>::of(sk, &guard) {
            socket.parser.data_ready();
        }
    }
}

/// # Safety
///
/// As a parser calls `parse_msg`.
unsafe extern "C" fn parse<S: Stream>(
    _parser: *mut bindings::strparser,
    skb: *mut bindings::sk_buff,
) -> c_int {
    let (mut offset, mut len) = (0, 0);
    let mut prefix = S::Prefix::default();
    let bytes = prefix.as_mut();
    // CAST (in this function): A few bytes; offsets are not negative.
    let wanted = bytes.len() as c_int;
    // SAFETY: The packet is valid, and the offset within it.
    unsafe {
        bindings::strp_msg(skb, &mut offset, &mut len);
        if (*skb).len < offset.saturating_add(wanted) as u32 {
            return 0;
        }
        if bindings::skb_copy_bits(skb, offset, bytes.as_mut_ptr().cast(), wanted) != 0 {
            return EBADMSG.to_errno();
        }
    }
    match S::message_len(prefix).map(c_int::try_from) {
        Some(Ok(len)) => len,
        _ => EBADMSG.to_errno(),
    }
}

/// # Safety
///
/// As a parser calls `rcv_msg`: the socket is locked, `skb` is handed over.
unsafe extern "C" fn message<S: Stream>(
    parser: *mut bindings::strparser,
    skb: *mut bindings::sk_buff,
) {
    // SAFETY: By the contract of `StreamParser`.
    let (socket, message) = unsafe { (socket_of::<S>(parser), StreamBytes::from_message(skb)) };
    // The parser may be at work in process context.
    let bh = BhGuard::new();
    let guard = rcu::read_lock();
    match S::receive(socket, message, &guard, &bh) {
        Verdict::Consumed => {}
        Verdict::Deliver(message) => socket.deliver(message, &bh),
    }
}

/// # Safety
///
/// As a parser calls `abort_parser`: the socket is locked.
unsafe extern "C" fn abort<S: Stream>(parser: *mut bindings::strparser, _error: c_int) {
    // SAFETY: By the contract of `StreamParser`.
    unsafe { socket_of::<S>(parser) }.give_up(Broken::Received);
}

impl<S: Stream> TcpSocket<S> {
    /// Lets user space read a message. The socket is locked. Without memory it is lost, and user
    /// space, which must expect that of a tunnel, will have it sent again.
    fn deliver(&self, message: StreamBytes, bh: &BhDisabled) {
        let sk = self.sock.as_ptr();
        let Some(skb) = message.to_packet(0) else {
            return self.data.lost(bh);
        };
        message.into_packet().consume();
        // SAFETY: The socket is locked, and the packet ours.
        if !unsafe { bindings::skb_charge_receiver(skb.as_ptr(), sk) } {
            return self.data.lost(bh);
        }
        self.unread.push(skb);
        if let Some(data_ready) = self.callbacks.data_ready {
            // SAFETY: The socket is valid, and locked.
            unsafe { data_ready(sk) };
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The socket's owner in user space: reads and writes messages, waits, closes.
//!
//! All functions here are called with the socket's file in use, in process context. For a socket
//! that is not attached any more they do what TCP's do.

use super::{
    attach::restore_functions,
    protocol::Family,
    Stream,
    TcpSocket, //
};
use crate::{
    net::{
        skbuff::SkBuff,
        sock::Locked, //
    },
    sync::rcu::{
        RcuArc,
        RcuBorrow, //
    },
};
use kernel::{
    error::{
        from_result,
        to_result, //
    },
    ffi::{
        c_int,
        c_long, //
    },
    prelude::*,
    sync::rcu, //
};
use ovpn_bindings as bindings;

/// The longest message that user space may write: a prefix of 16 bits, and what it can tell.
const MAX_WRITE: usize = 2 + 0xffff;

/// What is attached to `sk`.
///
/// # Safety
///
/// `sk` must be a valid TCP socket.
unsafe fn attached<S: Stream>(sk: *mut bindings::sock) -> Option<RcuArc<TcpSocket<S>>> {
    let guard = rcu::read_lock();
    // SAFETY: The caller's promise.
    unsafe { TcpSocket::of(sk, &guard) }.and_then(RcuBorrow::to_owned)
}

/// # Safety
///
/// As `sk_prot->recvmsg()` is called.
pub(super) unsafe extern "C" fn recvmsg<S: Stream>(
    sk: *mut bindings::sock,
    msg: *mut bindings::msghdr,
    len: usize,
    flags: c_int,
) -> c_int {
    // CAST: A flag.
    let errors = flags & bindings::MSG_ERRQUEUE as c_int != 0;
    // SAFETY: As called.
    let socket = unsafe { attached::<S>(sk) }.filter(|_| !errors);
    // SAFETY: As called.
    match socket.map(|socket| unsafe { socket.read(msg, len, flags) }) {
        Some(Err(error)) => error.to_errno(),
        Some(Ok(Some(copied))) => copied,
        Some(Ok(None)) | None => {
            // SAFETY: As called; TCP's own.
            match unsafe { (*Family::of(sk).tcp_proto()).recvmsg } {
                // SAFETY: As called.
                Some(recvmsg) => unsafe { recvmsg(sk, msg, len, flags) },
                None => EOPNOTSUPP.to_errno(),
            }
        }
    }
}

/// # Safety
///
/// As `sk_prot->sendmsg()` is called.
pub(super) unsafe extern "C" fn sendmsg<S: Stream>(
    sk: *mut bindings::sock,
    msg: *mut bindings::msghdr,
    len: usize,
) -> c_int {
    // SAFETY: As called.
    if let Some(socket) = unsafe { attached::<S>(sk) } {
        // SAFETY: As called. CAST: At most `MAX_WRITE`.
        return from_result(|| unsafe { socket.write(msg, len) }.map(|()| len as c_int));
    }
    // SAFETY: As called; TCP's own.
    match unsafe { (*Family::of(sk).tcp_proto()).sendmsg } {
        // SAFETY: As called.
        Some(sendmsg) => unsafe { sendmsg(sk, msg, len) },
        None => EOPNOTSUPP.to_errno(),
    }
}

/// # Safety
///
/// As `proto_ops->poll()` is called.
pub(super) unsafe extern "C" fn poll<S: Stream>(
    file: *mut bindings::file,
    socket: *mut bindings::socket,
    wait: *mut bindings::poll_table_struct,
) -> bindings::__poll_t {
    // CAST: One type in two crates.
    // SAFETY: As called: a socket with a `sk`.
    let sk: *mut bindings::sock = unsafe { (*socket).sk }.cast();
    // SAFETY: As called.
    if let Some(attached) = unsafe { attached::<S>(sk) } {
        // SAFETY: As called.
        let mask =
            unsafe { bindings::datagram_poll_queue(file, socket, wait, attached.unread.as_ptr()) };
        return match attached.has_room() {
            true => mask,
            false => mask & !bindings::OVPN_EPOLL_WRITABLE,
        };
    }
    // SAFETY: As called; TCP's own.
    match unsafe { (*Family::of(sk).tcp_ops()).poll } {
        // SAFETY: As called.
        Some(poll) => unsafe { poll(file, socket, wait) },
        None => 0,
    }
}

/// # Safety
///
/// As `sk_prot->disconnect()` is called: the socket is locked.
pub(super) unsafe extern "C" fn disconnect<S: Stream>(
    sk: *mut bindings::sock,
    flags: c_int,
) -> c_int {
    // SAFETY: As called.
    if unsafe { attached::<S>(sk) }.is_some() {
        return EBUSY.to_errno();
    }
    // SAFETY: As called; TCP's own.
    match unsafe { (*Family::of(sk).tcp_proto()).disconnect } {
        // SAFETY: As called.
        Some(disconnect) => unsafe { disconnect(sk, flags) },
        None => EOPNOTSUPP.to_errno(),
    }
}

/// # Safety
///
/// As `sk_prot->close()` is called: the file is on its way out, nobody else uses it.
pub(super) unsafe extern "C" fn close<S: Stream>(sk: *mut bindings::sock, timeout: c_long) {
    // SAFETY: As called.
    if let Some(socket) = unsafe { attached::<S>(sk) } {
        S::closed(&socket);
        // Somebody else may be at it, and not have come that far.
        socket.detach();
    }
    // SAFETY: As called; it is detached.
    unsafe {
        restore_functions::<S>(sk);
        if let Some(close) = (*Family::of(sk).tcp_proto()).close {
            close(sk, timeout);
        }
    }
}

impl<S: Stream> TcpSocket<S> {
    /// Reads of the first message, waiting for one if `flags` and the socket say so. How many bytes,
    /// 0 at the end of the stream, `None` if the socket is not attached any more.
    ///
    /// # Safety
    ///
    /// `msg` must be good for a read of `len` bytes.
    unsafe fn read(
        &self,
        msg: *mut bindings::msghdr,
        len: usize,
        flags: c_int,
    ) -> Result<Option<c_int>> {
        // CAST: Flags.
        let no_wait = flags & bindings::MSG_DONTWAIT as c_int != 0;
        // SAFETY: Valid.
        let mut timeout = unsafe { bindings::sock_rcvtimeo(self.sock.as_ptr(), no_wait) };
        let locked = self.sock.lock();
        loop {
            if !self.is_attached() {
                return Ok(None);
            }
            if let Some(skb) = self.unread.pop() {
                // SAFETY: The caller's promise.
                return unsafe { self.read_of(skb, msg, len, flags, &locked) }.map(Some);
            }
            // SAFETY: Locked.
            unsafe {
                to_result(bindings::sock_error(locked.as_ptr()))?;
                if u32::from((*locked.as_ptr()).sk_shutdown) & bindings::RCV_SHUTDOWN != 0 {
                    return Ok(Some(0));
                }
                if timeout == 0 {
                    return Err(EAGAIN);
                }
                to_result(bindings::sk_wait(locked.as_ptr(), &mut timeout))?;
            }
        }
    }

    /// Reads of a message, and leaves the rest for the next one who reads.
    ///
    /// # Safety
    ///
    /// As for [`Self::read`].
    unsafe fn read_of(
        &self,
        mut skb: SkBuff,
        msg: *mut bindings::msghdr,
        len: usize,
        flags: c_int,
        _locked: &Locked<'_>,
    ) -> Result<c_int> {
        // CAST (in this function): At most the length of a message.
        let copied = len.min(skb.len());
        // SAFETY: The caller's promise.
        let result = to_result(unsafe {
            bindings::skb_copy_datagram_msg(skb.as_ptr(), msg, copied as c_int)
        });
        let peek = flags & bindings::MSG_PEEK as c_int != 0;
        if peek || result.is_err() {
            self.unread.push_front(skb);
        } else if copied < skb.len() {
            // It is in one piece.
            let _ = skb.pull(copied);
            self.unread.push_front(skb);
        } else {
            skb.consume();
        }
        result.map(|()| copied as c_int)
    }

    /// Writes a message, waiting for room if the socket says so.
    ///
    /// # Safety
    ///
    /// `msg` must be good for a write of `len` bytes.
    unsafe fn write(&self, msg: *mut bindings::msghdr, len: usize) -> Result {
        // SAFETY: Valid.
        let flags = unsafe { (*msg).msg_flags };
        if flags & !(bindings::MSG_DONTWAIT | bindings::MSG_NOSIGNAL) != 0 {
            return Err(EOPNOTSUPP);
        }
        if len == 0 {
            return Ok(());
        }
        if len > MAX_WRITE {
            return Err(EMSGSIZE);
        }
        // SAFETY: The caller's promise.
        let skb = unsafe { SkBuff::from_user(msg, len)? };
        let no_wait = flags & bindings::MSG_DONTWAIT != 0;
        // SAFETY: Valid.
        let mut timeout = unsafe { bindings::sock_sndtimeo(self.sock.as_ptr(), no_wait) };
        let locked = self.sock.lock();
        let sk = locked.as_ptr();
        loop {
            // SAFETY: Locked.
            let is_down = unsafe {
                (*sk).sk_err != 0 || u32::from((*sk).sk_shutdown) & bindings::SEND_SHUTDOWN != 0
            };
            if is_down || !self.is_attached() {
                // SAFETY: Locked. CAST: Flags.
                let error =
                    unsafe { bindings::sk_stream_error(sk, flags as c_int, EPIPE.to_errno()) };
                return to_result(error);
            }
            self.send_waiting(&locked.owned());
            if self.has_room() {
                return self.send_for_user(skb, &locked.owned()).map_err(|_| EPIPE);
            }
            if timeout == 0 {
                return Err(EAGAIN);
            }
            // SAFETY: Locked.
            to_result(unsafe { bindings::sk_wait(sk, &mut timeout) })?;
        }
    }
}

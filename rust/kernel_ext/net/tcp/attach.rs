// SPDX-License-Identifier: GPL-2.0

//! Taking a socket over, and giving it back.

use super::{
    protocol::Family,
    receive,
    send,
    SavedCallbacks,
    Stream,
    TcpSocket, //
};
use crate::{
    net::{
        skbuff::Queue,
        sock::{
            Locked,
            Protocol as SocketProtocol,
            SocketFile, //
        },
        strparser::StreamParser, //
    },
    sync::rcu::RcuArc,
    workqueue::DelayedWork, //
};
use core::ptr;
use kernel::{
    prelude::*,
    sync::atomic::{
        Atomic,
        Relaxed, //
    },
};
use ovpn_bindings as bindings;

/// Why a socket could not be attached.
#[derive(Debug)]
pub enum AttachError {
    /// Not a TCP socket.
    NotTcp,
    /// Not connected, or not any more.
    NotConnected,
    /// Taken by somebody else, or by us before.
    Busy,
    /// No memory, or the tunnel is going away.
    Failed(Error),
}

impl From<Error> for AttachError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

/// The right to use a socket that a tunnel has taken over. Dropping it gives the socket back, which
/// sleeps: drop it in process context.
pub struct Attachment<S: Stream>(RcuArc<TcpSocket<S>>);

impl<S: Stream> Attachment<S> {
    /// Takes `file`'s socket over. No message comes before [`TcpSocket::start`].
    ///
    /// Process context, may sleep.
    pub fn new(file: &SocketFile, data: S) -> Result<Self, AttachError> {
        if file.protocol() != SocketProtocol::Tcp {
            return Err(AttachError::NotTcp);
        }
        if !S::protocol().is_ready() {
            return Err(AttachError::Failed(ENODEV));
        }
        let sock = file.sock();
        let locked = sock.lock();
        let sk = locked.as_ptr();
        // SAFETY: A TCP socket that is locked.
        unsafe { check::<S>(file, sk)? };
        // SAFETY: The socket is locked.
        let callbacks = unsafe {
            SavedCallbacks {
                data_ready: (*sk).sk_data_ready,
                write_space: (*sk).sk_write_space,
            }
        };
        let socket = RcuArc::pin_init(
            try_pin_init!(TcpSocket {
                sock: file.sock(),
                attached: Atomic::new(true),
                broken: Atomic::new(false),
                // SAFETY: The socket outlives `sock`. `detach` stops the parser.
                parser <- unsafe { StreamParser::new(sk, receive::callbacks::<S>()) },
                unread <- Queue::new(),
                unsent <- Queue::new(),
                begun: Atomic::new(0),
                work <- DelayedWork::new::<TcpSocket<S>>(),
                callbacks,
                data,
            }? Error),
            GFP_KERNEL,
        )?;
        // SAFETY: Checked and locked; the file is open.
        unsafe { replace_functions::<S>(file, sk)? };
        install(&locked, &socket);
        Ok(Self(socket))
    }

    /// The socket, for the packet path.
    pub fn socket(&self) -> RcuArc<TcpSocket<S>> {
        self.0.clone()
    }
}

impl<S: Stream> Drop for Attachment<S> {
    fn drop(&mut self) {
        self.0.detach();
    }
}

/// Whether the socket is a plain one that is connected, or one that we had before.
///
/// # Safety
///
/// `sk` must be the TCP socket of `file`, and locked.
unsafe fn check<S: Stream>(file: &SocketFile, sk: *mut bindings::sock) -> Result<(), AttachError> {
    // SAFETY: The caller's promise; the RCU section is for the accessors.
    let (is_plain, is_used, state) = unsafe {
        let _guard = kernel::sync::rcu::read_lock();
        let family = Family::of(sk);
        let proto: *mut bindings::proto = (*sk).__sk_common.skc_prot;
        let ops = (*file.as_ptr()).ops;
        let ulp = bindings::tcp_ulp(sk);
        let is_ours = S::protocol().is_ulp(ulp);
        let is_plain = match is_ours {
            true => ptr::eq(proto, S::protocol().proto(family)),
            false => {
                ulp.is_null()
                    && ptr::eq(proto, family.tcp_proto())
                    && ptr::eq(ops, family.tcp_ops())
            }
        };
        let is_used = !bindings::sk_user_data(sk).is_null()
            || (is_ours && !bindings::tcp_ulp_data(sk).is_null());
        (is_plain, is_used, (*sk).__sk_common.skc_state)
    };
    if is_used || !is_plain {
        return Err(AttachError::Busy);
    }
    // CAST: A small number.
    if u32::from(state) != bindings::OVPN_TCP_ESTABLISHED {
        return Err(AttachError::NotConnected);
    }
    Ok(())
}

/// Puts our functions in the place of TCP's, for as long as the file is open.
///
/// # Safety
///
/// As for [`check`], which must have found nothing wrong.
unsafe fn replace_functions<S: Stream>(file: &SocketFile, sk: *mut bindings::sock) -> Result {
    // SAFETY: The caller's promise.
    unsafe {
        if S::protocol().is_ulp(bindings::tcp_ulp(sk)) {
            return Ok(());
        }
        // TCP is part of the kernel, so the file had no reference that would be lost here.
        if !bindings::try_module_get(S::MODULE.as_ptr().cast()) {
            return Err(ENODEV);
        }
        let family = Family::of(sk);
        bindings::tcp_set_ulp(sk, S::protocol().ulp(), ptr::null_mut());
        ptr::write_volatile(
            &raw mut (*sk).__sk_common.skc_prot,
            S::protocol().proto(family),
        );
        ptr::write_volatile(&raw mut (*file.as_ptr()).ops, S::protocol().ops(family));
    }
    Ok(())
}

/// Lets the socket call `socket`'s tunnel.
fn install<S: Stream>(locked: &Locked<'_>, socket: &RcuArc<TcpSocket<S>>) {
    let sk = locked.as_ptr();
    // The socket owns a reference until it is detached.
    let data = socket.clone().into_raw().cast();
    // SAFETY: The socket is locked, and its functions are ours.
    unsafe {
        // The stream is also written to in softirqs, which must not use memory of the task.
        (*sk).sk_allocation = bindings::OVPN_GFP_ATOMIC;
        (*sk).sk_use_task_frag = false;
        bindings::tcp_set_ulp(sk, S::protocol().ulp(), data);
        bindings::sk_set_callbacks(
            sk,
            &bindings::ovpn_sk_callbacks {
                data_ready: Some(receive::data_ready::<S>),
                write_space: Some(send::write_space::<S>),
                // Nobody else takes the socket while there is something.
                user_data: data,
            },
        );
    }
}

/// Gives TCP's functions back to a socket that is being closed.
///
/// # Safety
///
/// `sk` must be a TCP socket with our functions, detached, whose file nobody uses any more.
pub(super) unsafe fn restore_functions<S: Stream>(sk: *mut bindings::sock) {
    // SAFETY: The caller's promise.
    unsafe {
        bindings::lock_sock_nested(sk, 0);
        if S::protocol().is_ulp(bindings::tcp_ulp(sk)) {
            bindings::tcp_set_ulp(sk, ptr::null(), ptr::null_mut());
            let proto = Family::of(sk).tcp_proto();
            ptr::write_volatile(&raw mut (*sk).__sk_common.skc_prot, proto);
        }
        bindings::release_sock(sk);
    }
}

impl<S: Stream> TcpSocket<S> {
    /// Gives the socket back to its owner, if that has not been done. Process context, may sleep.
    pub(super) fn detach(&self) {
        let locked = self.sock.lock();
        if !self.is_attached() {
            return;
        }
        self.attached.store(false, Relaxed);
        let sk = locked.as_ptr();
        // SAFETY: The socket is locked, and attached until here.
        unsafe {
            bindings::tcp_set_ulp(sk, S::protocol().ulp(), ptr::null_mut());
            bindings::sk_set_callbacks(
                sk,
                &bindings::ovpn_sk_callbacks {
                    data_ready: self.callbacks.data_ready,
                    write_space: self.callbacks.write_space,
                    user_data: ptr::null_mut(),
                },
            );
            (*sk).sk_allocation = bindings::OVPN_GFP_KERNEL;
            (*sk).sk_use_task_frag = true;
            self.parser.stop();
        }
        // Charged to the socket, hence freed with the lock held.
        while let Some(skb) = self.unread.pop() {
            drop(skb);
        }
        drop(locked);
        // SAFETY: Stopped; this is not called by a message.
        unsafe { self.parser.finish() };
        self.wake();
        self.data.detached(&self.unsent);
        // SAFETY: The reference that the socket owned.
        drop(unsafe { RcuArc::from_raw(ptr::from_ref(self).cast_mut()) });
    }

    /// Lets who waits for the socket look again.
    pub(super) fn wake(&self) {
        let sk = self.sock.as_ptr();
        for callback in [self.callbacks.data_ready, self.callbacks.write_space]
            .into_iter()
            .flatten()
        {
            // SAFETY: The socket is valid.
            unsafe { callback(sk) };
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! The tables of functions of a socket: the kernel's own for TCP, with ours in place of some.

use super::{
    send,
    user,
    Stream, //
};
use core::{
    cell::UnsafeCell,
    marker::PhantomData,
    mem::MaybeUninit,
    ptr, //
};
use kernel::{
    prelude::*,
    sync::atomic::{
        Acquire,
        Atomic,
        Release, //
    },
};
use ovpn_bindings as bindings;

/// A socket's `struct proto` and `struct proto_ops`.
#[repr(C)]
struct Functions {
    proto: bindings::proto,
    ops: bindings::proto_ops,
}

/// Where the functions for the sockets of `S` are. A module has a static one, and registers it
/// before it attaches sockets.
pub struct Protocol<S> {
    v4: UnsafeCell<MaybeUninit<Functions>>,
    v6: UnsafeCell<MaybeUninit<Functions>>,
    /// Marks our sockets, and keeps other layers off them.
    ulp: bindings::tcp_ulp_ops,
    is_ready: Atomic<bool>,
    _stream: PhantomData<fn() -> S>,
}

// SAFETY: Written once, before `is_ready` is set and anybody reads.
unsafe impl<S> Sync for Protocol<S> {}

/// The families that TCP is spoken over.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    V4,
    V6,
}

impl Family {
    /// The family of `sk`.
    ///
    /// # Safety
    ///
    /// `sk` must be a valid TCP socket.
    #[inline]
    pub(super) unsafe fn of(sk: *mut bindings::sock) -> Self {
        // SAFETY: The caller's promise. It does not change while our functions are in place.
        match u32::from(unsafe { (*sk).__sk_common.skc_family }) {
            bindings::AF_INET6 => Self::V6,
            _ => Self::V4,
        }
    }

    /// TCP's own functions.
    #[inline]
    pub(super) fn tcp_proto(self) -> *mut bindings::proto {
        match self {
            Self::V4 => &raw mut bindings::tcp_prot,
            Self::V6 => &raw mut bindings::tcpv6_prot,
        }
    }

    /// As above.
    #[inline]
    pub(super) fn tcp_ops(self) -> *const bindings::proto_ops {
        match self {
            Self::V4 => &raw const bindings::inet_stream_ops,
            Self::V6 => &raw const bindings::inet6_stream_ops,
        }
    }
}

impl<S: Stream> Protocol<S> {
    /// Functions that are not yet there. `name` is what `ss --info` shows for a socket, of at most 15
    /// bytes.
    pub const fn new(name: &'static CStr) -> Self {
        let mut ulp: bindings::tcp_ulp_ops = pin_init::zeroed();
        let name = name.to_bytes_with_nul();
        assert!(name.len() <= ulp.name.len());
        let mut at = 0;
        while at < name.len() {
            ulp.name[at] = name[at];
            at += 1;
        }
        Self {
            v4: UnsafeCell::new(MaybeUninit::zeroed()),
            v6: UnsafeCell::new(MaybeUninit::zeroed()),
            ulp,
            is_ready: Atomic::new(false),
            _stream: PhantomData,
        }
    }

    pub(super) fn is_ready(&self) -> bool {
        self.is_ready.load(Acquire)
    }

    #[inline]
    pub(super) fn ulp(&self) -> *const bindings::tcp_ulp_ops {
        &self.ulp
    }

    #[inline]
    pub(super) fn is_ulp(&self, ulp: *const bindings::tcp_ulp_ops) -> bool {
        ptr::eq(ulp, &self.ulp)
    }

    fn functions(&self, family: Family) -> *mut Functions {
        match family {
            Family::V4 => self.v4.get().cast(),
            Family::V6 => self.v6.get().cast(),
        }
    }

    pub(super) fn proto(&self, family: Family) -> *mut bindings::proto {
        // SAFETY: In bounds.
        unsafe { &raw mut (*self.functions(family)).proto }
    }

    pub(super) fn ops(&self, family: Family) -> *const bindings::proto_ops {
        // SAFETY: In bounds.
        unsafe { &raw const (*self.functions(family)).ops }
    }

    /// Writes the functions of a family.
    ///
    /// # Safety
    ///
    /// Nobody must use them yet.
    unsafe fn fill(&self, family: Family) {
        // SAFETY: The kernel's own are never changed after boot; ours nobody uses.
        unsafe {
            let proto = self.proto(family);
            ptr::copy_nonoverlapping(family.tcp_proto(), proto, 1);
            (*proto).recvmsg = Some(user::recvmsg::<S>);
            (*proto).sendmsg = Some(user::sendmsg::<S>);
            (*proto).disconnect = Some(user::disconnect::<S>);
            (*proto).close = Some(user::close::<S>);
            (*proto).release_cb = Some(send::release_cb::<S>);

            let ops = &raw mut (*self.functions(family)).ops;
            ptr::copy_nonoverlapping(family.tcp_ops(), ops, 1);
            // Who closes the file puts this reference back, after the last call.
            (*ops).owner = S::MODULE.as_ptr().cast();
            (*ops).poll = Some(user::poll::<S>);
            // Reads by `recvmsg` then.
            (*ops).splice_read = None;
        }
    }
}

/// A registered [`Protocol`]: sockets can be attached.
pub struct Registration<S: Stream>(PhantomData<fn() -> S>);

impl<S: Stream> Registration<S> {
    /// Registers the functions of `S`. Process context, in the module's init function.
    ///
    /// # Errors
    ///
    /// `EBUSY` if that was done before.
    pub fn new() -> Result<Self> {
        let protocol = S::protocol();
        if protocol.is_ready() {
            return Err(EBUSY);
        }
        // SAFETY: Not ready, so nobody uses them.
        unsafe {
            protocol.fill(Family::V4);
            protocol.fill(Family::V6);
        }
        protocol.is_ready.store(true, Release);
        Ok(Self(PhantomData))
    }
}

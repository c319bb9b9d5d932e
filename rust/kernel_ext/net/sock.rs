// SPDX-License-Identifier: GPL-2.0

//! Sockets of user space.
//!
//! C header: [`include/net/sock.h`](srctree/include/net/sock.h)

use super::namespace::Net;
use crate::bh::BhDisabled;
use core::ptr::{
    self,
    NonNull, //
};
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// A socket behind a file descriptor of the current process. Keeps the file open.
///
/// # Invariants
///
/// A valid socket with a `sk`, whose file this holds a reference to.
pub struct SocketFile(NonNull<bindings::socket>);

impl SocketFile {
    /// Looks `fd` up. Process context.
    ///
    /// # Errors
    ///
    /// `EBADF`, `ENOTSOCK`.
    pub fn from_fd(fd: u32) -> Result<Self> {
        let fd = i32::try_from(fd).map_err(|_| EBADF)?;
        let mut errno = 0;
        // SAFETY: `errno` may be written to.
        let socket = unsafe { bindings::sockfd_lookup(fd, &mut errno) };
        let Some(socket) = NonNull::new(socket) else {
            return Err(Error::from_errno(errno));
        };
        // INVARIANT: The reference came with the look-up.
        let socket = Self(socket);
        // SAFETY: Valid.
        if unsafe { (*socket.0.as_ptr()).sk }.is_null() {
            return Err(ENOTSOCK);
        }
        Ok(socket)
    }

    /// A reference to the socket itself, which may outlive the file.
    pub fn sock(&self) -> Sock {
        // SAFETY: By the type invariant.
        unsafe { Sock::new((*self.0.as_ptr()).sk.cast()) }
    }

    pub(crate) fn as_ptr(&self) -> *mut bindings::socket {
        self.0.as_ptr()
    }

    /// What the socket speaks.
    pub fn protocol(&self) -> Protocol {
        // SAFETY: By the type invariant.
        unsafe {
            let sk = (*self.0.as_ptr()).sk.cast();
            if bindings::sk_is_udp(sk) {
                Protocol::Udp
            } else if bindings::sk_is_tcp(sk) {
                Protocol::Tcp
            } else {
                Protocol::Other
            }
        }
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::fput((*self.0.as_ptr()).file) };
    }
}

/// What a socket speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// UDP over IPv4 or IPv6.
    Udp,
    /// TCP over IPv4 or IPv6.
    Tcp,
    /// Anything else, raw sockets included.
    Other,
}

/// A counted reference to a `struct sock`.
///
/// # Invariants
///
/// Valid, and one of its references belongs to this.
pub struct Sock(NonNull<bindings::sock>);

// SAFETY: References may be passed on to any CPU.
unsafe impl Send for Sock {}
// SAFETY: What is used of it without the socket lock is safe to use so.
unsafe impl Sync for Sock {}

impl Sock {
    /// Takes a reference.
    ///
    /// # Safety
    ///
    /// `sk` must be valid.
    unsafe fn new(sk: *mut bindings::sock) -> Self {
        // SAFETY: The caller's promise.
        unsafe { bindings::sock_hold(sk) };
        // INVARIANT: Just taken.
        // SAFETY: A valid socket is not null.
        Self(unsafe { NonNull::new_unchecked(sk) })
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::sock {
        self.0.as_ptr()
    }

    /// Whether `other` is the same socket.
    pub fn is(&self, other: &Sock) -> bool {
        self.0 == other.0
    }

    /// The network namespace it lives in.
    pub fn net(&self) -> &Net {
        // SAFETY: By the type invariant; a socket keeps its namespace.
        unsafe { Net::from_raw(bindings::sock_net(self.as_ptr())) }
    }

    /// Whether it was made for IPv6. Else it has no [`struct ipv6_pinfo`], which the IPv6 stack reads
    /// of any socket that it is given (`inet6_sk`). Any context.
    ///
    /// A socket that becomes one of IPv4 (`IPV6_ADDRFORM`) keeps what it has.
    ///
    /// [`struct ipv6_pinfo`]: srctree/include/linux/ipv6.h
    pub fn is_ipv6(&self) -> bool {
        // SAFETY: By the type invariant. It may change meanwhile, which does no harm.
        let family =
            unsafe { ptr::read_volatile(&raw const (*self.as_ptr()).__sk_common.skc_family) };
        u32::from(family) == bindings::AF_INET6
    }

    /// The local port.
    pub fn local_port(&self) -> u16 {
        // SAFETY: By the type invariant; an `Internet` socket, as all that we attach to.
        u16::from_be(unsafe { bindings::inet_sport(self.as_ptr()) })
    }

    /// Takes the socket lock. Process context, may sleep.
    pub fn lock(&self) -> Locked<'_> {
        // SAFETY: By the type invariant.
        unsafe { bindings::lock_sock_nested(self.as_ptr(), 0) };
        // INVARIANT: Just taken.
        Locked(self)
    }
}

impl Clone for Sock {
    fn clone(&self) -> Self {
        // SAFETY: By the type invariant.
        unsafe { Self::new(self.as_ptr()) }
    }
}

impl Drop for Sock {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::sock_put(self.as_ptr()) };
    }
}

/// A socket whose lock is held.
///
/// # Invariants
///
/// The current thread owns the socket lock.
pub struct Locked<'a>(&'a Sock);

impl Locked<'_> {
    pub(crate) fn as_ptr(&self) -> *mut bindings::sock {
        self.0.as_ptr()
    }

    pub(crate) fn owned(&self) -> Owned<'_> {
        Owned(self.0)
    }
}

impl Drop for Locked<'_> {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::release_sock(self.as_ptr()) };
    }
}

/// Proof that the socket is this thread's: it holds the socket lock, or its spinlock while nobody
/// holds the socket lock.
///
/// # Invariants
///
/// As said, while a value of this type exists.
pub(crate) struct Owned<'a>(&'a Sock);

impl<'a> Owned<'a> {
    /// Asserts that the socket is this thread's.
    ///
    /// # Safety
    ///
    /// It must be so, and stay so while the returned value exists.
    #[inline]
    pub(crate) unsafe fn assert(sock: &'a Sock) -> Self {
        // INVARIANT: The caller's promise.
        Self(sock)
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::sock {
        self.0.as_ptr()
    }
}

/// The spinlock of a socket, as softirqs take it.
///
/// # Invariants
///
/// Held by this thread.
pub(crate) struct SpinLocked<'a>(&'a Sock);

impl Drop for SpinLocked<'_> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::sock_unlock(self.0.as_ptr()) };
    }
}

/// What came of the attempt to have a socket without waiting.
pub(crate) enum TryLock<'a> {
    /// It is ours.
    Free(SpinOwned<'a>),
    /// Somebody holds the socket lock, and will call `release_cb()` after this is dropped.
    Used(SpinLocked<'a>),
    /// Somebody holds the spinlock.
    Busy,
}

/// As [`SpinLocked`], while nobody holds the socket lock.
pub(crate) struct SpinOwned<'a>(SpinLocked<'a>);

impl SpinOwned<'_> {
    #[inline]
    pub(crate) fn owned(&self) -> Owned<'_> {
        // INVARIANT: Nobody holds the socket lock, nor can take it while we have the spinlock.
        Owned(self.0 .0)
    }
}

impl Sock {
    /// Tries to have the socket, without waiting.
    #[inline]
    pub(crate) fn try_lock(&self, _bh: &BhDisabled) -> TryLock<'_> {
        // SAFETY: By the type invariant.
        unsafe {
            if !bindings::sock_trylock(self.as_ptr()) {
                return TryLock::Busy;
            }
            // INVARIANT: Just taken.
            let locked = SpinLocked(self);
            match bindings::sock_owned_by_user(self.as_ptr()) {
                true => TryLock::Used(locked),
                false => TryLock::Free(SpinOwned(locked)),
            }
        }
    }
}

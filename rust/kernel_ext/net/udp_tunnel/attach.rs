// SPDX-License-Identifier: GPL-2.0

//! Taking a socket over, and giving it back.

use super::{
    destroy,
    gro::gro_receive,
    receive,
    Encap, //
};
use crate::{
    net::sock::{
        Locked,
        Protocol,
        Sock,
        SocketFile, //
    },
    sync::rcu::{
        RcuArc,
        RcuBorrow, //
    },
};
use core::{
    any::TypeId,
    ops::Deref, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        rcu, //
    },
};
use ovpn_bindings as bindings;

/// A UDP socket that a tunnel has taken over.
///
/// `type_id` is first, so that it can be read without knowing `E`.
#[repr(C)]
pub struct UdpSocket<E: Encap> {
    type_id: TypeId,
    sock: Sock,
    /// How many [`Attachment`]s there are. Written with the socket lock held.
    users: Atomic<u32>,
    data: E,
}

impl<E: Encap> UdpSocket<E> {
    /// What is attached to `sk`.
    ///
    /// # Safety
    ///
    /// `sk` must be a valid UDP socket, and if its type of encapsulation is `E::TYPE`, then by `E`.
    #[inline]
    pub(super) unsafe fn of<'g>(
        sk: *mut bindings::sock,
        guard: &'g rcu::Guard,
    ) -> Option<RcuBorrow<'g, Self>> {
        // SAFETY: The socket is valid. Its user data owns a reference, see `attach`.
        unsafe {
            if u32::from(bindings::udp_encap_type(sk)) != E::TYPE {
                return None;
            }
            RcuBorrow::from_raw(bindings::sk_user_data(sk).cast(), guard)
        }
    }

    /// The socket.
    #[inline]
    pub fn sock(&self) -> &Sock {
        &self.sock
    }

    /// What the tunnel keeps for it.
    #[inline]
    pub fn data(&self) -> &E {
        &self.data
    }
}

/// Why a socket could not be attached.
#[derive(Debug)]
pub enum AttachError {
    /// Not a UDP socket.
    NotUdp,
    /// Taken by somebody else, or by another tunnel of ours.
    Busy,
    /// No memory, or the tunnel is going away.
    Failed(Error),
}

/// One user of a socket that a tunnel has taken over. The last one gives the socket back, which
/// sleeps: drop it in process context.
///
/// # Invariants
///
/// One of the socket's `users` is this.
pub struct Attachment<E: Encap>(RcuArc<UdpSocket<E>>);

impl<E: Encap> Attachment<E> {
    /// Attaches `file`'s socket. If it is attached to `E` already, and `same` says that it is the
    /// same tunnel, adds a user; else takes the socket over with `new`'s data.
    ///
    /// Process context, may sleep.
    pub fn new(
        file: &SocketFile,
        same: impl FnOnce(&E) -> bool,
        new: impl FnOnce() -> E,
    ) -> Result<Self, AttachError> {
        if file.protocol() != Protocol::Udp {
            return Err(AttachError::NotUdp);
        }
        let sock = file.sock();
        let locked = sock.lock();
        let guard = rcu::read_lock();
        // SAFETY: A valid UDP socket, in an RCU section.
        let (kind, data) = unsafe {
            (
                u32::from(bindings::udp_encap_type(locked.as_ptr())),
                bindings::sk_user_data(locked.as_ptr()),
            )
        };
        if kind == 0 && data.is_null() {
            drop(guard);
            return Self::attach(sock.clone(), &locked, new());
        }
        // SAFETY: Only this module uses the number `E::TYPE`, with a `UdpSocket<_>` as data.
        let same_type = || unsafe { *data.cast::<TypeId>() } == TypeId::of::<E>();
        if kind != E::TYPE || data.is_null() || !same_type() {
            return Err(AttachError::Busy);
        }
        // SAFETY: As just checked.
        let socket = unsafe { UdpSocket::<E>::of(locked.as_ptr(), &guard) };
        match socket.and_then(RcuBorrow::to_owned) {
            Some(socket) if same(&socket.data) => {
                socket.users.add(1, Relaxed);
                // INVARIANT: The user just added.
                Ok(Self(socket))
            }
            _ => Err(AttachError::Busy),
        }
    }

    fn attach(sock: Sock, locked: &Locked<'_>, data: E) -> Result<Self, AttachError> {
        let socket = RcuArc::new(
            UdpSocket {
                type_id: TypeId::of::<E>(),
                sock,
                users: Atomic::new(1),
                data,
            },
            GFP_KERNEL,
        )
        .map_err(AttachError::Failed)?;
        let mut config = bindings::udp_tunnel_sock_cfg {
            // The socket owns a reference until it is detached.
            sk_user_data: socket.clone().into_raw().cast(),
            // CAST: A small number.
            encap_type: E::TYPE as u8,
            encap_rcv: Some(receive::<E>),
            encap_destroy: Some(destroy::<E>),
            gro_receive: Some(gro_receive::<E>),
            ..pin_init::zeroed()
        };
        // SAFETY: The socket lock is held, and nobody else uses the socket's user data. From here on
        // the module stays loaded until the socket is freed, and so do the functions.
        let taken = unsafe {
            bindings::udp_keep_module(locked.as_ptr(), E::MODULE.as_ptr())
                && bindings::udp_encap_setup(locked.as_ptr(), &mut config)
        };
        if !taken {
            // SAFETY: The socket did not take the reference over.
            drop(unsafe { RcuArc::<UdpSocket<E>>::from_raw(config.sk_user_data.cast()) });
            return Err(AttachError::Busy);
        }
        // INVARIANT: The first user.
        Ok(Self(socket))
    }

    /// The socket, for the packet path: a reference of its own, which is no user.
    pub fn socket(&self) -> RcuArc<UdpSocket<E>> {
        self.0.clone()
    }
}

impl<E: Encap> Deref for Attachment<E> {
    type Target = UdpSocket<E>;

    fn deref(&self) -> &UdpSocket<E> {
        &self.0
    }
}

impl<E: Encap> Drop for Attachment<E> {
    fn drop(&mut self) {
        let locked = self.0.sock.lock();
        let users = self.0.users.load(Relaxed).saturating_sub(1);
        self.0.users.store(users, Relaxed);
        if users == 0 {
            // SAFETY: The socket lock is held, and the socket is attached while it has users. The
            // reference that the user data owned is taken back.
            unsafe {
                bindings::udp_encap_clear(locked.as_ptr());
                drop(RcuArc::from_raw(self.0.as_raw()));
            }
        }
    }
}

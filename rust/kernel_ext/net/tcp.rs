// SPDX-License-Identifier: GPL-2.0

//! TCP sockets that carry a tunnel: messages of it and of the socket's owner share one stream.
//!
//! A tunnel takes a connected socket of user space by an [`Attachment`]. From then on the stream is
//! cut into messages, and each of them is shown to [`Stream::receive`] first; what is not the
//! tunnel's is read by user space, message by message. What user space writes goes out between two
//! messages of the tunnel.
//!
//! Two things stay with a socket that was attached once, until its file is closed: our functions,
//! which then do what TCP's do, and a reference to the module. So nobody can be in a function of
//! ours, or on the way there, when the module goes: who calls one has the file, and closing a file
//! is what comes after its last use.
//!
//! C header: [`include/net/tcp.h`](srctree/include/net/tcp.h)

mod attach;
mod protocol;
mod receive;
mod send;
mod user;

pub use super::strparser::StreamBytes;
pub use attach::{
    AttachError,
    Attachment, //
};
pub use protocol::{
    Protocol,
    Registration, //
};

use super::{
    skbuff::{
        Queue,
        SkBuff, //
    },
    sock::Sock,
    strparser::StreamParser, //
};
use crate::{
    bh::BhDisabled,
    sync::rcu::RcuBorrow,
    workqueue::DelayedWork, //
};
use kernel::{
    prelude::*,
    sync::{
        atomic::{
            Atomic,
            Relaxed, //
        },
        rcu::Guard, //
    },
};
use ovpn_bindings as bindings;

/// What becomes of a message.
pub enum Verdict {
    /// The tunnel has used it.
    Consumed,
    /// It is for the socket's owner in user space.
    Deliver(StreamBytes),
}

/// A tunnel on TCP sockets; `Self` is what it keeps per socket.
pub trait Stream: Send + Sync + Sized + 'static {
    /// The module that implements it.
    const MODULE: &'static ThisModule;

    /// The first bytes of a message, which say how long it is.
    type Prefix: Default + AsMut<[u8]>;

    /// What the functions of its sockets are kept in: always the same.
    fn protocol() -> &'static Protocol<Self>;

    /// How long a message is, in bytes with the prefix. `None` if there is no such message: the
    /// stream makes no sense then, and is given up.
    fn message_len(prefix: Self::Prefix) -> Option<u32>;

    /// A message has arrived. The socket is locked.
    fn receive(
        socket: &TcpSocket<Self>,
        message: StreamBytes,
        guard: &Guard,
        bh: &BhDisabled,
    ) -> Verdict;

    /// A message, of the tunnel or of user space, is in the stream. The socket is locked.
    fn sent(&self, message: &SkBuff, bh: &BhDisabled);

    /// A message for user space is lost, for want of memory. The socket is locked.
    fn lost(&self, bh: &BhDisabled);

    /// The stream has come to an end by an error, and nothing more can be sent or received. Called
    /// once, in any context; the socket may be locked.
    fn broken(socket: &TcpSocket<Self>, error: Broken);

    /// User space has closed the socket: let go of the attachment. Process context, may sleep.
    fn closed(socket: &TcpSocket<Self>);

    /// The socket is not attached any more; `unsent` were not sent. Process context, may sleep.
    fn detached(&self, unsent: &Queue);
}

/// Whether another message follows at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum More {
    /// No: send this one now.
    No,
    /// Yes: TCP may wait for it, to fill a segment.
    Yes,
}

/// What has broken a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// What was received is no message.
    Received,
    /// Sending failed: the connection is down.
    Sending,
}

/// A TCP socket that a tunnel has taken over.
#[pin_data]
pub struct TcpSocket<S: Stream> {
    sock: Sock,
    /// Until it is detached. Written with the socket lock held.
    attached: Atomic<bool>,
    broken: Atomic<bool>,
    #[pin]
    parser: StreamParser,
    /// Messages for user space, each with its prefix. Taken out with the socket lock held.
    #[pin]
    unread: Queue,
    /// Messages to be sent. Taken out with the socket lock held.
    #[pin]
    unsent: Queue,
    /// Bytes of the first one that TCP has taken. Used with the socket lock held.
    begun: Atomic<usize>,
    /// Sends what waits.
    #[pin]
    work: DelayedWork,
    /// What the socket called before.
    callbacks: SavedCallbacks,
    data: S,
}

type Callback = unsafe extern "C" fn(*mut bindings::sock);

#[derive(Clone, Copy)]
struct SavedCallbacks {
    data_ready: Option<Callback>,
    write_space: Option<Callback>,
}

impl<S: Stream> TcpSocket<S> {
    /// What is attached to `sk`.
    ///
    /// # Safety
    ///
    /// `sk` must be a valid TCP socket.
    #[inline]
    unsafe fn of<'g>(sk: *mut bindings::sock, guard: &'g Guard) -> Option<RcuBorrow<'g, Self>> {
        // SAFETY: A TCP socket. Whose upper layer is ours, that has our data or none; the data owns a
        // reference.
        unsafe {
            if !S::protocol().is_ulp(bindings::tcp_ulp(sk)) {
                return None;
            }
            RcuBorrow::from_raw(bindings::tcp_ulp_data(sk).cast(), guard)
        }
    }

    /// The socket.
    #[inline]
    pub fn sock(&self) -> &Sock {
        &self.sock
    }

    /// What the tunnel keeps for it.
    #[inline]
    pub fn data(&self) -> &S {
        &self.data
    }

    /// Lets messages come. Any context.
    pub fn start(&self) {
        self.parser.resume();
    }

    #[inline]
    fn is_attached(&self) -> bool {
        self.attached.load(Relaxed)
    }

    /// Gives the stream up: nothing is sent or received any more, and who polls or reads is told.
    #[cold]
    fn give_up(&self, error: Broken) {
        if self.broken.xchg(true, kernel::sync::atomic::Full) {
            return;
        }
        if error == Broken::Received {
            // SAFETY: The parser has called, so this has the socket.
            unsafe {
                self.parser.stop();
                (*self.sock.as_ptr()).sk_err = EBADMSG.to_errno().wrapping_neg();
                bindings::sk_error_report(self.sock.as_ptr());
            }
        }
        S::broken(self, error);
    }
}

// SPDX-License-Identifier: GPL-2.0

//! What goes into the stream.

use super::{
    protocol::Family,
    Broken,
    More,
    Stream,
    TcpSocket, //
};
use crate::{
    bh::{
        BhDisabled,
        BhGuard, //
    },
    net::{
        skbuff::SkBuff,
        sock::{
            Owned,
            TryLock, //
        }, //
    },
    sync::rcu::RcuArc,
    workqueue::{
        self,
        HasDelayedWork,
        Run, //
    },
};
use core::mem::offset_of;
use kernel::{
    ffi::c_int,
    prelude::*,
    sync::{
        atomic::Relaxed,
        rcu, //
    },
};
use ovpn_bindings as bindings;

/// Messages of user space that may wait besides those of the tunnel.
const RESERVED: usize = 64;

/// How much of a message TCP has taken.
enum Taken {
    /// All of it.
    All,
    /// Up to here. There is no more room.
    Part(usize),
    /// The connection is down.
    Failed,
}

impl<S: Stream> TcpSocket<S> {
    /// Sends a message of the tunnel, or lets it wait for its turn: while user space has the socket,
    /// while another CPU does, while TCP takes no more.
    ///
    /// Any context with bottom halves disabled; other sockets may be locked, even this one.
    ///
    /// # Errors
    ///
    /// Gives the message back if too many wait already (`net.core.netdev_max_backlog`), or if the
    /// stream has broken.
    #[inline]
    pub fn send(
        this: &RcuArc<Self>,
        skb: SkBuff,
        more: More,
        bh: &BhDisabled,
    ) -> Result<(), SkBuff> {
        match this.sock.try_lock(bh) {
            TryLock::Free(locked) => this.send_owned(skb, more, 0, &locked.owned()),
            // Who has it will send what waits, see `release_cb`.
            TryLock::Used(_locked) => this.wait(skb, 0),
            // To wait for the lock could be for ever: the packet that is being sent may be one of
            // this very socket, whose route leads into the tunnel.
            TryLock::Busy => {
                this.wait(skb, 0)?;
                workqueue::schedule(this.clone(), 0);
                Ok(())
            }
        }
    }

    /// Sends a message after all that wait, or lets it wait, too.
    pub(super) fn send_owned(
        &self,
        skb: SkBuff,
        more: More,
        reserved: usize,
        owned: &Owned<'_>,
    ) -> Result<(), SkBuff> {
        self.send_waiting(owned);
        if !self.unsent.is_empty() {
            return self.wait(skb, reserved);
        }
        if !self.is_open() {
            return Err(skb);
        }
        match self.pass(skb.as_ptr(), 0, more, owned) {
            Taken::All => self.done(skb),
            Taken::Part(taken) => {
                self.begun.store(taken, Relaxed);
                self.unsent.push_front(skb);
            }
            Taken::Failed => return Err(skb),
        }
        Ok(())
    }

    /// Whether messages can still be sent.
    #[inline]
    fn is_open(&self) -> bool {
        self.is_attached() && !self.broken.load(Relaxed)
    }

    /// Whether a message of user space may wait.
    pub(super) fn has_room(&self) -> bool {
        self.unsent.len() < limit().saturating_add(RESERVED)
    }

    /// Lets a message wait for its turn.
    fn wait(&self, skb: SkBuff, reserved: usize) -> Result<(), SkBuff> {
        if self.unsent.len() >= limit().saturating_add(reserved) || !self.is_open() {
            return Err(skb);
        }
        self.unsent.push(skb);
        Ok(())
    }

    /// Sends a message of user space, with the same rules.
    pub(super) fn send_for_user(&self, skb: SkBuff, owned: &Owned<'_>) -> Result<(), SkBuff> {
        self.send_owned(skb, More::No, RESERVED, owned)
    }

    /// Sends what waits, as far as TCP takes it.
    pub(super) fn send_waiting(&self, owned: &Owned<'_>) {
        if self.unsent.is_empty() {
            return;
        }
        let had_room = self.has_room();
        while self.is_open() {
            // SAFETY: Only who has the socket takes messages out.
            let first = unsafe { self.unsent.first() };
            if first.is_null() {
                break;
            }
            // Should room end before the next one, what TCP has then goes with the acknowledgments.
            let more = match self.unsent.len() {
                0 | 1 => More::No,
                _ => More::Yes,
            };
            match self.pass(first, self.begun.load(Relaxed), more, owned) {
                Taken::All => {
                    self.begun.store(0, Relaxed);
                    if let Some(skb) = self.unsent.pop() {
                        self.done(skb);
                    }
                }
                Taken::Part(taken) => {
                    self.begun.store(taken, Relaxed);
                    break;
                }
                Taken::Failed => break,
            }
        }
        if !had_room && self.has_room() {
            self.wake();
        }
    }

    /// Lets TCP take a message, of which it has `begun` bytes already.
    fn pass(
        &self,
        skb: *mut bindings::sk_buff,
        begun: usize,
        more: More,
        owned: &Owned<'_>,
    ) -> Taken {
        // SAFETY: The packet is valid.
        let len = unsafe { (*skb).len as usize };
        let flags = match more {
            More::No => bindings::MSG_NOSIGNAL,
            More::Yes => bindings::MSG_NOSIGNAL | bindings::MSG_MORE,
        };
        // CAST (in this function): Lengths of a packet, flags.
        // SAFETY: The packet is valid, and who calls has the socket. Nobody is there to be signalled.
        let sent = unsafe {
            bindings::skb_send_sock_locked_with_flags(
                owned.as_ptr(),
                skb,
                begun as c_int,
                len.saturating_sub(begun) as c_int,
                flags as c_int,
            )
        };
        match usize::try_from(sent) {
            Ok(sent) if begun.saturating_add(sent) >= len => Taken::All,
            Ok(sent) => Taken::Part(begun.saturating_add(sent)),
            Err(_) if sent == EAGAIN.to_errno() => Taken::Part(begun),
            Err(_) => {
                self.give_up(Broken::Sending);
                Taken::Failed
            }
        }
    }

    fn done(&self, skb: SkBuff) {
        self.data.sent(&skb, &BhGuard::new());
        skb.consume();
    }
}

/// Messages of the tunnel that may wait.
#[inline]
fn limit() -> usize {
    // SAFETY: Reads a setting.
    unsafe { bindings::max_backlog() as usize }
}

/// # Safety
///
/// As `release_sock()` calls it: the socket is owned, and its spinlock held.
pub(super) unsafe extern "C" fn release_cb<S: Stream>(sk: *mut bindings::sock) {
    let guard = rcu::read_lock();
    // SAFETY: A TCP socket, and its own function.
    unsafe {
        if let Some(socket) = TcpSocket::<S>::of(sk, &guard) {
            socket.send_waiting(&Owned::assert(&socket.sock));
        }
        if let Some(release_cb) = (*Family::of(sk).tcp_proto()).release_cb {
            release_cb(sk);
        }
    }
}

/// # Safety
///
/// As a socket calls `sk_write_space`.
pub(super) unsafe extern "C" fn write_space<S: Stream>(sk: *mut bindings::sock) {
    let guard = rcu::read_lock();
    // SAFETY: A TCP socket, as only these have this callback.
    let Some(socket) = (unsafe { TcpSocket::<S>::of(sk, &guard) }) else {
        return;
    };
    if !socket.unsent.is_empty() {
        // Not from here: TCP is in the midst of something.
        if let Some(socket) = socket.to_owned() {
            workqueue::schedule(socket, 0);
        }
    }
    if let Some(write_space) = socket.callbacks.write_space {
        // SAFETY: The socket is valid, and called by it.
        unsafe { write_space(sk) };
    }
}

// SAFETY: `OFFSET` is the offset of the field.
unsafe impl<S: Stream> HasDelayedWork for TcpSocket<S> {
    const OFFSET: usize = offset_of!(Self, work);
}

impl<S: Stream> Run for TcpSocket<S> {
    fn run(this: RcuArc<Self>) {
        let locked = this.sock.lock();
        this.send_waiting(&locked.owned());
    }
}

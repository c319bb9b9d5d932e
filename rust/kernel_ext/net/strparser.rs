// SPDX-License-Identifier: GPL-2.0

//! Cutting the stream of a TCP socket into messages.
//!
//! C header: [`include/net/strparser.h`](srctree/include/net/strparser.h)

use super::skbuff::SkBuff;
use kernel::{
    error::to_result,
    ffi::c_int,
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// What a parser calls, with the socket lock held: in a softirq or in process context.
pub(crate) struct Callbacks {
    /// How long is the message at the start of `skb`? 0 if that cannot be told yet.
    pub(crate) parse:
        unsafe extern "C" fn(*mut bindings::strparser, *mut bindings::sk_buff) -> c_int,
    /// Here is a whole message, which is handed over.
    pub(crate) message: unsafe extern "C" fn(*mut bindings::strparser, *mut bindings::sk_buff),
    /// The stream makes no sense, or came to a stop in a message.
    pub(crate) abort: unsafe extern "C" fn(*mut bindings::strparser, c_int),
}

/// A `struct strparser`, embedded in an object that outlives its use. It begins paused.
#[repr(transparent)]
pub(crate) struct StreamParser(Opaque<bindings::strparser>);

// SAFETY: All functions say which lock they want.
unsafe impl Send for StreamParser {}
// SAFETY: As above.
unsafe impl Sync for StreamParser {}

impl StreamParser {
    /// A paused parser of what `sk` receives.
    ///
    /// # Safety
    ///
    /// `sk` must be a TCP socket that outlives the parser. [`Self::stop`] and [`Self::finish`] must
    /// be called before the parser is dropped.
    pub(crate) unsafe fn new(
        sk: *mut bindings::sock,
        callbacks: Callbacks,
    ) -> impl PinInit<Self, Error> {
        // SAFETY: On success the slot is initialised, and its address is stable.
        unsafe {
            pin_init::pin_init_from_closure(move |slot: *mut Self| {
                let callbacks = bindings::strp_callbacks {
                    parse_msg: Some(callbacks.parse),
                    rcv_msg: Some(callbacks.message),
                    abort_parser: Some(callbacks.abort),
                    ..pin_init::zeroed()
                };
                let parser: *mut bindings::strparser = slot.cast();
                to_result(bindings::strp_init(parser, sk, &callbacks))?;
                (*parser).paused = 1;
                Ok(())
            })
        }
    }

    #[inline]
    pub(crate) fn as_ptr(&self) -> *mut bindings::strparser {
        self.0.get()
    }

    /// Goes on, with what has arrived meanwhile. Any context.
    pub(crate) fn resume(&self) {
        // SAFETY: Initialised.
        unsafe { bindings::strp_unpause(self.as_ptr()) };
    }

    /// Data has arrived.
    ///
    /// # Safety
    ///
    /// To be called as `sk_data_ready()` of the socket is.
    #[inline]
    pub(crate) unsafe fn data_ready(&self) {
        // SAFETY: Initialised; the caller's promise.
        unsafe { bindings::strp_data_ready(self.as_ptr()) };
    }

    /// Lets no further message come, not even of what is being looked at.
    ///
    /// # Safety
    ///
    /// The socket lock must be held.
    pub(crate) unsafe fn stop(&self) {
        // SAFETY: Initialised; the flags belong to who has the socket.
        unsafe {
            (*self.as_ptr()).paused = 1;
            bindings::strp_stop(self.as_ptr());
        }
    }

    /// Waits until a stopped parser is out of use, and frees what it holds. Process context, may
    /// sleep.
    ///
    /// # Safety
    ///
    /// The parser must be stopped, the socket lock not be held, and this not be called by a message.
    pub(crate) unsafe fn finish(&self) {
        // SAFETY: Initialised; the caller's promise.
        unsafe { bindings::strp_done(self.as_ptr()) };
    }
}

/// Bytes of the received stream, somewhere in a packet that may share them with others.
pub struct StreamBytes {
    skb: SkBuff,
    offset: usize,
    len: usize,
}

impl StreamBytes {
    /// A whole message.
    ///
    /// # Safety
    ///
    /// `skb` must be what a parser has handed over.
    #[inline]
    pub(crate) unsafe fn from_message(skb: *mut bindings::sk_buff) -> Self {
        let (mut offset, mut len) = (0, 0);
        // SAFETY: The caller's promise.
        unsafe {
            bindings::strp_msg(skb, &mut offset, &mut len);
            Self {
                skb: SkBuff::from_raw(skb),
                // CAST: Neither is negative.
                offset: offset as usize,
                len: len as usize,
            }
        }
    }

    /// Bytes that there are.
    #[inline]
    #[expect(clippy::len_without_is_empty)]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Copies the bytes from `from` on to all of `to`. Whether there are that many.
    #[inline]
    pub fn copy_to(&self, from: usize, to: &mut [u8]) -> bool {
        let end = from.saturating_add(to.len());
        end <= self.len && self.skb.copy_to(self.offset.saturating_add(from), to)
    }

    /// A packet of its own with the bytes from `from` on. `None` without memory.
    #[inline]
    pub fn to_packet(&self, from: usize) -> Option<SkBuff> {
        let len = self.len.checked_sub(from)?;
        SkBuff::received(len, |room| self.copy_to(from, room))
    }

    /// The packet, for who drops it.
    pub fn into_packet(self) -> SkBuff {
        self.skb
    }
}

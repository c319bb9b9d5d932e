// SPDX-License-Identifier: GPL-2.0

//! Requests.

use super::{
    message,
    Family,
    Message, //
};
use crate::{
    alloc::Gfp,
    net::{
        namespace::Net,
        netlink::{
            Attr,
            ExtAck,
            Writer, //
        },
    },
};
use core::marker::PhantomData;
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// A request with its attributes.
///
/// # Invariants
///
/// `info` is valid for `'a`, its attributes parsed.
pub struct Request<'a> {
    info: *mut bindings::genl_info,
    _info: PhantomData<&'a ()>,
}

impl<'a> Request<'a> {
    /// # Safety
    ///
    /// `info` must be valid for `'a`, with its attributes parsed.
    pub(super) unsafe fn from_raw(info: *mut bindings::genl_info) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            info,
            _info: PhantomData,
        }
    }

    /// The network namespace that the request came from.
    pub fn net(&self) -> &'a Net {
        // SAFETY: By the type invariant; the requesting socket keeps its namespace.
        unsafe { Net::from_raw(bindings::genl_info_net(self.info)) }
    }

    /// Where to explain errors.
    pub fn extack(&self) -> ExtAck<'a> {
        // SAFETY: By the type invariant.
        unsafe { ExtAck::from_raw((*self.info).extack) }
    }

    /// The attribute of that number, which must be one that the operation has a policy for.
    pub fn get(&self, number: u32) -> Option<&'a Attr> {
        // SAFETY: By the type invariant there are as many entries as the policy has.
        unsafe {
            let attrs = (*self.info).attrs;
            if attrs.is_null() {
                return None;
            }
            Attr::from_raw(*attrs.add(number as usize))
        }
    }

    /// The attribute of that number, which the request must have.
    ///
    /// # Errors
    ///
    /// `EINVAL`, with the missing attribute named.
    pub fn require(&self, number: u32) -> Result<&'a Attr> {
        self.get(number)
            .ok_or_else(|| self.extack().missing(None, number))
    }

    /// Answers the request with one message of command `cmd`.
    pub fn reply(
        &self,
        family: &'static Family,
        cmd: u32,
        fill: impl FnOnce(&mut Writer<'_>) -> Result,
    ) -> Result {
        // SAFETY: By the type invariant.
        let (portid, seq) = unsafe { ((*self.info).snd_portid, (*self.info).snd_seq) };
        let mut message = Message::new(Gfp::Kernel)?;
        message.fill(family, portid, seq, 0, cmd, fill)?;
        // SAFETY: By the type invariant; the message is handed over.
        to_result(unsafe { bindings::genlmsg_reply(message.into_raw(), self.info) })
    }
}

/// A dump in progress, and the message that it writes to now.
///
/// The operation is called until it writes nothing. Where it was is kept in [`Self::cursor`].
///
/// # Invariants
///
/// `skb` and `cb` are valid for `'a`, and used by nobody else.
pub struct DumpRequest<'a> {
    skb: *mut bindings::sk_buff,
    cb: *mut bindings::netlink_callback,
    _cb: PhantomData<&'a mut ()>,
}

impl DumpRequest<'_> {
    /// # Safety
    ///
    /// Both must be valid for `'a`, as the core passes them to `dumpit`.
    pub(super) unsafe fn from_raw(
        skb: *mut bindings::sk_buff,
        cb: *mut bindings::netlink_callback,
    ) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            skb,
            cb,
            _cb: PhantomData,
        }
    }

    /// The request that started the dump.
    pub fn request(&self) -> Request<'_> {
        // SAFETY: The core keeps the request with its parsed attributes until the dump is over.
        unsafe { Request::from_raw(bindings::genl_info_dump(self.cb).cast_mut()) }
    }

    /// The network namespace that the request came from.
    pub fn net<'n>(&self) -> &'n Net
    where
        Self: 'n,
    {
        // SAFETY: By the type invariant; the requesting socket keeps its namespace.
        unsafe { Net::from_raw(bindings::sock_net((*(*self.cb).skb).sk.cast())) }
    }

    /// A number of the operation's own, 0 at first, kept from call to call.
    pub fn cursor(&mut self) -> &mut i64 {
        // SAFETY: By the type invariant. CAST: `long` has 64 bits here.
        unsafe { &mut *(&raw mut (*self.cb).__bindgen_anon_1.args).cast::<i64>() }
    }

    /// Appends one message of command `cmd`.
    ///
    /// # Errors
    ///
    /// `EMSGSIZE` if it does not fit: stop, and go on with the same object in the next call.
    pub fn message(
        &mut self,
        family: &'static Family,
        cmd: u32,
        fill: impl FnOnce(&mut Writer<'_>) -> Result,
    ) -> Result {
        // SAFETY: By the type invariant.
        unsafe {
            let portid = bindings::netlink_cb_portid((*self.cb).skb);
            let seq = (*(*self.cb).nlh).nlmsg_seq;
            // CAST: A flag of 16 bits.
            message::fill(
                self.skb,
                family,
                portid,
                seq,
                bindings::NLM_F_MULTI as i32,
                cmd,
                fill,
            )
        }
    }
}

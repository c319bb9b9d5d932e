// SPDX-License-Identifier: GPL-2.0

//! What was wrong with a request, for the one who sent it.

use super::Attr;
use core::{
    fmt::{
        self,
        Write, //
    },
    marker::PhantomData,
    ptr, //
};
use kernel::{
    ffi::c_char,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// Where to put the explanation of an error: `struct netlink_ext_ack`, or nowhere.
///
/// # Invariants
///
/// Null, or valid for `'a` and used by one thread.
#[derive(Clone, Copy)]
pub struct ExtAck<'a> {
    extack: *mut bindings::netlink_ext_ack,
    _request: PhantomData<&'a ()>,
}

impl<'a> ExtAck<'a> {
    /// # Safety
    ///
    /// `extack` must be null, or valid for `'a` and not be used by others meanwhile.
    pub(crate) unsafe fn from_raw(extack: *mut bindings::netlink_ext_ack) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            extack,
            _request: PhantomData,
        }
    }

    pub(super) fn as_ptr(self) -> *mut bindings::netlink_ext_ack {
        self.extack
    }

    /// Explains an error, and passes it on: `return Err(extack.explain(EINVAL, fmt!("...")))`.
    ///
    /// The text is cut to what fits, 79 bytes.
    pub fn explain(self, error: Error, text: fmt::Arguments<'_>) -> Error {
        // SAFETY: By the type invariant.
        if let Some(extack) = unsafe { self.extack.as_mut() } {
            extack._msg_buf.fill(0);
            let end = extack._msg_buf.len().saturating_sub(1);
            if let Some(room) = extack._msg_buf.get_mut(..end) {
                // Cut if it does not fit.
                let _ = Text(room).write_fmt(text);
            }
            extack._msg = extack._msg_buf.as_ptr();
        }
        error
    }

    /// Points at the attribute that is wrong.
    pub fn bad_attr(self, attr: &Attr) -> Self {
        // SAFETY: By the type invariant.
        if let Some(extack) = unsafe { self.extack.as_mut() } {
            extack.bad_attr = ptr::from_ref(attr).cast();
            extack.policy = ptr::null();
        }
        self
    }

    /// Says which attribute is missing, in which nest (`None`: in the message). `EINVAL`.
    pub fn missing(self, nest: Option<&Attr>, number: u32) -> Error {
        // SAFETY: By the type invariant.
        if let Some(extack) = unsafe { self.extack.as_mut() } {
            extack.miss_nest = nest.map_or(ptr::null(), |nest| ptr::from_ref(nest).cast());
            // CAST: Attribute numbers have 14 bits.
            extack.miss_type = number as u16;
        }
        EINVAL
    }
}

/// Free room of a text buffer.
struct Text<'a>(&'a mut [c_char]);

impl Write for Text<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let fits = text.len().min(self.0.len());
        let (now, rest) = core::mem::take(&mut self.0).split_at_mut(fits);
        for (to, from) in now.iter_mut().zip(text.bytes()) {
            // CAST: `c_char` is a byte.
            *to = from as c_char;
        }
        self.0 = rest;
        if fits == text.len() {
            Ok(())
        } else {
            Err(fmt::Error)
        }
    }
}

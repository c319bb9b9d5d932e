// SPDX-License-Identifier: GPL-2.0

//! Writing attributes.

use core::{
    marker::PhantomData,
    net::{
        Ipv4Addr,
        Ipv6Addr, //
    }, //
};
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

/// Appends attributes to a message. All methods fail with `EMSGSIZE` if there is no room.
///
/// # Invariants
///
/// Points to the packet of a netlink message, which nobody else writes to for `'a`.
pub struct Writer<'a> {
    skb: *mut bindings::sk_buff,
    _message: PhantomData<&'a mut ()>,
}

impl Writer<'_> {
    /// # Safety
    ///
    /// `skb` must be the packet of a netlink message that is valid and used by nobody else for the
    /// life of the result.
    pub(crate) unsafe fn from_raw(skb: *mut bindings::sk_buff) -> Self {
        // INVARIANT: The caller's promise.
        Self {
            skb,
            _message: PhantomData,
        }
    }

    /// Any bytes.
    pub fn put(&mut self, number: u32, data: &[u8]) -> Result {
        // SAFETY: By the type invariant; `nla_put` checks for room. CAST: Numbers have 14 bits, and
        // what is longer than 64 kB does not fit.
        to_result(unsafe {
            bindings::nla_put(
                self.skb,
                number as i32,
                i32::try_from(data.len()).map_err(|_| EMSGSIZE)?,
                data.as_ptr().cast(),
            )
        })
    }

    /// An 8-bit number.
    pub fn put_u8(&mut self, number: u32, value: u8) -> Result {
        self.put(number, &[value])
    }

    /// A 32-bit number.
    pub fn put_u32(&mut self, number: u32, value: u32) -> Result {
        self.put(number, &value.to_ne_bytes())
    }

    /// A signed 32-bit number.
    pub fn put_s32(&mut self, number: u32, value: i32) -> Result {
        self.put(number, &value.to_ne_bytes())
    }

    /// A number, in 32 bits if that is enough, else in 64.
    pub fn put_uint(&mut self, number: u32, value: u64) -> Result {
        match u32::try_from(value) {
            Ok(value) => self.put_u32(number, value),
            Err(_) => self.put(number, &value.to_ne_bytes()),
        }
    }

    /// A 16-bit number in network byte order.
    pub fn put_be16(&mut self, number: u32, value: u16) -> Result {
        self.put(number, &value.to_be_bytes())
    }

    /// An IPv4 address.
    pub fn put_ipv4(&mut self, number: u32, address: Ipv4Addr) -> Result {
        self.put(number, &address.octets())
    }

    /// An IPv6 address.
    pub fn put_ipv6(&mut self, number: u32, address: Ipv6Addr) -> Result {
        self.put(number, &address.octets())
    }

    /// A nest with what `fill` puts into it. If `fill` fails, the message is to be thrown away.
    pub fn nest(&mut self, number: u32, fill: impl FnOnce(&mut Self) -> Result) -> Result {
        let start = self.end();
        self.put(number | bindings::NLA_F_NESTED, &[])?;
        fill(self)?;
        let len = self.end().wrapping_sub(start);
        let len = u16::try_from(len).map_err(|_| EMSGSIZE)?;
        // SAFETY: The header of the nest is at `start`, see above; messages do not move.
        unsafe {
            let skb = &*self.skb;
            let header = skb.head.add(start).cast::<bindings::nlattr>();
            (*header).nla_len = len;
        }
        Ok(())
    }

    /// Where the next attribute begins, from the start of the buffer.
    fn end(&self) -> usize {
        // SAFETY: By the type invariant.
        unsafe { (*self.skb).tail as usize }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Reading attributes.

use super::{
    ExtAck,
    Policy, //
};
use core::{
    marker::PhantomData,
    mem::size_of,
    net::{
        Ipv4Addr,
        Ipv6Addr, //
    },
    ptr, //
};
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

const HEADER_LEN: usize = size_of::<bindings::nlattr>();

/// One attribute of a message.
///
/// # Invariants
///
/// `nla_len` bytes from the start of the header, the header included, can be read.
#[repr(transparent)]
pub struct Attr(bindings::nlattr);

impl Attr {
    /// # Safety
    ///
    /// `attr` must be null, or point to an attribute that was found by parsing a message and that
    /// lives for `'a`.
    pub(crate) unsafe fn from_raw<'a>(attr: *const bindings::nlattr) -> Option<&'a Self> {
        // INVARIANT: Parsing checks that an attribute does not exceed its message.
        // SAFETY: The caller's promise. CAST: transparent.
        unsafe { attr.cast::<Self>().as_ref() }
    }

    /// The value.
    pub fn data(&self) -> &[u8] {
        let len = usize::from(self.0.nla_len).saturating_sub(HEADER_LEN);
        // SAFETY: By the type invariant.
        unsafe { core::slice::from_raw_parts(ptr::from_ref(&self.0).add(1).cast(), len) }
    }

    fn bytes<const N: usize>(&self) -> Option<[u8; N]> {
        self.data().first_chunk().copied()
    }

    /// An 8-bit number, if the value is long enough. So the others.
    pub fn u8(&self) -> Option<u8> {
        self.bytes::<1>().map(|[byte]| byte)
    }

    /// A 32-bit number in host byte order.
    pub fn u32(&self) -> Option<u32> {
        self.bytes().map(u32::from_ne_bytes)
    }

    /// A 16-bit number in network byte order.
    pub fn be16(&self) -> Option<u16> {
        self.bytes().map(u16::from_be_bytes)
    }

    /// An IPv4 address.
    pub fn ipv4(&self) -> Option<Ipv4Addr> {
        self.bytes::<4>().map(Ipv4Addr::from)
    }

    /// An IPv6 address.
    pub fn ipv6(&self) -> Option<Ipv6Addr> {
        self.bytes::<16>().map(Ipv6Addr::from)
    }

    /// The attributes nested in this one, checked strictly against `policy`.
    ///
    /// # Errors
    ///
    /// `EINVAL` and others, explained in `extack`.
    pub fn nested<'a, const N: usize>(
        &'a self,
        policy: &'static [Policy; N],
        extack: ExtAck<'_>,
    ) -> Result<Attrs<'a, N>> {
        let mut attrs = [ptr::null_mut(); N];
        // SAFETY: There is room for `N` attributes, the highest number being `N - 1`, and a policy
        // for each. CAST: Attributes are shorter than 64 kB, policies have a few entries.
        to_result(unsafe {
            bindings::__nla_parse(
                attrs.as_mut_ptr(),
                N as i32 - 1,
                self.data().as_ptr().cast(),
                self.data().len() as i32,
                policy.as_ptr().cast(),
                bindings::OVPN_NL_VALIDATE_STRICT as u32,
                extack.as_ptr(),
            )
        })?;
        // INVARIANT: Filled by parsing.
        Ok(Attrs {
            nest: self,
            attrs,
            _message: PhantomData,
        })
    }
}

/// The attributes of a nest, by number.
///
/// # Invariants
///
/// Each entry is null or points to an attribute in the message.
pub struct Attrs<'a, const N: usize> {
    nest: &'a Attr,
    attrs: [*mut bindings::nlattr; N],
    _message: PhantomData<&'a Attr>,
}

impl<'a, const N: usize> Attrs<'a, N> {
    /// The attribute of that number.
    pub fn get(&self, number: u32) -> Option<&'a Attr> {
        let attr = self.attrs.get(number as usize)?;
        // SAFETY: By the type invariant.
        unsafe { Attr::from_raw(*attr) }
    }

    /// The attribute of that number, which the request must have.
    ///
    /// # Errors
    ///
    /// `EINVAL`, with the missing attribute named in `extack`.
    pub fn require(&self, number: u32, extack: ExtAck<'_>) -> Result<&'a Attr> {
        self.get(number)
            .ok_or_else(|| extack.missing(Some(self.nest), number))
    }

    /// The first attribute whose number is none of `expected`, with its number.
    pub fn other_than(&self, expected: &[u32]) -> Option<(u32, &'a Attr)> {
        // CAST: A few attributes.
        (0..N as u32)
            .filter(|number| !expected.contains(number))
            .find_map(|number| self.get(number).map(|attr| (number, attr)))
    }
}

// SPDX-License-Identifier: GPL-2.0

//! How to allocate, for calls of C that want to know.

use kernel::alloc::{
    flags,
    Flags, //
};
use ovpn_bindings as bindings;

/// The context that memory is allocated in: what the kernel crate's flags cannot be turned into
/// outside of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gfp {
    /// Process context, may sleep.
    Kernel,
    /// Any context, does not sleep.
    Atomic,
}

impl Gfp {
    /// As the `kernel` crate wants it.
    #[inline]
    pub fn flags(self) -> Flags {
        match self {
            Self::Kernel => flags::GFP_KERNEL,
            Self::Atomic => flags::GFP_ATOMIC,
        }
    }

    /// As C wants it.
    #[inline]
    pub(crate) fn as_raw(self) -> bindings::gfp_t {
        match self {
            Self::Kernel => bindings::OVPN_GFP_KERNEL,
            Self::Atomic => bindings::OVPN_GFP_ATOMIC,
        }
    }
}

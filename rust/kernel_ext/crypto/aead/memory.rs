// SPDX-License-Identifier: GPL-2.0

//! Memory for requests.

use super::pieces::{
    Pieces,
    Target, //
};
use crate::{
    bh::BhDisabled,
    percpu::{
        Allocated,
        Borrowed,
        PerCpu, //
    },
};
use core::ptr;
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// Room for a request, as `SYNC_AEAD_REQUEST_ON_STACK()` has it.
#[repr(C, align(64))]
pub(super) struct RequestMemory([u8; REQUEST_LEN]);

const REQUEST_LEN: usize =
    core::mem::size_of::<bindings::aead_request>() + bindings::OVPN_MAX_SYNC_AEAD_REQSIZE;

impl RequestMemory {
    /// An empty request. The memory behind it is the cipher's, so the pointer is one to the whole.
    #[inline]
    pub(super) fn reset(&mut self) -> *mut bindings::aead_request {
        let request = ptr::from_mut(self).cast::<bindings::aead_request>();
        // SAFETY: The request is at the start of the memory. All zeros is an empty one.
        unsafe { request.write_bytes(0, 1) };
        request
    }
}

/// What one request at a time needs.
pub(super) struct Memory {
    pub(super) request: RequestMemory,
    pub(super) pieces: Pieces,
    pub(super) target: Target,
    /// Associated data that is not in front of its record, at most [`MAX_AAD`] bytes.
    pub(super) aad: [u8; MAX_AAD],
}

/// Most bytes of associated data of a record that is not opened in place.
pub(super) const MAX_AAD: usize = 16;

// SAFETY: All of it may be zero: bytes, and entries of scatterlists.
unsafe impl Zeroable for Memory {}

// SAFETY: Pointers in it are meaningful only while a request runs.
unsafe impl Send for Memory {}

static MEMORY: PerCpu<Memory> = PerCpu::new();

impl Memory {
    /// Borrows this CPU's memory.
    #[inline]
    pub(super) fn borrow(bh: &BhDisabled) -> Result<Borrowed<'_, Self>> {
        MEMORY.borrow(bh)
    }
}

/// Keeps memory for requests. A module creates it before the first key and drops it after the last.
pub struct CryptoMemory {
    _memory: Allocated<Memory>,
}

impl CryptoMemory {
    /// Allocates it. Process context.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EBUSY` if there is one already.
    pub fn new() -> Result<Self> {
        Ok(Self {
            _memory: Allocated::new(&MEMORY)?,
        })
    }
}

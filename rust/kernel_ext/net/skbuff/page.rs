// SPDX-License-Identifier: GPL-2.0

//! Pages that packets share, a few per CPU.

use crate::percpu::{
    Allocated,
    PerCpu, //
};
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// A page (of a high order, if there is one) that is written to from its start to its end.
///
/// # Invariants
///
/// Zeroed, or as `skb_page_frag_refill()` left it.
pub(super) struct Page(pub(super) bindings::page_frag);

// SAFETY: All zeros is "no page".
unsafe impl Zeroable for Page {}
// SAFETY: The page may be released by any CPU.
unsafe impl Send for Page {}

impl Drop for Page {
    fn drop(&mut self) {
        // SAFETY: By the type invariant.
        unsafe { bindings::page_frag_put(&mut self.0) };
    }
}

/// For packets that are sent.
pub(super) static SENDING: PerCpu<Page> = PerCpu::new();

/// For packets that were received.
pub(super) static RECEIVING: PerCpu<Page> = PerCpu::new();

/// Keeps the pages of all CPUs. A module creates it before the first packet and drops it after the
/// last.
pub struct PageMemory {
    _sending: Allocated<Page>,
    _receiving: Allocated<Page>,
}

impl PageMemory {
    /// Allocates it; the pages themselves come when they are needed. Process context.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EBUSY` if there is one already.
    pub fn new() -> Result<Self> {
        Ok(Self {
            _sending: Allocated::new(&SENDING)?,
            _receiving: Allocated::new(&RECEIVING)?,
        })
    }
}

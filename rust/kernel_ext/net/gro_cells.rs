// SPDX-License-Identifier: GPL-2.0

//! Receive queues of a tunnel device, one per CPU, in front of GRO.
//!
//! C header: [`include/net/gro_cells.h`](srctree/include/net/gro_cells.h)

use super::{
    device::{
        Device,
        Driver, //
    },
    skbuff::SkBuff, //
};
use crate::bh::BhDisabled;
use kernel::{
    error::to_result,
    prelude::*,
    types::Opaque, //
};
use ovpn_bindings as bindings;

/// The queues. A field of the private data of the device that they belong to.
///
/// # Invariants
///
/// Zeroed (no queues), or initialised for the device whose private data this is part of.
#[pin_data(PinnedDrop)]
pub struct GroCells {
    #[pin]
    cells: Opaque<bindings::gro_cells>,
}

// SAFETY: The queues are per CPU and do their own locking.
unsafe impl Send for GroCells {}
// SAFETY: As above.
unsafe impl Sync for GroCells {}

impl GroCells {
    /// No queues yet.
    pub fn new() -> impl PinInit<Self> {
        // INVARIANT: Zeroed.
        pin_init!(Self {
            cells: Opaque::zeroed(),
        })
    }

    /// Sets the queues up for `dev`, whose private data `self` must be part of. To be called once,
    /// by [`Driver::init`].
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EBUSY` if they are set up already.
    pub fn start<T: Driver>(&self, dev: &Device<T>) -> Result {
        // SAFETY: Only `start` writes the pointer, and it is called under RTNL.
        if !unsafe { (*self.cells.get()).cells }.is_null() {
            return Err(EBUSY);
        }
        // INVARIANT: Initialised for `dev` if this succeeds; else the pointer stays null.
        // SAFETY: Zeroed, and `dev` lives longer than its private data.
        to_result(unsafe { bindings::gro_cells_init(self.cells.get(), dev.as_ptr()) })
    }

    /// Queues a packet that has arrived on `dev`. Whether it was taken; if not, the core has
    /// counted it as dropped.
    #[inline]
    pub fn receive(&self, skb: SkBuff, _bh: &BhDisabled) -> bool {
        // SAFETY: By the type invariant (no queues is fine, too); bottom halves are disabled.
        let ret = unsafe { bindings::gro_cells_receive(self.cells.get(), skb.into_raw()) };
        ret == bindings::NET_RX_SUCCESS as i32
    }
}

#[pinned_drop]
impl PinnedDrop for GroCells {
    fn drop(self: Pin<&mut Self>) {
        // SAFETY: By the type invariant; the device is unregistered, nobody queues any more.
        unsafe { bindings::gro_cells_destroy(self.cells.get()) };
    }
}

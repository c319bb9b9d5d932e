// SPDX-License-Identifier: GPL-2.0

//! Messages to user space.

use super::Family;
use crate::{
    alloc::Gfp,
    net::{
        namespace::Net,
        netlink::Writer,
        skbuff::SkBuff, //
    },
};
use kernel::prelude::*;
use ovpn_bindings as bindings;

/// A message that is not sent yet.
pub struct Message(SkBuff);

impl Message {
    pub(super) fn new(gfp: Gfp) -> Result<Self> {
        // SAFETY: No requirements.
        let skb = unsafe { bindings::genlmsg_new(bindings::OVPN_NLMSG_DEFAULT_SIZE, gfp.as_raw()) };
        if skb.is_null() {
            return Err(ENOMEM);
        }
        // SAFETY: New, and ours.
        Ok(Self(unsafe { SkBuff::from_raw(skb) }))
    }

    /// A notification of command `cmd`. Any context.
    pub fn notification(
        family: &'static Family,
        cmd: u32,
        fill: impl FnOnce(&mut Writer<'_>) -> Result,
    ) -> Result<Self> {
        let mut message = Self::new(Gfp::Atomic)?;
        message.fill(family, 0, 0, 0, cmd, fill)?;
        Ok(message)
    }

    pub(super) fn fill(
        &mut self,
        family: &'static Family,
        portid: u32,
        seq: u32,
        flags: i32,
        cmd: u32,
        fill_in: impl FnOnce(&mut Writer<'_>) -> Result,
    ) -> Result {
        // SAFETY: The packet of this message, which nobody else has.
        unsafe { fill(self.0.as_ptr(), family, portid, seq, flags, cmd, fill_in) }
    }

    pub(super) fn into_raw(self) -> *mut bindings::sk_buff {
        self.0.into_raw()
    }

    /// Sends the message to those in namespace `net` who joined group number `group` of `family`.
    /// That nobody did is no error. Any context.
    pub fn multicast(self, family: &'static Family, net: &Net, group: u32) {
        // A listener whose buffer is full is told by its own socket (ENOBUFS).
        // SAFETY: The family is registered while the module runs; the message is handed over.
        let _ = unsafe {
            bindings::genlmsg_multicast_netns(
                family.as_ptr(),
                net.as_ptr(),
                self.into_raw(),
                group,
                bindings::OVPN_GFP_ATOMIC,
            )
        };
    }
}

/// Appends a message to `skb`, or nothing if `fill` fails.
///
/// # Safety
///
/// `skb` must be valid and used by nobody else.
pub(super) unsafe fn fill(
    skb: *mut bindings::sk_buff,
    family: &'static Family,
    portid: u32,
    seq: u32,
    flags: i32,
    cmd: u32,
    fill: impl FnOnce(&mut Writer<'_>) -> Result,
) -> Result {
    // SAFETY: The caller's promise. CAST: Commands have 8 bits.
    let header =
        unsafe { bindings::genlmsg_put(skb, portid, seq, family.as_ptr(), flags, cmd as u8) };
    if header.is_null() {
        return Err(EMSGSIZE);
    }
    // SAFETY: The caller's promise.
    match fill(&mut unsafe { Writer::from_raw(skb) }) {
        Ok(()) => {
            // SAFETY: `header` is that of the message just written.
            unsafe { bindings::genlmsg_end(skb, header) };
            Ok(())
        }
        Err(error) => {
            // SAFETY: As above.
            unsafe { bindings::genlmsg_cancel(skb, header) };
            Err(error)
        }
    }
}

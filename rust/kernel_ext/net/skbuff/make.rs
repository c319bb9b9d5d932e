// SPDX-License-Identifier: GPL-2.0

//! New packets.

use super::SkBuff;
use core::{
    ptr,
    slice, //
};
use kernel::{
    error::to_result,
    prelude::*, //
};
use ovpn_bindings as bindings;

const NUMA_NO_NODE: i32 = -1;

impl SkBuff {
    /// A new, empty packet with `headroom` bytes free in front and `tailroom` behind. Context as for
    /// `GFP_ATOMIC`.
    #[inline]
    pub(crate) fn with_room(headroom: usize, tailroom: usize) -> Result<Self> {
        let size = headroom.checked_add(tailroom).ok_or(EMSGSIZE)?;
        let skb = Self::allocate(size, bindings::OVPN_GFP_ATOMIC)?;
        // SAFETY: New, with `size` bytes of tail room. CAST: at most `size`.
        unsafe { bindings::skb_reserve(skb.as_ptr(), headroom as i32) };
        Ok(skb)
    }

    /// A new, empty packet with `size` bytes of tail room.
    #[inline]
    fn allocate(size: usize, flags: bindings::gfp_t) -> Result<Self> {
        let size = u32::try_from(size).map_err(|_| EMSGSIZE)?;
        // SAFETY: No requirements.
        let skb = unsafe { bindings::__alloc_skb(size, flags, 0, NUMA_NO_NODE) };
        if skb.is_null() {
            return Err(ENOMEM);
        }
        // SAFETY: New, hence ours.
        Ok(unsafe { Self::from_raw(skb) })
    }

    /// A new packet with `data` in it and `headroom` bytes free in front. Context as for
    /// `GFP_ATOMIC`.
    pub fn with_data(headroom: usize, data: &[u8]) -> Result<Self> {
        let skb = Self::with_room(headroom, data.len())?;
        // SAFETY: There are that many bytes of tail room. CAST: the packet could be allocated.
        unsafe {
            let tail = bindings::skb_put(skb.as_ptr(), data.len() as u32);
            ptr::copy_nonoverlapping(data.as_ptr(), tail.cast(), data.len());
        }
        Ok(skb)
    }

    /// A new packet of `len` bytes, as if a device had received what `write` writes. `None` without
    /// memory or if `write` says that it failed. Context as for `GFP_ATOMIC`.
    #[inline]
    pub(crate) fn received(len: usize, write: impl FnOnce(&mut [u8]) -> bool) -> Option<Self> {
        let size = u32::try_from(len).ok()?;
        // SAFETY: No device is one that has no say in where the memory comes from.
        let skb = unsafe {
            bindings::__netdev_alloc_skb(ptr::null_mut(), size, bindings::OVPN_GFP_ATOMIC)
        };
        if skb.is_null() {
            return None;
        }
        // SAFETY: New and ours, with `size` bytes of tail room. What is in there is garbage.
        let (skb, room) = unsafe {
            let data: *mut u8 = bindings::skb_put(skb, size).cast();
            (Self::from_raw(skb), slice::from_raw_parts_mut(data, len))
        };
        write(room).then_some(skb)
    }

    /// A new packet of `len` bytes that user space writes. Process context, may sleep.
    ///
    /// # Errors
    ///
    /// `ENOMEM`, `EFAULT`.
    ///
    /// # Safety
    ///
    /// `msg` must be good for a write of `len` bytes.
    pub(crate) unsafe fn from_user(msg: *mut bindings::msghdr, len: usize) -> Result<Self> {
        let skb = Self::allocate(len, bindings::OVPN_GFP_KERNEL)?;
        // SAFETY: New, with `len` bytes of tail room; the caller's promise. CAST: the packet could be
        // allocated.
        unsafe {
            let data = bindings::skb_put(skb.as_ptr(), len as u32);
            to_result(bindings::memcpy_from_msg(data, msg, len))?;
        }
        Ok(skb)
    }
}

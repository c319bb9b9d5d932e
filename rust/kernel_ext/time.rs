// SPDX-License-Identifier: GPL-2.0

//! Clocks.
//!
//! C header: [`include/linux/timekeeping.h`](srctree/include/linux/timekeeping.h)

use ovpn_bindings as bindings;

/// Nanoseconds in a second.
pub const NSEC_PER_SEC: u64 = 1_000_000_000;

/// The boot time clock in nanoseconds, as of the last tick: it never goes back, is not set by
/// anybody, and runs on while the machine sleeps. Cheap, for use per packet; any context.
#[inline]
pub fn boottime_coarse() -> u64 {
    // SAFETY: No requirements.
    let now = unsafe { bindings::ktime_get_coarse_with_offset(bindings::tk_offsets_TK_OFFS_BOOT) };
    // CAST: Time since boot is not negative.
    now as u64
}

/// The same clock in whole seconds.
#[inline]
pub fn boottime_seconds() -> u64 {
    boottime_coarse() / NSEC_PER_SEC
}

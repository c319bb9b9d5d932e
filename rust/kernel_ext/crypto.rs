// SPDX-License-Identifier: GPL-2.0

//! Cryptography.

pub mod aead;

use core::{
    ptr,
    sync::atomic::{
        compiler_fence,
        Ordering, //
    },
};

/// Overwrites key material with zeros, in a way that the compiler does not leave out.
pub fn wipe(secret: &mut [u8]) {
    for byte in secret {
        // SAFETY: A reference may be written to.
        unsafe { ptr::write_volatile(byte, 0) };
    }
    compiler_fence(Ordering::SeqCst);
}

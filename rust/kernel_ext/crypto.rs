// SPDX-License-Identifier: GPL-2.0

//! Cryptography.

pub mod aead;

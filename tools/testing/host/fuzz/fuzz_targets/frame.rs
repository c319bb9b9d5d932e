// SPDX-License-Identifier: GPL-2.0

//! A TCP stream of anything, taken apart as the kernel's stream parser does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    transport::tcp::frame::*,
    wire::OPCODE_LEN, //
};

fuzz_target!(|stream: &[u8]| {
    let mut rest = stream;

    while let Some(head) = rest.first_chunk::<PREFIX_LEN>() {
        let said = usize::from(u16::from_be_bytes(*head));
        let Some(len) = frame_len(*head) else {
            // The rest cannot be understood.
            assert!(said < OPCODE_LEN);
            return;
        };
        assert_eq!(len as usize, said + PREFIX_LEN);
        assert_eq!(prefix(said), Some(*head));
        // A frame that has not come wholly waits for the rest.
        rest = rest.get(len as usize..).unwrap_or(&[]);
    }
    let len = stream.len() << 7;
    assert_eq!(prefix(len).is_some(), len <= 0xffff);
});

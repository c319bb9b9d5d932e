// SPDX-License-Identifier: GPL-2.0

//! Reservations in any number and size: none overlaps, none goes behind the end.

#![no_main]

use libfuzzer_sys::fuzz_target;
use ovpn_host::crypto::packet_id::*;
use std::num::NonZeroU32;

/// Longer ranges are not walked through.
const WALKED: u32 = 300;

fuzz_target!(|input: (u32, Vec<(NonZeroU32, bool)>)| {
    let (mut last, steps) = input;

    for (count, lost) in steps {
        let fits = u64::from(last) + u64::from(count.get()) <= u64::from(u32::MAX);
        let Ok(Reservation { mut ids, last: new }) = reserve(last, count) else {
            assert!(!fits);
            continue;
        };
        assert!(fits);
        assert_eq!(new - last, count.get());
        assert_eq!(ids.len(), count.get() as usize);
        for step in 1..=count.get().min(WALKED) {
            assert_eq!(ids.next().map(PacketId::get), Some(last + step));
        }
        assert_eq!(ids.next().is_none(), count.get() <= WALKED);
        // Another CPU was faster: the counter stays, and the ids are not used.
        if !lost {
            last = new;
        }
    }
});

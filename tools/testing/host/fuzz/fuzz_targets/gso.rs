// SPDX-License-Identifier: GPL-2.0

//! Plans of batches, followed with all the detours that the driver takes.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::transport::gso::*;

/// What may happen to a batch.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Luck {
    Good,
    /// There was room for this many only, at least one.
    Room(u8),
    /// There were not as many packet ids.
    NoIds,
}

#[derive(Arbitrary, Debug)]
struct Input {
    packets: u16,
    record_len: u32,
    singly: bool,
    luck: Vec<Luck>,
}

fuzz_target!(|input: Input| {
    // More would only take longer.
    let packets = usize::from(input.packets % 4096);
    let record_len = usize::try_from(input.record_len).unwrap();
    let mut plan = match input.singly {
        true => Batches::singly(packets),
        false => Batches::new(packets, record_len),
    };
    let mut luck = input.luck.into_iter();
    let (mut next, mut singly) = (0, input.singly);

    while let Some(Batch { first, count }) = plan.next() {
        assert_eq!(first, next);
        assert!(count >= 1 && first + count <= packets);
        assert!(count == 1 || !singly);
        assert!(count <= MAX_RECORDS);
        assert!(count == 1 || count * record_len <= MAX_BYTES);
        // It could not have been longer.
        let full = count == MAX_RECORDS || (count + 1) * record_len > MAX_BYTES;
        assert!(full || singly || first + count == packets);
        match luck.next().unwrap_or(Luck::Good) {
            Luck::Room(room) => {
                next = first + usize::from(room).clamp(1, count);
                plan.resume(next);
            }
            Luck::NoIds if count > 1 => {
                plan.go_singly(first);
                singly = true;
            }
            _ => next = first + count,
        }
    }
    assert_eq!(next, packets);
});

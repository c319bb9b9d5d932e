// SPDX-License-Identifier: GPL-2.0

//! Datagrams that arrive in any order, and the lists that they wait in.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    transport::gro::*,
    wire::OVERHEAD, //
};

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Datagram {
    /// Few different first words, most of them data.
    word: u8,
    len: u16,
    checksum: bool,
    continued: bool,
    /// The list has been sent up meanwhile.
    flushed: bool,
    /// As long as the one before.
    same: bool,
    /// Packet id.
    id: u8,
    /// How many records came alone before it.
    alone: u8,
}

/// The longest list that the stack's own field for its length allows.
const ROOM: usize = 60_000;

fuzz_target!(|datagrams: Vec<Datagram>| {
    let mut list: Vec<Arrived<bool>> = Vec::new();

    for datagram in datagrams {
        if datagram.flushed {
            list.clear();
        }
        let new = Arrived {
            first: [
                datagram.word % 4 + 0x47,
                0,
                0,
                datagram.word >> 7,
                0,
                0,
                0,
                datagram.id,
            ],
            len: match list.first() {
                Some(first) if datagram.same => first.len,
                _ => usize::from(datagram.len % 4200),
            },
            checksum: datagram.checksum,
        };
        let bytes: usize = list.iter().map(|one| one.len).sum();
        let room = ROOM.saturating_sub(bytes);
        let held = match list.first() {
            None => Held::Nothing,
            Some(first) => Held::Waiting(Waiting {
                first: *first,
                count: list.len(),
                room,
                continued: datagram.continued,
            }),
        };
        let data = new.first[0] >> 3 == 9;
        let unfit = !data || new.len <= OVERHEAD || new.len > MAX_LEN;
        let in_vain = matches!(held, Held::Nothing) && u32::from(datagram.alone) >= PATIENCE;
        let verdict = judge(&new, &held, datagram.alone.into());
        assert_eq!(
            verdict == Verdict::Pass,
            unfit || in_vain && datagram.id % 8 != 0
        );
        match verdict {
            Verdict::Pass => list.clear(),
            Verdict::Begin => list = vec![new],
            Verdict::Join | Verdict::Close => {
                let first = list[0];
                assert!(datagram.continued && new.len <= room);
                assert!(first.first[..4] == new.first[..4] && first.checksum == new.checksum);
                list.push(new);
                let (last, before) = list.split_last().unwrap();
                assert!(before.iter().all(|one| one.len == first.len));
                assert!(last.len <= first.len && list.len() <= MAX_RECORDS);
                let full = new.len < first.len || list.len() == MAX_RECORDS;
                assert_eq!(verdict == Verdict::Close, full);
                if full {
                    list.clear();
                }
            }
        }
    }
});

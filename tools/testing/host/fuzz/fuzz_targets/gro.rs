// SPDX-License-Identifier: GPL-2.0

//! Datagrams that arrive in any order, and the lists that they wait in.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    net::gro::{
        ChecksumState,
        Datagram,
        Held,
        Join,
        List,
        MAX_RECORDS, //
    },
    transport::gro::*,
    wire::OVERHEAD, //
};

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Arrival {
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

fuzz_target!(|arrivals: Vec<Arrival>| {
    let mut list: Vec<Datagram> = Vec::new();

    for arrival in arrivals {
        if arrival.flushed {
            list.clear();
        }
        let new = Datagram {
            first: [
                arrival.word % 4 + 0x47,
                0,
                0,
                arrival.word >> 7,
                0,
                0,
                0,
                arrival.id,
            ],
            len: match list.first() {
                Some(first) if arrival.same => first.len,
                _ => usize::from(arrival.len % 4200),
            },
            checksum: ChecksumState {
                summed: arrival.checksum.into(),
                level: 0,
            },
        };
        let bytes: usize = list.iter().map(|one| one.len).sum();
        let room = ROOM.saturating_sub(bytes);
        let held = match list.first() {
            None => Held::Nothing,
            Some(first) => Held::List(List {
                first: *first,
                count: list.len(),
                room,
                continued: arrival.continued,
            }),
        };
        let data = new.first[0] >> 3 == 9;
        let unfit = !data || new.len <= OVERHEAD || new.len > MAX_LEN;
        let in_vain = matches!(held, Held::Nothing) && u32::from(arrival.alone) >= PATIENCE;
        let verdict = judge(&new, &held, arrival.alone.into());
        assert_eq!(
            verdict == Join::Pass,
            unfit || in_vain && arrival.id % 8 != 0
        );
        match verdict {
            Join::Pass => list.clear(),
            Join::Hold => list = vec![new],
            Join::Append | Join::Finish => {
                let first = list[0];
                assert!(arrival.continued && new.len <= room);
                assert!(first.first[..4] == new.first[..4] && first.checksum == new.checksum);
                list.push(new);
                let (last, before) = list.split_last().unwrap();
                assert!(before.iter().all(|one| one.len == first.len));
                assert!(last.len <= first.len && list.len() <= MAX_RECORDS);
                let full = new.len < first.len || list.len() == MAX_RECORDS;
                assert_eq!(verdict == Join::Finish, full);
                if full {
                    list.clear();
                }
            }
        }
    }
});

// SPDX-License-Identifier: GPL-2.0

//! Records in any order and at any time, beside a model that remembers every id.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::crypto::{
    packet_id::PacketId,
    replay::*, //
};
use replay_model::Model;

#[path = "../../tests/support/replay_model.rs"]
mod replay_model;

/// Which id comes next, counted from the highest one so far.
#[derive(Arbitrary, Clone, Copy, Debug)]
enum Next {
    Near(i8),
    Far(i16),
    /// This far from the lowest id that is still in the window.
    Edge(i8),
    Run(u8),
    Any(u32),
}

#[derive(Arbitrary, Debug)]
struct Input {
    start: u32,
    expiry: u8,
    steps: Vec<(Next, i8)>,
}

fuzz_target!(|input: Input| {
    let expiry = u64::from(input.expiry);
    let mut window = ReplayWindow::new(expiry);
    let mut model = Model::new(expiry);
    let mut now = 1000u64;
    let mut show = |model: &mut Model, id: i64, now: u64| {
        let Ok(id) = u32::try_from(id) else { return };
        if let Some(packet_id) = PacketId::new(id) {
            assert_eq!(
                window.accept(packet_id, now),
                model.accept(id, now),
                "id {id}"
            );
        }
    };

    show(&mut model, i64::from(input.start), now);
    for (next, elapsed) in input.steps {
        now = now.saturating_add_signed(i64::from(elapsed));
        let highest = i64::from(model.highest);
        let id = match next {
            Next::Near(offset) => highest + i64::from(offset),
            Next::Far(offset) => highest + i64::from(offset),
            Next::Edge(offset) => highest - i64::from(WINDOW) + i64::from(offset),
            Next::Any(id) => i64::from(id),
            Next::Run(count) => {
                for step in 1..i64::from(count) {
                    show(&mut model, highest + step, now);
                }
                highest + i64::from(count)
            }
        };
        show(&mut model, id, now);
    }
});

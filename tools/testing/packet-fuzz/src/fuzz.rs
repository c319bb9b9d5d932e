// SPDX-License-Identifier: GPL-2.0

//! Batch after batch: sends it, and waits until all of it has become what it must.

use crate::{
    counters,
    dice::Dice,
    ends::{Ends, Transport},
    input::Input,
    model::{Counted, Datagram, Model, Outcome},
    record::Key,
};
use std::{
    collections::BTreeMap,
    error::Error,
    time::{Duration, Instant},
};

const BATCH: usize = 256;
const PATIENCE: Duration = Duration::from_secs(20);
const SHORTEST_FRAME: usize = 4;

pub type Result<T> = std::result::Result<T, Box<dyn Error>>;

pub struct Fuzz<'a> {
    link: &'a str,
    /// Whether packets come in the order of the records.
    exact: bool,
    ends: Ends,
    input: Input,
    model: Model,
    /// What the driver must have counted.
    counters: BTreeMap<String, u64>,
    buffer: Vec<u8>,
}

/// What came out.
#[derive(PartialEq, Eq)]
struct Seen {
    delivered: Vec<(u16, Vec<u8>)>,
    /// Frames, by socket.
    daemons: Vec<Vec<u8>>,
}

impl<'a> Fuzz<'a> {
    pub fn new(link: &'a str, exact: bool, ends: Ends, keys: Vec<Key>) -> Result<Self> {
        let sockets: Vec<_> = (0..ends.senders.len()).collect();
        let peers = keys.iter().map(|key| key.peer).max().unwrap_or(1);
        let pools: Vec<_> = sockets
            .chunks(sockets.len() / peers as usize)
            .map(<[usize]>::to_vec)
            .collect();
        let first = (1..).zip(pools.iter().map(|pool| pool[0])).collect();
        let input = Input::new(!exact, keys, pools);
        Ok(Self {
            link,
            exact,
            model: Model::new(ends.transport, input.keys(), first),
            input,
            counters: counters::read(&ends.daemons[0], link)?,
            ends,
            buffer: vec![0; 1 << 17],
        })
    }

    pub fn run(&mut self, dice: &mut Dice, datagrams: usize) -> Result<()> {
        let start = Instant::now();
        let (mut sent, mut sends, mut number) = (0, 0, 0);
        let mut outcomes: BTreeMap<&str, usize> = BTreeMap::new();
        while sent < datagrams {
            let mut batch = self.input.batch(dice, &self.model, BATCH);
            if self.ends.transport == Transport::Tcp {
                // A shorter frame is the end of its stream.
                batch.retain(|datagram| datagram.bytes.len() >= SHORTEST_FRAME);
            }
            let expected: Vec<_> = batch
                .iter()
                .map(|datagram| self.model.expect(datagram))
                .collect();
            sends += self.ends.send(dice, &batch)?;
            self.check(&batch, &expected)
                .map_err(|error| format!("batch {number}: {error}"))?;
            for outcome in &expected {
                *outcomes.entry(name(outcome)).or_default() += 1;
            }
            sent += batch.len();
            number += 1;
        }
        let rate = sent as u128 * 1000 / start.elapsed().as_millis().max(1);
        println!("# {sent} datagrams in {sends} bursts, {rate} per second");
        println!(
            "# {}",
            outcomes
                .iter()
                .map(|(name, count)| format!("{name}: {count}"))
                .collect::<Vec<_>>()
                .join(", ")
        );
        for (peer, counted) in &self.model.counted {
            let (
                sender,
                Counted {
                    records,
                    record_bytes,
                    packets,
                    packet_bytes,
                },
            ) = (self.model.sender(*peer), counted);
            println!("peer {peer} {sender} {records} {record_bytes} {packets} {packet_bytes}");
        }
        Ok(())
    }

    /// Waits for what must come of a batch, and for nothing else.
    fn check(&mut self, batch: &[Datagram], expected: &[Outcome]) -> Result<()> {
        let mut wanted = self.nothing();
        for (datagram, outcome) in batch.iter().zip(expected) {
            match outcome {
                Outcome::Delivered(protocol, inner) => {
                    wanted.delivered.push((*protocol, inner.clone()))
                }
                Outcome::Daemon => {
                    let socket = datagram.sender % wanted.daemons.len();
                    wanted.daemons[socket].extend(datagram.frame());
                }
                Outcome::Dropped(name) => {
                    *self
                        .counters
                        .get_mut(*name)
                        .ok_or(format!("no counter {name}"))? += 1
                }
                Outcome::Keepalive => {}
            }
        }
        if !self.exact {
            wanted.delivered.sort();
        }
        let until = Instant::now() + PATIENCE;
        let mut seen = self.nothing();
        loop {
            self.drain(&mut seen)?;
            let counters = counters::read(&self.ends.daemons[0], self.link)?;
            if seen == wanted && counters == self.counters {
                return Ok(());
            }
            if Instant::now() > until {
                return Err(self
                    .difference(batch, expected, &wanted, &seen, &counters)
                    .into());
            }
        }
    }

    fn nothing(&self) -> Seen {
        Seen {
            delivered: Vec::new(),
            daemons: vec![Vec::new(); self.ends.daemons.len()],
        }
    }

    fn drain(&mut self, seen: &mut Seen) -> Result<()> {
        while let Some(packet) = self.ends.delivered(&mut self.buffer)? {
            seen.delivered.push(packet);
        }
        self.ends.daemons(&mut self.buffer, &mut seen.daemons)?;
        if !self.exact {
            seen.delivered.sort();
        }
        Ok(())
    }

    /// Says where the driver and the model differ.
    fn difference(
        &self,
        batch: &[Datagram],
        expected: &[Outcome],
        wanted: &Seen,
        seen: &Seen,
        counters: &BTreeMap<String, u64>,
    ) -> String {
        let mut text = format!(
            "delivered {} of {}, left to the daemon {} of {} bytes",
            seen.delivered.len(),
            wanted.delivered.len(),
            seen.daemons.concat().len(),
            wanted.daemons.concat().len()
        );
        for (name, value) in &self.counters {
            let got = counters.get(name).copied().unwrap_or_default();
            if got != *value {
                text += &format!("\n{name} is {got}, must be {value}");
            }
        }
        let other = wanted
            .delivered
            .iter()
            .zip(&seen.delivered)
            .position(|(one, other)| one != other);
        let at = other.unwrap_or(seen.delivered.len().min(wanted.delivered.len()));
        if let Some((protocol, packet)) = seen.delivered.get(at) {
            text += &format!("\npacket {at} came as {protocol:#x} {packet:02x?}");
        }
        let is_delivered = |outcome: &&Outcome| matches!(outcome, Outcome::Delivered(..));
        if let Some(missed) = expected.iter().filter(is_delivered).nth(at) {
            text += &format!("\npacket {at} must be {missed:02x?}");
        }
        for (number, (datagram, outcome)) in batch.iter().zip(expected).enumerate() {
            let head = &datagram.bytes[..datagram.bytes.len().min(64)];
            text += &format!(
                "\n{number}: by {} {} bytes {head:02x?}: {}",
                datagram.sender,
                datagram.bytes.len(),
                name(outcome)
            );
        }
        text
    }
}

fn name(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Delivered(..) => "delivered",
        Outcome::Keepalive => "keepalive",
        Outcome::Daemon => "daemon",
        Outcome::Dropped(name) => name,
    }
}

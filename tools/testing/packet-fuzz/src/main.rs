// SPDX-License-Identifier: GPL-2.0

//! Sends datagrams of all kinds to a tunnel's socket and compares what becomes of each with a model.
//!
//! Started by `packets.py`, which makes the tunnel and hands over the sockets:
//!
//! ```text
//! packet-fuzz LINK SEED DATAGRAMS TRANSPORT ORDER TAP DAEMONS SENDERS KEY..
//! ```
//!
//! TRANSPORT is `udp` or `tcp`. ORDER is `exact`, or `any` if packets may overtake each other. TAP,
//! DAEMONS (one, or one for each peer) and SENDERS (equally many for each peer) are numbers of open
//! sockets, separated by commas. The same seed gives the same datagrams. In the end it says what each
//! peer must have counted, and by which socket it was heard last.

mod counters;
mod dice;
mod ends;
mod fuzz;
mod inner;
mod input;
mod model;
mod record;

use dice::Dice;
use ends::{Ends, Transport};
use fuzz::{Fuzz, Result};
use record::Key;
use std::{
    os::fd::{FromRawFd, OwnedFd, RawFd},
    process::ExitCode,
};

fn main() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("packet-fuzz: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    let [link, seed, datagrams, transport, order, tap, daemons, senders, keys @ ..] =
        &arguments[..]
    else {
        return Err("see the top of packet-fuzz/src/main.rs for the arguments".into());
    };
    let ends = Ends {
        transport: match transport.as_str() {
            "udp" => Transport::Udp,
            "tcp" => Transport::Tcp,
            _ => return Err(format!("no transport: {transport}").into()),
        },
        senders: open_all(senders)?,
        daemons: open_all(daemons)?,
        tap: open(tap)?,
    };
    let keys = keys
        .iter()
        .map(|words| Key::parse(words).ok_or(format!("no key: {words}")));
    let keys = keys.collect::<std::result::Result<Vec<_>, _>>()?;
    let mut fuzz = Fuzz::new(link, order == "exact", ends, keys)?;
    fuzz.run(&mut Dice::new(seed.parse()?), datagrams.parse()?)
}

fn open_all(numbers: &str) -> Result<Vec<OwnedFd>> {
    numbers.split(',').map(open).collect()
}

fn open(number: &str) -> Result<OwnedFd> {
    let number: RawFd = number.parse()?;
    // SAFETY: It was opened for us by who has started us, and is named once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

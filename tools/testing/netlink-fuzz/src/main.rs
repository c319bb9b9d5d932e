// SPDX-License-Identifier: GPL-2.0

//! Netlink requests of all kinds against the family `ovpn`, as fast as the kernel takes them.
//!
//! Each worker is a process with namespaces, interfaces and sockets of its own. It sends batches of
//! requests: sound ones in random order, for which a model of all peers and keys knows what must come
//! of them; malformed ones, made from the specification, which must be refused and change nothing;
//! and some with flipped bits. Answers, notifications and all that can be read are compared with the
//! model. The same seed asks the same again.

#![forbid(unsafe_code)]

mod asked;
#[path = "../../packet-fuzz/src/dice.rs"]
#[expect(dead_code, reason = "the other program needs more of it")]
mod dice;
mod family;
mod files;
mod link;
mod look;
mod malform;
mod message;
mod model;
mod object;
mod oracle;
#[path = "../../host/tests/support/peer_rules.rs"]
mod peer_rules;
mod plausible;
mod spec;
mod told;
mod worker;

use std::{
    env,
    fs,
    process::{
        Command,
        ExitCode, //
    },
    time::Instant, //
};
use worker::Worker;

const USAGE: &str = "usage: netlink-fuzz SPECIFICATION SEED REQUESTS WORKERS
  all REQUESTS are shared by the WORKERS
or:    netlink-fuzz SPECIFICATION SEED REQUESTS only WORKER
  one of them alone, with as many requests for itself";

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [specification, seed, requests, rest @ ..] = arguments.as_slice() else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let numbers = (seed.parse(), requests.parse());
    let (Ok(seed), Ok(requests)) = numbers else {
        eprintln!("{USAGE}");
        return ExitCode::from(2);
    };
    let good = match rest {
        [only, worker] if only == "only" => worker
            .parse()
            .is_ok_and(|worker| alone(specification, seed, requests, worker)),
        [workers] => workers
            .parse()
            .is_ok_and(|workers| together(specification, seed, requests, workers)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    ExitCode::from(u8::from(!good))
}

/// Processes, so that none has the files of another.
fn together(specification: &str, seed: u64, requests: u64, workers: u64) -> bool {
    let program = env::current_exe().expect("the path of this program");
    let start = Instant::now();
    let children: Vec<_> = (0..workers)
        .map(|worker| {
            let share = (requests / workers.max(1)).to_string();
            let mut command = Command::new(&program);
            command.args([
                specification,
                &seed.to_string(),
                &share,
                "only",
                &worker.to_string(),
            ]);
            command.spawn().expect("a worker")
        })
        .collect();
    let mut good = true;
    for mut child in children {
        good &= child.wait().is_ok_and(|status| status.success());
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{requests} requests, {:.0} a second",
        requests as f64 / seconds
    );
    good
}

fn alone(specification: &str, seed: u64, requests: u64, number: u64) -> bool {
    let text = fs::read_to_string(specification).expect("the specification");
    let spec = spec::Spec::parse(&text);
    // Far apart, whatever the seed.
    let seed_of_worker = seed.wrapping_add(number.wrapping_mul(0x1_0000_0001));
    let mut worker = match Worker::new(&spec, seed_of_worker) {
        Ok(worker) => worker,
        Err(error) => {
            println!("worker {number} could not begin: {error}");
            return false;
        }
    };
    let result = worker.run(requests);
    let tally = worker.tally.iter();
    let tally =
        tally.map(|(op, [done, refused, malformed])| format!("{op} {done}/{refused}/{malformed}"));
    let tally: Vec<String> = tally.collect();
    println!(
        "worker {number}: {} requests; done/refused/malformed: {}",
        worker.asked,
        tally.join(", ")
    );
    match result {
        Ok(()) => true,
        Err(wrong) => {
            println!(
                "worker {number} of seed {seed}, after {} requests:\n{wrong}",
                worker.asked
            );
            println!("its files: {}", worker.files());
            false
        }
    }
}

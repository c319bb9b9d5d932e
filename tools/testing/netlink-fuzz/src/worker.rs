// SPDX-License-Identifier: GPL-2.0

//! One process with a namespace, interfaces and files of its own: it asks, and compares.

use crate::{
    asked::{
        check,
        count_in,
        report,
        Asked,
        Sort,
        Tally, //
    },
    dice::Dice,
    family::{
        Family,
        Netlink, //
    },
    files::{
        self,
        Namespaces, //
    },
    link,
    malform::malform,
    message::{
        messages,
        NLA_F_NET_BYTEORDER,
        NLMSG_ERROR, //
    },
    model::{
        Gone,
        Link,
        DISCONNECT,
        TEARDOWN, //
    },
    oracle::{
        Verdict,
        World, //
    },
    plausible::Maker,
    spec::Spec,
    told, //
};
use ovpn_host::netlink::rules::Mode;
use std::{
    collections::BTreeMap,
    io,
    thread,
    time::{
        Duration,
        Instant, //
    }, //
};

/// Requests in one go, at most.
const BATCH: usize = 24;
/// How many batches pass between two looks at everything.
const LOOK: u64 = 50;
/// How long the driver may take to tell what a closed socket did.
const PATIENCE: Duration = Duration::from_secs(20);

pub struct Worker<'a> {
    pub spec: &'a Spec,
    dice: Dice,
    namespaces: Namespaces,
    pub family: Family,
    /// In our namespace and in the other one.
    pub netlink: [Netlink; 2],
    listeners: [Netlink; 2],
    route: Netlink,
    pub world: World,
    pub sequence: u32,
    pub gone: BTreeMap<Gone, i32>,
    pub asked: u64,
    pub tally: Tally,
}

impl<'a> Worker<'a> {
    pub fn new(spec: &'a Spec, seed: u64) -> io::Result<Self> {
        let namespaces = Namespaces::new()?;
        let mut route = Netlink::route()?;
        let mut home = Netlink::generic()?;
        let family = Family::find(&mut home)?;
        let links = [("mp", Mode::Mp), ("p2p", Mode::P2p)].map(|(name, mode)| {
            Ok(Link {
                name,
                mode,
                index: link::add(&mut route, name, mode)?,
                peers: BTreeMap::new(),
            })
        });
        let slots = files::open(&namespaces)?;
        Ok(Self {
            spec,
            dice: Dice::new(seed),
            family,
            netlink: [home, namespaces.in_other(Netlink::generic)?],
            listeners: [
                Netlink::listener(family.group)?,
                namespaces.in_other(|| Netlink::listener(family.group))?,
            ],
            namespaces,
            route,
            world: World {
                links: links.into_iter().collect::<io::Result<_>>()?,
                slots,
            },
            sequence: 0,
            gone: BTreeMap::new(),
            asked: 0,
            tally: Tally::new(),
        })
    }

    /// Asks `requests` times, and now and then closes a socket or deletes an interface. What is wrong
    /// comes back as text.
    pub fn run(&mut self, requests: u64) -> Result<(), String> {
        let mut batches = 0;
        while self.asked < requests {
            self.batch()?;
            batches += 1;
            if batches % LOOK == 0 {
                match self.dice.below(4) {
                    0 => self.close_socket()?,
                    1 => self.replace_link()?,
                    _ => {}
                }
                self.compare()?;
            }
        }
        self.compare()
    }

    /// Numbers of the files that stand for sockets, with what they are.
    pub fn files(&self) -> String {
        let files = self.world.slots.iter();
        let files = files.map(|slot| format!("{} is {}", slot.number(), slot.what));
        files.collect::<Vec<_>>().join(", ")
    }

    /// Some requests in one go, and what comes of them.
    fn batch(&mut self) -> Result<(), String> {
        let foreign = self.dice.percent(2);
        let first = self.sequence + 1;
        let (all, bytes) = self.fill(foreign);
        self.netlink[usize::from(foreign)]
            .send(&bytes)
            .map_err(|error| format!("sending: {error}"))?;
        let wild = self.answers(foreign, first, &all)?;
        self.asked += all.len() as u64;
        for gone in all.iter().flat_map(|asked| &asked.verdict.gone) {
            *self.gone.entry(*gone).or_default() -= 1;
        }
        if wild {
            return self.learn();
        }
        self.hear()?;
        let Some((gone, balance)) = self.gone.iter().find(|(_, balance)| **balance != 0) else {
            return Ok(());
        };
        let wrong = format!("{gone:?} was told {balance} times more than it happened");
        Err(report(&wrong, all.len() - 1, &all))
    }

    /// Makes up a batch. One with flipped bits is its last: nobody knows what it does.
    fn fill(&mut self, foreign: bool) -> (Vec<Asked>, Vec<u8>) {
        let count = 1 + self.dice.below(BATCH);
        let (mut all, mut bytes) = (Vec::<Asked>::new(), Vec::new());
        while all.len() < count && all.last().is_none_or(|asked| asked.sort != Sort::Wild) {
            let asked = self.make(foreign);
            self.sequence += 1;
            asked
                .request
                .write(self.family.id, self.sequence, &mut bytes);
            all.push(asked);
        }
        (all, bytes)
    }

    /// Compares the answers to a batch with what must come. Whether one with flipped bits was done
    /// comes back.
    fn answers(&mut self, foreign: bool, first: u32, all: &[Asked]) -> Result<bool, String> {
        let mut replies: Vec<Option<Vec<u8>>> = vec![None; all.len()];
        let (mut done, mut wild) = (0, false);
        while done < all.len() {
            let read = self.netlink[usize::from(foreign)]
                .receive()
                .map_err(|error| format!("receiving: {error}"))?;
            for message in messages(read) {
                let at = message.sequence.wrapping_sub(first) as usize;
                let asked = all.get(at).ok_or("an answer to nothing that was asked")?;
                if message.kind != NLMSG_ERROR {
                    replies[at] = Some(message.payload.to_vec());
                    continue;
                }
                done += 1;
                let reply = replies[at].as_deref();
                let code = check(self.spec, asked, &message, reply, &self.world.slots)
                    .map_err(|wrong| report(&wrong, at, all))?;
                wild |= asked.sort == Sort::Wild && code == 0;
                count_in(&mut self.tally, asked, code);
            }
        }
        Ok(wild)
    }

    fn make(&mut self, foreign: bool) -> Asked {
        let mut maker = Maker {
            spec: self.spec,
            world: &self.world,
            dice: &mut self.dice,
        };
        let (op, mut request) = maker.request();
        let mut sort = Sort::Sound;
        if self.dice.percent(25) {
            if let Some(what) = malform(&mut self.dice, self.spec, &op, &mut request) {
                sort = Sort::Malformed(what);
            }
        } else if self.dice.percent(2) {
            request.flipped = (0..1 + self.dice.below(4))
                .map(|_| self.dice.next() as u32 as usize)
                .collect();
            sort = Sort::Wild;
        } else if self.dice.percent(3) {
            // Says nothing about attributes that know their order themselves.
            if let Some(node) = request.nodes.iter_mut().find(|node| node.flags == 0) {
                node.flags |= NLA_F_NET_BYTEORDER;
            }
        }
        let verdict = match sort {
            Sort::Sound => self.world.judge(self.spec, &op, &request, foreign),
            _ => Verdict::default(),
        };
        Asked {
            op: op.name,
            request,
            sort,
            verdict,
        }
    }

    /// Takes note of what was told so far.
    pub fn hear(&mut self) -> Result<(), String> {
        for listener in &mut self.listeners {
            loop {
                let read = listener
                    .receive()
                    .map_err(|error| format!("listening: {error}"))?;
                if read.is_empty() {
                    break;
                }
                told::gone(self.spec, self.family.id, read, &mut self.gone);
            }
        }
        self.gone.retain(|_, balance| *balance != 0);
        Ok(())
    }

    /// Waits until all that happened was told.
    fn expect(&mut self, gone: Vec<Gone>) -> Result<(), String> {
        for gone in gone {
            *self.gone.entry(gone).or_default() -= 1;
        }
        let start = Instant::now();
        loop {
            self.hear()?;
            if self.gone.is_empty() {
                return Ok(());
            }
            if start.elapsed() > PATIENCE {
                return Err(format!("not told, or too often: {:?}", self.gone));
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    fn close_socket(&mut self) -> Result<(), String> {
        let at = self.dice.below(files::CARRIERS);
        let fresh = files::carrier(at, &self.namespaces, &self.world.slots)
            .map_err(|error| format!("a new socket: {error}"))?;
        self.world.slots[at] = fresh;
        let links = self.world.links.iter_mut();
        let gone = links
            .flat_map(|link| link.remove_all(DISCONNECT, |peer| peer.socket == at))
            .collect();
        self.expect(gone)
    }

    fn replace_link(&mut self) -> Result<(), String> {
        let at = self.dice.below(self.world.links.len());
        let link = &mut self.world.links[at];
        link::delete(&mut self.route, link.name)
            .map_err(|error| format!("deleting {}: {error}", link.name))?;
        let gone = link.remove_all(TEARDOWN, |_| true);
        link.index = link::add(&mut self.route, link.name, link.mode)
            .map_err(|error| format!("adding: {error}"))?;
        self.expect(gone)
    }
}

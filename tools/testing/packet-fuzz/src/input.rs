// SPDX-License-Identifier: GPL-2.0

//! Datagrams of all kinds, in runs that can travel as one burst.

use crate::{
    dice::Dice,
    inner,
    model::{Datagram, Model, Sealed},
    record::{Key, NO_PEER, OVERHEAD},
};
use std::collections::{HashSet, VecDeque};

/// How many datagrams are kept to be sent again.
const HISTORY: usize = 4000;
/// Longer ones go in fragments.
pub const MOST_IN_BURST: usize = 1400;
const LONGEST: usize = 65_000;

pub struct Input {
    /// Whether records may overtake each other within a batch. Then a batch has nothing in it whose
    /// fate would depend on that.
    overtaking: bool,
    keys: Vec<Key>,
    /// The last packet id of each key.
    last: Vec<u32>,
    /// The same when the batch began, and the late ids that it has.
    before: Vec<u32>,
    late: HashSet<(usize, u32)>,
    /// The sockets of each peer, by peer id less one.
    pools: Vec<Vec<usize>>,
    history: VecDeque<Datagram>,
}

impl Input {
    pub fn new(overtaking: bool, keys: Vec<Key>, pools: Vec<Vec<usize>>) -> Self {
        Self {
            overtaking,
            last: vec![0; keys.len()],
            before: Vec::new(),
            late: HashSet::new(),
            keys,
            pools,
            history: VecDeque::new(),
        }
    }

    pub fn keys(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        self.keys.iter().map(|key| (key.peer, key.id))
    }

    /// So many datagrams or a few more.
    pub fn batch(&mut self, dice: &mut Dice, model: &Model, count: usize) -> Vec<Datagram> {
        self.before.clone_from(&self.last);
        self.late.clear();
        let mut batch = Vec::new();
        if self.overtaking && dice.percent(5) {
            return self.moves(dice);
        }
        while batch.len() < count {
            self.run(dice, model, &mut batch);
        }
        batch
    }

    /// A record under each key, which may move the peer to another socket.
    fn moves(&mut self, dice: &mut Dice) -> Vec<Datagram> {
        let sockets: Vec<_> = self.pools.iter().map(|pool| *dice.pick(pool)).collect();
        let each = 0..self.keys.len();
        each.map(|key| {
            let mut datagram = self.sealed(dice, key, 100, Fault::None);
            datagram.sender = sockets[self.keys[key].peer as usize - 1];
            datagram
        })
        .collect()
    }

    /// Datagrams of one key, most of which are of one length.
    fn run(&mut self, dice: &mut Dice, model: &Model, batch: &mut Vec<Datagram>) {
        let key = dice.below(self.keys.len());
        let peer = self.keys[key].peer;
        let own = match dice.percent(5) && !self.overtaking {
            true => *dice.pick(&self.pools[peer as usize - 1]),
            false => model.sender(peer),
        };
        // By this one no record may get through: peers that share an address cannot be told apart.
        let foreign = match dice.percent(5) {
            true => dice.below(self.pools.iter().map(Vec::len).sum()),
            false => own,
        };
        let len = length(dice);
        let count = if len > MOST_IN_BURST {
            1
        } else {
            dice.within(1, 64)
        };
        for _ in 0..count {
            let mut datagram = self.datagram(dice, key, len);
            datagram.sender = match datagram.names() {
                Some(named) if named == peer => own,
                Some(named) => model.sender(named),
                None => foreign,
            };
            if datagram.sealed.is_some() && (datagram.names().is_some() || !self.overtaking) {
                if self.history.len() == HISTORY {
                    self.history.pop_front();
                }
                self.history.push_back(datagram.clone());
            }
            batch.push(datagram);
        }
    }

    /// One datagram, with or without something wrong. The sender is set by the caller.
    fn datagram(&mut self, dice: &mut Dice, key: usize, len: usize) -> Datagram {
        match dice.below(100) {
            0..=54 => self.sealed(dice, key, len, Fault::None),
            55..=61 => self.sealed(dice, key, len, Fault::Ahead),
            62..=70 => self.sealed(dice, key, len, Fault::Late),
            71..=73 => self.sealed(dice, key, len, Fault::Nameless),
            74 => self.sealed(dice, key, len, Fault::ZeroId),
            75..=76 => self.sealed(dice, key, len, Fault::OtherKey),
            77..=78 => self.sealed(dice, key, len, Fault::OtherPeer),
            79..=85 => match self.history.is_empty() {
                true => self.sealed(dice, key, len, Fault::None),
                false => self.history[dice.below(self.history.len())].clone(),
            },
            _ => {
                let mut bytes = self.sealed(dice, key, len, Fault::None).bytes;
                spoil(dice, &mut bytes);
                Datagram {
                    bytes,
                    sealed: None,
                    sender: 0,
                }
            }
        }
    }

    fn sealed(&mut self, dice: &mut Dice, key: usize, len: usize, fault: Fault) -> Datagram {
        let Key {
            peer, id: key_id, ..
        } = self.keys[key];
        let inner = inner::any(dice, peer, self.pools.len() as u32, len);
        let late = match fault {
            Fault::Late => self.late_id(dice, key),
            _ => None,
        };
        let last = &mut self.last[key];
        let id = match fault {
            Fault::ZeroId => 0,
            Fault::Ahead => {
                let far = dice.percent(5) && !self.overtaking;
                let most = if far { 5000 } else { 200 };
                *last += dice.within(2, most) as u32;
                *last
            }
            _ => late.unwrap_or_else(|| {
                *last += 1;
                *last
            }),
        };
        let named = match fault {
            Fault::Nameless => NO_PEER,
            // Nobody's, or somebody else's.
            Fault::OtherPeer => dice.below(self.pools.len() + 3) as u32,
            _ => peer,
        };
        let with = match fault {
            Fault::OtherKey => dice.below(self.keys.len()),
            _ => key,
        };
        let bytes = self.keys[with].seal(named, key_id, id, &inner);
        let sealed = (with == key).then_some(Sealed {
            peer,
            key_id,
            id,
            inner,
        });
        Datagram {
            bytes,
            sealed,
            sender: 0,
        }
    }

    /// An id that may have been used, or may be too old. Where records may overtake each other it is
    /// surely within the window or surely not, and is not given out twice.
    fn late_id(&mut self, dice: &mut Dice, key: usize) -> Option<u32> {
        if !self.overtaking {
            let last = self.last[key] as usize;
            return Some(dice.within(1.max(last.saturating_sub(3000)), 1.max(last)) as u32);
        }
        let behind = match dice.percent(70) {
            true => dice.within(0, 1000),
            false => dice.within(2600, 3600),
        };
        let id = self.before[key].checked_sub(behind as u32)?;
        (id > 0 && self.late.insert((key, id))).then_some(id)
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// Ids are left out.
    Ahead,
    /// An id that may have been used, or is too old.
    Late,
    /// The sender does not know its own number.
    Nameless,
    /// A packet id that nobody may use.
    ZeroId,
    /// Sealed with a key that is not the one it names.
    OtherKey,
    /// It names another peer.
    OtherPeer,
}

/// Bytes inside of the records of a run.
fn length(dice: &mut Dice) -> usize {
    match dice.below(100) {
        0..=1 => 0,
        2..=5 => inner::KEEPALIVE.len(),
        6..=25 => dice.within(1, 60),
        26..=65 => dice.within(40, 200),
        66..=97 => dice.within(200, MOST_IN_BURST - OVERHEAD),
        98 => dice.within(MOST_IN_BURST, 5000),
        _ => dice.within(5000, LONGEST),
    }
}

/// Changes a record so that it is not authentic any more.
fn spoil(dice: &mut Dice, bytes: &mut Vec<u8>) {
    match dice.below(10) {
        // A bit of each field of the head.
        0..=4 => bytes[dice.below(OVERHEAD)] ^= 1 << dice.below(8),
        5 => {
            let at = dice.below(bytes.len());
            bytes[at] ^= 1 << dice.below(8);
        }
        6 => bytes.truncate(dice.below(bytes.len())),
        7 => bytes.truncate(dice.below(OVERHEAD)),
        8 => {
            let more = dice.within(1, 40);
            bytes.extend(dice.bytes(more));
        }
        // Anything at all, of the control channel more often than not.
        _ => dice.fill(bytes),
    }
}

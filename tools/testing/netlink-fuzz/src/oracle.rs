// SPDX-License-Identifier: GPL-2.0

//! What must come of a request, and what it makes of the model.

mod key;
mod peer;

use crate::{
    files::Slot,
    message::{
        Body,
        Request, //
    },
    model::{
        Gone,
        Key,
        Link,
        Peer, //
    },
    object::Object,
    spec::{
        Op,
        Spec, //
    }, //
};
use std::collections::BTreeSet;

pub const ENOENT: i32 = 2;
const EEXIST: i32 = 17;
const ENODEV: i32 = 19;
pub const EINVAL: i32 = 22;
const ENOTSOCK: i32 = 88;
const EADDRINUSE: i32 = 98;
const EADDRNOTAVAIL: i32 = 99;

const LOOPBACK: u32 = 1;
/// What a request is answered with, beside the acknowledgement.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reply {
    /// The peer, without its keys.
    Peer(Peer),
    /// Peer, slot, key.
    Key(u32, u32, Key),
}

/// What must come of a request.
#[derive(Clone, Debug, Default)]
pub struct Verdict {
    /// Every reason there is to refuse it: one of them must be given. Without any it must be done.
    pub errors: BTreeSet<i32>,
    pub reply: Option<Reply>,
    pub gone: Vec<Gone>,
}

impl Verdict {
    fn refuse(error: i32) -> Self {
        Self {
            errors: [error].into(),
            ..Self::default()
        }
    }
}

/// All that the driver knows from one worker.
pub struct World {
    pub links: Vec<Link>,
    pub slots: Vec<Slot>,
}

impl World {
    /// Judges a request that keeps to the specification's types and limits, and carries it out in
    /// the model.
    pub fn judge(&mut self, spec: &Spec, op: &Op, request: &Request, foreign: bool) -> Verdict {
        let top = Object {
            set: spec.set(&op.set),
            nodes: &request.nodes,
        };
        let Some(ifindex) = top.u32("ifindex") else {
            return Verdict::refuse(EINVAL);
        };
        let links = self.links.iter_mut().filter(|_| !foreign);
        let Some(link) = links.into_iter().find(|link| link.index == ifindex) else {
            return Verdict::refuse(if ifindex == LOOPBACK { EINVAL } else { ENODEV });
        };
        let link = link.name;
        let (number, set) = spec.object(op);
        let mut objects = request.nodes.iter().rev();
        let nodes = match objects
            .find(|node| node.number == number)
            .map(|node| &node.body)
        {
            Some(Body::Nest(nodes)) => nodes,
            _ => return Verdict::refuse(EINVAL),
        };
        let object = Object { set, nodes };
        let at = self
            .links
            .iter()
            .position(|one| one.name == link)
            .unwrap_or(0);
        match op.name.as_str() {
            "peer-new" => self.peer_new(at, &object),
            "peer-set" => self.peer_set(at, &object),
            "peer-get" => self.peer_get(at, &object),
            "peer-del" => self.peer_del(at, &object),
            "key-new" => self.key_new(spec, at, &object),
            "key-get" => self.key_get(at, &object),
            "key-swap" => self.key_swap(at, &object),
            "key-del" => self.key_del(at, &object),
            other => panic!("an operation that this program does not know: {other}"),
        }
    }

    /// The peer that a request names, or why it names none.
    fn peer(
        &mut self,
        at: usize,
        object: &Object<'_>,
        name: &str,
        verdict: &mut Verdict,
    ) -> Option<&mut Peer> {
        let Some(id) = object.u32(name) else {
            verdict.errors.insert(EINVAL);
            return None;
        };
        let peer = self.links[at].peers.get_mut(&id);
        if peer.is_none() {
            verdict.errors.insert(ENOENT);
        }
        peer
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Requests about keys.

use super::{
    Reply,
    Verdict,
    World,
    EINVAL,
    ENOENT, //
};
use crate::{
    message::Body,
    model::Key,
    object::Object,
    spec::Spec, //
};

const AES_GCM: u32 = 1;
const CHACHA20_POLY1305: u32 = 2;

impl World {
    pub(super) fn key_new(&mut self, spec: &Spec, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let (slot, id, cipher) = (
            object.u32("slot"),
            object.u32("key-id"),
            object.u32("cipher-alg"),
        );
        for direction in ["encrypt-dir", "decrypt-dir"] {
            let nodes = match object.node(direction).map(|node| &node.body) {
                Some(Body::Nest(nodes)) => nodes,
                _ => &Vec::new(),
            };
            let set = spec.set("keydir");
            let direction = Object { set, nodes };
            let len = direction.bytes("cipher-key").map(<[u8]>::len);
            let fits = match cipher {
                Some(AES_GCM) => matches!(len, Some(16 | 24 | 32)),
                Some(CHACHA20_POLY1305) => len == Some(32),
                _ => false,
            };
            if !fits || direction.bytes("nonce-tail").is_none() {
                verdict.errors.insert(EINVAL);
            }
        }
        let (Some(slot), Some(id), Some(cipher)) = (slot, id, cipher) else {
            verdict.errors.insert(EINVAL);
            self.peer(at, object, "peer-id", &mut verdict);
            return verdict;
        };
        match self.peer(at, object, "peer-id", &mut verdict) {
            Some(peer) if verdict.errors.is_empty() => {
                peer.keys[slot as usize] = Some(Key { id, cipher })
            }
            _ => {}
        }
        verdict
    }

    pub(super) fn key_get(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let slot = object.u32("slot");
        if slot.is_none() || object.has_other_than(&["peer-id", "slot"]) {
            verdict.errors.insert(EINVAL);
        }
        let slot = slot.unwrap_or(0);
        match self.peer(at, object, "peer-id", &mut verdict) {
            Some(peer) if verdict.errors.is_empty() => match peer.keys[slot as usize] {
                Some(key) => verdict.reply = Some(Reply::Key(peer.id, slot, key)),
                None => drop(verdict.errors.insert(ENOENT)),
            },
            _ => {}
        }
        verdict
    }

    pub(super) fn key_swap(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        if let Some(peer) = self.peer(at, object, "peer-id", &mut verdict) {
            peer.keys.swap(0, 1);
        }
        verdict
    }

    pub(super) fn key_del(&mut self, at: usize, object: &Object<'_>) -> Verdict {
        let mut verdict = Verdict::default();
        let slot = object.u32("slot");
        if slot.is_none() {
            verdict.errors.insert(EINVAL);
        }
        if let (Some(peer), Some(slot)) = (self.peer(at, object, "peer-id", &mut verdict), slot) {
            peer.keys[slot as usize] = None;
        }
        verdict
    }
}

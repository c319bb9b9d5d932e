// SPDX-License-Identifier: GPL-2.0

//! Reading all that the driver tells of peers and keys.

use crate::{
    files::by_port,
    message::{
        messages,
        number,
        Node,
        Request,
        NLMSG_DONE,
        NLMSG_ERROR,
        NLM_F_DUMP, //
    },
    model::Peer,
    oracle::{
        Reply,
        ENOENT, //
    },
    spec::{
        find,
        Op, //
    },
    told,
    worker::Worker, //
};
use std::collections::BTreeMap;

impl Worker<'_> {
    /// Looks at all peers and keys.
    pub fn compare(&mut self) -> Result<(), String> {
        for at in 0..self.world.links.len() {
            let found = self.read(at)?;
            let link = &self.world.links[at];
            if found != link.peers {
                return Err(format!(
                    "{} has {found:#?}\nit should have {:#?}",
                    link.name, link.peers
                ));
            }
        }
        Ok(())
    }

    /// Takes over what a request did of which nobody knew what it would do.
    pub fn learn(&mut self) -> Result<(), String> {
        for at in 0..self.world.links.len() {
            let mut peers = self.read(at)?;
            // One that could expire would surprise us later, as would one on a socket that goes
            // when another one is closed.
            let far = self.world.slots.len();
            let fleeting: Vec<u32> = peers
                .values()
                .filter(|peer| (1..3600).contains(&peer.keepalive.1) || peer.socket >= far)
                .map(|p| p.id)
                .collect();
            for id in fleeting {
                peers.remove(&id);
                let op = self.spec.op("peer-del").clone();
                let (object, set) = self.spec.object(&op);
                let id = Node::u32(find(set, "id").map_or(0, |attr| attr.number), id);
                self.one(&op, 0, at, Some(Node::nest(object, vec![id])))?;
            }
            self.world.links[at].peers = peers;
        }
        self.hear()?;
        self.gone.clear();
        Ok(())
    }

    /// All peers of an interface with their keys, as the driver tells them.
    fn read(&mut self, at: usize) -> Result<BTreeMap<u32, Peer>, String> {
        let spec = self.spec;
        let dump = self
            .one(spec.op("peer-get"), NLM_F_DUMP, at, None)?
            .unwrap_or_default();
        let mut peers = BTreeMap::new();
        for payload in dump {
            let mut peer = told::peer(spec, &payload, |port| by_port(&self.world.slots, port))
                .ok_or_else(|| format!("a peer that lacks something: {payload:02x?}"))?;
            for slot in 0..2 {
                let op = spec.op("key-get");
                let (object, set) = spec.object(op);
                let number = |name| find(set, name).map_or(0, |attr| attr.number);
                let nodes = vec![
                    Node::u32(number("peer-id"), peer.id),
                    Node::u32(number("slot"), slot),
                ];
                let answer = self.one(op, 0, at, Some(Node::nest(object, nodes)))?;
                peer.keys[slot as usize] = match answer
                    .and_then(|all| told::key(spec, all.first()?))
                {
                    Some(Reply::Key(id, which, key)) if (id, which) == (peer.id, slot) => Some(key),
                    Some(other) => {
                        return Err(format!(
                            "asked for peer {} slot {slot}, told {other:?}",
                            peer.id
                        ))
                    }
                    None => None,
                };
            }
            peers.insert(peer.id, peer);
        }
        Ok(peers)
    }

    /// One request that may only be refused for there being nothing: then there is no answer.
    fn one(
        &mut self,
        op: &Op,
        flags: u16,
        at: usize,
        object: Option<Node>,
    ) -> Result<Option<Vec<Vec<u8>>>, String> {
        let ifindex = find(self.spec.set(&op.set), "ifindex").map_or(0, |attr| attr.number);
        let mut nodes = vec![Node::u32(ifindex, self.world.links[at].index)];
        nodes.extend(object);
        let mut request = Request::new(op.number, nodes);
        request.flags = flags;
        self.sequence += 1;
        self.asked += 1;
        let mut bytes = Vec::new();
        request.write(self.family.id, self.sequence, &mut bytes);
        let netlink = &mut self.netlink[0];
        netlink
            .send(&bytes)
            .map_err(|error| format!("sending: {error}"))?;
        let mut answers = Vec::new();
        loop {
            for message in messages(
                netlink
                    .receive()
                    .map_err(|error| format!("receiving: {error}"))?,
            ) {
                match message.kind {
                    NLMSG_DONE => return Ok(Some(answers)),
                    NLMSG_ERROR => {
                        return match -(number(&message.payload[..4]) as i32) {
                            0 => Ok(Some(answers)),
                            ENOENT => Ok(None),
                            code => {
                                Err(format!("{} was refused with {code}: {request:?}", op.name))
                            }
                        }
                    }
                    _ => answers.push(message.payload.to_vec()),
                }
            }
        }
    }
}

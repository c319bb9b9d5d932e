// SPDX-License-Identifier: GPL-2.0

//! Requests that a daemon could send, and some that no daemon would, all of them well-formed.

mod value;

pub use value::encode;

use crate::{
    dice::Dice,
    files::{
        Kind as File,
        CARRIERS, //
    },
    message::{
        Body,
        Node,
        Request, //
    },
    oracle::World,
    spec::{
        find,
        Op,
        Set,
        Spec, //
    }, //
};
use ovpn_host::netlink::rules::Mode;

/// How many peers there can be, so that requests often meet one.
const PEERS: usize = 9;

/// Makes requests for one world.
pub struct Maker<'a> {
    pub spec: &'a Spec,
    pub world: &'a World,
    pub dice: &'a mut Dice,
}

impl Maker<'_> {
    /// A request for some operation.
    pub fn request(&mut self) -> (Op, Request) {
        let names: [&str; 12] = [
            "peer-new", "peer-new", "peer-new", "peer-set", "peer-set", "peer-get", "peer-del",
            "key-new", "key-get", "key-get", "key-swap", "key-del",
        ];
        let op = self.spec.op(names[self.dice.below(names.len())]).clone();
        let (object, set) = self.spec.object(&op);
        let link = self.dice.below(self.world.links.len());
        let (mode, index) = (self.world.links[link].mode, self.world.links[link].index);
        let mut nodes = match op.name.as_str() {
            "peer-new" => self.new_peer(set, link),
            "peer-set" => self.changed_peer(set, mode),
            "key-new" => self.key(set),
            "key-get" | "key-del" => self.named(set, &["peer-id", "slot"]),
            "key-swap" => self.named(set, &["peer-id"]),
            _ => self.named(set, &["id"]),
        };
        self.name(set, link, op.name == "peer-new", &mut nodes);
        self.disturb(set, &mut nodes);
        let index = match self.dice.below(200) {
            0 => 0,
            1 => 1,
            2 => 9999,
            3 => u32::MAX,
            _ => index,
        };
        let ifindex = find(self.spec.set(&op.set), "ifindex").map_or(0, |attr| attr.number);
        let mut nodes = vec![Node::u32(ifindex, index), Node::nest(object, nodes)];
        self.disturb_order(&mut nodes);
        if self.dice.percent(1) {
            nodes.remove(self.dice.below(nodes.len()));
        }
        (op.clone(), Request::new(op.number, nodes))
    }

    fn named(&mut self, set: &Set, names: &[&str]) -> Vec<Node> {
        names
            .iter()
            .map(|name| self.attr(find(set, name).expect("an attribute")))
            .collect()
    }

    /// Lets the id, which is the first attribute, be that of a peer that there is, or of a new one
    /// that there is not; mostly.
    fn name(&mut self, set: &Set, link: usize, new: bool, nodes: &mut [Node]) {
        let peers = &self.world.links[link].peers;
        let all = (0..PEERS as u32).filter(|id| peers.contains_key(id) != new);
        let ids: Vec<u32> = all.collect();
        let id = find(set, "id").or(find(set, "peer-id"));
        if let (Some(id), Some(node), false) = (id, nodes.first_mut(), ids.is_empty()) {
            if self.dice.percent(75) {
                *node = Node::u32(id.number, *self.dice.pick(&ids));
            }
        }
    }

    fn new_peer(&mut self, set: &Set, link: usize) -> Vec<Node> {
        let mut names = vec!["id"];
        let socket = self.socket(link);
        let remote = match self.world.slots[socket].kind {
            File::Connected | File::Tcp => 5,
            File::Udp | File::Other => 95,
        };
        if self.dice.percent(remote) {
            names.extend(self.remote());
        }
        if self.world.links[link].mode == Mode::Mp {
            names.extend(self.vpn());
        }
        names.extend(self.extras());
        let mut nodes = self.named(set, &names);
        let number = find(set, "socket").map_or(0, |attr| attr.number);
        nodes.push(Node::u32(number, self.world.slots[socket].number()));
        nodes
    }

    fn changed_peer(&mut self, set: &Set, mode: Mode) -> Vec<Node> {
        let mut names = vec!["id"];
        if self.dice.percent(50) {
            names.extend(self.remote());
        }
        if mode == Mode::Mp && self.dice.percent(40) {
            names.extend(self.vpn());
        }
        names.extend(self.extras());
        self.named(set, &names)
    }

    fn remote(&mut self) -> Vec<&'static str> {
        match self.dice.below(20) {
            0..=9 => vec!["remote-ipv4", "remote-port"],
            10..=16 => vec!["remote-ipv6", "remote-port"],
            17 => vec!["remote-ipv4", "remote-port", "local-ipv4"],
            18 => vec!["remote-ipv6", "remote-port", "local-ipv6"],
            _ => vec!["remote-ipv6", "remote-port", "remote-ipv6-scope-id"],
        }
    }

    fn vpn(&mut self) -> Vec<&'static str> {
        match self.dice.below(3) {
            0 => vec!["vpn-ipv4"],
            1 => vec!["vpn-ipv6"],
            _ => vec!["vpn-ipv4", "vpn-ipv6"],
        }
    }

    fn extras(&mut self) -> Vec<&'static str> {
        let mut names = Vec::new();
        if self.dice.percent(30) {
            names.extend(["keepalive-interval", "keepalive-timeout"]);
        }
        if self.dice.percent(20) {
            names.push("tx-id");
        }
        names
    }

    fn key(&mut self, set: &Set) -> Vec<Node> {
        let mut nodes = self.named(set, &["peer-id", "slot", "key-id", "cipher-alg"]);
        let keydir = self.spec.set("keydir");
        for name in ["encrypt-dir", "decrypt-dir"] {
            let inner = self.named(keydir, &["cipher-key", "nonce-tail"]);
            nodes.push(Node::nest(
                find(set, name).expect("a direction").number,
                inner,
            ));
        }
        nodes
    }

    /// Takes attributes away, adds others, doubles some: all of them sound by themselves.
    fn disturb(&mut self, set: &Set, nodes: &mut Vec<Node>) {
        if self.dice.percent(8) && !nodes.is_empty() {
            nodes.remove(self.dice.below(nodes.len()));
        }
        if self.dice.percent(8) {
            let attr = self.dice.pick(set).clone();
            nodes.push(self.attr(&attr));
        }
        for node in nodes.iter_mut() {
            if let Body::Nest(inner) = &mut node.body {
                if self.dice.percent(4) && !inner.is_empty() {
                    inner.remove(self.dice.below(inner.len()));
                }
            }
        }
        self.disturb_order(nodes);
    }

    fn disturb_order(&mut self, nodes: &mut Vec<Node>) {
        if self.dice.percent(5) && !nodes.is_empty() {
            nodes.push(self.dice.pick(nodes).clone());
        }
        if self.dice.percent(10) && nodes.len() > 1 {
            let (a, b) = (self.dice.below(nodes.len()), self.dice.below(nodes.len()));
            nodes.swap(a, b);
        }
    }

    /// Which file a new peer has, mostly one that it can have.
    fn socket(&mut self, link: usize) -> usize {
        let busy = |slot: usize| {
            let links = self.world.links.iter().enumerate();
            let single = self.world.slots[slot].kind == File::Connected;
            links
                .into_iter()
                .any(|(index, other)| other.uses(slot) && (index != link || single))
        };
        let free: Vec<usize> = (0..CARRIERS).filter(|slot| !busy(*slot)).collect();
        match free.is_empty() || self.dice.percent(15) {
            true => self.dice.below(self.world.slots.len()),
            false => *self.dice.pick(&free),
        }
    }
}

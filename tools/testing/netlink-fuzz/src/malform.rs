// SPDX-License-Identifier: GPL-2.0

//! Whatever the specification forbids, done to a request that was well-formed.

use crate::{
    dice::Dice,
    message::{
        Body,
        Node,
        Request,
        NLA_F_NESTED,
        NLM_F_DUMP, //
    },
    plausible::encode,
    spec::{
        Attr,
        Kind,
        Op,
        Set,
        Spec, //
    }, //
};

/// Commands that nobody can give: none, notifications, and what there is not.
const NO_COMMANDS: [u8; 6] = [0, 5, 9, 11, 12, 200];

/// Breaks the request in one way, and says in which. `None` if that could not be done to it.
pub fn malform(
    dice: &mut Dice,
    spec: &Spec,
    op: &Op,
    request: &mut Request,
) -> Option<&'static str> {
    match dice.below(20) {
        0 => {
            request.command = *dice.pick(&NO_COMMANDS);
            return Some("no such command");
        }
        1 => {
            let len = 1 + dice.below(3);
            request.trailing = dice.bytes(len);
            return Some("bytes behind the last attribute");
        }
        2 if !op.can_dump => {
            request.flags |= NLM_F_DUMP;
            return Some("a dump of what cannot be dumped");
        }
        _ => {}
    }
    let mut set = spec.set(&op.set);
    let mut nodes = &mut request.nodes;
    loop {
        if nodes.is_empty() {
            return None;
        }
        let at = dice.below(nodes.len());
        let attr = set.iter().find(|attr| attr.number == nodes[at].number)?;
        let deeper = dice.percent(80);
        match (&attr.kind, &nodes[at].body) {
            (Kind::Nest(name), Body::Nest(_)) if deeper => set = spec.set(name),
            _ => return malform_attr(dice, set, attr, nodes, at),
        }
        let Body::Nest(inner) = &mut nodes[at].body else {
            return None;
        };
        nodes = inner;
    }
}

fn malform_attr(
    dice: &mut Dice,
    set: &Set,
    attr: &Attr,
    nodes: &mut Vec<Node>,
    at: usize,
) -> Option<&'static str> {
    match dice.below(6) {
        0 => wrong_length(dice, attr, &mut nodes[at]),
        1 => out_of_range(dice, attr, &mut nodes[at]),
        2 => {
            let number = unknown(dice, set);
            let mut node = Node::u32(number, 0);
            for _ in 0..dice.below(40) {
                node = Node::nest(number, vec![node]);
            }
            nodes.push(node);
            Some("an attribute that has no place there")
        }
        3 => {
            nodes[at].flags ^= NLA_F_NESTED;
            Some("the wrong kind, by its flag")
        }
        4 => {
            nodes[at].body = match nodes[at].body {
                Body::Bytes(_) => Body::Nest(vec![Node::u32(1, 1)]),
                Body::Nest(_) => Body::Bytes(dice.bytes(4)),
            };
            nodes[at].flags ^= NLA_F_NESTED;
            Some("the wrong kind, wholly")
        }
        _ => {
            let len = match &nodes[at].body {
                Body::Bytes(bytes) => bytes.len() + 4,
                Body::Nest(_) => return None,
            };
            // Less than a header; the kernel finds the rest to be no attribute.
            nodes[at].lie = dice.below(4) as i32 - len as i32;
            Some("shorter than its own header")
        }
    }
}

fn wrong_length(dice: &mut Dice, attr: &Attr, node: &mut Node) -> Option<&'static str> {
    let lens = match attr.kind {
        Kind::Number { len: 8, .. } => vec![0, 1, 2, 3, 5, 7, 9],
        Kind::Number { len, .. } => (0..10).filter(|other| *other != len).collect(),
        Kind::Bytes {
            exact: Some(len), ..
        } => vec![0, 1, len - 1, len + 1, len * 2],
        Kind::Bytes { exact: None, max } => vec![max + 1, max * 2],
        Kind::Nest(_) => vec![1, 2, 3],
    };
    let len = *dice.pick(&lens);
    node.body = Body::Bytes(dice.bytes(len));
    Some("the wrong length")
}

fn out_of_range(dice: &mut Dice, attr: &Attr, node: &mut Node) -> Option<&'static str> {
    let Kind::Number {
        len,
        big_endian,
        min,
        max,
    } = attr.kind
    else {
        return None;
    };
    let all = u64::MAX >> (64 - 8 * len);
    let mut values = Vec::new();
    if max < all {
        values.extend([max + 1, max + 1 + dice.next() % (all - max), all]);
    }
    if min > 0 {
        values.push(min - 1);
    }
    if values.is_empty() {
        return None;
    }
    node.body = Body::Bytes(encode(*dice.pick(&values), len, big_endian));
    Some("out of range")
}

/// A number that no attribute of the set has.
fn unknown(dice: &mut Dice, set: &Set) -> u16 {
    loop {
        let number = *dice.pick(&[
            0, 1, 2, 3, 4, 5, 6, 7, 12, 14, 16, 20, 24, 25, 26, 100, 1000, 0x3fff,
        ]);
        if set.iter().all(|attr| attr.number != number) {
            return number;
        }
    }
}

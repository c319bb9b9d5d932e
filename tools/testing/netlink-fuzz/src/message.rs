// SPDX-License-Identifier: GPL-2.0

//! Netlink messages: trees of attributes that are written, and flat ones that are read.

pub const NLMSG_ERROR: u16 = 2;
pub const NLMSG_DONE: u16 = 3;
pub const NLM_F_REQUEST: u16 = 0x1;
pub const NLM_F_ACK: u16 = 0x4;
pub const NLM_F_DUMP: u16 = 0x300;
pub const NLA_F_NESTED: u16 = 0x8000;
pub const NLA_F_NET_BYTEORDER: u16 = 0x4000;

const NLA_TYPE: u16 = 0x3fff;
const HEADER: usize = 16;

/// An attribute to be written.
#[derive(Clone, Debug)]
pub struct Node {
    /// Its number.
    pub number: u16,
    /// Its flags. [`NLA_F_NESTED`] is not set by itself.
    pub flags: u16,
    pub body: Body,
    /// Added to the length that it says it has.
    pub lie: i32,
}

#[derive(Clone, Debug)]
pub enum Body {
    Bytes(Vec<u8>),
    Nest(Vec<Node>),
}

impl Node {
    pub fn bytes(number: u16, bytes: &[u8]) -> Self {
        Self {
            number,
            flags: 0,
            body: Body::Bytes(bytes.to_vec()),
            lie: 0,
        }
    }

    pub fn u32(number: u16, value: u32) -> Self {
        Self::bytes(number, &value.to_ne_bytes())
    }

    pub fn nest(number: u16, nodes: Vec<Node>) -> Self {
        Self {
            number,
            flags: NLA_F_NESTED,
            body: Body::Nest(nodes),
            lie: 0,
        }
    }

    pub fn write(&self, to: &mut Vec<u8>) {
        let at = to.len();
        to.extend_from_slice(&[0; 4]);
        match &self.body {
            Body::Bytes(bytes) => to.extend_from_slice(bytes),
            Body::Nest(nodes) => nodes.iter().for_each(|node| node.write(to)),
        }
        let len = (to.len() - at) as i32 + self.lie;
        to[at..at + 2].copy_from_slice(&(len as u16).to_ne_bytes());
        to[at + 2..at + 4].copy_from_slice(&(self.number | self.flags).to_ne_bytes());
        to.resize(to.len().next_multiple_of(4), 0);
    }
}

/// A request of generic netlink.
#[derive(Clone, Debug)]
pub struct Request {
    pub command: u8,
    /// Beside [`NLM_F_REQUEST`] and [`NLM_F_ACK`].
    pub flags: u16,
    pub nodes: Vec<Node>,
    /// Bytes behind the last attribute.
    pub trailing: Vec<u8>,
    /// Bits of the attributes that are flipped, counted from their first.
    pub flipped: Vec<usize>,
}

impl Request {
    pub fn new(command: u8, nodes: Vec<Node>) -> Self {
        Self {
            command,
            flags: 0,
            nodes,
            trailing: Vec::new(),
            flipped: Vec::new(),
        }
    }

    /// Appends it to a batch.
    pub fn write(&self, family: u16, sequence: u32, to: &mut Vec<u8>) {
        write(family, self.flags, sequence, to, |to| {
            to.extend_from_slice(&[self.command, 1, 0, 0]);
            let at = to.len();
            self.nodes.iter().for_each(|node| node.write(to));
            to.extend_from_slice(&self.trailing);
            let bits = (to.len() - at) * 8;
            for bit in self.flipped.iter().filter(|_| bits > 0) {
                to[at + bit % bits / 8] ^= 1 << (bit % 8);
            }
        });
    }
}

/// Appends a message with a header.
pub fn write(
    kind: u16,
    flags: u16,
    sequence: u32,
    to: &mut Vec<u8>,
    fill: impl FnOnce(&mut Vec<u8>),
) {
    let at = to.len();
    to.extend_from_slice(&[0; HEADER]);
    fill(to);
    let len = (to.len() - at) as u32;
    to[at..at + 4].copy_from_slice(&len.to_ne_bytes());
    to[at + 4..at + 6].copy_from_slice(&kind.to_ne_bytes());
    to[at + 6..at + 8].copy_from_slice(&(flags | NLM_F_REQUEST | NLM_F_ACK).to_ne_bytes());
    to[at + 8..at + 12].copy_from_slice(&sequence.to_ne_bytes());
    to.resize(to.len().next_multiple_of(4), 0);
}

/// A message that came in.
#[derive(Debug)]
pub struct Message<'a> {
    pub kind: u16,
    pub flags: u16,
    pub sequence: u32,
    pub payload: &'a [u8],
}

/// The messages of one read.
pub fn messages(mut data: &[u8]) -> Vec<Message<'_>> {
    let mut found = Vec::new();
    while data.len() >= HEADER {
        let len = number(&data[..4]) as usize;
        assert!(
            (HEADER..=data.len()).contains(&len),
            "a message of {len} bytes in {}",
            data.len()
        );
        found.push(Message {
            kind: number(&data[4..6]) as u16,
            flags: number(&data[6..8]) as u16,
            sequence: number(&data[8..12]) as u32,
            payload: &data[HEADER..len],
        });
        data = &data[len.next_multiple_of(4).min(data.len())..];
    }
    found
}

/// Numbers and contents of the attributes, in order.
pub fn attrs(mut data: &[u8]) -> Vec<(u16, &[u8])> {
    let mut found = Vec::new();
    while data.len() >= 4 {
        let len = number(&data[..2]) as usize;
        assert!(
            (4..=data.len()).contains(&len),
            "an attribute of {len} bytes in {}",
            data.len()
        );
        found.push((number(&data[2..4]) as u16 & NLA_TYPE, &data[4..len]));
        data = &data[len.next_multiple_of(4).min(data.len())..];
    }
    found
}

/// The content of attribute `wanted`, the last one if there are several.
pub fn attr(data: &[u8], wanted: u16) -> Option<&[u8]> {
    let mut all = attrs(data).into_iter().rev();
    all.find(|(number, _)| *number == wanted)
        .map(|(_, content)| content)
}

/// A number of any width, in host order.
pub fn number(bytes: &[u8]) -> u64 {
    let mut wide = [0; 8];
    wide[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    u64::from_le_bytes(wide)
}

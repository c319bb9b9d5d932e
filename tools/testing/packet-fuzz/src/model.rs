// SPDX-License-Identifier: GPL-2.0

//! What the driver must do with each datagram, worked out from its documentation.

use crate::{
    ends::Transport,
    inner::{self, Kind},
    record::{Header, NO_PEER, OVERHEAD},
};
use std::collections::{BTreeMap, HashSet};

/// Ids that the receiver's window spans.
const WINDOW: u32 = 2048;

/// A record as it was sealed, for a datagram that nobody has changed.
#[derive(Clone)]
pub struct Sealed {
    pub peer: u32,
    pub key_id: u8,
    pub id: u32,
    pub inner: Vec<u8>,
}

/// A datagram on its way.
#[derive(Clone)]
pub struct Datagram {
    pub bytes: Vec<u8>,
    /// None if it is not authentic.
    pub sealed: Option<Sealed>,
    /// By which socket it is sent.
    pub sender: usize,
}

impl Datagram {
    /// As it stands in a stream.
    pub fn frame(&self) -> Vec<u8> {
        let len = self.bytes.len() as u16;
        [&len.to_be_bytes(), &self.bytes[..]].concat()
    }

    /// The peer that an authentic record says it is of, if it says so.
    pub fn names(&self) -> Option<u32> {
        let named = Header::of(&self.bytes)?.peer;
        self.sealed
            .as_ref()
            .map(|sealed| sealed.peer)
            .filter(|peer| *peer == named)
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The interface gives this to the stack, under a protocol number.
    Delivered(u16, Vec<u8>),
    /// A sign of life, which ends in the driver.
    Keepalive,
    /// The daemon reads it from the socket.
    Daemon,
    /// Counted under a name.
    Dropped(&'static str),
}

/// What a peer has counted.
#[derive(Clone, Copy, Default)]
pub struct Counted {
    pub records: usize,
    pub record_bytes: usize,
    pub packets: usize,
    pub packet_bytes: usize,
}

#[derive(Default)]
struct Window {
    highest: u32,
    seen: HashSet<u32>,
}

impl Window {
    fn accept(&mut self, id: u32) -> bool {
        let in_window = id > self.highest || self.highest - id < WINDOW;
        if !in_window || !self.seen.insert(id) {
            return false;
        }
        self.highest = self.highest.max(id);
        if self.seen.len() > 4 * WINDOW as usize {
            let highest = self.highest;
            self.seen.retain(|id| highest - id < WINDOW);
        }
        true
    }
}

pub struct Model {
    transport: Transport,
    windows: BTreeMap<(u32, u8), Window>,
    /// By which socket each peer was heard last.
    senders: BTreeMap<u32, usize>,
    pub counted: BTreeMap<u32, Counted>,
}

impl Model {
    /// `keys` are peers and key ids, `senders` where each peer is at first.
    pub fn new(
        transport: Transport,
        keys: impl Iterator<Item = (u32, u8)>,
        senders: BTreeMap<u32, usize>,
    ) -> Self {
        Self {
            transport,
            windows: keys.map(|key| (key, Window::default())).collect(),
            counted: senders
                .keys()
                .map(|peer| (*peer, Counted::default()))
                .collect(),
            senders,
        }
    }

    /// By which socket a peer was heard last.
    pub fn sender(&self, peer: u32) -> usize {
        self.senders[&peer]
    }

    /// What becomes of a datagram that arrives now.
    pub fn expect(&mut self, datagram: &Datagram) -> Outcome {
        let Some(header) = Header::of(&datagram.bytes) else {
            return Outcome::Dropped("rx_drop_short");
        };
        if !header.is_data_v2 {
            return Outcome::Daemon;
        }
        let at = |(_, at): &(&u32, &usize)| **at == datagram.sender;
        let by_sender = self.senders.iter().find(at).map(|(peer, _)| *peer);
        let peer = match header.peer {
            // A stream is of one peer, whatever its records say.
            _ if self.transport == Transport::Tcp => by_sender,
            NO_PEER => by_sender,
            peer => self.senders.contains_key(&peer).then_some(peer),
        };
        let Some(peer) = peer else {
            return Outcome::Dropped("rx_drop_no_peer");
        };
        let counted = self.counted.get_mut(&peer).expect("it is a peer");
        counted.records += 1;
        counted.record_bytes += datagram.bytes.len();
        let Some(window) = self.windows.get_mut(&(peer, header.key_id)) else {
            return Outcome::Dropped("rx_drop_no_key");
        };
        if datagram.bytes.len() < OVERHEAD {
            return Outcome::Dropped("rx_drop_short");
        }
        let authentic = |sealed: &&Sealed| {
            sealed.peer == peer && sealed.key_id == header.key_id && sealed.id != 0
        };
        let Some(sealed) = datagram.sealed.as_ref().filter(authentic) else {
            return Outcome::Dropped("rx_drop_auth");
        };
        if !window.accept(sealed.id) {
            return Outcome::Dropped("rx_drop_replay");
        }
        // It has moved, if that is not where it was.
        self.senders.insert(peer, datagram.sender);
        match inner::kind(&sealed.inner) {
            Kind::Keepalive => Outcome::Keepalive,
            Kind::Neither => Outcome::Dropped("rx_drop_protocol"),
            Kind::Ip(_, owner) if owner != Some(peer) => Outcome::Dropped("rx_drop_source"),
            Kind::Ip(protocol, _) => {
                counted.packets += 1;
                counted.packet_bytes += sealed.inner.len();
                Outcome::Delivered(protocol, sealed.inner.clone())
            }
        }
    }
}

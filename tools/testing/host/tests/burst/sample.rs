// SPDX-License-Identifier: GPL-2.0

//! Bursts as the stack could hand them over, and random ones.

use crate::receiver::{
    TCP,
    UDP, //
};
use ovpn_host::burst::*;
use proptest::{
    collection::vec,
    prelude::*, //
};

/// A burst in one piece.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) octets: Vec<u8>,
    pub(crate) network_len: usize,
    pub(crate) headers_len: usize,
    pub(crate) traits: Traits,
}

/// Without the payload, which may be long.
impl std::fmt::Debug for Sample {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sample")
            .field("headers", &self.headers())
            .field("len", &self.octets.len())
            .field("traits", &self.traits)
            .finish()
    }
}

/// What a burst is made of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) v6: bool,
    /// Of TCP, with this many words of options, or of UDP.
    pub(crate) tcp: Option<usize>,
}

impl Kind {
    pub(crate) const ALL: [Self; 6] = [
        Self::new(false, Some(0)),
        Self::new(false, Some(10)),
        Self::new(false, None),
        Self::new(true, Some(0)),
        Self::new(true, Some(10)),
        Self::new(true, None),
    ];

    const fn new(v6: bool, tcp: Option<usize>) -> Self {
        Self { v6, tcp }
    }

    /// A burst with `headers` for all that its kind leaves open.
    pub(crate) fn sample(self, headers: [u8; MAX_HEADERS], payload: &[u8], piece: usize) -> Sample {
        let network_len = if self.v6 { 40 } else { 20 };
        let headers_len = network_len + self.tcp.map_or(8, |words| 20 + 4 * words);
        let protocol = if self.tcp.is_some() { TCP } else { UDP };
        let mut octets = headers[..headers_len].to_vec();

        if self.v6 {
            octets[0] = 0x60 | (octets[0] & 0x0f);
            octets[6] = protocol;
        } else {
            octets[0] = 0x45;
            // No fragment, but perhaps "don't fragment".
            octets[6] &= 0x40;
            octets[7] = 0;
            octets[9] = protocol;
        }
        if let Some(words) = self.tcp {
            let offset = &mut octets[network_len + 12];
            *offset = ((5 + words as u8) << 4) | (*offset & 0x0f);
        }
        octets.extend_from_slice(payload);
        Sample {
            octets,
            network_len,
            headers_len,
            traits: Traits {
                piece,
                same_id: false,
                keep_cwr: false,
            },
        }
    }

    /// A burst of `len` octets of payload, without a particular value anywhere.
    pub(crate) fn plain(self, len: usize, piece: usize) -> Sample {
        let headers = std::array::from_fn(|at| (at as u8).wrapping_mul(37).wrapping_add(11));
        self.sample(headers, &noise(len, 1), piece)
    }
}

impl Sample {
    /// The bytes that the driver has at hand, and no more.
    pub(crate) fn head(&self) -> &[u8] {
        &self.octets[..self.octets.len().min(MAX_HEADERS)]
    }

    pub(crate) fn headers(&self) -> &[u8] {
        &self.octets[..self.headers_len]
    }

    pub(crate) fn payload(&self) -> &[u8] {
        &self.octets[self.headers_len..]
    }

    pub(crate) fn is_udp(&self) -> bool {
        self.headers_len - self.network_len == 8
    }

    pub(crate) fn parse(&self) -> Option<Burst> {
        Burst::parse(self.head(), self.octets.len(), self.traits)
    }
}

/// Octets that look random.
fn noise(len: usize, seed: u64) -> Vec<u8> {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 56) as u8
    };
    (0..len).map(|_| next()).collect()
}

fn kinds() -> impl Strategy<Value = Kind> {
    let tcp = prop_oneof![2 => (0usize..=10).prop_map(Some), 1 => Just(None)];
    (any::<bool>(), tcp).prop_map(|(v6, tcp)| Kind { v6, tcp })
}

/// Bytes for headers. All ones bring ids and sequence numbers to their end, and the most carries.
fn headers() -> impl Strategy<Value = [u8; MAX_HEADERS]> {
    let octet = prop_oneof![any::<u8>(), Just(0), Just(0xff)];
    let headers = prop_oneof![
        4 => vec(any::<u8>(), MAX_HEADERS),
        2 => vec(octet, MAX_HEADERS),
        1 => vec(0xfe..=0xffu8, MAX_HEADERS),
        1 => Just(vec![0; MAX_HEADERS]),
    ];
    headers.prop_map(|headers| headers.try_into().unwrap())
}

/// Lengths of pieces and payloads: at least one packet more than one, at most what IPv4 can tell.
fn sizes() -> impl Strategy<Value = (usize, usize)> {
    let many = (1usize..=64, 2usize..=80);
    let usual = (500usize..=1460, 2usize..=44);
    let long = (1500usize..=30_000, 2usize..=3);
    prop_oneof![4 => many, 4 => usual, 1 => long].prop_flat_map(|(piece, packets)| {
        let most = (65_535 - MAX_HEADERS).min(piece * packets);
        (Just(piece), piece + 1..=most)
    })
}

fn payloads(len: usize) -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        6 => any::<u64>().prop_map(move |seed| noise(len, seed)),
        1 => Just(vec![0; len]),
        1 => Just(vec![0xff; len]),
    ]
}

/// Bursts with anything in them that may be there.
pub(crate) fn samples() -> impl Strategy<Value = Sample> {
    let payloads = sizes().prop_flat_map(|(piece, len)| (Just(piece), payloads(len)));
    let traits = (any::<bool>(), any::<bool>());
    (kinds(), headers(), payloads, traits).prop_map(
        |(kind, headers, (piece, payload), (same_id, keep_cwr))| {
            let mut sample = kind.sample(headers, &payload, piece);
            sample.traits.same_id = same_id;
            sample.traits.keep_cwr = keep_cwr;
            sample
        },
    )
}

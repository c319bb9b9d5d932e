// SPDX-License-Identifier: GPL-2.0

//! Segments of a stream, some of them damaged: what is put together is cut up again into the very
//! same packets.

#![no_main]

use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;
use ovpn_host::{
    burst::{
        Burst,
        Traits, //
    },
    checksum::Sum,
    merge::{
        segment::{
            Segment,
            MAX_HEADERS, //
        },
        train::Train, //
    },
};

#[path = "../../tests/support/naive_sum.rs"]
mod naive_sum;

const TCP: u8 = 6;
/// Longer packets would only take longer.
const PAYLOAD: u16 = 600;

#[derive(Arbitrary, Clone, Copy, Debug)]
struct Piece {
    len: Option<u16>,
    flags: u8,
    /// Added to the IPv4 id and to the sequence number.
    skip: Option<(u8, u8)>,
    /// Which bit of the headers is flipped, and whether the checksums are put right afterwards.
    flip: Option<(u16, bool)>,
}

#[derive(Arbitrary, Debug)]
struct Stream {
    v6: bool,
    words: u8,
    headers: [u8; MAX_HEADERS],
    count_ids: bool,
    len: u16,
    pieces: Vec<Piece>,
}

fn put(packet: &mut [u8], at: usize, word: u16) {
    packet[at..at + 2].copy_from_slice(&word.to_be_bytes());
}

/// Puts the checksums of IPv4 and TCP right.
fn mend(packet: &mut [u8], v6: bool) {
    let (at, addresses) = if v6 { (40, 8..40) } else { (20, 12..20) };
    if !v6 {
        put(packet, 10, 0);
        let sum = !naive_sum::sum(&packet[..20]);
        put(packet, 10, sum);
    }
    put(packet, at + 16, 0);
    let len = (packet.len() - at) as u32;
    let pseudo = [&packet[addresses], &len.to_be_bytes(), &[0, 0, 0, TCP]].concat();
    let sum = !naive_sum::sum(&[&pseudo[..], &packet[at..]].concat());
    put(packet, at + 16, sum);
}

impl Stream {
    /// All packets as they arrive.
    fn packets(&self) -> Vec<Vec<u8>> {
        let at = if self.v6 { 40 } else { 20 };
        let words = 5 + usize::from(self.words % 11);
        let mut base = self.headers[..at + words * 4].to_vec();
        base[0] = if self.v6 { 0x60 | base[0] & 15 } else { 0x45 };
        base[if self.v6 { 6 } else { 9 }] = TCP;
        if !self.v6 {
            base[6] &= 0x40;
            base[7] = 0;
        }
        base[at + 12] = (words as u8) << 4;
        let mut id = u16::from_be_bytes([base[4], base[5]]);
        let mut sequence = u32::from_be_bytes(*base[at + 4..].first_chunk().unwrap());
        let mut packets = Vec::new();
        for piece in self.pieces.iter().take(80) {
            let len = piece.len.unwrap_or(self.len) % PAYLOAD;
            let mut packet = base.clone();
            packet.extend((0..len).map(|octet| (octet as u8).wrapping_mul(31)));
            if let Some((more_id, more)) = piece.skip {
                id = id.wrapping_add(u16::from(more_id));
                sequence = sequence.wrapping_add(u32::from(more));
            }
            let total = packet.len() - if self.v6 { 40 } else { 0 };
            put(&mut packet, if self.v6 { 4 } else { 2 }, total as u16);
            if !self.v6 {
                put(&mut packet, 4, id);
            }
            packet[at + 4..at + 8].copy_from_slice(&sequence.to_be_bytes());
            packet[at + 13] = 0x10 | piece.flags & 0x08 | (piece.flags & (piece.flags >> 1) & 0xe7);
            sequence = sequence.wrapping_add(u32::from(len));
            id = id.wrapping_add(u16::from(self.count_ids));
            mend(&mut packet, self.v6);
            if let Some((bit, mended)) = piece.flip {
                let bit = usize::from(bit) % (base.len() * 8);
                packet[bit / 8] ^= 1 << (bit % 8);
                if mended {
                    mend(&mut packet, self.v6);
                }
            }
            packets.push(packet);
        }
        packets
    }
}

/// Cuts what was put together of `packets` up again.
fn check(train: Train, packets: &[Vec<u8>]) {
    assert_eq!(train.count(), packets.len());
    let headers_len = train.headers_len();
    let whole = train.finish().unwrap();
    if packets.len() < 2 {
        return;
    }
    let mut octets = whole.headers().to_vec();
    packets
        .iter()
        .for_each(|packet| octets.extend_from_slice(&packet[headers_len..]));
    let traits = Traits {
        piece: whole.piece(),
        same_id: whole.same_id(),
        keep_cwr: false,
    };
    let head = &octets[..octets.len().min(MAX_HEADERS)];
    let burst = Burst::parse(head, octets.len(), traits).unwrap();
    assert_eq!(burst.packets(), packets.len());
    for (index, packet) in packets.iter().enumerate() {
        let payload = &octets[burst.payload(index).unwrap()];
        let mut cut = vec![0; burst.headers_len()];
        burst
            .write_headers(index, Sum::default().plus(payload), &mut cut)
            .unwrap();
        cut.extend_from_slice(payload);
        assert_eq!(&cut, packet, "packet {index}");
    }
}

fuzz_target!(|stream: Stream| {
    let mut train: Option<(Train, Vec<Vec<u8>>)> = None;

    for packet in stream.packets() {
        let head = &packet[..packet.len().min(MAX_HEADERS)];
        let segment = Segment::parse(head, packet.len()).filter(|segment| {
            let payload = Sum::default().plus(&packet[segment.headers_len()..]);
            segment.is_intact(head, payload)
        });
        let Some(segment) = segment else {
            if let Some((train, packets)) = train.take() {
                check(train, &packets);
            }
            continue;
        };
        match &mut train {
            Some((train, packets)) if train.takes(&segment, head) => {
                train.add(&segment);
                packets.push(packet);
            }
            _ => {
                if let Some((train, packets)) = train.take() {
                    check(train, &packets);
                }
                train = Train::new(&segment, head, usize::MAX).map(|train| (train, vec![packet]));
            }
        }
    }
    if let Some((train, packets)) = train {
        check(train, &packets);
    }
});

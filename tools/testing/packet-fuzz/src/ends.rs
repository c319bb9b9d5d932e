// SPDX-License-Identifier: GPL-2.0

//! Where datagrams are sent, and where what becomes of them comes out.

use crate::{dice::Dice, input::MOST_IN_BURST, model::Datagram};
use nix::{
    errno::Errno,
    sys::socket::{recv, recvmsg, send, sendmsg, ControlMessage, LinkAddr, MsgFlags},
};
use std::{
    io::{self, IoSlice, IoSliceMut},
    os::fd::{AsRawFd, OwnedFd},
};

const MOST_DATAGRAMS: usize = 64;
const MOST_BYTES: usize = 60_000;
/// What the kernel calls a packet that leaves by the interface.
const PACKET_OUTGOING: u8 = 4;

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    /// Datagrams, of all peers to one socket.
    Udp,
    /// Frames in a stream for each peer.
    Tcp,
}

pub struct Ends {
    pub transport: Transport,
    pub senders: Vec<OwnedFd>,
    /// The sockets that the driver has taken over: the daemon reads the rest.
    pub daemons: Vec<OwnedFd>,
    /// Sees what the interface gives to the stack.
    pub tap: OwnedFd,
}

impl Ends {
    /// Sends all in order, in bursts or pieces as they come up. How many times it sent.
    pub fn send(&self, dice: &mut Dice, mut batch: &[Datagram]) -> io::Result<usize> {
        let mut sends = 0;
        while !batch.is_empty() {
            let (burst, rest) = batch.split_at(match self.transport {
                Transport::Udp => burst(dice, batch),
                Transport::Tcp => same_sender(dice, batch),
            });
            sends += match self.transport {
                Transport::Udp => self.send_burst(burst)?,
                Transport::Tcp => self.send_pieces(dice, burst)?,
            };
            batch = rest;
        }
        Ok(sends)
    }

    fn send_burst(&self, burst: &[Datagram]) -> io::Result<usize> {
        let parts: Vec<_> = burst
            .iter()
            .map(|datagram| IoSlice::new(&datagram.bytes))
            .collect();
        let size = burst[0].bytes.len() as u16;
        let segments = [ControlMessage::UdpGsoSegments(&size)];
        let control = if burst.len() > 1 { &segments[..] } else { &[] };
        let socket = self.senders[burst[0].sender].as_raw_fd();
        let sent = sendmsg::<()>(socket, &parts, control, MsgFlags::empty(), None)?;
        match sent == burst.iter().map(|datagram| datagram.bytes.len()).sum() {
            true => Ok(1),
            false => Err(io::Error::other("a burst was sent in part")),
        }
    }

    /// The frames of a stream, cut without regard to where they begin.
    fn send_pieces(&self, dice: &mut Dice, frames: &[Datagram]) -> io::Result<usize> {
        let socket = self.senders[frames[0].sender].as_raw_fd();
        let stream: Vec<_> = frames.iter().flat_map(Datagram::frame).collect();
        let longest = *dice.pick(&[3, 100, 3000, stream.len(), stream.len()]);
        let (mut rest, mut sends) = (&stream[..], 0);
        while !rest.is_empty() {
            let piece = dice.within(1, longest.min(rest.len()).max(stream.len() / 50 + 1));
            let piece = &rest[..piece.min(rest.len())];
            rest = &rest[send(socket, piece, MsgFlags::empty())?..];
            sends += 1;
        }
        Ok(sends)
    }

    /// What the driver has left to the daemon, as frames, is added to `seen`, which has a buffer for
    /// each socket.
    pub fn daemons(&self, buffer: &mut [u8], seen: &mut [Vec<u8>]) -> io::Result<()> {
        for (socket, seen) in self.daemons.iter().zip(seen) {
            loop {
                match recv(socket.as_raw_fd(), buffer, MsgFlags::MSG_DONTWAIT) {
                    Ok(0) => return Err(io::Error::other("a stream has ended")),
                    Ok(len) if self.transport == Transport::Udp => {
                        seen.extend((len as u16).to_be_bytes());
                        seen.extend(&buffer[..len]);
                    }
                    Ok(len) => seen.extend(&buffer[..len]),
                    Err(Errno::EAGAIN) => break,
                    Err(error) => return Err(error.into()),
                }
            }
        }
        Ok(())
    }

    /// The next packet that the interface has given to the stack, and its protocol, if one is there.
    pub fn delivered(&self, buffer: &mut [u8]) -> io::Result<Option<(u16, Vec<u8>)>> {
        let mut parts = [IoSliceMut::new(buffer)];
        let tap = self.tap.as_raw_fd();
        let got = recvmsg::<LinkAddr>(tap, &mut parts, None, MsgFlags::MSG_DONTWAIT);
        let (from, len) = match got {
            Ok(got) => (got.address, got.bytes),
            Err(Errno::EAGAIN) => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        let from = from.ok_or(io::Error::other("a packet without a protocol"))?;
        if from.pkttype() == PACKET_OUTGOING {
            let what = "the stack has sent a packet to the interface";
            return Err(io::Error::other(what));
        }
        Ok(Some((
            u16::from_be(from.protocol()),
            buffer[..len].to_vec(),
        )))
    }
}

/// How many of the next datagrams travel together: equally long, the last one may be shorter.
fn burst(dice: &mut Dice, batch: &[Datagram]) -> usize {
    let first = &batch[0];
    let size = first.bytes.len();
    if size == 0 || size > MOST_IN_BURST || dice.percent(25) {
        return 1;
    }
    let most = dice.within(1, MOST_DATAGRAMS).min(MOST_BYTES / size);
    let mut count = 1;
    while count < most.min(batch.len()) {
        let next = &batch[count];
        if next.sender != first.sender || next.bytes.is_empty() || next.bytes.len() > size {
            break;
        }
        count += 1;
        if next.bytes.len() < size {
            break;
        }
    }
    count
}

/// How many of the next frames are written to one stream, one after the other.
fn same_sender(dice: &mut Dice, batch: &[Datagram]) -> usize {
    let most = dice.within(1, MOST_DATAGRAMS);
    let first = &batch[0];
    let same = |next: &&Datagram| next.sender == first.sender;
    batch.iter().take(most).take_while(same).count()
}

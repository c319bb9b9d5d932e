// SPDX-License-Identifier: GPL-2.0

//! The driver's own counters, as `ethtool -S` reads them.

use std::{
    collections::BTreeMap,
    io,
    os::fd::AsRawFd, //
};

const SIOCETHTOOL: u64 = 0x8946;
const GSTRINGS: u32 = 0x1b;
const GSTATS: u32 = 0x1d;
/// The set of names that belongs to the statistics.
const SS_STATS: u32 = 1;
const NAME_LEN: usize = 32;
/// Room for more counters than the driver has.
const MOST: usize = 128;

/// The kernel's `struct ifreq`, with a pointer in it.
#[repr(C)]
pub struct Request {
    name: [u8; 16],
    data: *mut u64,
    rest: [u8; 16],
}

nix::ioctl_readwrite_bad!(ethtool, SIOCETHTOOL, Request);

/// All counters of a link in the namespace of `socket`.
pub fn read(socket: &impl AsRawFd, link: &str) -> io::Result<BTreeMap<String, u64>> {
    // Command, set, number; then the names.
    let mut names = vec![0; 2 + MOST * NAME_LEN / 8];
    names[0] = u64::from(GSTRINGS) | (u64::from(SS_STATS) << 32);
    ask(socket, link, &mut names)?;
    // Command and number, then the values.
    let mut values = vec![0; 1 + MOST];
    values[0] = u64::from(GSTATS);
    ask(socket, link, &mut values)?;

    let count = (values[0] >> 32) as usize;
    let bytes: Vec<u8> = names.iter().flat_map(|word| word.to_ne_bytes()).collect();
    // The names begin behind three words of 32 bits.
    let names = bytes[12..].chunks(NAME_LEN).map(text);
    Ok(names.zip(values[1..].iter().copied()).take(count).collect())
}

fn text(name: &[u8]) -> String {
    let len = name
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(name.len());
    String::from_utf8_lossy(&name[..len]).into_owned()
}

fn ask(socket: &impl AsRawFd, link: &str, buffer: &mut [u64]) -> io::Result<()> {
    let mut request = Request {
        name: [0; 16],
        data: buffer.as_mut_ptr(),
        rest: [0; 16],
    };
    let room = request.name.iter_mut().take(15);
    room.zip(link.bytes()).for_each(|(to, from)| *to = from);
    // SAFETY: The buffer has room for `MOST` counters, which is more than there are, and outlives
    // the call.
    unsafe { ethtool(socket.as_raw_fd(), &mut request) }?;
    Ok(())
}

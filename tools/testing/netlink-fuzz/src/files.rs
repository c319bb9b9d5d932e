// SPDX-License-Identifier: GPL-2.0

//! Files of all kinds that a daemon could pass for a peer's socket, most of them by mistake.

use nix::{
    sched::{
        setns,
        unshare,
        CloneFlags, //
    },
    unistd::pipe, //
};
use socket2::{
    Domain,
    Protocol,
    Socket,
    Type, //
};
use std::{
    fs::File,
    io,
    net::{
        SocketAddr,
        TcpListener,
        TcpStream,
        UdpSocket, //
    },
    os::fd::{
        AsRawFd,
        OwnedFd, //
    },
    os::unix::net::{
        UnixDatagram,
        UnixStream, //
    },
    process::Command, //
};

/// What a file is to the driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Good for any number of peers of one interface.
    Udp,
    /// Good for one peer.
    Connected,
    /// TCP without a connection.
    Tcp,
    /// No transport for records.
    Other,
}

/// A file, and what the model has to know of it.
pub struct Slot {
    pub what: &'static str,
    pub kind: Kind,
    /// `None` for a number that is no open file.
    file: Option<OwnedFd>,
    /// The other end of a connection, and its port. Only a flipped bit can name it.
    far: Option<(OwnedFd, u16)>,
    closed: u32,
    /// 0 if it is not bound.
    port: u16,
}

impl Slot {
    fn new(what: &'static str, kind: Kind, file: impl Into<OwnedFd>) -> Self {
        Self {
            what,
            kind,
            file: Some(file.into()),
            far: None,
            closed: 0,
            port: 0,
        }
    }

    fn closed(what: &'static str, number: u32) -> Self {
        Self {
            what,
            kind: Kind::Other,
            file: None,
            far: None,
            closed: number,
            port: 0,
        }
    }

    fn udp(what: &'static str, address: Option<&str>) -> io::Result<Self> {
        let (file, port) = match address {
            None => (Socket::new(Domain::IPV4, Type::DGRAM, None)?.into(), 0),
            Some(address) => {
                let socket = UdpSocket::bind(address)?;
                let port = socket
                    .local_addr()
                    .as_ref()
                    .map(SocketAddr::port)
                    .unwrap_or(0);
                (OwnedFd::from(socket), port)
            }
        };
        Ok(Self {
            port,
            ..Self::new(what, Kind::Udp, file)
        })
    }

    fn tcp() -> io::Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let near = TcpStream::connect(listener.local_addr()?)?;
        let (far, _) = listener.accept()?;
        Ok(Self {
            port: near.local_addr()?.port(),
            far: Some((far.into(), near.peer_addr()?.port())),
            ..Self::new("a TCP connection", Kind::Connected, near)
        })
    }

    /// The number for a request.
    pub fn number(&self) -> u32 {
        self.file
            .as_ref()
            .map_or(self.closed, |file| file.as_raw_fd() as u32)
    }

    fn far_port(&self) -> Option<u16> {
        self.far.as_ref().map(|(_, port)| *port)
    }
}

/// Which slot's socket has a port. For the far end of the connection in slot `n` it is
/// `slots.len() + n`.
pub fn by_port(slots: &[Slot], port: u16) -> Option<usize> {
    let near = slots
        .iter()
        .take(CARRIERS)
        .position(|slot| slot.port == port);
    let far = |slot: &Slot| slot.far_port() == Some(port);
    near.or_else(|| Some(slots.len() + slots.iter().position(far)?))
}

/// The namespace that a thread has come to, and one that it has made beside it.
pub struct Namespaces {
    home: File,
    other: File,
}

impl Namespaces {
    /// Leaves the process's namespace for a new one.
    pub fn new() -> io::Result<Self> {
        let other = new_namespace()?;
        let home = new_namespace()?;
        Ok(Self { home, other })
    }

    /// Does something in the other one.
    pub fn in_other<T>(&self, what: impl FnOnce() -> io::Result<T>) -> io::Result<T> {
        setns(&self.other, CloneFlags::CLONE_NEWNET)?;
        let done = what();
        setns(&self.home, CloneFlags::CLONE_NEWNET)?;
        done
    }
}

/// Moves this thread to a new namespace, in which connections to itself are possible.
fn new_namespace() -> io::Result<File> {
    unshare(CloneFlags::CLONE_NEWNET)?;
    let up = Command::new("ip")
        .args(["link", "set", "lo", "up"])
        .status()?;
    if !up.success() {
        return Err(io::Error::other("the loopback device does not come up"));
    }
    File::open("/proc/thread-self/ns/net")
}

/// All files. Those that can carry peers come first, see [`carrier`].
pub fn open(namespaces: &Namespaces) -> io::Result<Vec<Slot>> {
    let mut slots = Vec::new();
    for index in 0..CARRIERS {
        slots.push(carrier(index, namespaces, &slots)?);
    }
    let (stream, _) = UnixStream::pair()?;
    let raw = Socket::new(Domain::IPV4, Type::RAW, Some(Protocol::ICMPV4))?;
    let packet = Socket::new(Domain::PACKET, Type::DGRAM, None)?;
    let netlink = Socket::new(Domain::from(NETLINK), Type::DGRAM, None)?;
    slots.extend([
        Slot::new("a TCP listener", Kind::Tcp, TcpListener::bind("0.0.0.0:0")?),
        Slot::new(
            "a TCP socket",
            Kind::Tcp,
            Socket::new(Domain::IPV4, Type::STREAM, None)?,
        ),
        Slot::new("a UNIX stream", Kind::Other, stream),
        Slot::new(
            "a UNIX datagram socket",
            Kind::Other,
            UnixDatagram::unbound()?,
        ),
        Slot::new("a raw socket", Kind::Other, raw),
        Slot::new("a packet socket", Kind::Other, packet),
        Slot::new("a netlink socket", Kind::Other, netlink),
        Slot::new("a pipe", Kind::Other, pipe()?.0),
        Slot::new("a device", Kind::Other, File::open("/dev/null")?),
        Slot::new("a namespace", Kind::Other, namespaces.home.try_clone()?),
        Slot::closed("a closed file", 1000),
        Slot::closed("no file at all", u32::MAX),
    ]);
    Ok(slots)
}

const NETLINK: i32 = 16;

/// How many slots hold sockets that are good for peers.
pub const CARRIERS: usize = 8;

/// The socket for slot `index`, as good as new. A peer tells of its socket by the port alone, so it
/// is one that none of the others has, whatever their protocols and namespaces.
pub fn carrier(index: usize, namespaces: &Namespaces, others: &[Slot]) -> io::Result<Slot> {
    loop {
        let slot = open_carrier(index, namespaces)?;
        let ports = [slot.port].into_iter().chain(slot.far_port());
        if ports
            .filter(|port| *port != 0)
            .all(|port| by_port(others, port).is_none())
        {
            return Ok(slot);
        }
    }
}

fn open_carrier(index: usize, namespaces: &Namespaces) -> io::Result<Slot> {
    match index {
        0 => Slot::udp("a UDP socket", Some("127.0.0.1:0")),
        1 => Slot::udp("another UDP socket", Some("0.0.0.0:0")),
        2 => Slot::udp("a UDP socket of IPv6", Some("[::]:0")),
        3 => Slot::udp("an unbound UDP socket", None),
        4 => namespaces.in_other(|| Slot::udp("a foreign UDP socket", Some("0.0.0.0:0"))),
        _ => Slot::tcp(),
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Where a peer is on the transport network: its address, and ours that it talks to.

use core::net::{
    Ipv4Addr,
    Ipv6Addr,
    SocketAddrV4, //
};

/// The two ends of the transport path of a peer, as seen from here.
///
/// Ports are in host byte order. An unspecified `local` means that it is not known yet, and that
/// routing may choose.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Endpoint {
    /// Over IPv4.
    V4 {
        /// The peer.
        remote: SocketAddrV4,
        /// Our address.
        local: Ipv4Addr,
    },
    /// Over IPv6.
    V6 {
        /// The peer's address. Never a v4-mapped one, which is IPv4 on the wire: see [`unmap`].
        remote: Ipv6Addr,
        /// The peer's port.
        port: u16,
        /// The interface that a link-local `remote` belongs to, 0 if none is given.
        scope_id: u32,
        /// Our address.
        local: Ipv6Addr,
    },
}

/// What an authenticated record tells about where its sender is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Change {
    /// Nothing new.
    None,
    /// The peer is where it was, but it talks to another address of ours. Use this from now on.
    Local(Endpoint),
    /// The peer has moved. Use this from now on, and tell user space.
    Floated(Endpoint),
}

impl Endpoint {
    /// Compares with `seen`: a record's source as `remote`, its destination as `local`.
    ///
    /// The scope of `seen` is the interface that the record came in by. It means something for
    /// link-local sources only, where the same address on another link is another peer's.
    #[inline]
    pub fn observe(&self, seen: &Self) -> Change {
        let moved = !self.same_remote(seen);

        if !moved && self.same_local(seen) {
            return Change::None;
        }
        self.change(seen, moved)
    }

    /// Works out the change if there may be one, which is rare.
    #[cold]
    fn change(&self, seen: &Self, moved: bool) -> Change {
        let seen = seen.learnable();

        if moved {
            return Change::Floated(seen);
        }

        // The rest stays as it is known, the scope above all.
        let mut endpoint = *self;
        match (&mut endpoint, seen) {
            (Self::V4 { local, .. }, Self::V4 { local: new, .. }) if !new.is_unspecified() => {
                *local = new;
            }
            (Self::V6 { local, .. }, Self::V6 { local: new, .. }) if !new.is_unspecified() => {
                *local = new;
            }
            _ => return Change::None,
        }
        Change::Local(endpoint)
    }

    /// Returns whether a record from `seen` comes from where this peer is known to be.
    #[inline]
    fn same_remote(&self, seen: &Self) -> bool {
        match (self, seen) {
            (Self::V4 { remote: known, .. }, Self::V4 { remote, .. }) => known == remote,
            (
                Self::V6 {
                    remote: known,
                    port: known_port,
                    scope_id: known_scope,
                    ..
                },
                Self::V6 {
                    remote,
                    port,
                    scope_id,
                    ..
                },
            ) => {
                let same_link = *scope_id == 0 || scope_id == known_scope || !is_link_local(remote);

                known == remote && known_port == port && same_link
            }
            _ => false,
        }
    }

    /// Returns whether a record to `seen` went to the address that we talk from.
    #[inline]
    fn same_local(&self, seen: &Self) -> bool {
        match (self, seen) {
            (Self::V4 { local: known, .. }, Self::V4 { local, .. }) => known == local,
            (Self::V6 { local: known, .. }, Self::V6 { local, .. }) => known == local,
            _ => false,
        }
    }

    /// Returns what may be stored of the ends of a record that came in.
    ///
    /// A destination that is nobody's own address cannot be a source address later, and a scope is
    /// kept only where it says something.
    fn learnable(&self) -> Self {
        let mut endpoint = *self;

        match &mut endpoint {
            Self::V4 { local, .. } => {
                if local.is_multicast() || local.is_broadcast() {
                    *local = Ipv4Addr::UNSPECIFIED;
                }
            }
            Self::V6 {
                remote,
                scope_id,
                local,
                ..
            } => {
                if local.is_multicast() {
                    *local = Ipv6Addr::UNSPECIFIED;
                }
                if !is_link_local(remote) {
                    *scope_id = 0;
                }
            }
        }
        endpoint
    }

    /// Returns the same endpoint without our address, for when that has gone from the host.
    #[inline]
    pub fn forget_local(&self) -> Self {
        let mut endpoint = *self;

        match &mut endpoint {
            Self::V4 { local, .. } => *local = Ipv4Addr::UNSPECIFIED,
            Self::V6 { local, .. } => *local = Ipv6Addr::UNSPECIFIED,
        }
        endpoint
    }

    /// Returns what identifies the peer on the transport network.
    #[inline]
    pub fn key(&self) -> TransportKey {
        match self {
            Self::V4 { remote, .. } => {
                let [a, b, c, d] = remote.ip().octets();
                let address = [a, b, c, d, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];

                TransportKey::new(4, address, remote.port())
            }
            Self::V6 { remote, port, .. } => TransportKey::new(6, remote.octets(), *port),
        }
    }
}

/// The remote of an [`Endpoint`] as a key for tables: family, address and port, and nothing else.
///
/// What may differ between two records of one peer is left out: scope, flow label, our address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct TransportKey([u8; TransportKey::LEN]);

impl TransportKey {
    /// Octets of a key.
    pub const LEN: usize = 20;

    #[inline]
    const fn new(family: u8, address: [u8; 16], port: u16) -> Self {
        let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = address;
        let [high, low] = port.to_be_bytes();

        Self([
            a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, high, low, 0, family,
        ])
    }

    /// Returns the key for hashing: equal keys, and only they, have equal octets.
    #[inline]
    pub const fn bytes(&self) -> [u8; Self::LEN] {
        self.0
    }
}

/// Returns the IPv4 address that a v4-mapped one (`::ffff:a.b.c.d`) stands for.
#[inline]
pub const fn unmap(address: Ipv6Addr) -> Option<Ipv4Addr> {
    address.to_ipv4_mapped()
}

/// Returns whether an address is good on its link only: `fe80::/10`.
#[inline]
fn is_link_local(address: &Ipv6Addr) -> bool {
    address.segments()[0] & 0xffc0 == 0xfe80
}

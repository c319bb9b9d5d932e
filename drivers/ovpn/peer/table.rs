// SPDX-License-Identifier: GPL-2.0

//! How the peers of an interface are found, added and deleted.
//!
//! The packet path reads under RCU, without a lock, and at a cost that does not depend on how many
//! peers there are. Changes are made in process context under a mutex; only the table of transport
//! addresses is changed by the packet path, too, when a peer moves (under the peer's own lock).

use super::{
    endpoint::TransportKey,
    DeleteReason,
    Listed,
    Peer,
    VpnAddresses, //
};
use crate::{
    device::Tunnel,
    netlink::{
        notify,
        rules::Mode, //
    },
    wire::PeerId, //
};
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};
use kernel::{
    alloc::Flags,
    new_mutex,
    prelude::*,
    sync::{
        rcu::{
            self,
            Guard, //
        },
        Mutex, //
    },
};
use kernel_ext::{
    net::{
        device::Device,
        sock::Sock, //
    },
    sync::rcu::{
        Key,
        RcuArc,
        RcuBorrow,
        RcuCell,
        RcuIndex,
        RcuMap, //
    },
};

/// Whether peers can be added.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Admission {
    /// Yes.
    Open,
    /// No more: the interface is going away.
    Closed,
}

/// The peers of one interface.
#[pin_data]
pub struct Peers {
    table: Table,
    /// Serialises all changes but those of transport addresses.
    #[pin]
    admission: Mutex<Admission>,
}

enum Table {
    /// At most one peer.
    Single(RcuCell<Peer>),
    /// Any number.
    Many(Pin<KBox<Many>>),
}

#[pin_data]
struct Many {
    #[pin]
    by_id: RcuIndex<Peer>,
    /// By address inside the VPN, IPv4 ones as v4-mapped.
    #[pin]
    by_vpn: RcuMap<Peer>,
    /// By transport address; the last one to be seen there.
    #[pin]
    by_transport: RcuMap<Peer>,
}

/// Why a peer could not be added or changed.
#[derive(Debug)]
pub enum AddError {
    /// There is one with that id.
    Exists,
    /// Another peer has that address inside the VPN.
    AddressInUse,
    /// The peer was deleted meanwhile.
    Deleted,
    /// The interface is going away.
    Closed,
    /// No memory.
    Failed(Error),
}

impl From<Error> for AddError {
    fn from(error: Error) -> Self {
        Self::Failed(error)
    }
}

fn vpn6_key(address: Ipv6Addr) -> Key {
    let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = address.octets();
    [
        u32::from_ne_bytes([a, b, c, d]),
        u32::from_ne_bytes([e, f, g, h]),
        u32::from_ne_bytes([i, j, k, l]),
        u32::from_ne_bytes([m, n, o, p]),
        0,
    ]
}

fn vpn4_key(address: Ipv4Addr) -> Key {
    vpn6_key(address.to_ipv6_mapped())
}

fn transport_key(key: &TransportKey) -> Key {
    let mut words = [0; 5];
    for (word, bytes) in words.iter_mut().zip(key.bytes().chunks_exact(4)) {
        if let Some(bytes) = bytes.first_chunk() {
            *word = u32::from_ne_bytes(*bytes);
        }
    }
    words
}

impl VpnAddresses {
    fn keys(&self) -> impl Iterator<Item = Key> {
        let v4 = self.v4.map(vpn4_key);
        let v6 = self.v6.map(vpn6_key);
        [v4, v6].into_iter().flatten()
    }
}

impl Peers {
    /// No peers. Process context.
    pub fn new(mode: Mode) -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            table: match mode {
                Mode::P2p => Table::Single(RcuCell::new(None)),
                Mode::Mp => Table::Many(KBox::try_pin_init(Many::new(), GFP_KERNEL)?),
            },
            admission <- new_mutex!(Admission::Open, "ovpn_peers"),
        }? Error)
    }

    /// The only peer in P2P mode. Any context, so the other look-ups.
    #[inline]
    pub fn single<'g>(&self, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(cell) => cell.get(guard),
            Table::Many(_) => None,
        }
    }

    /// The peer with that id.
    #[inline]
    pub fn by_id<'g>(&self, id: PeerId, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(cell) => cell.get(guard).filter(|peer| peer.id() == id),
            Table::Many(many) => many.by_id.get(id.get(), guard),
        }
    }

    /// The peer that is at that transport address.
    pub fn by_transport<'g>(
        &self,
        key: &TransportKey,
        guard: &'g Guard,
    ) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(cell) => cell.get(guard).filter(|peer| {
                peer.endpoint(guard)
                    .is_some_and(|endpoint| endpoint.key() == *key)
            }),
            Table::Many(many) => many.by_transport.get(&transport_key(key), guard),
        }
    }

    /// The peer that has that address inside the VPN. In MP mode.
    #[inline]
    pub fn by_vpn4<'g>(&self, address: Ipv4Addr, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        self.by_vpn(&vpn4_key(address), guard)
    }

    /// The peer that has that address inside the VPN. In MP mode.
    #[inline]
    pub fn by_vpn6<'g>(&self, address: Ipv6Addr, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        self.by_vpn(&vpn6_key(address), guard)
    }

    #[inline]
    fn by_vpn<'g>(&self, key: &Key, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(_) => None,
            Table::Many(many) => many.by_vpn.get(key, guard),
        }
    }

    /// The first peer whose id is `from` or higher. For walks, which see each peer that is there
    /// all the time once.
    pub fn next<'g>(&self, from: u32, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(cell) => cell.get(guard).filter(|peer| peer.id().get() >= from),
            Table::Many(many) => many.by_id.next(from, guard).map(|(_, peer)| peer),
        }
    }

    /// Adds `peer` and starts its timer. In P2P mode it takes the place of the one before.
    /// Process context, may sleep.
    pub fn add(&self, dev: &Device<Tunnel>, peer: &RcuArc<Peer>) -> Result<(), AddError> {
        let replaced = {
            let admission = self.admission.lock();
            if *admission == Admission::Closed {
                return Err(AddError::Closed);
            }
            match &self.table {
                Table::Single(cell) => {
                    let replaced = cell.replace(Some(peer.clone()));
                    dev.set_carrier(true);
                    replaced
                }
                Table::Many(many) => {
                    many.add(peer)?;
                    None
                }
            }
        };
        if let Some(replaced) = replaced {
            Self::deleted(dev, &replaced, DeleteReason::Teardown);
        }
        Peer::start_timer(peer);
        Ok(())
    }

    /// Gives `peer` other addresses inside the VPN. Process context, may sleep.
    pub fn change_vpn(&self, peer: &RcuArc<Peer>, new: VpnAddresses) -> Result<(), AddError> {
        let _admission = self.admission.lock();
        match &self.table {
            // Addresses are not used to find the only peer.
            Table::Single(_) => Ok(()),
            Table::Many(many) => many.change_vpn(peer, new),
        }
    }

    /// Deletes `peer`. Whether it was there: of many who delete a peer at the same time, one is told
    /// so, and has done it when this returns. Process context, may sleep.
    pub fn delete(
        &self,
        dev: &Device<Tunnel>,
        peer: &RcuArc<Peer>,
        reason: DeleteReason,
    ) -> bool {
        let found = {
            let _admission = self.admission.lock();
            match &self.table {
                Table::Single(cell) => {
                    let found = cell.take_if(peer).is_some();
                    if found {
                        dev.set_carrier(false);
                    }
                    found
                }
                Table::Many(many) => many.remove(peer),
            }
        };
        if found {
            Self::deleted(dev, peer, reason);
        }
        found
    }

    /// `peer` cannot be found any more: tell the daemon, and give the socket back.
    fn deleted(dev: &Device<Tunnel>, peer: &RcuArc<Peer>, reason: DeleteReason) {
        peer.state.lock().listed = Listed::Deleted;
        Peer::stop_timer(peer);
        notify::deleted(dev, peer, reason);
        peer.detach();
    }

    /// Deletes all peers that use `sock`, which was closed. Process context, may sleep.
    pub fn socket_closed(&self, dev: &Device<Tunnel>, sock: &Sock) {
        self.delete_all(dev, DeleteReason::TransportDisconnect, |peer| {
            peer.socket().sock().is(sock)
        });
    }

    /// Deletes all peers, and admits no more. Process context, may sleep.
    pub fn close(&self, dev: &Device<Tunnel>, reason: DeleteReason) {
        *self.admission.lock() = Admission::Closed;
        self.delete_all(dev, reason, |_| true);
    }

    fn delete_all(
        &self,
        dev: &Device<Tunnel>,
        reason: DeleteReason,
        which: impl Fn(&Peer) -> bool,
    ) {
        let mut from = 0;
        loop {
            let peer = {
                let guard = rcu::read_lock();
                let Some(peer) = self.next(from, &guard) else {
                    return;
                };
                from = peer.id().get().saturating_add(1);
                // One without references is being deleted by somebody else.
                peer.to_owned()
            };
            if let Some(peer) = peer.filter(|peer| which(peer)) {
                self.delete(dev, &peer, reason);
            }
        }
    }

    /// Lets `peer` be found at a transport address. Any context that `flags` allow.
    pub(super) fn list_transport(
        &self,
        key: &TransportKey,
        peer: RcuArc<Peer>,
        flags: Flags,
    ) -> Result {
        match &self.table {
            Table::Single(_) => Ok(()),
            Table::Many(many) => many.by_transport.set(&transport_key(key), peer, flags),
        }
    }

    /// Lets `peer` not be found at a transport address any more. Any context.
    pub(super) fn unlist_transport(&self, key: &TransportKey, peer: &Peer) {
        if let Table::Many(many) = &self.table {
            many.by_transport.remove(&transport_key(key), peer);
        }
    }
}

impl Many {
    fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            by_id <- RcuIndex::new(),
            by_vpn <- RcuMap::new(),
            by_transport <- RcuMap::new(),
        }? Error)
    }

    /// Adds `peer` to all tables, or to none.
    fn add(&self, peer: &RcuArc<Peer>) -> Result<(), AddError> {
        let vpn = peer.vpn_addresses();
        let id = peer.id().get();
        self.by_id.insert(id, peer.clone()).map_err(|error| match error {
            error if error == EEXIST => AddError::Exists,
            error => AddError::Failed(error),
        })?;
        if let Err(error) = self.list_vpn(peer, VpnAddresses::default(), vpn) {
            drop(self.by_id.remove(id));
            return Err(error);
        }
        let guard = rcu::read_lock();
        let Some(key) = peer.endpoint(&guard).map(|endpoint| endpoint.key()) else {
            return Ok(());
        };
        drop(guard);
        if let Err(error) = self
            .by_transport
            .set(&transport_key(&key), peer.clone(), GFP_KERNEL)
        {
            self.unlist_vpn(peer, vpn, VpnAddresses::default());
            drop(self.by_id.remove(id));
            return Err(AddError::Failed(error));
        }
        peer.state.lock().listed = Listed::At(key);
        Ok(())
    }

    fn change_vpn(&self, peer: &RcuArc<Peer>, new: VpnAddresses) -> Result<(), AddError> {
        let guard = rcu::read_lock();
        let listed = self.by_id.get(peer.id().get(), &guard);
        if !listed.is_some_and(|listed| peer.is(listed.get())) {
            return Err(AddError::Deleted);
        }
        drop(guard);
        let old = peer.vpn_addresses();
        self.list_vpn(peer, old, new)?;
        peer.state.lock().vpn = new;
        self.unlist_vpn(peer, old, new);
        Ok(())
    }

    /// Lets `peer` be found by the addresses of `new` that are not in `old`; by all or by none.
    fn list_vpn(
        &self,
        peer: &RcuArc<Peer>,
        old: VpnAddresses,
        new: VpnAddresses,
    ) -> Result<(), AddError> {
        let is_new = |key: &Key| !old.keys().any(|old| old == *key);
        for (done, key) in new.keys().filter(is_new).enumerate() {
            let Err(error) = self.by_vpn.insert(&key, peer.clone(), GFP_KERNEL) else {
                continue;
            };
            for key in new.keys().filter(is_new).take(done) {
                self.by_vpn.remove(&key, peer);
            }
            return Err(match error {
                error if error == EEXIST => AddError::AddressInUse,
                error => AddError::Failed(error),
            });
        }
        Ok(())
    }

    /// Lets `peer` not be found by the addresses of `old` that are not in `new`.
    fn unlist_vpn(&self, peer: &Peer, old: VpnAddresses, new: VpnAddresses) {
        for key in old.keys() {
            if !new.keys().any(|new| new == key) {
                self.by_vpn.remove(&key, peer);
            }
        }
    }

    /// Removes `peer` from all tables. Whether it was there.
    fn remove(&self, peer: &RcuArc<Peer>) -> bool {
        let guard = rcu::read_lock();
        let listed = self.by_id.get(peer.id().get(), &guard);
        if !listed.is_some_and(|listed| peer.is(listed.get())) {
            return false;
        }
        drop(guard);
        drop(self.by_id.remove(peer.id().get()));
        self.unlist_vpn(peer, peer.vpn_addresses(), VpnAddresses::default());
        let mut state = peer.state.lock();
        if let Listed::At(key) = core::mem::replace(&mut state.listed, Listed::Deleted) {
            self.by_transport.remove(&transport_key(&key), peer);
        }
        true
    }
}

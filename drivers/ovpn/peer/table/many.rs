// SPDX-License-Identifier: GPL-2.0

//! The tables of an interface with many peers.

use super::AddError;
use crate::{
    peer::{
        endpoint::TransportKey,
        Listed,
        Peer,
        VpnAddresses, //
    },
    wire::PeerId, //
};
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};
use kernel::{
    alloc::Flags,
    prelude::*,
    sync::rcu::{
        self,
        Guard, //
    },
};
use kernel_ext::sync::rcu::{
    Key,
    RcuArc,
    RcuBorrow,
    RcuIndex,
    RcuMap, //
};

/// Any number of peers.
#[pin_data]
pub(super) struct Many {
    #[pin]
    by_id: RcuIndex<Peer>,
    /// By address inside the VPN, IPv4 ones as v4-mapped.
    #[pin]
    by_vpn: RcuMap<Peer>,
    /// By transport address; the last one to be seen there.
    #[pin]
    by_transport: RcuMap<Peer>,
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

impl Many {
    /// No peers. Process context.
    pub(super) fn new() -> impl PinInit<Self, Error> {
        try_pin_init!(Self {
            by_id <- RcuIndex::new(),
            by_vpn <- RcuMap::new(),
            by_transport <- RcuMap::new(),
        }? Error)
    }

    /// The peer with that id. Any context, so the other look-ups.
    #[inline]
    pub(super) fn by_id<'g>(&self, id: PeerId, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        self.by_id.get(id.get(), guard)
    }

    /// The first peer whose id is `from` or higher.
    pub(super) fn next<'g>(&self, from: u32, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        self.by_id.next(from, guard).map(|(_, peer)| peer)
    }

    /// The peer that has that address inside the VPN, IPv4 ones being v4-mapped.
    #[inline]
    pub(super) fn by_vpn<'g>(
        &self,
        address: Ipv6Addr,
        guard: &'g Guard,
    ) -> Option<RcuBorrow<'g, Peer>> {
        self.by_vpn.get(&vpn6_key(address), guard)
    }

    /// The peer that was last seen at that transport address.
    pub(super) fn by_transport<'g>(
        &self,
        key: &TransportKey,
        guard: &'g Guard,
    ) -> Option<RcuBorrow<'g, Peer>> {
        self.by_transport.get(&transport_key(key), guard)
    }

    /// Lets `peer` be found at a transport address. Any context that `flags` allow.
    pub(super) fn list_transport(
        &self,
        key: &TransportKey,
        peer: RcuArc<Peer>,
        flags: Flags,
    ) -> Result {
        self.by_transport.set(&transport_key(key), peer, flags)
    }

    /// Lets `peer` not be found at a transport address any more. Any context.
    pub(super) fn unlist_transport(&self, key: &TransportKey, peer: &Peer) {
        self.by_transport.remove(&transport_key(key), peer);
    }

    /// Whether `peer` is in the tables. For process context, where changes are serialised.
    fn has(&self, peer: &RcuArc<Peer>) -> bool {
        let guard = rcu::read_lock();
        self.by_id(peer.id(), &guard)
            .is_some_and(|listed| peer.is(listed.get()))
    }

    /// Adds `peer` to all tables, or to none. Serialised.
    pub(super) fn add(&self, peer: &RcuArc<Peer>) -> Result<(), AddError> {
        let vpn = peer.vpn_addresses();
        let id = peer.id().get();
        self.by_id
            .insert(id, peer.clone())
            .map_err(|error| match error {
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
        if let Err(error) = self.list_transport(&key, peer.clone(), GFP_KERNEL) {
            self.unlist_vpn(peer, vpn, VpnAddresses::default());
            drop(self.by_id.remove(id));
            return Err(AddError::Failed(error));
        }
        peer.state.lock().listed = Listed::At(key);
        Ok(())
    }

    /// Gives `peer` other addresses inside the VPN. Serialised.
    pub(super) fn change_vpn(
        &self,
        peer: &RcuArc<Peer>,
        new: VpnAddresses,
    ) -> Result<(), AddError> {
        if !self.has(peer) {
            return Err(AddError::Deleted);
        }
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

    /// Removes `peer` from all tables. Whether it was there. Serialised.
    pub(super) fn remove(&self, peer: &RcuArc<Peer>) -> bool {
        if !self.has(peer) {
            return false;
        }
        drop(self.by_id.remove(peer.id().get()));
        self.unlist_vpn(peer, peer.vpn_addresses(), VpnAddresses::default());
        let mut state = peer.state.lock();
        if let Listed::At(key) = core::mem::replace(&mut state.listed, Listed::Deleted) {
            self.unlist_transport(&key, peer);
        }
        true
    }
}

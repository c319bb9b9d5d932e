// SPDX-License-Identifier: GPL-2.0

//! How the peers of an interface are found, added and deleted.
//!
//! The packet path reads under RCU, without a lock, and at a cost that does not depend on how many
//! peers there are. Changes are made in process context under a mutex; only the table of transport
//! addresses is changed by the packet path, too, when a peer moves (under the peer's own lock).

mod many;

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
        RcuArc,
        RcuBorrow,
        RcuCell, //
    },
};
use many::Many;

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
            Table::Many(many) => many.by_id(id, guard),
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
            Table::Many(many) => many.by_transport(key, guard),
        }
    }

    /// The peer that has that address inside the VPN. In MP mode.
    #[inline]
    pub fn by_vpn4<'g>(&self, address: Ipv4Addr, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        self.by_vpn6(address.to_ipv6_mapped(), guard)
    }

    /// The peer that has that address inside the VPN. In MP mode.
    #[inline]
    pub fn by_vpn6<'g>(&self, address: Ipv6Addr, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(_) => None,
            Table::Many(many) => many.by_vpn(address, guard),
        }
    }

    /// The first peer whose id is `from` or higher. For walks, which see each peer that is there
    /// all the time once.
    pub fn next<'g>(&self, from: u32, guard: &'g Guard) -> Option<RcuBorrow<'g, Peer>> {
        match &self.table {
            Table::Single(cell) => cell.get(guard).filter(|peer| peer.id().get() >= from),
            Table::Many(many) => many.next(from, guard),
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
    pub fn delete(&self, dev: &Device<Tunnel>, peer: &RcuArc<Peer>, reason: DeleteReason) -> bool {
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
            peer.transport().sock().is(sock)
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
            Table::Many(many) => many.list_transport(key, peer, flags),
        }
    }

    /// Lets `peer` not be found at a transport address any more. Any context.
    pub(super) fn unlist_transport(&self, key: &TransportKey, peer: &Peer) {
        if let Table::Many(many) = &self.table {
            many.unlist_transport(key, peer);
        }
    }
}

// SPDX-License-Identifier: GPL-2.0

//! Where a peer is outside the VPN, and how we follow it when it moves.

use super::{
    endpoint::{
        Change,
        Endpoint, //
    },
    path::Path,
    Listed,
    Peer,
    State, //
};
use crate::netlink::notify;
use kernel::{
    prelude::*,
    sync::rcu::Guard, //
};
use kernel_ext::{
    alloc::Gfp,
    net::udp_tunnel::SendParams,
    sync::rcu::{
        RcuArc,
        RcuBorrow, //
    },
};

impl Peer {
    /// The way to it, for a socket that sends with `params`. Any context.
    #[inline]
    pub fn path<'g>(&self, params: &SendParams, guard: &'g Guard) -> Option<RcuBorrow<'g, Path>> {
        let path = self.path.get(guard)?;
        if path.is_for(params) {
            return Some(path);
        }
        // User space has changed the socket: routes that were found for it before do not count.
        let endpoint = path.endpoint();
        self.change_path(path.get(), endpoint, Some(params));
        self.path.get(guard)
    }

    /// Our address on the way to it is not ours any more: let the next look-up find another one.
    #[cold]
    pub fn forget_local(&self, path: &Path) {
        self.change_path(path, path.endpoint().forget_local(), None);
    }

    /// Replaces `path` if it is still the way to the peer. Without memory all stays as it is, and
    /// the next packet tries again. Any context.
    #[cold]
    fn change_path(&self, path: &Path, endpoint: Endpoint, params: Option<&SendParams>) {
        let Ok(new) = path.moved(endpoint, params) else {
            return;
        };
        let _state = self.state.lock();
        // Nobody else replaces it while we have the lock.
        if self.path.holds(path) {
            drop(self.path.replace(Some(new)));
        }
    }

    /// An authentic record came from `seen`: answers go there from now on. Any context.
    #[inline]
    pub fn follow(&self, this: RcuBorrow<'_, Self>, seen: &Endpoint, guard: &Guard) {
        let Some(path) = self.path.get(guard) else {
            return;
        };
        match path.endpoint().observe(seen) {
            Change::None => {}
            Change::Local(endpoint) => self.change_path(path.get(), endpoint, None),
            Change::Floated(_) => self.float(this, seen, guard),
        }
    }

    /// The peer has moved.
    #[cold]
    fn float(&self, this: RcuBorrow<'_, Self>, seen: &Endpoint, guard: &Guard) {
        let Some(this) = this.to_owned() else {
            return;
        };
        let moved_to = {
            let mut state = self.state.lock();
            // Another CPU may have been faster.
            let Some(path) = self.path.get(guard) else {
                return;
            };
            let Change::Floated(endpoint) = path.endpoint().observe(seen) else {
                return;
            };
            let Ok(new) = path.moved(endpoint, None) else {
                return;
            };
            drop(self.path.replace(Some(new)));
            state.relist(&this, endpoint);
            endpoint
        };
        notify::floated(&self.tunnel, self, moved_to);
    }

    /// The daemon says where the peer is. Process context.
    ///
    /// # Errors
    ///
    /// `ENOMEM`.
    pub fn move_to(this: &RcuArc<Self>, endpoint: Endpoint) -> Result {
        let params = SendParams::of(this.transport.sock());
        let path = Path::new(endpoint, &params, Gfp::Kernel)?;
        let mut state = this.state.lock();
        drop(this.path.replace(Some(path)));
        state.relist(this, endpoint);
        Ok(())
    }
}

impl State {
    /// Lets the peer be found by where it is now, if it can be found so at all.
    fn relist(&mut self, peer: &RcuArc<Peer>, endpoint: Endpoint) {
        let key = endpoint.key();
        match self.listed {
            Listed::At(old) if old != key => {
                let peers = &peer.tunnel.data().peers;
                // Without memory it is not found by its address, until it moves again.
                let listed = peers.list_transport(&key, peer.clone(), GFP_ATOMIC).is_ok();
                peers.unlist_transport(&old, peer);
                self.listed = if listed { Listed::At(key) } else { Listed::No };
            }
            Listed::At(_) | Listed::No | Listed::Deleted => {}
        }
    }
}

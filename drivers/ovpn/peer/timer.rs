// SPDX-License-Identifier: GPL-2.0

//! Each peer's own timer: sends keepalives, and deletes the peer when it is silent for too long.

use super::{
    keepalive::{
        Due,
        Keepalive, //
    },
    DeleteReason,
    Listed,
    Peer, //
};
use crate::tx;
use kernel::{
    sync::atomic::Relaxed,
    time::msecs_to_jiffies, //
};
use kernel_ext::{
    bh::BhGuard,
    sync::rcu::RcuArc,
    time::{
        self,
        NSEC_PER_SEC, //
    },
    workqueue::{
        self,
        Run, //
    },
};

impl Peer {
    /// Sets interval and timeout in seconds, and begins anew with both. Process context.
    pub fn set_keepalive(this: &RcuArc<Self>, keepalive: (u32, u32)) {
        let now = time::boottime_coarse();
        this.last_sent.store(now, Relaxed);
        this.last_received.store(now, Relaxed);
        this.state.lock().keepalive = keepalive;
        Self::start_timer(this);
    }

    /// Lets the timer look at once, whatever it waits for. Process context.
    pub fn start_timer(this: &RcuArc<Self>) {
        workqueue::reschedule(this.clone(), 0);
    }

    /// Stops the timer; a look in progress goes on. Process context.
    pub fn stop_timer(this: &RcuArc<Self>) {
        workqueue::cancel(this);
    }

    /// Nothing can reach it any more by its transport: lets the timer delete it. Any context.
    pub fn fail_transport(this: &RcuArc<Self>) {
        this.failed.store(true, Relaxed);
        workqueue::reschedule(this.clone(), 0);
    }

    fn is_deleted(&self) -> bool {
        self.state.lock().listed == Listed::Deleted
    }

    /// What is to be done now, if keepalives are on and the peer is not deleted.
    fn due(&self) -> Option<Due> {
        let (interval, timeout) = {
            let state = self.state.lock();
            if state.listed == Listed::Deleted {
                return None;
            }
            state.keepalive
        };
        let seconds = |nanoseconds: u64| nanoseconds / NSEC_PER_SEC;
        Some(Keepalive::new(interval, timeout)?.due(
            time::boottime_seconds(),
            seconds(self.last_sent.load(Relaxed)),
            seconds(self.last_received.load(Relaxed)),
        ))
    }
}

impl Run for Peer {
    fn run(this: RcuArc<Self>) {
        let delete = |reason| {
            let peers = &this.tunnel.data().peers;
            peers.delete(&this.tunnel, &this, reason);
        };
        if this.failed.load(Relaxed) {
            return delete(DeleteReason::TransportError);
        }
        let wait = match this.due() {
            None => return,
            Some(Due::Expired) => return delete(DeleteReason::Expired),
            Some(Due::Send { wait }) => {
                tx::send_keepalive(&this.tunnel, &this, &BhGuard::new());
                wait
            }
            Some(Due::Nothing { wait }) => wait,
        };
        // CAST: At most a day.
        let wait = msecs_to_jiffies(wait.saturating_mul(1000) as u32);
        workqueue::schedule(this.clone(), wait);
        // Who deleted it meanwhile has found nothing to stop, and the next look may be a day away.
        if this.is_deleted() {
            Self::stop_timer(&this);
        }
    }
}

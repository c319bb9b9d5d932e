// SPDX-License-Identifier: GPL-2.0

//! Where a peer is inside the VPN.

use crate::netlink::rules::PeerSettings;
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};

/// The addresses that a peer has inside the VPN.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct VpnAddresses {
    /// IPv4.
    pub v4: Option<Ipv4Addr>,
    /// IPv6.
    pub v6: Option<Ipv6Addr>,
}

impl VpnAddresses {
    /// These addresses with what `settings` change; an unspecified address is none.
    pub fn with(self, settings: &PeerSettings) -> Self {
        Self {
            v4: settings
                .vpn_v4
                .or(self.v4)
                .filter(|v4| !v4.is_unspecified()),
            v6: settings
                .vpn_v6
                .or(self.v6)
                .filter(|v6| !v6.is_unspecified()),
        }
    }
}

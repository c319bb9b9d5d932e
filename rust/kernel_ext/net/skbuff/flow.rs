// SPDX-License-Identifier: GPL-2.0

//! Who sent a datagram to whom.

use super::SkBuff;
use core::net::{
    Ipv4Addr,
    Ipv6Addr, //
};
use ovpn_bindings as bindings;

/// From where to where a datagram went. Ports in host byte order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UdpFlow {
    /// Over IPv4.
    V4 {
        /// Source address.
        source: Ipv4Addr,
        /// Source port.
        port: u16,
        /// Destination address.
        destination: Ipv4Addr,
    },
    /// Over IPv6.
    V6 {
        /// Source address.
        source: Ipv6Addr,
        /// Source port.
        port: u16,
        /// Destination address.
        destination: Ipv6Addr,
        /// Index of the interface it came in by.
        iif: u32,
    },
}

impl SkBuff {
    /// `N` bytes at `offset` from the start of the buffer, if they are in its linear part.
    fn at<const N: usize>(&self, offset: u16) -> Option<[u8; N]> {
        let skb = self.raw();
        let end = (skb.data as usize)
            .wrapping_sub(skb.head as usize)
            .checked_add(self.head_len())?;
        if usize::from(offset).checked_add(N)? > end {
            return None;
        }
        // SAFETY: In the linear buffer, which is initialised up to the end of the linear part.
        Some(unsafe { skb.head.add(usize::from(offset)).cast::<[u8; N]>().read() })
    }

    /// From where to where a received UDP datagram went, by its network and transport headers.
    /// `None` if it is no such packet.
    #[inline]
    pub fn udp_flow(&self) -> Option<UdpFlow> {
        let headers = self.headers();
        let [a, b, ..] = self.at::<4>(headers.transport)?;
        let port = u16::from_be_bytes([a, b]);
        match u32::from(u16::from_be(headers.protocol)) {
            bindings::ETH_P_IP => {
                let header = self.at::<20>(headers.network)?;
                Some(UdpFlow::V4 {
                    source: Ipv4Addr::from(*header[12..].first_chunk::<4>()?),
                    port,
                    destination: Ipv4Addr::from(*header[16..].first_chunk::<4>()?),
                })
            }
            bindings::ETH_P_IPV6 => {
                let header = self.at::<40>(headers.network)?;
                Some(UdpFlow::V6 {
                    source: Ipv6Addr::from(*header[8..].first_chunk::<16>()?),
                    port,
                    destination: Ipv6Addr::from(*header[24..].first_chunk::<16>()?),
                    // CAST: Interface indices are positive.
                    iif: headers.iif as u32,
                })
            }
            _ => None,
        }
    }
}

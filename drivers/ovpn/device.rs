// SPDX-License-Identifier: GPL-2.0

//! One tunnel interface.

use crate::{
    netlink::rules::Mode,
    peer::{
        table::Peers,
        DeleteReason, //
    },
    stats::{
        DropCause,
        DropCounters, //
    },
    tx,
    wire::OVERHEAD, //
};
use kernel::{
    module::this_module,
    prelude::*, //
};
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::{
            Device,
            DeviceOps,
            DeviceType,
            Driver,
            Features,
            Setup, //
        },
        gro_cells::GroCells,
        netlink::{
            Policy,
            Writer, //
        },
        rtnl::{
            Link,
            LinkAttrs, //
        },
        skbuff::SkBuff, //
    },
    uapi::{
        self,
        ovpn::*, //
    },
};

/// Bytes that are put in front of a packet at most: the record's header, and the headers of the
/// transport (TCP's is the longest) and of IPv6.
pub const HEADROOM: usize = OVERHEAD + 20 + 40;

/// Bytes that a cipher may want behind a packet.
const TAILROOM: u16 = 16;

static OPS: DeviceOps<Tunnel> = DeviceOps::new();

static DEVICE_TYPE: DeviceType = DeviceType::new(c"ovpn");

/// The private data of a tunnel interface.
#[pin_data]
pub struct Tunnel {
    mode: Mode,
    /// The other ends.
    #[pin]
    pub peers: Peers,
    /// What has been decrypted and is on its way up.
    #[pin]
    pub received: GroCells,
    /// Why packets were dropped.
    pub drops: DropCounters,
}

impl Tunnel {
    /// Whether the interface has one peer or many.
    #[inline]
    pub fn mode(&self) -> Mode {
        self.mode
    }
}

impl Driver for Tunnel {
    const OPS: &'static DeviceOps<Self> = &OPS;
    const MODULE: &'static ThisModule = this_module::<crate::LocalModule>();
    const NAME: &'static str = "ovpn";
    const COUNTERS: &'static [&'static str] = &DropCause::NAMES;

    fn setup(dev: &mut Setup<'_>) {
        // CAST: Small constants.
        const ROOM: u32 = HEADROOM as u32;

        dev.tunnel_without_link_layer();
        dev.transmit_directly();
        // A packet to a network behind a peer names the peer by the gateway of its route.
        dev.keep_route();
        dev.mtu(
            uapi::ETH_DATA_LEN - ROOM,
            uapi::IPV4_MIN_MTU,
            uapi::IP_MAX_MTU - ROOM,
        );
        dev.room(ROOM as u16, TAILROOM);
        dev.features(
            Features::SG
                .and(Features::GSO)
                .and(Features::HIGHDMA)
                .and(Features::FRAGLIST)
                // Without it the stack cuts bursts up before we see them.
                .and(Features::CHECKSUM)
                // The second needs the first.
                .and(Features::RECEIVE_CHECKSUM)
                .and(Features::RECEIVE_MERGED),
        );
        dev.device_type(&DEVICE_TYPE);
    }

    fn init(dev: &Device<Self>) -> Result {
        let tunnel = dev.data();
        // With one peer the carrier says whether it is there; with many there is always somebody to
        // talk to.
        dev.set_carrier(tunnel.mode == Mode::Mp);
        tunnel.received.start(dev)
    }

    fn uninit(dev: &Device<Self>) {
        dev.data().peers.close(dev, DeleteReason::Teardown);
    }

    fn open(dev: &Device<Self>) -> Result {
        // Peers of one interface share a subnet, but reach each other only through us: to tell them
        // to talk directly would be wrong. The setting is lost when the interface changes its
        // namespace, hence each time it comes up.
        if dev.data().mode == Mode::Mp {
            dev.disable_redirects();
        }
        Ok(())
    }

    #[inline]
    fn start_xmit(dev: &Device<Self>, skb: SkBuff, bh: &BhDisabled) {
        tx::start(dev, skb, bh);
    }

    fn counter(&self, index: usize) -> u64 {
        self.drops.get(index)
    }
}

impl Link for Tunnel {
    const KIND: &'static CStr = c"ovpn";

    const POLICY: &'static [Policy] = &{
        let mut policy = [const { Policy::unknown() }; __IFLA_OVPN_MAX as usize];
        // CAST: 0 and 1.
        policy[IFLA_OVPN_MODE as usize] = Policy::u8_range(OVPN_MODE_P2P as u8, OVPN_MODE_MP as u8);
        policy
    };

    /// A header of 4 bytes, and a byte padded to 4.
    const INFO_SIZE: usize = 8;

    fn new(attrs: LinkAttrs<'_>) -> impl PinInit<Self, Error> {
        let mode = match attrs.get(IFLA_OVPN_MODE).and_then(|attr| attr.u8()) {
            Some(mode) if u32::from(mode) == OVPN_MODE_MP => Mode::Mp,
            _ => Mode::P2p,
        };
        try_pin_init!(Self {
            peers <- Peers::new(mode),
            mode,
            received <- GroCells::new(),
            drops: DropCounters::new(),
        }? Error)
    }

    fn fill_info(&self, info: &mut Writer<'_>) -> Result {
        let mode = match self.mode {
            Mode::P2p => OVPN_MODE_P2P,
            Mode::Mp => OVPN_MODE_MP,
        };
        // CAST: 0 or 1.
        info.put_u8(IFLA_OVPN_MODE, mode as u8)
    }
}

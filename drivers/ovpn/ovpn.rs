// SPDX-License-Identifier: GPL-2.0

//! OpenVPN data channel offload.
//!
//! The openvpn daemon keeps the control channel (TLS, authentication, key negotiation); this driver
//! carries the data: it encrypts what is routed into a tunnel interface and sends it to the peer,
//! and decrypts what peers send.
//!
//! | room | what is in it |
//! |---|---|
//! | [`device`] | one tunnel interface |
//! | [`tx`], [`rx`] | the two directions, each from top to bottom |
//! | [`peer`] | the other end of a tunnel: where it is, whether it lives; how peers are found |
//! | [`crypto`] | keys, packet ids, the replay window |
//! | [`transport`] | the sockets that records travel through |
//! | [`netlink`] | what the daemon asks for and is told |
//! | [`wire`], [`inner`], `headers` | the formats of a record and of what is inside |
//! | [`burst`], [`merge`], [`checksum`] | the packets that a GSO packet stands for, and back |
//! | [`stats`] | counters, and why packets are dropped |

#![forbid(unsafe_code)]

pub mod burst;
pub mod checksum;
pub mod crypto;
pub mod device;
mod headers;
pub mod inner;
pub mod merge;
pub mod netlink;
pub mod peer;
pub mod rx;
pub mod stats;
pub mod transport;
pub mod tx;
pub mod wire;

use kernel::{
    prelude::*,
    InPlaceModule, //
};
use kernel_ext::{
    crypto::aead::CryptoMemory,
    net::{
        genetlink,
        rtnl,
        skbuff::PageMemory,
        tcp, //
    },
    workqueue::ModuleQueue, //
};

module! {
    type: Ovpn,
    name: "ovpn",
    authors: ["The ovpn.ko developers"],
    description: "OpenVPN data channel offload (Rust)",
    license: "GPL",
    alias: ["rtnl-link-ovpn", "net-pf-16-proto-16-family-ovpn"],
}

/// What is registered while the module is loaded.
///
/// Fields are dropped from top to bottom: first no new requests, then no new interfaces (there are
/// none left by then, each of them keeps the module loaded), then the queue, which waits for all
/// that is deferred, and last the memory that keys and packets were worked on in.
#[pin_data]
struct Ovpn {
    _family: genetlink::Registration,
    #[pin]
    _links: rtnl::Registration<device::Tunnel>,
    _tcp: tcp::Registration<transport::tcp::Carrier>,
    _queue: ModuleQueue,
    _crypto: CryptoMemory,
    _pages: PageMemory,
}

impl InPlaceModule for Ovpn {
    fn init(_module: &'static ThisModule) -> impl PinInit<Self, Error> {
        // From the bottom up.
        try_pin_init!(Self {
            _pages: PageMemory::new()?,
            _crypto: CryptoMemory::new()?,
            _queue: ModuleQueue::new(c"ovpn")?,
            _tcp: tcp::Registration::new()?,
            _links <- rtnl::Registration::new(),
            _family: genetlink::Registration::new(&netlink::FAMILY)?,
        }? Error)
    }
}

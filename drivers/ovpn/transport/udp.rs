// SPDX-License-Identifier: GPL-2.0

//! Records in UDP datagrams. One socket serves all peers that the daemon talks to through it.

use crate::{
    device::Tunnel,
    peer::{
        endpoint::Endpoint,
        path::Path,
        Peer, //
    },
    rx,
    stats::{
        drop_received,
        DropCause, //
    },
    wire::{
        Datagram,
        Header,
        OPCODE_LEN, //
    },
};
use core::net::SocketAddrV4;
use kernel::{
    prelude::*,
    sync::rcu::Guard, //
};
use kernel_ext::{
    bh::BhDisabled,
    net::{
        device::{
            Device,
            DeviceRef, //
        },
        route::{
            Flow4,
            Flow6,
            Route4,
            Route6, //
        },
        skbuff::{
            SkBuff,
            UdpFlow, //
        },
        sock::Sock,
        udp_tunnel::{
            Encap,
            SendParams,
            UdpSocket,
            Verdict, //
        },
    },
    sync::rcu::RcuBorrow,
    uapi, //
};

const UDP_HEADER_LEN: usize = 8;
const IPV4_HEADER_LEN: u32 = 20;
const IPV6_HEADER_LEN: u32 = 40;

/// What we keep per socket: the interface that it belongs to.
pub struct Carrier(pub DeviceRef<Tunnel>);

/// A socket that carries records.
pub type Socket = UdpSocket<Carrier>;

impl Encap for Carrier {
    const TYPE: u32 = uapi::UDP_ENCAP_OVPNINUDP;

    #[inline]
    fn receive(
        socket: RcuBorrow<'_, Socket>,
        mut skb: SkBuff,
        guard: &Guard,
        bh: &BhDisabled,
    ) -> Verdict {
        let dev = &*socket.get().data().0;
        let header = match classify(&mut skb) {
            Some(Datagram::DataV2(header)) => header,
            // Of the control channel, or of a version that the daemon may know.
            Some(Datagram::DataV1 | Datagram::Other) => return Verdict::Deliver(skb),
            None => {
                drop_received(dev, skb, DropCause::RxShort, bh);
                return Verdict::Consumed;
            }
        };
        let seen = skb.udp_flow().map(endpoint);
        let Some(peer) = sender(dev.data(), header, seen.as_ref(), guard) else {
            drop_received(dev, skb, DropCause::RxNoPeer, bh);
            return Verdict::Consumed;
        };
        if skb.pull(UDP_HEADER_LEN) {
            rx::receive(dev, peer, header, skb, seen, guard, bh);
        } else {
            drop_received(dev, skb, DropCause::RxShort, bh);
        }
        Verdict::Consumed
    }

    fn closed(socket: &Socket) {
        let dev = &*socket.data().0;
        dev.data().peers.socket_closed(dev, socket.sock());
    }
}

/// What kind of datagram this is, by the first bytes behind the UDP header.
#[inline]
fn classify(skb: &mut SkBuff) -> Option<Datagram> {
    if !skb.make_linear(UDP_HEADER_LEN + OPCODE_LEN) {
        return None;
    }
    let first = skb.head().get(UDP_HEADER_LEN..)?.first_chunk()?;
    Some(Datagram::classify(*first))
}

/// The peer that a record is from: by its id, or if the sender does not know that, by its address.
#[inline]
fn sender<'g>(
    tunnel: &Tunnel,
    header: Header,
    seen: Option<&Endpoint>,
    guard: &'g Guard,
) -> Option<RcuBorrow<'g, Peer>> {
    if header.peer_id.is_undef() {
        tunnel.peers.by_transport(&seen?.key(), guard)
    } else {
        tunnel.peers.by_id(header.peer_id, guard)
    }
}

/// The two ends of a received datagram, as we would answer it.
#[inline]
fn endpoint(flow: UdpFlow) -> Endpoint {
    match flow {
        UdpFlow::V4 {
            source,
            port,
            destination,
        } => Endpoint::V4 {
            remote: SocketAddrV4::new(source, port),
            local: destination,
        },
        UdpFlow::V6 {
            source,
            port,
            destination,
            iif,
        } => Endpoint::V6 {
            remote: source,
            port,
            scope_id: iif,
            local: destination,
        },
    }
}

/// How records get to a peer, as of now: good for the packets of one burst.
#[derive(Clone)]
pub struct Way<'a> {
    sock: &'a Sock,
    params: SendParams,
    route: Route,
}

#[derive(Clone)]
enum Route {
    V4(Route4, Flow4),
    V6(Route6, Flow6),
}

impl<'a> Way<'a> {
    /// The way to `peer` through `socket`, if there is a route.
    #[inline]
    pub fn to(peer: &'a Peer, socket: &'a Socket, guard: &Guard, bh: &BhDisabled) -> Option<Self> {
        let sock = socket.sock();
        let params = SendParams::of(sock);
        let path = peer.path(&params, guard)?;
        let route = match path.endpoint() {
            Endpoint::V4 { remote, local } => {
                let mut flow = Flow4 {
                    source: local,
                    destination: *remote.ip(),
                    source_port: params.port(),
                    destination_port: remote.port(),
                    mark: params.mark(),
                    oif: params.bound_dev(),
                };
                Route::V4(route4(peer, path.get(), sock, &mut flow, bh)?, flow)
            }
            Endpoint::V6 {
                remote,
                port,
                scope_id,
                local,
            } => {
                let mut flow = Flow6 {
                    source: local,
                    destination: remote,
                    source_port: params.port(),
                    destination_port: port,
                    mark: params.mark(),
                    oif: match scope_id {
                        0 => params.bound_dev(),
                        scope_id => scope_id,
                    },
                };
                Route::V6(route6(peer, path.get(), sock, &mut flow, bh)?, flow)
            }
        };
        Some(Self {
            sock,
            params,
            route,
        })
    }

    /// Whether a packet of many records of `record_len` bytes may go this way: datagrams must have
    /// checksums to be cut, the device must be one that cuts them, and none may need fragments.
    ///
    /// Otherwise the stack would cut the packet before the device queues it, and its charge to the
    /// sending socket would end there: TCP would fill the queue until it overflows.
    #[inline]
    pub fn takes_aggregates(&self, record_len: usize) -> bool {
        // CAST: At most a page.
        let len = UDP_HEADER_LEN.saturating_add(record_len) as u32;
        self.params.has_checksums()
            && match &self.route {
                Route::V4(route, _) => route.segments_udp(len.saturating_add(IPV4_HEADER_LEN)),
                Route::V6(route, _) => route.segments_udp(len.saturating_add(IPV6_HEADER_LEN)),
            }
    }

    /// Sends what is in `skb`.
    #[inline]
    pub fn send(self, dev: &Device<Tunnel>, skb: SkBuff, bh: &BhDisabled) {
        match self.route {
            Route::V4(route, flow) => {
                dev.send_udp4(skb, self.sock, &self.params, route, &flow, bh);
            }
            Route::V6(route, flow) => {
                dev.send_udp6(skb, self.sock, &self.params, route, &flow, bh);
            }
        }
    }
}

/// The route along `path`: the remembered one, or else looked up. Writes the source address that
/// goes with it to `flow`.
#[inline]
fn route4(
    peer: &Peer,
    path: &Path,
    sock: &Sock,
    flow: &mut Flow4,
    bh: &BhDisabled,
) -> Option<Route4> {
    if let Some((route, source)) = path.cache().get4(bh) {
        flow.source = source;
        return Some(route);
    }
    let known = flow.source;
    // An address that we do not have any more is no source: let the look-up choose another one.
    let mut stale = !known.is_unspecified() && !sock.net().has_ipv4(known);
    if stale {
        flow.source = core::net::Ipv4Addr::UNSPECIFIED;
    }
    let mut route = Route4::look_up(sock, flow);
    if matches!(route, Err(error) if error == EINVAL) && !stale {
        stale = true;
        flow.source = core::net::Ipv4Addr::UNSPECIFIED;
        route = Route4::look_up(sock, flow);
    }
    let route = route.ok()?;
    if stale {
        peer.forget_local(path);
    } else {
        path.cache().set4(&route, flow.source, bh);
    }
    Some(route)
}

/// As [`route4`], for IPv6.
#[inline]
fn route6(
    peer: &Peer,
    path: &Path,
    sock: &Sock,
    flow: &mut Flow6,
    bh: &BhDisabled,
) -> Option<Route6> {
    if let Some((route, source)) = path.cache().get6(bh) {
        flow.source = source;
        return Some(route);
    }
    let stale = !flow.source.is_unspecified() && !sock.net().has_ipv6(flow.source);
    if stale {
        flow.source = core::net::Ipv6Addr::UNSPECIFIED;
    }
    let route = Route6::look_up(sock, flow).ok()?;
    if stale {
        peer.forget_local(path);
    } else {
        path.cache().set6(&route, flow.source, bh);
    }
    Some(route)
}

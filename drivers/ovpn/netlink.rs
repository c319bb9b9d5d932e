// SPDX-License-Identifier: GPL-2.0

//! The generic netlink family `ovpn`: what the daemon asks for and is told.
//!
//! The interface is specified in `Documentation/netlink/specs/ovpn.yaml` of the kernel.

pub mod key;
pub mod notify;
pub mod peer;
pub mod policy;
pub mod rules;
pub mod show;

use crate::{
    device::Tunnel,
    wire::PeerId, //
};
use kernel::{
    module::this_module,
    prelude::*,
    sync::rcu, //
};
use kernel_ext::{
    net::{
        device::{
            Device,
            DeviceRef,
            Lookup, //
        },
        genetlink::{
            Family,
            Group,
            Op,
            Request, //
        },
        netlink::{
            Attr,
            Attrs,
            ExtAck,
            Policy, //
        }, //
    },
    sync::rcu::RcuArc,
    uapi::ovpn::*, //
};

static GROUPS: [Group; 1] = [Group::new(c"peers")];

/// Number of the group that notifications go to.
pub const GROUP_PEERS: u32 = 0;

static OPS: [Op; 9] = [
    Op::new_do::<peer::New>(OVPN_CMD_PEER_NEW, &policy::PEER_NEW),
    Op::new_do::<peer::Set>(OVPN_CMD_PEER_SET, &policy::PEER_SET),
    Op::new_do::<show::Get>(OVPN_CMD_PEER_GET, &policy::PEER_GET),
    Op::new_dump::<show::List>(OVPN_CMD_PEER_GET, &policy::PEER_DUMP),
    Op::new_do::<peer::Del>(OVPN_CMD_PEER_DEL, &policy::PEER_DEL),
    Op::new_do::<key::New>(OVPN_CMD_KEY_NEW, &policy::KEY_NEW),
    Op::new_do::<key::Get>(OVPN_CMD_KEY_GET, &policy::KEY_GET),
    Op::new_do::<key::Swap>(OVPN_CMD_KEY_SWAP, &policy::KEY_SWAP),
    Op::new_do::<key::Del>(OVPN_CMD_KEY_DEL, &policy::KEY_DEL),
];

/// The family.
pub static FAMILY: Family = Family::new(
    c"ovpn",
    OVPN_FAMILY_VERSION,
    this_module::<crate::LocalModule>(),
    &OPS,
    &GROUPS,
);

/// Explains an error to the requester and is that error. All texts begin alike.
macro_rules! explain {
    ($extack:expr, $error:expr, $($text:tt)*) => {
        $extack.explain($error, ::core::format_args!("ovpn: {}", ::core::format_args!($($text)*)))
    };
}
use explain;

/// The interface that a request is about.
fn device(request: &Request<'_>) -> Result<DeviceRef<Tunnel>> {
    let extack = request.extack();
    let ifindex = request.require(OVPN_A_IFINDEX)?;
    match Device::by_index(request.net(), number(ifindex)?) {
        Lookup::Found(dev) => Ok(dev),
        Lookup::NoDevice => Err(explain!(extack, ENODEV, "no interface with this ifindex")),
        Lookup::OtherDriver => Err(explain!(
            extack.bad_attr(ifindex),
            EINVAL,
            "the interface is not an ovpn one"
        )),
    }
}

/// The interface that a request is about, and what is in its nest number `nest`.
fn target<'a, const N: usize>(
    request: &Request<'a>,
    nest: u32,
    policy: &'static [Policy; N],
) -> Result<(DeviceRef<Tunnel>, Attrs<'a, N>)> {
    let dev = device(request)?;
    let attrs = request.require(nest)?.nested(policy, request.extack())?;
    Ok((dev, attrs))
}

/// The peer that the attribute `id` names.
fn find(dev: &Device<Tunnel>, id: &Attr, extack: ExtAck<'_>) -> Result<RcuArc<crate::peer::Peer>> {
    let number = number(id)?;
    let guard = rcu::read_lock();
    PeerId::new(number)
        .and_then(|id| dev.data().peers.by_id(id, &guard))
        .and_then(|peer| peer.to_owned())
        .ok_or_else(|| explain!(extack.bad_attr(id), ENOENT, "no peer with id {number}"))
}

/// A 32-bit number. The policy has seen to its length.
fn number(attr: &Attr) -> Result<u32> {
    attr.u32().ok_or(EINVAL)
}

/// Refuses attributes that the operation has no use for, where the policy is shared with others.
fn only<const N: usize>(attrs: &Attrs<'_, N>, expected: &[u32], extack: ExtAck<'_>) -> Result {
    match attrs.other_than(expected) {
        None => Ok(()),
        Some((number, attr)) => Err(explain!(
            extack.bad_attr(attr),
            EINVAL,
            "unexpected attribute {number}"
        )),
    }
}

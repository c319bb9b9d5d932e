// SPDX-License-Identifier: GPL-2.0

//! Which attributes an operation takes, and what values they may have.
//!
//! The source is `Documentation/netlink/specs/ovpn.yaml` of the kernel. A nest of an operation that
//! takes only some attributes of a set has a policy of its own.

use kernel_ext::{
    net::netlink::{
        Policy,
        Range, //
    },
    uapi::ovpn::*, //
};

/// Ids of peers have 24 bits.
static ID: Range = Range::up_to(0xff_ffff);
/// Intervals of keepalives are at most a day, in seconds.
static DAY: Range = Range::up_to(86_400);

const CIPHER_KEY_MAX: u16 = 256;

// CAST (in this file): Numbers of attributes are small.
const PEER_LEN: usize = OVPN_A_PEER_MAX as usize + 1;
const KEYCONF_LEN: usize = OVPN_A_KEYCONF_MAX as usize + 1;
const KEYDIR_LEN: usize = OVPN_A_KEYDIR_MAX as usize + 1;

const fn peer_policy(attr: u32) -> Policy {
    match attr {
        OVPN_A_PEER_ID | OVPN_A_PEER_TX_ID => Policy::u32_range(&ID),
        OVPN_A_PEER_REMOTE_IPV4 | OVPN_A_PEER_VPN_IPV4 | OVPN_A_PEER_LOCAL_IPV4 => Policy::be32(),
        OVPN_A_PEER_REMOTE_IPV6 | OVPN_A_PEER_VPN_IPV6 | OVPN_A_PEER_LOCAL_IPV6 => {
            Policy::exact_len(16)
        }
        OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID | OVPN_A_PEER_SOCKET => Policy::u32(),
        OVPN_A_PEER_REMOTE_PORT | OVPN_A_PEER_LOCAL_PORT => Policy::be16_min(1),
        OVPN_A_PEER_SOCKET_NETNSID => Policy::s32(),
        OVPN_A_PEER_KEEPALIVE_INTERVAL | OVPN_A_PEER_KEEPALIVE_TIMEOUT => Policy::u32_range(&DAY),
        OVPN_A_PEER_DEL_REASON => Policy::u32_max(4),
        OVPN_A_PEER_VPN_RX_BYTES
        | OVPN_A_PEER_VPN_TX_BYTES
        | OVPN_A_PEER_VPN_RX_PACKETS
        | OVPN_A_PEER_VPN_TX_PACKETS
        | OVPN_A_PEER_LINK_RX_BYTES
        | OVPN_A_PEER_LINK_TX_BYTES
        | OVPN_A_PEER_LINK_RX_PACKETS
        | OVPN_A_PEER_LINK_TX_PACKETS => Policy::uint(),
        _ => Policy::unknown(),
    }
}

const fn keyconf_policy(attr: u32) -> Policy {
    match attr {
        OVPN_A_KEYCONF_PEER_ID => Policy::u32_range(&ID),
        OVPN_A_KEYCONF_SLOT => Policy::u32_max(1),
        OVPN_A_KEYCONF_KEY_ID => Policy::u32_max(7),
        OVPN_A_KEYCONF_CIPHER_ALG => Policy::u32_max(2),
        OVPN_A_KEYCONF_ENCRYPT_DIR | OVPN_A_KEYCONF_DECRYPT_DIR => Policy::nested(&KEYDIR),
        _ => Policy::unknown(),
    }
}

/// A policy for the first `N` attributes of a set, of which only `$attrs` are taken.
macro_rules! subset {
    ($of:ident, $len:expr, [$($attr:expr),* $(,)?]) => {{
        let mut policy = [const { Policy::unknown() }; $len];
        $(policy[$attr as usize] = $of($attr);)*
        policy
    }};
}

/// All attributes of a peer: what `peer-get` could be asked with.
pub static PEER: [Policy; PEER_LEN] = {
    let mut policy = [const { Policy::unknown() }; PEER_LEN];
    let mut attr = 1;
    while attr < PEER_LEN {
        policy[attr] = peer_policy(attr as u32);
        attr += 1;
    }
    policy
};

/// What a new peer is described with.
pub static PEER_NEW_INPUT: [Policy; PEER_LEN] = subset!(
    peer_policy,
    PEER_LEN,
    [
        OVPN_A_PEER_ID,
        OVPN_A_PEER_REMOTE_IPV4,
        OVPN_A_PEER_REMOTE_IPV6,
        OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID,
        OVPN_A_PEER_REMOTE_PORT,
        OVPN_A_PEER_SOCKET,
        OVPN_A_PEER_VPN_IPV4,
        OVPN_A_PEER_VPN_IPV6,
        OVPN_A_PEER_LOCAL_IPV4,
        OVPN_A_PEER_LOCAL_IPV6,
        OVPN_A_PEER_KEEPALIVE_INTERVAL,
        OVPN_A_PEER_KEEPALIVE_TIMEOUT,
        OVPN_A_PEER_TX_ID,
    ]
);

/// What a peer is changed with.
pub static PEER_SET_INPUT: [Policy; PEER_LEN] = subset!(
    peer_policy,
    PEER_LEN,
    [
        OVPN_A_PEER_ID,
        OVPN_A_PEER_REMOTE_IPV4,
        OVPN_A_PEER_REMOTE_IPV6,
        OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID,
        OVPN_A_PEER_REMOTE_PORT,
        OVPN_A_PEER_VPN_IPV4,
        OVPN_A_PEER_VPN_IPV6,
        OVPN_A_PEER_LOCAL_IPV4,
        OVPN_A_PEER_LOCAL_IPV6,
        OVPN_A_PEER_KEEPALIVE_INTERVAL,
        OVPN_A_PEER_KEEPALIVE_TIMEOUT,
        OVPN_A_PEER_TX_ID,
    ]
);

/// What a peer to delete is named with.
pub static PEER_DEL_INPUT: [Policy; OVPN_A_PEER_ID as usize + 1] =
    subset!(peer_policy, OVPN_A_PEER_ID as usize + 1, [OVPN_A_PEER_ID]);

/// Key material of one direction.
pub static KEYDIR: [Policy; KEYDIR_LEN] = {
    let mut policy = [const { Policy::unknown() }; KEYDIR_LEN];
    policy[OVPN_A_KEYDIR_CIPHER_KEY as usize] = Policy::max_len(CIPHER_KEY_MAX);
    policy[OVPN_A_KEYDIR_NONCE_TAIL as usize] = Policy::exact_len(OVPN_NONCE_TAIL_SIZE as u16);
    policy
};

/// What a new key is described with.
pub static KEYCONF: [Policy; KEYCONF_LEN] = subset!(
    keyconf_policy,
    KEYCONF_LEN,
    [
        OVPN_A_KEYCONF_PEER_ID,
        OVPN_A_KEYCONF_SLOT,
        OVPN_A_KEYCONF_KEY_ID,
        OVPN_A_KEYCONF_CIPHER_ALG,
        OVPN_A_KEYCONF_ENCRYPT_DIR,
        OVPN_A_KEYCONF_DECRYPT_DIR,
    ]
);

/// What `key-get` could be asked with.
pub static KEYCONF_GET: [Policy; OVPN_A_KEYCONF_CIPHER_ALG as usize + 1] = subset!(
    keyconf_policy,
    OVPN_A_KEYCONF_CIPHER_ALG as usize + 1,
    [
        OVPN_A_KEYCONF_PEER_ID,
        OVPN_A_KEYCONF_SLOT,
        OVPN_A_KEYCONF_KEY_ID,
        OVPN_A_KEYCONF_CIPHER_ALG,
    ]
);

/// Whose keys to swap.
pub static KEYCONF_SWAP_INPUT: [Policy; OVPN_A_KEYCONF_PEER_ID as usize + 1] = subset!(
    keyconf_policy,
    OVPN_A_KEYCONF_PEER_ID as usize + 1,
    [OVPN_A_KEYCONF_PEER_ID]
);

/// Which key to delete.
pub static KEYCONF_DEL_INPUT: [Policy; OVPN_A_KEYCONF_SLOT as usize + 1] = subset!(
    keyconf_policy,
    OVPN_A_KEYCONF_SLOT as usize + 1,
    [OVPN_A_KEYCONF_PEER_ID, OVPN_A_KEYCONF_SLOT]
);

/// The policy of a whole request: an interface, and a nest.
const fn request<const N: usize>(nest: u32, policy: &'static [Policy]) -> [Policy; N] {
    let mut request = [const { Policy::unknown() }; N];
    request[OVPN_A_IFINDEX as usize] = Policy::u32();
    request[nest as usize] = Policy::nested(policy);
    request
}

type PeerRequest = [Policy; OVPN_A_PEER as usize + 1];
type KeyRequest = [Policy; OVPN_A_KEYCONF as usize + 1];

/// `peer-new`.
pub static PEER_NEW: PeerRequest = request(OVPN_A_PEER, &PEER_NEW_INPUT);
/// `peer-set`.
pub static PEER_SET: PeerRequest = request(OVPN_A_PEER, &PEER_SET_INPUT);
/// `peer-get` of one.
pub static PEER_GET: PeerRequest = request(OVPN_A_PEER, &PEER);
/// `peer-get` of all.
pub static PEER_DUMP: [Policy; OVPN_A_IFINDEX as usize + 1] = [Policy::unknown(), Policy::u32()];
/// `peer-del`.
pub static PEER_DEL: PeerRequest = request(OVPN_A_PEER, &PEER_DEL_INPUT);
/// `key-new`.
pub static KEY_NEW: KeyRequest = request(OVPN_A_KEYCONF, &KEYCONF);
/// `key-get`.
pub static KEY_GET: KeyRequest = request(OVPN_A_KEYCONF, &KEYCONF_GET);
/// `key-swap`.
pub static KEY_SWAP: KeyRequest = request(OVPN_A_KEYCONF, &KEYCONF_SWAP_INPUT);
/// `key-del`.
pub static KEY_DEL: KeyRequest = request(OVPN_A_KEYCONF, &KEYCONF_DEL_INPUT);

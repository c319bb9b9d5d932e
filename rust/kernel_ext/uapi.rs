// SPDX-License-Identifier: GPL-2.0

//! Numbers of the user space API that the kernel's `uapi` crate does not bind.

/// The `ovpn` netlink family and link kind.
///
/// C headers: [`include/uapi/linux/ovpn.h`](srctree/include/uapi/linux/ovpn.h),
/// [`include/uapi/linux/if_link.h`](srctree/include/uapi/linux/if_link.h)
pub mod ovpn {
    pub use ovpn_bindings::{
        ovpn_cipher_alg_OVPN_CIPHER_ALG_AES_GCM as OVPN_CIPHER_ALG_AES_GCM,
        ovpn_cipher_alg_OVPN_CIPHER_ALG_CHACHA20_POLY1305 as OVPN_CIPHER_ALG_CHACHA20_POLY1305,
        ovpn_del_peer_reason_OVPN_DEL_PEER_REASON_EXPIRED as OVPN_DEL_PEER_REASON_EXPIRED,
        ovpn_del_peer_reason_OVPN_DEL_PEER_REASON_TEARDOWN as OVPN_DEL_PEER_REASON_TEARDOWN,
        ovpn_del_peer_reason_OVPN_DEL_PEER_REASON_TRANSPORT_DISCONNECT as OVPN_DEL_PEER_REASON_TRANSPORT_DISCONNECT,
        ovpn_del_peer_reason_OVPN_DEL_PEER_REASON_TRANSPORT_ERROR as OVPN_DEL_PEER_REASON_TRANSPORT_ERROR,
        ovpn_del_peer_reason_OVPN_DEL_PEER_REASON_USERSPACE as OVPN_DEL_PEER_REASON_USERSPACE,
        ovpn_key_slot_OVPN_KEY_SLOT_PRIMARY as OVPN_KEY_SLOT_PRIMARY,
        ovpn_key_slot_OVPN_KEY_SLOT_SECONDARY as OVPN_KEY_SLOT_SECONDARY,
        ovpn_mode_OVPN_MODE_MP as OVPN_MODE_MP,
        ovpn_mode_OVPN_MODE_P2P as OVPN_MODE_P2P,
        IFLA_OVPN_MODE,
        OVPN_A_IFINDEX,
        OVPN_A_KEYCONF,
        OVPN_A_KEYCONF_CIPHER_ALG,
        OVPN_A_KEYCONF_DECRYPT_DIR,
        OVPN_A_KEYCONF_ENCRYPT_DIR,
        OVPN_A_KEYCONF_KEY_ID,
        OVPN_A_KEYCONF_MAX,
        OVPN_A_KEYCONF_PEER_ID,
        OVPN_A_KEYCONF_SLOT,
        OVPN_A_KEYDIR_CIPHER_KEY,
        OVPN_A_KEYDIR_MAX,
        OVPN_A_KEYDIR_NONCE_TAIL,
        OVPN_A_PEER,
        OVPN_A_PEER_DEL_REASON,
        OVPN_A_PEER_ID,
        OVPN_A_PEER_KEEPALIVE_INTERVAL,
        OVPN_A_PEER_KEEPALIVE_TIMEOUT,
        OVPN_A_PEER_LINK_RX_BYTES,
        OVPN_A_PEER_LINK_RX_PACKETS,
        OVPN_A_PEER_LINK_TX_BYTES,
        OVPN_A_PEER_LINK_TX_PACKETS,
        OVPN_A_PEER_LOCAL_IPV4,
        OVPN_A_PEER_LOCAL_IPV6,
        OVPN_A_PEER_LOCAL_PORT,
        OVPN_A_PEER_MAX,
        OVPN_A_PEER_REMOTE_IPV4,
        OVPN_A_PEER_REMOTE_IPV6,
        OVPN_A_PEER_REMOTE_IPV6_SCOPE_ID,
        OVPN_A_PEER_REMOTE_PORT,
        OVPN_A_PEER_SOCKET,
        OVPN_A_PEER_SOCKET_NETNSID,
        OVPN_A_PEER_TX_ID,
        OVPN_A_PEER_VPN_IPV4,
        OVPN_A_PEER_VPN_IPV6,
        OVPN_A_PEER_VPN_RX_BYTES,
        OVPN_A_PEER_VPN_RX_PACKETS,
        OVPN_A_PEER_VPN_TX_BYTES,
        OVPN_A_PEER_VPN_TX_PACKETS,
        OVPN_CMD_KEY_DEL,
        OVPN_CMD_KEY_GET,
        OVPN_CMD_KEY_NEW,
        OVPN_CMD_KEY_SWAP,
        OVPN_CMD_KEY_SWAP_NTF,
        OVPN_CMD_PEER_DEL,
        OVPN_CMD_PEER_DEL_NTF,
        OVPN_CMD_PEER_FLOAT_NTF,
        OVPN_CMD_PEER_GET,
        OVPN_CMD_PEER_NEW,
        OVPN_CMD_PEER_SET,
        OVPN_FAMILY_VERSION,
        OVPN_NONCE_TAIL_SIZE, //
        __IFLA_OVPN_MAX,
    };
}

/// `UDP_ENCAP_OVPNINUDP`, [`include/uapi/linux/udp.h`](srctree/include/uapi/linux/udp.h).
pub use ovpn_bindings::UDP_ENCAP_OVPNINUDP;

/// Sizes of packets on the wire, in bytes.
pub use ovpn_bindings::{
    ETH_DATA_LEN,
    IPV4_MIN_MTU,
    IP_MAX_MTU, //
};

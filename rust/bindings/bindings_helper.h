/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Input of bindgen: the kernel headers that the abstractions in rust/kernel_ext
 * need beyond what the kernel's own `bindings` crate offers.
 *
 * What is taken from them is listed in allow.params.
 */
#include <crypto/aead.h>
#include <linux/etherdevice.h>
#include <linux/ethtool.h>
#include <linux/genetlink.h>
#include <linux/if_arp.h>
#include <linux/inetdevice.h>
#include <linux/ip.h>
#include <linux/ipv6.h>
#include <linux/module.h>
#include <linux/net.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/timekeeping.h>
#include <linux/udp.h>
#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <net/addrconf.h>
#include <net/dropreason.h>
#include <net/dst_cache.h>
#include <net/gro_cells.h>
#include <net/gso.h>
#include <net/ip6_route.h>
#include <net/inet_common.h>
#include <net/ip.h>
#include <net/ipv6.h>
#include <net/netlink.h>
#include <net/genetlink.h>
#include <net/route.h>
#include <net/rtnetlink.h>
#include <net/sock.h>
#include <net/strparser.h>
#include <net/tcp.h>
#include <net/transp_v6.h>
#include <net/udp.h>
#include <net/udp_tunnel.h>
#include <uapi/linux/if_link.h>
#include <uapi/linux/ovpn.h>
#include <uapi/linux/udp.h>

#include "ovpn_helpers.h"

/*
 * Macros that bindgen cannot evaluate. The prefix is removed from the generated
 * names.
 */
const netdev_features_t RUST_CONST_HELPER_NETIF_F_SG = NETIF_F_SG;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_GSO = NETIF_F_GSO;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_GSO_SOFTWARE = NETIF_F_GSO_SOFTWARE;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_HIGHDMA = NETIF_F_HIGHDMA;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_HW_CSUM = NETIF_F_HW_CSUM;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_FRAGLIST = NETIF_F_FRAGLIST;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_RXCSUM = NETIF_F_RXCSUM;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_GRO_HW = NETIF_F_GRO_HW;
const netdev_features_t RUST_CONST_HELPER_NETIF_F_GSO_UDP_L4 = NETIF_F_GSO_UDP_L4;
const gfp_t RUST_CONST_HELPER_OVPN_GFP_KERNEL = GFP_KERNEL;
const gfp_t RUST_CONST_HELPER_OVPN_GFP_ATOMIC = GFP_ATOMIC;
const size_t RUST_CONST_HELPER_OVPN_NLMSG_DEFAULT_SIZE = NLMSG_DEFAULT_SIZE;
const int RUST_CONST_HELPER_OVPN_NL_VALIDATE_STRICT = NL_VALIDATE_STRICT;
const size_t RUST_CONST_HELPER_OVPN_MAX_SYNC_AEAD_REQSIZE = MAX_SYNC_AEAD_REQSIZE;
const int RUST_CONST_HELPER_OVPN_MAX_SKB_FRAGS = MAX_SKB_FRAGS;
const unsigned int RUST_CONST_HELPER_OVPN_LL_RESERVE =
	LL_MAX_HEADER + sizeof(struct ipv6hdr) + sizeof(struct udphdr);
const __poll_t RUST_CONST_HELPER_OVPN_EPOLL_WRITABLE =
	EPOLLOUT | EPOLLWRNORM | EPOLLWRBAND;
const u32 RUST_CONST_HELPER_OVPN_TCP_ESTABLISHED = TCP_ESTABLISHED;

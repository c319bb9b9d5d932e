/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What Rust calls and C has to provide: inline functions and macros of kernel
 * headers that bindgen cannot bind. Each shim is a plain composition of such
 * inlines; every decision is taken on the Rust side. One file per kernel header
 * in rust/helpers/; the caller's duties are those of the wrapped kernel function.
 */
#ifndef _OVPN_HELPERS_H
#define _OVPN_HELPERS_H

#include <crypto/aead.h>
#include <linux/netdevice.h>
#include <linux/rhashtable.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/xarray.h>
#include <linux/workqueue.h>
#include <net/genetlink.h>
#include <net/route.h>
#include <net/sock.h>
#include <net/udp_tunnel.h>

/* --- linux/bottom_half.h, linux/spinlock.h --- */
unsigned int ovpn_helper_smp_cpu(void);
void ovpn_helper_local_bh_disable(void);
void ovpn_helper_local_bh_enable(void);
void ovpn_helper_spin_lock_bh(spinlock_t *lock);
int ovpn_helper_spin_trylock_bh(spinlock_t *lock);
void ovpn_helper_spin_unlock_bh(spinlock_t *lock);
void ovpn_helper_lockdep_spin_assert_is_held(spinlock_t *lock);

/* --- linux/netdevice.h --- */
void ovpn_helper_netdev_hold(struct net_device *dev, netdevice_tracker *tracker);
void ovpn_helper_netdev_put(struct net_device *dev, netdevice_tracker *tracker);
struct net *ovpn_helper_dev_net(const struct net_device *dev);
void ovpn_helper_netdev_set_lltx(struct net_device *dev);
void ovpn_helper_netdev_set_no_queue(struct net_device *dev);
void ovpn_helper_netdev_keep_dst(struct net_device *dev);
void ovpn_helper_netdev_use_dstats(struct net_device *dev);
void ovpn_helper_dstats_rx_add(struct net_device *dev, unsigned int packets, unsigned int len);
void ovpn_helper_dstats_rx_dropped(struct net_device *dev);
void ovpn_helper_dstats_tx_add(struct net_device *dev, unsigned int len);
void ovpn_helper_dstats_tx_packets(struct net_device *dev, unsigned int packets);
void ovpn_helper_dstats_tx_dropped(struct net_device *dev);

/* --- linux/inetdevice.h --- */
void ovpn_helper_disable_redirects(struct net_device *dev);

/* --- linux/skbuff.h --- */

/**
 * struct ovpn_skb_headers - where the headers of a received packet are
 * @network: offset of the network header from skb->head
 * @transport: offset of the transport header from skb->head
 * @protocol: ethertype of the network header
 * @iif: index of the interface that the packet came in by
 */
struct ovpn_skb_headers {
	u16 network;
	u16 transport;
	__be16 protocol;
	int iif;
};

void ovpn_helper_skb_headers(const struct sk_buff *skb, struct ovpn_skb_headers *headers);
bool ovpn_helper_skb_has_frag_list(const struct sk_buff *skb);
bool ovpn_helper_skb_cloned(const struct sk_buff *skb);
int ovpn_helper_skb_cow_head(struct sk_buff *skb, unsigned int headroom);
struct sk_buff *ovpn_helper_skb_share_check(struct sk_buff *skb);
void ovpn_helper_skb_reserve(struct sk_buff *skb, int len);
void ovpn_helper_skb_queue_head_init(struct sk_buff_head *queue);
struct sk_buff *ovpn_helper_skb_peek(const struct sk_buff_head *queue);
u32 ovpn_helper_skb_queue_len(const struct sk_buff_head *queue);

/**
 * struct ovpn_skb_gso - what a GSO packet stands for
 * @size: bytes of payload per packet
 * @type: SKB_GSO_* flags, signed as the enumeration is
 * @plain: nothing but linear headers and page fragments that nobody else writes to, with a
 *	checksum to be completed from the transport header on
 */
struct ovpn_skb_gso {
	u16 size;
	int type;
	bool plain;
};

/**
 * struct ovpn_skb_checksum - a checksum that is yet to be completed
 * @start: offset of what it covers, which goes to the end of the packet
 * @field: offset of the checksum itself from there on
 */
struct ovpn_skb_checksum {
	u16 start;
	u16 field;
};

const void *ovpn_helper_skb_bytes(const struct sk_buff *skb, unsigned int offset, unsigned int len);
unsigned int ovpn_helper_skb_pagelen(const struct sk_buff *skb);
void ovpn_helper_skb_gso(const struct sk_buff *skb, struct ovpn_skb_gso *gso);
bool ovpn_helper_skb_checksum_left(const struct sk_buff *skb, struct ovpn_skb_checksum *left);
bool ovpn_helper_skb_has_room(struct sk_buff *skb, const struct page_frag *frag);
void *ovpn_helper_page_frag_room(struct page_frag *frag, unsigned int len);
void ovpn_helper_skb_append_frag(struct sk_buff *skb, struct page_frag *frag, unsigned int len);
void ovpn_helper_page_frag_put(struct page_frag *frag);
void ovpn_helper_skb_inherit(struct sk_buff *skb, const struct sk_buff *from);
void ovpn_helper_skb_share_owner(struct sk_buff *skb, struct sk_buff *from);
void ovpn_helper_skb_take_owner(struct sk_buff *skb, struct sk_buff *from);
void ovpn_helper_skb_make_udp_gso(struct sk_buff *skb, u16 size, u16 segs);
void ovpn_helper_skb_make_tcp_gso(struct sk_buff *skb, u16 transport, u16 size, u16 segs, u32 type);
void ovpn_helper_skb_set_checked(struct sk_buff *skb);
struct sk_buff *ovpn_helper_skb_udp_segments(struct sock *sk, struct sk_buff *skb);
void ovpn_helper_skb_arrive(struct sk_buff *skb, struct net_device *dev, __be16 protocol);
void ovpn_helper_skb_count_as(struct sk_buff *skb, unsigned int len);
void ovpn_helper_skb_becomes_inner(struct sk_buff *skb);
void ovpn_helper_skb_tunnel_rx(struct sk_buff *skb, struct net_device *dev, __be16 protocol);
void ovpn_helper_skb_tunnel_tx(struct sk_buff *skb, struct net_device *dev, u32 mark);
void ovpn_helper_skb_forget_ct(struct sk_buff *skb);
void ovpn_helper_skb_dst_drop(struct sk_buff *skb);

/* --- net/gro.h --- */

/**
 * struct ovpn_gro_packet - what GRO knows of a datagram
 * @first: first eight bytes of its payload
 * @len: bytes of its payload
 * @summed: CHECKSUM_*
 * @level: how many more checksums were verified
 */
struct ovpn_gro_packet {
	__be64 first;
	u32 len;
	u8 summed;
	u8 level;
};

/**
 * struct ovpn_gro - a datagram, and what is held of its flow
 * @packet: the datagram
 * @blocked: it may not be held
 * @held: what is held of its flow; NULL if nothing, the rest is not set then
 * @is_list: what is held is a list of datagrams; the rest is set only then
 * @first: the first of the list
 * @count: datagrams in the list
 * @len: bytes of the list, and of the headers in front of it
 * @limit: most bytes of that
 * @other_headers: the IP headers do not continue those of the list
 */
struct ovpn_gro {
	struct ovpn_gro_packet packet;
	bool blocked;
	struct sk_buff *held;
	bool is_list;
	struct ovpn_gro_packet first;
	u16 count;
	u32 len;
	u32 limit;
	bool other_headers;
};

void ovpn_helper_gro_look(struct list_head *head, struct sk_buff *skb, struct ovpn_gro *gro);
void ovpn_helper_gro_pass(struct sk_buff *skb);
bool ovpn_helper_gro_hold(struct sk_buff *skb);
bool ovpn_helper_gro_append(struct sk_buff *held, struct sk_buff *skb);

/* --- crypto/aead.h --- */
unsigned int ovpn_helper_sync_aead_ivsize(struct crypto_sync_aead *aead);

/* --- linux/scatterlist.h --- */

/**
 * struct ovpn_sg_record - where the parts of a record are, each in one piece
 * @aad: associated data
 * @text: text
 * @tag: tag; NULL if it is not listed
 * @aad_len: bytes of associated data
 * @text_len: bytes of text
 * @tag_len: bytes of tag
 */
struct ovpn_sg_record {
	const void *aad;
	const void *text;
	const void *tag;
	u32 aad_len;
	u32 text_len;
	u32 tag_len;
};

void ovpn_helper_sg_in_place(struct scatterlist *sg, const void *record, unsigned int len,
			     unsigned int aad, unsigned int tag);
void ovpn_helper_sg_record(struct scatterlist *sg, const struct ovpn_sg_record *record);
void ovpn_helper_sg_set_buf(struct scatterlist *sg, const void *buf, unsigned int len);

/* --- net/route.h, net/ip6_route.h --- */
const struct rtable *ovpn_helper_skb_rtable(const struct sk_buff *skb);
const struct rt6_info *ovpn_helper_skb_rt6_info(const struct sk_buff *skb);
__be32 ovpn_helper_rt_gateway(const struct rtable *rt);
bool ovpn_helper_rt6_gateway(const struct rt6_info *rt, struct in6_addr *gateway);
const struct rt6_info *ovpn_helper_dst_rt6_info(const struct dst_entry *dst);
void ovpn_helper_rt_put(struct rtable *rt);
void ovpn_helper_dst_hold(struct dst_entry *dst);
bool ovpn_helper_dst_segments_udp(const struct dst_entry *dst, unsigned int len);
int ovpn_helper_ip4_hoplimit(const struct rtable *rt);
int ovpn_helper_ip6_hoplimit(const struct dst_entry *dst);

/* --- net/sock.h, net/udp.h, net/udp_tunnel.h --- */

/**
 * struct ovpn_udp_tx - what a socket says about the datagrams sent through it
 * @mark: firewall mark
 * @bound_dev: index of the interface it is bound to, 0 if none
 * @sport: local port
 * @no_check4: no UDP checksum over IPv4
 * @no_check6: no UDP checksum over IPv6
 */
struct ovpn_udp_tx {
	u32 mark;
	int bound_dev;
	__be16 sport;
	bool no_check4;
	bool no_check6;
};

void ovpn_helper_udp_tx(const struct sock *sk, struct ovpn_udp_tx *tx);
bool ovpn_helper_sk_is_udp(const struct sock *sk);
bool ovpn_helper_sk_is_tcp(const struct sock *sk);
void ovpn_helper_sock_hold(struct sock *sk);
void ovpn_helper_sock_put(struct sock *sk);
struct net *ovpn_helper_sock_net(const struct sock *sk);
void *ovpn_helper_sk_user_data(const struct sock *sk);
__be16 ovpn_helper_inet_sport(const struct sock *sk);
u8 ovpn_helper_udp_encap_type(const struct sock *sk);
bool ovpn_helper_udp_encap_setup(struct sock *sk, struct udp_tunnel_sock_cfg *config);
void ovpn_helper_udp_encap_clear(struct sock *sk);
bool ovpn_helper_udp_keep_module(struct sock *sk, struct module *owner);

/* --- net/tcp.h, net/inet_connection_sock.h, net/strparser.h --- */

/**
 * struct ovpn_sk_callbacks - what a socket calls when something happens to it
 * @data_ready: data has arrived
 * @write_space: there is room to send again
 * @user_data: who the callbacks belong to
 */
struct ovpn_sk_callbacks {
	void (*data_ready)(struct sock *sk);
	void (*write_space)(struct sock *sk);
	void *user_data;
};

const struct tcp_ulp_ops *ovpn_helper_tcp_ulp(const struct sock *sk);
void *ovpn_helper_tcp_ulp_data(const struct sock *sk);
void ovpn_helper_tcp_set_ulp(struct sock *sk, const struct tcp_ulp_ops *ulp, void *data);
void ovpn_helper_sk_set_callbacks(struct sock *sk, const struct ovpn_sk_callbacks *callbacks);
bool ovpn_helper_sock_trylock(struct sock *sk);
void ovpn_helper_sock_unlock(struct sock *sk);
bool ovpn_helper_sock_owned_by_user(const struct sock *sk);
int ovpn_helper_sk_wait(struct sock *sk, long *timeout);
int ovpn_helper_sock_error(struct sock *sk);
long ovpn_helper_sock_rcvtimeo(const struct sock *sk, bool noblock);
long ovpn_helper_sock_sndtimeo(const struct sock *sk, bool noblock);
bool ovpn_helper_skb_charge_receiver(struct sk_buff *skb, struct sock *sk);
int ovpn_helper_memcpy_from_msg(void *to, struct msghdr *msg, size_t len);
int ovpn_helper_skb_copy_datagram_msg(const struct sk_buff *skb, struct msghdr *msg, int len);
unsigned int ovpn_helper_max_backlog(void);
void ovpn_helper_strp_msg(struct sk_buff *skb, int *offset, int *full_len);

/* --- net/genetlink.h --- */
struct net *ovpn_helper_genl_info_net(const struct genl_info *info);
const struct genl_info *ovpn_helper_genl_info_dump(struct netlink_callback *cb);
u32 ovpn_helper_netlink_cb_portid(const struct sk_buff *skb);
int ovpn_helper_genlmsg_reply(struct sk_buff *skb, struct genl_info *info);
int ovpn_helper_genlmsg_multicast_netns(const struct genl_family *family, struct net *net,
					struct sk_buff *skb, unsigned int group, gfp_t flags);
bool ovpn_helper_net_eq(const struct net *a, const struct net *b);

/* --- linux/rhashtable.h --- */

/* Words in the key of a map: an IPv6 address and one more. */
#define OVPN_MAP_KEY_WORDS 5

/**
 * struct ovpn_map_node - one entry of a map
 * @link: chains the entry
 * @key: what it is found by
 * @value: what is found; belongs to the Rust side
 * @rcu: defers freeing the entry
 */
struct ovpn_map_node {
	struct rhash_head link;
	u32 key[OVPN_MAP_KEY_WORDS];
	void *value;
	struct rcu_head rcu;
};

int ovpn_helper_map_init(struct rhashtable *map);
int ovpn_helper_map_insert(struct rhashtable *map, struct ovpn_map_node *node);
int ovpn_helper_map_replace(struct rhashtable *map, struct ovpn_map_node *old,
			    struct ovpn_map_node *node);
int ovpn_helper_map_remove(struct rhashtable *map, struct ovpn_map_node *node);
struct ovpn_map_node *ovpn_helper_map_lookup(struct rhashtable *map, const u32 *key);

void ovpn_helper_map_node_free(struct ovpn_map_node *node);

/* --- linux/workqueue.h --- */
void ovpn_helper_init_rcu_work(struct rcu_work *work, work_func_t func);
void ovpn_helper_init_delayed_work(struct delayed_work *work, work_func_t func);

/* --- linux/xarray.h --- */
void ovpn_helper_xa_init(struct xarray *xa);
int ovpn_helper_xa_insert(struct xarray *xa, unsigned long index, void *entry, gfp_t flags);

#endif /* _OVPN_HELPERS_H */

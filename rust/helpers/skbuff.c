// SPDX-License-Identifier: GPL-2.0

#include <linux/skbuff.h>
#include <linux/tcp.h>
#include <linux/udp.h>
#include <net/dst.h>
#include <net/sock.h>
#include <net/udp.h>

void ovpn_helper_skb_headers(const struct sk_buff *skb, struct ovpn_skb_headers *headers)
{
	headers->network = skb->network_header;
	headers->transport = skb->transport_header;
	headers->protocol = skb->protocol;
	headers->iif = skb->skb_iif;
}

bool ovpn_helper_skb_has_frag_list(const struct sk_buff *skb)
{
	return skb_has_frag_list(skb);
}

bool ovpn_helper_skb_cloned(const struct sk_buff *skb)
{
	return skb_cloned(skb);
}

int ovpn_helper_skb_cow_head(struct sk_buff *skb, unsigned int headroom)
{
	return skb_cow_head(skb, headroom);
}

struct sk_buff *ovpn_helper_skb_share_check(struct sk_buff *skb)
{
	return skb_share_check(skb, GFP_ATOMIC);
}

void ovpn_helper_skb_reserve(struct sk_buff *skb, int len)
{
	skb_reserve(skb, len);
}

void ovpn_helper_skb_queue_head_init(struct sk_buff_head *queue)
{
	skb_queue_head_init(queue);
}

struct sk_buff *ovpn_helper_skb_peek(const struct sk_buff_head *queue)
{
	return skb_peek(queue);
}

u32 ovpn_helper_skb_queue_len(const struct sk_buff_head *queue)
{
	return skb_queue_len_lockless(queue);
}

/*
 * Where @len bytes from @offset on are, if they are in one piece: in the linear buffer or in the
 * first fragment, and not in memory that only a device can read.
 */
const void *ovpn_helper_skb_bytes(const struct sk_buff *skb, unsigned int offset, unsigned int len)
{
	const skb_frag_t *frag = skb_shinfo(skb)->frags;
	unsigned int linear = skb_headlen(skb);

	if (offset + len <= linear)
		return skb->data + offset;
	if (offset < linear || !skb_shinfo(skb)->nr_frags || !skb_frags_readable(skb) ||
	    skb_frag_size(frag) < offset - linear + len || PageHighMem(skb_frag_page(frag)))
		return NULL;
	return skb_frag_address(frag) + offset - linear;
}

/* Bytes of the packet itself, without those of a list that it is the first of. */
unsigned int ovpn_helper_skb_pagelen(const struct sk_buff *skb)
{
	return skb_pagelen(skb);
}

void ovpn_helper_skb_gso(const struct sk_buff *skb, struct ovpn_skb_gso *gso)
{
	const struct skb_shared_info *shared = skb_shinfo(skb);

	gso->size = shared->gso_size;
	gso->type = shared->gso_type;
	gso->plain = !skb_has_frag_list(skb) && !skb_has_shared_frag(skb) && !skb->encapsulation &&
		     skb->ip_summed == CHECKSUM_PARTIAL &&
		     skb_checksum_start_offset(skb) == skb_transport_offset(skb);
}

bool ovpn_helper_skb_checksum_left(const struct sk_buff *skb, struct ovpn_skb_checksum *left)
{
	left->start = skb_checksum_start_offset(skb);
	left->field = skb->csum_offset;
	return skb->ip_summed == CHECKSUM_PARTIAL;
}

/* Whether the packet can take what @frag has room for. */
bool ovpn_helper_skb_has_room(struct sk_buff *skb, const struct page_frag *frag)
{
	int last = skb_shinfo(skb)->nr_frags;

	return last < MAX_SKB_FRAGS || skb_can_coalesce(skb, last, frag->page, frag->offset);
}

void *ovpn_helper_page_frag_room(struct page_frag *frag, unsigned int len)
{
	if (!skb_page_frag_refill(len, frag, GFP_ATOMIC | __GFP_NOWARN))
		return NULL;
	return page_address(frag->page) + frag->offset;
}

/* Appends the next @len bytes of @frag to the packet, which takes a reference to the page. */
void ovpn_helper_skb_append_frag(struct sk_buff *skb, struct page_frag *frag, unsigned int len)
{
	int last = skb_shinfo(skb)->nr_frags;

	if (skb_can_coalesce(skb, last, frag->page, frag->offset)) {
		skb_frag_size_add(&skb_shinfo(skb)->frags[last - 1], len);
	} else {
		get_page(frag->page);
		skb_fill_page_desc(skb, last, frag->page, frag->offset, len);
	}
	frag->offset += len;
	skb->len += len;
	skb->data_len += len;
	skb->truesize += len;
}

void ovpn_helper_page_frag_put(struct page_frag *frag)
{
	if (frag->page)
		put_page(frag->page);
}

/* What queues and taps below want to know of the flow; see __copy_skb_header(). */
void ovpn_helper_skb_inherit(struct sk_buff *skb, const struct sk_buff *from)
{
	skb->priority = from->priority;
	skb->tstamp = from->tstamp;
	skb->tstamp_type = from->tstamp_type;
	skb->ooo_okay = from->ooo_okay;
	skb->hash = from->hash;
	skb->l4_hash = from->l4_hash;
	skb->sw_hash = from->sw_hash;
#ifdef CONFIG_XPS
	skb->sender_cpu = from->sender_cpu;
#endif
}

/* Charges @skb to the socket that @from is charged to, if that is one that counts. */
void ovpn_helper_skb_share_owner(struct sk_buff *skb, struct sk_buff *from)
{
	if (!is_skb_wmem(from))
		return;
	skb->sk = from->sk;
	skb->destructor = from->destructor;
	refcount_add(skb->truesize, &skb->sk->sk_wmem_alloc);
}

/* As above, and ends the charge of @from, without running its destructor. */
void ovpn_helper_skb_take_owner(struct sk_buff *skb, struct sk_buff *from)
{
	skb_shinfo(skb)->tx_flags |= skb_shinfo(from)->tx_flags & SKBTX_ANY_TSTAMP;
	skb_shinfo(skb)->tskey = skb_shinfo(from)->tskey;
	if (!is_skb_wmem(from))
		return;
	ovpn_helper_skb_share_owner(skb, from);
	from->sk = NULL;
	from->destructor = NULL;
	/* Not the last charge, @skb has just been charged. */
	WARN_ON_ONCE(refcount_sub_and_test(from->truesize, &skb->sk->sk_wmem_alloc));
}

/* Records back to back; the UDP header will be pushed right in front of them. */
void ovpn_helper_skb_make_udp_gso(struct sk_buff *skb, u16 size, u16 segs)
{
	skb_shinfo(skb)->gso_type = SKB_GSO_UDP_L4;
	skb_shinfo(skb)->gso_size = size;
	skb_shinfo(skb)->gso_segs = segs;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) - sizeof(struct udphdr);
	skb->csum_offset = offsetof(struct udphdr, check);
}

/* A packet of many TCP segments, whose checksum is that of the pseudo header. */
void ovpn_helper_skb_make_tcp_gso(struct sk_buff *skb, u16 transport, u16 size, u16 segs, u32 type)
{
	skb_shinfo(skb)->gso_type = type;
	skb_shinfo(skb)->gso_size = size;
	skb_shinfo(skb)->gso_segs = segs;
	skb->ip_summed = CHECKSUM_PARTIAL;
	skb->csum_start = skb_headroom(skb) + transport;
	skb->csum_offset = offsetof(struct tcphdr, check);
}

void ovpn_helper_skb_set_checked(struct sk_buff *skb)
{
	skb->ip_summed = CHECKSUM_UNNECESSARY;
	skb->csum_level = 0;
}

/* A received GSO packet from its UDP header on becomes datagrams, each from there on, too. */
struct sk_buff *ovpn_helper_skb_udp_segments(struct sock *sk, struct sk_buff *skb)
{
	struct sk_buff *segs, *segment;

	__skb_push(skb, -skb_mac_offset(skb));
	segs = udp_rcv_segment(sk, skb, skb->protocol == htons(ETH_P_IP));
	for (segment = segs; segment; segment = segment->next)
		__skb_pull(segment, skb_transport_offset(segment));
	return segs;
}

/* Tunnel statistics will count the packet as @len bytes: from there on to its end. */
void ovpn_helper_skb_count_as(struct sk_buff *skb, unsigned int len)
{
	skb_set_inner_network_header(skb, skb->len - len);
}

/* A packet about to be encapsulated: what is sent of it is counted from here. */
void ovpn_helper_skb_becomes_inner(struct sk_buff *skb)
{
	skb->ip_summed = CHECKSUM_NONE;
	skb_reset_network_header(skb);
	skb_reset_inner_network_header(skb);
}

/* A decapsulated packet: nothing that described the outer one holds any more. */
void ovpn_helper_skb_tunnel_rx(struct sk_buff *skb, struct net_device *dev, __be16 protocol)
{
	skb_gso_reset(skb);
	skb->ip_summed = CHECKSUM_NONE;
	skb_clear_hash(skb);
	skb->dev = dev;
	skb->protocol = protocol;
	skb_set_queue_mapping(skb, 0);
	skb_scrub_packet(skb, true);
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
	skb_reset_transport_header(skb);
	skb_reset_inner_headers(skb);
}

/* A new packet that the device has received. */
void ovpn_helper_skb_arrive(struct sk_buff *skb, struct net_device *dev, __be16 protocol)
{
	skb->dev = dev;
	skb->protocol = protocol;
	skb_reset_mac_header(skb);
	skb_reset_network_header(skb);
}

/* A record about to be sent: the stack below sees an opaque payload. */
void ovpn_helper_skb_tunnel_tx(struct sk_buff *skb, struct net_device *dev, u32 mark)
{
	skb_mark_not_on_list(skb);
	if (!skb->destructor)
		skb->sk = NULL;
	skb->dev = dev;
	skb->mark = mark;
	/* Locally made: fragment if it exceeds the MTU of the route. */
	skb->ignore_df = 1;
}

void ovpn_helper_skb_forget_ct(struct sk_buff *skb)
{
	nf_reset_ct(skb);
}

void ovpn_helper_skb_dst_drop(struct sk_buff *skb)
{
	skb_dst_drop(skb);
}

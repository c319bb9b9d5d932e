// SPDX-License-Identifier: GPL-2.0

#include <linux/netdevice.h>
#include <net/gro.h>

/* The next eight bytes of the packet, wherever they are. */
static bool gro_first(struct sk_buff *skb, __be64 *first)
{
	unsigned int offset = skb_gro_offset(skb);
	const void *bytes;

	bytes = ovpn_helper_skb_bytes(skb, offset, sizeof(*first));
	if (!bytes)
		bytes = skb_gro_header_slow(skb, offset + sizeof(*first), offset);
	if (bytes)
		*first = get_unaligned((const __be64 *)bytes);
	return bytes;
}

/* Says what CHECKSUM_COMPLETE becomes, which would not hold for a list of packets. */
static void gro_checksum(const struct sk_buff *skb, struct ovpn_gro_packet *packet)
{
	bool complete = skb->ip_summed == CHECKSUM_COMPLETE;

	packet->summed = complete ? CHECKSUM_UNNECESSARY : skb->ip_summed;
	packet->level = complete ? 0 : skb->csum_level;
}

static void gro_set_checksum(struct sk_buff *skb)
{
	if (skb->ip_summed == CHECKSUM_COMPLETE) {
		skb->ip_summed = CHECKSUM_UNNECESSARY;
		skb->csum_level = 0;
	}
}

static void gro_held(struct list_head *head, struct sk_buff *skb, struct ovpn_gro *gro)
{
	unsigned int offset = skb_gro_offset(skb);
	struct sk_buff *held;
	const void *uh;

	list_for_each_entry(held, head, list) {
		if (!NAPI_GRO_CB(held)->same_flow)
			continue;
		gro->held = held;
		/* The core begins lists, too, of which less is readable. */
		gro->is_list = NAPI_GRO_CB(held)->is_flist &&
			       skb_headlen(held) >= offset + sizeof(gro->first.first);
		if (!gro->is_list)
			return;
		uh = skb_headlen(skb) >= offset ? skb->data : skb_gro_header_fast(skb, 0);
		uh += offset - sizeof(struct udphdr);
		gro->first.first = get_unaligned((__be64 *)(held->data + offset));
		gro->first.len = skb_shinfo(held)->gso_size;
		gro_checksum(held, &gro->first);
		gro->count = NAPI_GRO_CB(held)->count;
		gro->len = held->len;
		gro->limit = min(netif_get_gro_max_size(skb->dev, skb), GRO_LEGACY_MAX_SIZE - 1);
		gro->other_headers = gro_receive_network_flush(uh, udp_hdr(held), held);
		return;
	}
}

/* Looks at a UDP datagram in GRO, its header pulled, and at what is held of its flow. */
void ovpn_helper_gro_look(struct list_head *head, struct sk_buff *skb, struct ovpn_gro *gro)
{
	gro->blocked = NAPI_GRO_CB(skb)->flush || skb_is_gso(skb) || skb_has_frag_list(skb) ||
		       !gro_first(skb, &gro->packet.first);
	gro->packet.len = skb_gro_len(skb);
	gro_checksum(skb, &gro->packet);
	gro_held(head, skb, gro);
}

void ovpn_helper_gro_pass(struct sk_buff *skb)
{
	NAPI_GRO_CB(skb)->flush = 1;
}

/*
 * Lets @skb be held as the first of a list of datagrams. Its first bytes become linear, those that
 * follow are compared with them.
 */
bool ovpn_helper_gro_hold(struct sk_buff *skb)
{
	if (!pskb_may_pull(skb, skb_gro_offset(skb) + sizeof(__be64)))
		return false;
	NAPI_GRO_CB(skb)->is_flist = 1;
	/* As a list it is completed without another look at the socket. */
	NAPI_GRO_CB(skb)->encap_mark = 0;
	return true;
}

/*
 * Appends @skb to the list that @held is the first of. Sockets of tunnels get a list whole if it
 * says that it is for a tunnel; all others get it cut up.
 */
bool ovpn_helper_gro_append(struct sk_buff *held, struct sk_buff *skb)
{
	unsigned int offset = skb_gro_offset(skb);

	if (!pskb_may_pull(skb, offset))
		return false;
	if (NAPI_GRO_CB(held)->last == held) {
		gro_set_checksum(held);
		skb_shinfo(held)->gso_type |= SKB_GSO_UDP_TUNNEL;
		skb_shinfo(held)->frag_list = skb;
	} else {
		NAPI_GRO_CB(held)->last->next = skb;
	}
	gro_set_checksum(skb);
	/* Index 0: the other one is set for inner headers only. */
	skb_set_network_header(skb, NAPI_GRO_CB(skb)->network_offset);
	__skb_pull(skb, offset);
	skb->next = NULL;
	/* What it was charged for is charged for with @held. */
	skb->destructor = NULL;
	skb->sk = NULL;

	NAPI_GRO_CB(held)->last = skb;
	NAPI_GRO_CB(held)->count++;
	NAPI_GRO_CB(skb)->same_flow = 1;
	held->len += skb->len;
	held->data_len += skb->len;
	held->truesize += skb->truesize;
	skb_shinfo(held)->flags |= skb_shinfo(skb)->flags & SKBFL_SHARED_FRAG;
	return true;
}

// SPDX-License-Identifier: GPL-2.0

#include <linux/skbuff.h>
#include <net/dst.h>

void ovpn_helper_skb_headers(const struct sk_buff *skb, struct ovpn_skb_headers *headers)
{
	headers->network = skb->network_header;
	headers->transport = skb->transport_header;
	headers->protocol = skb->protocol;
	headers->iif = skb->skb_iif;
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

/* A packet about to be encapsulated: what is sent of it is counted from here. */
void ovpn_helper_skb_becomes_inner(struct sk_buff *skb)
{
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

/* A record about to be sent: the stack below sees an opaque payload. */
void ovpn_helper_skb_tunnel_tx(struct sk_buff *skb, struct net_device *dev, u32 mark)
{
	skb_mark_not_on_list(skb);
	if (!skb->destructor)
		skb->sk = NULL;
	skb->dev = dev;
	skb->mark = mark;
	skb->ip_summed = CHECKSUM_NONE;
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

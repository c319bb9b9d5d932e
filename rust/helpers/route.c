// SPDX-License-Identifier: GPL-2.0

#include <net/ip6_fib.h>
#include <net/ip6_route.h>
#include <net/ipv6.h>
#include <net/route.h>

const struct rtable *ovpn_helper_skb_rtable(const struct sk_buff *skb)
{
	return skb_rtable(skb);
}

const struct rt6_info *ovpn_helper_skb_rt6_info(const struct sk_buff *skb)
{
	return skb_rt6_info(skb);
}

__be32 ovpn_helper_rt_gateway(const struct rtable *rt)
{
	return rt->rt_uses_gateway ? rt->rt_gw4 : 0;
}

bool ovpn_helper_rt6_gateway(const struct rt6_info *rt, struct in6_addr *gateway)
{
	*gateway = rt->rt6i_gateway;
	return rt->rt6i_flags & RTF_GATEWAY;
}

const struct rt6_info *ovpn_helper_dst_rt6_info(const struct dst_entry *dst)
{
	return dst_rt6_info(dst);
}

void ovpn_helper_rt_put(struct rtable *rt)
{
	ip_rt_put(rt);
}

void ovpn_helper_dst_hold(struct dst_entry *dst)
{
	dst_hold(dst);
}

bool ovpn_helper_dst_segments_udp(const struct dst_entry *dst, unsigned int len)
{
	return READ_ONCE(dst_dev_rcu((struct dst_entry *)dst)->features) & NETIF_F_GSO_UDP_L4 &&
	       dst_mtu(dst) >= len;
}

int ovpn_helper_ip4_hoplimit(const struct rtable *rt)
{
	return ip4_dst_hoplimit(&rt->dst);
}

int ovpn_helper_ip6_hoplimit(const struct dst_entry *dst)
{
	return ip6_dst_hoplimit((struct dst_entry *)dst);
}

// SPDX-License-Identifier: GPL-2.0

#include <linux/netlink.h>
#include <net/genetlink.h>

struct net *ovpn_helper_genl_info_net(const struct genl_info *info)
{
	return genl_info_net(info);
}

const struct genl_info *ovpn_helper_genl_info_dump(struct netlink_callback *cb)
{
	return genl_info_dump(cb);
}

u32 ovpn_helper_netlink_cb_portid(const struct sk_buff *skb)
{
	return NETLINK_CB(skb).portid;
}

int ovpn_helper_genlmsg_reply(struct sk_buff *skb, struct genl_info *info)
{
	return genlmsg_reply(skb, info);
}

int ovpn_helper_genlmsg_multicast_netns(const struct genl_family *family, struct net *net,
					struct sk_buff *skb, unsigned int group, gfp_t flags)
{
	return genlmsg_multicast_netns(family, net, skb, 0, group, flags);
}

bool ovpn_helper_net_eq(const struct net *a, const struct net *b)
{
	return net_eq(a, b);
}

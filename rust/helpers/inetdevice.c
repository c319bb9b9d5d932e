// SPDX-License-Identifier: GPL-2.0

#include <linux/inetdevice.h>

void ovpn_helper_disable_redirects(struct net_device *dev)
{
	struct in_device *in_dev = __in_dev_get_rtnl(dev);

	if (!in_dev)
		return;

	/* Redirects are sent if either of the two is on. */
	IN_DEV_CONF_SET(in_dev, SEND_REDIRECTS, false);
	IPV4_DEVCONF_ALL(dev_net(dev), SEND_REDIRECTS) = false;
}

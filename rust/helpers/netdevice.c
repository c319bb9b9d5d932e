// SPDX-License-Identifier: GPL-2.0

#include <linux/netdevice.h>

void ovpn_helper_netdev_hold(struct net_device *dev, netdevice_tracker *tracker)
{
	netdev_hold(dev, tracker, GFP_ATOMIC);
}

void ovpn_helper_netdev_put(struct net_device *dev, netdevice_tracker *tracker)
{
	netdev_put(dev, tracker);
}

struct net *ovpn_helper_dev_net(const struct net_device *dev)
{
	return dev_net(dev);
}

void ovpn_helper_netdev_set_lltx(struct net_device *dev)
{
	dev->lltx = true;
}

void ovpn_helper_netdev_set_no_queue(struct net_device *dev)
{
	dev->priv_flags |= IFF_NO_QUEUE;
}

void ovpn_helper_netdev_keep_dst(struct net_device *dev)
{
	netif_keep_dst(dev);
}

void ovpn_helper_netdev_use_dstats(struct net_device *dev)
{
	dev->pcpu_stat_type = NETDEV_PCPU_STAT_DSTATS;
}

void ovpn_helper_dstats_rx_add(struct net_device *dev, unsigned int packets, unsigned int len)
{
	struct pcpu_dstats *dstats = this_cpu_ptr(dev->dstats);

	u64_stats_update_begin(&dstats->syncp);
	u64_stats_add(&dstats->rx_packets, packets);
	u64_stats_add(&dstats->rx_bytes, len);
	u64_stats_update_end(&dstats->syncp);
}

void ovpn_helper_dstats_rx_dropped(struct net_device *dev)
{
	dev_dstats_rx_dropped(dev);
}

void ovpn_helper_dstats_tx_add(struct net_device *dev, unsigned int len)
{
	dev_dstats_tx_add(dev, len);
}

void ovpn_helper_dstats_tx_packets(struct net_device *dev, unsigned int packets)
{
	struct pcpu_dstats *dstats = this_cpu_ptr(dev->dstats);

	u64_stats_update_begin(&dstats->syncp);
	u64_stats_add(&dstats->tx_packets, packets);
	u64_stats_update_end(&dstats->syncp);
}

void ovpn_helper_dstats_tx_dropped(struct net_device *dev)
{
	dev_dstats_tx_dropped(dev);
}

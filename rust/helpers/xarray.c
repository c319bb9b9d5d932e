// SPDX-License-Identifier: GPL-2.0

#include <linux/xarray.h>

void ovpn_helper_xa_init(struct xarray *xa)
{
	xa_init(xa);
}

int ovpn_helper_xa_insert(struct xarray *xa, unsigned long index, void *entry, gfp_t flags)
{
	return xa_insert(xa, index, entry, flags);
}

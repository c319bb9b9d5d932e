// SPDX-License-Identifier: GPL-2.0

#include <linux/scatterlist.h>

void ovpn_helper_sg_set_buf(struct scatterlist *sg, const void *buf, unsigned int len)
{
	sg_set_buf(sg, buf, len);
}

// SPDX-License-Identifier: GPL-2.0

#include <linux/scatterlist.h>

void ovpn_helper_sg_set_buf(struct scatterlist *sg, const void *buf, unsigned int len)
{
	sg_set_buf(sg, buf, len);
}

/* A list of associated data, text and tag, or without a tag. */
void ovpn_helper_sg_record(struct scatterlist *sg, const struct ovpn_sg_record *record)
{
	sg_init_table(sg, record->tag ? 3 : 2);
	sg_set_buf(&sg[0], record->aad, record->aad_len);
	sg_set_buf(&sg[1], record->text, record->text_len);
	if (record->tag)
		sg_set_buf(&sg[2], record->tag, record->tag_len);
}

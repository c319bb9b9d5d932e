// SPDX-License-Identifier: GPL-2.0

#include <linux/scatterlist.h>

void ovpn_helper_sg_set_buf(struct scatterlist *sg, const void *buf, unsigned int len)
{
	sg_set_buf(sg, buf, len);
}

/*
 * Makes @sg a list of @len entries, whatever list without chains it was before. The rest of an
 * entry is overwritten, or is of interest only to those who map it for a device.
 */
static void mark_ends(struct scatterlist *sg, unsigned int len)
{
	unsigned int i;

	for (i = 0; i < len - 1; i++)
		sg_unmark_end(&sg[i]);
	sg_mark_end(&sg[i]);
}

/*
 * A list of associated data, text and tag, of a record that is these bytes: associated data, tag,
 * text. They are neighbours in memory, so where one is in terms of pages is where all are.
 */
void ovpn_helper_sg_in_place(struct scatterlist *sg, const void *record, unsigned int len,
			     unsigned int aad, unsigned int tag)
{
	struct page *page = virt_to_page(record);
	unsigned int offset = offset_in_page(record);

	mark_ends(sg, 3);
	sg_set_page(&sg[0], page, aad, offset);
	sg_set_page(&sg[1], page, len - aad - tag, offset + aad + tag);
	sg_set_page(&sg[2], page, tag, offset + aad);
}

/* A list of associated data, text and tag, or without a tag. */
void ovpn_helper_sg_record(struct scatterlist *sg, const struct ovpn_sg_record *record)
{
	mark_ends(sg, record->tag ? 3 : 2);
	sg_set_buf(&sg[0], record->aad, record->aad_len);
	sg_set_buf(&sg[1], record->text, record->text_len);
	if (record->tag)
		sg_set_buf(&sg[2], record->tag, record->tag_len);
}

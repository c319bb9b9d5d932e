// SPDX-License-Identifier: GPL-2.0

#include <linux/rhashtable.h>

/* Constant, so that the lookup is specialised at compile time. */
static const struct rhashtable_params ovpn_map_params = {
	.head_offset = offsetof(struct ovpn_map_node, link),
	.key_offset = offsetof(struct ovpn_map_node, key),
	.key_len = OVPN_MAP_KEY_WORDS * sizeof(u32),
	.automatic_shrinking = true,
	/*
	 * Else an insert could be refused although there is memory: because entries come
	 * faster than the table's worker lets it grow, or since a larger table cannot be
	 * had at once. Chains are then longer for a moment. The seed is secret.
	 */
	.insecure_elasticity = true,
};

int ovpn_helper_map_init(struct rhashtable *map)
{
	return rhashtable_init(map, &ovpn_map_params);
}

int ovpn_helper_map_insert(struct rhashtable *map, struct ovpn_map_node *node)
{
	return rhashtable_lookup_insert_fast(map, &node->link, ovpn_map_params);
}

int ovpn_helper_map_replace(struct rhashtable *map, struct ovpn_map_node *old,
			    struct ovpn_map_node *node)
{
	return rhashtable_replace_fast(map, &old->link, &node->link, ovpn_map_params);
}

int ovpn_helper_map_remove(struct rhashtable *map, struct ovpn_map_node *node)
{
	return rhashtable_remove_fast(map, &node->link, ovpn_map_params);
}

struct ovpn_map_node *ovpn_helper_map_lookup(struct rhashtable *map, const u32 *key)
{
	return rhashtable_lookup(map, key, ovpn_map_params);
}

/* Readers may still be at the node. */
void ovpn_helper_map_node_free(struct ovpn_map_node *node)
{
	kfree_rcu(node, rcu);
}

// SPDX-License-Identifier: GPL-2.0

#include <crypto/aead.h>

unsigned int ovpn_helper_sync_aead_ivsize(struct crypto_sync_aead *aead)
{
	return crypto_sync_aead_ivsize(aead);
}

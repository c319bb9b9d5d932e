// SPDX-License-Identifier: GPL-2.0

#include <linux/bottom_half.h>
#include <linux/spinlock.h>

unsigned int ovpn_helper_smp_cpu(void)
{
	return raw_smp_processor_id();
}

void ovpn_helper_local_bh_disable(void)
{
	local_bh_disable();
}

void ovpn_helper_local_bh_enable(void)
{
	local_bh_enable();
}

void ovpn_helper_spin_lock_bh(spinlock_t *lock)
{
	spin_lock_bh(lock);
}

int ovpn_helper_spin_trylock_bh(spinlock_t *lock)
{
	return spin_trylock_bh(lock);
}

void ovpn_helper_spin_unlock_bh(spinlock_t *lock)
{
	spin_unlock_bh(lock);
}

void ovpn_helper_lockdep_spin_assert_is_held(spinlock_t *lock)
{
	lockdep_assert_held(lock);
}

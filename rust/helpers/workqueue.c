// SPDX-License-Identifier: GPL-2.0

#include <linux/workqueue.h>

void ovpn_helper_init_rcu_work(struct rcu_work *work, work_func_t func)
{
	INIT_RCU_WORK(work, func);
}

void ovpn_helper_init_delayed_work(struct delayed_work *work, work_func_t func)
{
	INIT_DELAYED_WORK(work, func);
}

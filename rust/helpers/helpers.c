// SPDX-License-Identifier: GPL-2.0
/*
 * The C shims, one file per kernel header; see include/ovpn_helpers.h.
 *
 * They are one object, so that bindgen reads one header and Kbuild builds one file.
 */
#include <linux/module.h>

#include "ovpn_helpers.h"

#include "aead.c"
#include "genetlink.c"
#include "gro.c"
#include "inetdevice.c"
#include "netdevice.c"
#include "rhashtable.c"
#include "route.c"
#include "scatterlist.c"
#include "skbuff.c"
#include "sock.c"
#include "spinlock.c"
#include "tcp.c"
#include "workqueue.c"
#include "xarray.c"

/* The module! macro has no field for it. */
MODULE_VERSION("0.1.0");

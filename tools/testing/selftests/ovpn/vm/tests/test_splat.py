# SPDX-License-Identifier: GPL-2.0
"""The splat scanner: what is a complaint of the kernel and what only looks like one."""

import unittest

import splat

COMPLAINTS = (
    "[    5.442535] WARNING: net/core/dev.c:12345 at netif_rx+0x12/0x20, CPU#0: ping/12",
    "[    5.442535] WARNING: possible circular locking dependency detected",
    "[    5.442535][  T117] WARNING: suspicious RCU usage",
    "[    5.442535][   C1] BUG: sleeping function called from invalid context at mm/slab.h:1",
    "[   15.442535] BUG: kernel NULL pointer dereference, address: 0000000000000008",
    "[   15.442535] BUG: KASAN: slab-use-after-free in ovpn_x+0x1/0x2",
    "[   15.442535] BUG kmalloc-64 (Tainted: G           O ): Poison overwritten",
    "[   15.442535] kernel BUG at drivers/ovpn/x.c:1!",
    "[   15.442535] Oops: general protection fault, probably for non-canonical address 0x1: 0000 [#1] SMP",
    "[   15.442535] Oops: 0000 [#1] SMP",
    "[   15.442535] refcount_t: underflow; use-after-free.",
    "[   15.442535] ------------[ cut here ]------------",
    "[   15.442535] UBSAN: array-index-out-of-bounds in x.c:1:2",
    "[   15.442535] list_del corruption. prev->next should be ffff, but was 0",
    "[  151.442535] ref_tracker: netdev@000000001d0f5a1e has 1/2 users at",
    "[  151.442535] INFO: task ip:123 blocked for more than 120 seconds.",
    "[  151.442535] unregister_netdevice: waiting for tun0 to become free. Usage count = 2",
    "[  151.442535] ovpn0: Driver has suspect GRO implementation, TCP performance may be compromised.",
    "[  151.442535] kmemleak: 3 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
    "[  151.442535] rust_kernel: panicked at drivers/ovpn/tx.rs:1:2:",
    "[  151.442535] rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:",
    "[  151.442535] watchdog: BUG: soft lockup - CPU#0 stuck for 26s! [ping:1]",
    "[  151.442535] Kernel panic - not syncing: Fatal exception in interrupt",
)
HARMLESS = (
    "[    0.442535] Spectre V2 : WARNING: Unprivileged eBPF is enabled with eIBRS on",
    "[    6.442535] ovpn: loading out-of-tree module taints kernel.",
    "[    6.442535] ovpn: module verification failed: signature and/or required key missing - tainting kernel",
    "[    2.341076] clocksource: Watchdog remote CPU 1 read timed out",
    "[    5.619405] x86/mm: Checked W+X mappings: passed, no W+X pages found.",
    "[    1.000000] Kernel command line: console=ttyS0 panic=-1 oops=panic",
    "[  127.837107] ref_tracker: memory allocation failure, unreliable refcount tracker.",
    "[    1.000000] debug: unmapping init memory",
    "no time stamp BUG: at all",
)


class Find(unittest.TestCase):
    def test_complaints(self) -> None:
        for line in COMPLAINTS:
            with self.subTest(line):
                self.assertEqual(len(splat.find(line + "\r\n")), 1)

    def test_harmless(self) -> None:
        for line in HARMLESS:
            with self.subTest(line):
                self.assertEqual(splat.find(line), [])

    def test_names_the_test_and_keeps_the_trace_together(self) -> None:
        log = "\n".join(
            (
                "[    6.000000] ovpn-test: begin first.sh",
                "[    6.500000] ovpn-test: end first.sh",
                "[    7.000000] ovpn-test: begin second.sh",
                "[    7.100000] ------------[ cut here ]------------",
                "[    7.100000] WARNING: x.c:1 at f+0x1/0x2, CPU#0: ip/12",
                "[    7.100000] Call Trace:",
                "[    7.100000] ---[ end trace 0000000000000000 ]---",
                "[    7.200000] all is well",
            )
        )
        found = splat.find(log)
        self.assertEqual(len(found), 1)
        self.assertEqual(found[0].test, "second.sh")
        self.assertEqual(found[0].title, "WARNING: x.c:1 at f+0x1/0x2, CPU#0: ip/12")
        self.assertIn("end trace", found[0].lines[-1])

    def test_two_complaints(self) -> None:
        one = "[    7.100000] WARNING: x\n[    7.100000] ---[ end trace 0 ]---\n"
        self.assertEqual(len(splat.find(one + one)), 2)


if __name__ == "__main__":
    unittest.main()

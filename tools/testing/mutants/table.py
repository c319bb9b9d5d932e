# SPDX-License-Identifier: GPL-2.0
"""What is broken on purpose, one thing each, and which tests must notice."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """A place in the source and what it becomes."""

    name: str
    file: str
    old: str
    new: str
    # `host NAME..` are test programs of tools/testing/host, `fuzz TARGET` is a fuzz target,
    # `vm TEST..` runs tests on the stock kernel, `debug TEST..` on the debug kernel.
    tests: str


MUTANTS = (
    Mutant(
        "replay-check-skipped",
        "drivers/ovpn/crypto/key.rs",
        """        self.window
            .lock()
            .accept(id, now)
            .map_err(|_| OpenError::Replay)?;
""",
        """        let _ = self.window.lock().accept(id, now);
""",
        "vm records.py",
    ),
    Mutant(
        "replay-window-too-wide",
        "drivers/ovpn/crypto/replay.rs",
        "self.highest.wrapping_sub(id) >= WINDOW",
        "self.highest.wrapping_sub(id) > WINDOW",
        "host replay",
    ),
    Mutant(
        "replay-bits-left-behind",
        "drivers/ovpn/crypto/replay.rs",
        "let ones = u64::MAX >> (u64::BITS - count);",
        "let ones = (u64::MAX >> (u64::BITS - count)) >> 1;",
        "fuzz replay",
    ),
    Mutant(
        "packet-id-reused",
        "drivers/ovpn/crypto/packet_id.rs",
        "last: new_last,",
        "last: new_last.wrapping_sub(1),",
        "host packet_id",
    ),
    Mutant(
        "packet-id-reused-on-the-wire",
        "drivers/ovpn/crypto/key.rs",
        "match self.last_id.cmpxchg(last, reserved.last, Relaxed) {",
        "match self.last_id.cmpxchg(last, reserved.last & !1, Relaxed) {",
        "vm records.py",
    ),
    Mutant(
        "checksum-carry-lost",
        "drivers/ovpn/checksum.rs",
        "sum = (sum & 0xffff).wrapping_add(sum >> 16);",
        "sum &= 0xffff;",
        "host checksum",
    ),
    Mutant(
        "burst-checksum-wrong",
        "drivers/ovpn/burst.rs",
        "            .plus(&[0, protocol])\n",
        "",
        "host burst",
    ),
    Mutant(
        "burst-sequence-number-wrong",
        "drivers/ovpn/burst.rs",
        "let sent = index.wrapping_mul(self.traits.piece) as u32;",
        "let sent = index.wrapping_mul(self.traits.piece.wrapping_add(1)) as u32;",
        "fuzz burst",
    ),
    Mutant(
        "batch-one-too-long",
        "drivers/ovpn/transport/gso.rs",
        "most: fit.clamp(1, MAX_RECORDS),",
        "most: fit.clamp(1, MAX_RECORDS.saturating_add(1)),",
        "host gso",
    ),
    Mutant(
        "list-of-records-one-byte-off",
        "drivers/ovpn/transport/gro.rs",
        "|| new.len > waiting.first.len\n",
        "|| new.len > waiting.first.len.saturating_add(1)\n",
        "host gro",
    ),
    Mutant(
        "list-of-records-one-too-long",
        "drivers/ovpn/transport/gro.rs",
        "|| waiting.count.saturating_add(1) >= MAX_RECORDS {",
        "|| waiting.count >= MAX_RECORDS {",
        "fuzz gro",
    ),
    Mutant(
        "segment-one-byte-off",
        "drivers/ovpn/merge/train.rs",
        "&& segment.payload_len <= self.piece\n",
        "&& segment.payload_len <= self.piece.saturating_add(1)\n",
        "host merge",
    ),
    Mutant(
        "segment-out-of-sequence",
        "drivers/ovpn/merge/train.rs",
        "&& segment.sequence == self.next\n",
        "&& segment.sequence.wrapping_sub(self.next) < 2\n",
        "fuzz merge",
    ),
    Mutant(
        "tcp-frame-one-too-short",
        "drivers/ovpn/transport/tcp/frame.rs",
        "len.saturating_add(PREFIX_LEN as u32)",
        "len.saturating_add(PREFIX_LEN as u32).saturating_sub(1)",
        "host frame",
    ),
    Mutant(
        "port-0-accepted",
        "drivers/ovpn/netlink/rules.rs",
        "if attrs.remote_port == Some(0) {",
        "if attrs.remote_port == Some(0) && attrs.local_v4.is_some() {",
        "fuzz rules",
    ),
    Mutant(
        "key-slots-swapped",
        "drivers/ovpn/tx.rs",
        "let Some(key) = peer.keys.get(Slot::Primary, guard) else {",
        "let Some(key) = peer.keys.get(Slot::Secondary, guard) else {",
        "vm records.py",
    ),
    Mutant(
        "key-slot-wrong-after-a-swap",
        "drivers/ovpn/crypto/slots.rs",
        "drop(self.cell(slot).replace(key));",
        """let [first, second] = &self.cells;
        drop((if slot == Slot::Primary { first } else { second }).replace(key));""",
        "vm netlink_key.py",
    ),
    Mutant(
        "key-swap-forgotten",
        "drivers/ovpn/crypto/slots.rs",
        "self.second_is_primary.store(swapped, Relaxed);",
        "let _ = swapped;",
        "vm netlink_key.py",
    ),
    Mutant(
        "source-address-unchecked",
        "drivers/ovpn/rx.rs",
        "if tunnel.mode() == Mode::P2p {",
        "if tunnel.mode() == Mode::P2p || tunnel.mode() == Mode::Mp {",
        "vm peer.py",
    ),
    Mutant(
        "moved-before-authentic",
        "drivers/ovpn/rx.rs",
        """    let now = time::boottime_coarse();
    key.open(""",
        """    let now = time::boottime_coarse();
    if let Some(seen) = &seen {
        peer.follow(peer, seen, guard);
    }
    key.open(""",
        "vm peer.py",
    ),
    Mutant(
        "peer-reference-leaked",
        "drivers/ovpn/netlink/key.rs",
        "find(&dev, peer_id, extack)?.keys.swap();",
        "core::mem::ManuallyDrop::new(find(&dev, peer_id, extack)?).keys.swap();",
        "vm netlink_key.py",
    ),
    Mutant(
        "socket-family-unchecked",
        "rust/kernel_ext/net/route.rs",
        "if !sock.is_ipv6() {",
        "if false && !sock.is_ipv6() {",
        "vm path.py",
    ),
    Mutant(
        "grace-period-missed",
        "rust/kernel_ext/sync/rcu/arc.rs",
        "bindings::queue_rcu_work(workqueue::current(), work);",
        "reclaim::<T>(work.cast());",
        "debug kunit.sh",
    ),
    Mutant(
        "peer-gone-untold",
        "drivers/ovpn/peer/table.rs",
        "        notify::deleted(dev, peer, reason);\n",
        "        if reason != DeleteReason::Teardown {\n            notify::deleted(dev, peer, reason);\n        }\n",
        "vm netlink_fuzz.py",
    ),
    Mutant(
        "peer-changed-by-halves",
        "drivers/ovpn/netlink/peer.rs",
        "if let Some(keepalive) = settings.keepalive {",
        "if let Some(keepalive) = settings.keepalive.filter(|_| settings.tx_id.is_none()) {",
        "vm netlink_fuzz.py",
    ),
    Mutant(
        "nonce-tail-not-wiped",
        "drivers/ovpn/crypto/key.rs",
        "        wipe(self.tail.bytes_mut());\n",
        "        wipe(&mut []);\n",
        "vm key_wipe.py",
    ),
)

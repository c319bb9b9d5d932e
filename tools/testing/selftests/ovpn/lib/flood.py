# SPDX-License-Identifier: GPL-2.0
"""Bursts that go on until they are ended, while something else happens."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from pace import patience, wait_for


class Flood:
    """Calls something that sends, over and over, in a thread."""

    def __init__(self, send: Callable[[], None]) -> None:
        self._send = send
        self._ended = threading.Event()
        self.bursts = 0
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def _run(self) -> None:
        while not self._ended.is_set():
            try:
                self._send()
                self.bursts += 1
            except OSError:
                # Without a peer there is no carrier, and without that no route.
                time.sleep(0.01)

    def some(self) -> None:
        """Lets some bursts pass."""
        seen = self.bursts
        wait_for(lambda: self.bursts >= seen + 3, "no bursts get sent", 10)

    def close(self) -> None:
        """Ends it."""
        self._ended.set()
        self._thread.join(patience(10))

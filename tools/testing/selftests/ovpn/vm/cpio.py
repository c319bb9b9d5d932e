# SPDX-License-Identifier: GPL-2.0
"""Writing a cpio archive as the kernel unpacks it (format newc)."""

import os
import stat
from pathlib import Path
from typing import BinaryIO

MAGIC = b"070701"


class Writer:
    """An archive in the making; `close` ends it."""

    def __init__(self, out: BinaryIO) -> None:
        self._out = out
        self._inode = 0
        self._folders: set[str] = set()

    def add_bytes(self, name: str, data: bytes, mode: int = 0o644) -> None:
        self._parents(name)
        self._entry(name, stat.S_IFREG | mode, data)

    def add_file(self, name: str, source: Path) -> None:
        self.add_bytes(name, source.read_bytes(), stat.S_IMODE(source.stat().st_mode))

    def add_tree(self, name: str, source: Path, skip: tuple[str, ...] = ()) -> None:
        """The files below `source`; symbolic links are kept as they are."""
        for folder, folders, files in os.walk(source):
            folders[:] = sorted(f for f in folders if f not in skip)
            for file in sorted(files):
                path = Path(folder) / file
                inner = f"{name}/{path.relative_to(source)}"
                if path.is_symlink():
                    self._parents(inner)
                    self._entry(inner, stat.S_IFLNK | 0o777, os.fsencode(os.readlink(path)))
                elif path.is_file():
                    self.add_file(inner, path)

    def close(self) -> None:
        self._entry("TRAILER!!!", 0, b"")

    def _parents(self, name: str) -> None:
        parts = name.split("/")[:-1]
        for depth in range(1, len(parts) + 1):
            folder = "/".join(parts[:depth])
            if folder not in self._folders:
                self._folders.add(folder)
                self._entry(folder, stat.S_IFDIR | 0o755, b"")

    def _entry(self, name: str, mode: int, data: bytes) -> None:
        self._inode += 1
        path = os.fsencode(name) + b"\0"
        # inode, mode, uid, gid, links, mtime, size, device and rdevice, name, checksum
        fields = (self._inode, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
        header = MAGIC + b"".join(b"%08X" % number for number in fields)
        self._out.write(_padded(header + path))
        self._out.write(_padded(data))


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)

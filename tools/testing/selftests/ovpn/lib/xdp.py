# SPDX-License-Identifier: GPL-2.0
"""A program for a device that lets every packet pass, loaded without a compiler."""

from __future__ import annotations

import ctypes
import errno
import os
import struct

SYS_BPF = 321
BPF_PROG_LOAD, BPF_LINK_CREATE = 5, 28
BPF_PROG_TYPE_XDP, BPF_XDP = 6, 37
XDP_FLAGS_SKB_MODE = 1 << 1
XDP_PASS = 2
# r0 = XDP_PASS; exit
PROGRAM = struct.pack("=BBhi", 0xB7, 0, 0, XDP_PASS) + struct.pack("=BBhi", 0x95, 0, 0, 0)

_LIBC = ctypes.CDLL(None, use_errno=True)


def _bpf(command: int, attributes: bytes) -> int:
    buffer = ctypes.create_string_buffer(attributes.ljust(128, b"\0"), 128)
    made = int(_LIBC.syscall(SYS_BPF, command, buffer, 128))
    if made < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"bpf: {os.strerror(number)}")
    return made


def supported() -> bool:
    """Whether the kernel has such programs at all."""
    try:
        _bpf(BPF_PROG_LOAD, b"")
    except OSError as error:
        return error.errno != errno.ENOSYS
    return True


class Pass:
    """The program on a device of the current namespace, in the stack's own mode."""

    def __init__(self, index: int) -> None:
        code, licence = ctypes.create_string_buffer(PROGRAM, len(PROGRAM)), ctypes.c_char_p(b"GPL")
        self._program = _bpf(BPF_PROG_LOAD, struct.pack(
            "=IIQQ", BPF_PROG_TYPE_XDP, len(PROGRAM) // 8, ctypes.addressof(code),
            ctypes.cast(licence, ctypes.c_void_p).value or 0,
        ))
        # Gone when its descriptor is closed.
        self._link = _bpf(BPF_LINK_CREATE, struct.pack(
            "=IIII", self._program, index, BPF_XDP, XDP_FLAGS_SKB_MODE
        ))

    def close(self) -> None:
        """Takes it away."""
        os.close(self._link)
        os.close(self._program)

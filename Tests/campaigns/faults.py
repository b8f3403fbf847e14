"""The rules by which a disk fails: a page that is shared with disk_shim.c in the node.

A rule names a call (open, read, write, sync, truncate, unlink, rename, link, mkdir, mmap), the end
of a path, how it fails, the bytes it is about, and how many such calls pass before and fail then.
"""

import errno
import mmap
import struct
from dataclasses import dataclass

RULE = struct.Struct("<12s40sii4xqqqqq")
FOR_EVER = -1
END = 1 << 62
# How a call ends that is neither done nor refused: half of it done; half of it done and then an
# error; one bit other than it was written.
KINDS = {"SHORT": 1000, "TORN_EIO": 1001, "TORN_FULL": 1002, "FLIP": 1003}


@dataclass(frozen=True)
class Rule:
    call: str
    path: str
    error: str
    low: int = 0
    high: int = END
    skip: int = 0
    count: int = FOR_EVER

    @property
    def is_full(self):
        return self.error in ("ENOSPC", "EDQUOT", "TORN_FULL")

    @property
    def number(self):
        return KINDS.get(self.error) or getattr(errno, self.error)

    def __str__(self):
        where = "" if self.high == END and not self.low else f"[{self.low}:{self.high}]"
        often = "for ever" if self.count == FOR_EVER else f"{self.count} times"
        later = f" after {self.skip}" if self.skip else ""
        return f"{self.call} {self.path}{where} {self.error} {often}{later}"


class Page:
    """What the node's disk does from now on."""

    def __init__(self, path):
        path.write_bytes(bytes(4096))
        self.path = path
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)

    def set(self, *rules):
        for place, r in enumerate(rules):
            # The error makes it count, so it comes last.
            packed = RULE.pack(r.call.encode(), r.path.encode(), 0, 0, r.low, r.high, r.skip,
                               r.count, 0)
            self.page[place * RULE.size:(place + 1) * RULE.size] = packed
            struct.pack_into("<i", self.page, place * RULE.size + 52, r.number)

    def clear(self):
        """The disk is well again. How often it failed."""
        struck = self.struck()
        for place in range(8):
            struct.pack_into("<i", self.page, place * RULE.size + 52, 0)
        return struck

    def struck(self):
        return sum(RULE.unpack_from(self.page, place * RULE.size)[-1] for place in range(8))

    def close(self):
        self.page.close()


# Where things lie in SQLite's write-ahead log, with pages of 8 KiB.
PAGE = 8192


def frame(number):
    """The bytes of a frame's header."""
    at = 32 + number * (24 + PAGE)
    return at, at + 24


def framed(number):
    """The bytes of a frame's page."""
    return frame(number)[1], frame(number + 1)[0]

"""Rules for disk faults, in a page of memory shared with disk_shim.c in the node.

A rule names a call (open, read, write, sync, truncate, unlink, rename, link, mkdir, mmap), a path
suffix, the error, a byte range, how many matching calls succeed first, and how many then fail.
"""

import errno
import mmap
import struct
from dataclasses import dataclass

RULE = struct.Struct("<12s40sii4xqqqqq")
FOR_EVER = -1
END = 1 << 62
# Faults that are not plain errors: half of it is done; half is done and then an error; one bit
# is flipped in what was read.
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
        often = "always" if self.count == FOR_EVER else f"{self.count} times"
        later = f" after {self.skip}" if self.skip else ""
        return f"{self.call} {self.path}{where} {self.error} {often}{later}"


class Page:
    """The rules that are active in the node from now on."""

    def __init__(self, path):
        path.write_bytes(bytes(4096))
        self.path = path
        with open(path, "r+b") as file:
            self.page = mmap.mmap(file.fileno(), 4096)

    def set(self, *rules):
        for place, r in enumerate(rules):
            # The error activates the rule, so write it last.
            packed = RULE.pack(r.call.encode(), r.path.encode(), 0, 0, r.low, r.high, r.skip,
                               r.count, 0)
            self.page[place * RULE.size:(place + 1) * RULE.size] = packed
            struct.pack_into("<i", self.page, place * RULE.size + 52, r.number)

    def clear(self):
        """Heals the disk. Returns how often it failed."""
        struck = self.struck()
        for place in range(8):
            struct.pack_into("<i", self.page, place * RULE.size + 52, 0)
        return struck

    def struck(self):
        return sum(RULE.unpack_from(self.page, place * RULE.size)[-1] for place in range(8))

    def close(self):
        self.page.close()


# The layout of SQLite's write-ahead log with 8 KiB pages.
PAGE = 8192


def frame(number):
    """The byte range of a frame's header."""
    at = 32 + number * (24 + PAGE)
    return at, at + 24


def framed(number):
    """The byte range of a frame's page."""
    return frame(number)[1], frame(number + 1)[0]

"""What disk_shim.c recorded: the changes of files, and between them what the driver noted.

A journal is read as a list of Entry. The driver appends to the same file, so what it knew of an
answer stands behind all writes that the answer waited for.
"""

import json
import os
import struct
import time
from dataclasses import dataclass

HEAD = struct.Struct("<4sc3xQQQQII")
MAGIC = b"WSXJ"
NOTE = b"N"


@dataclass
class Entry:
    """`op`: O made, W written, T cut, S synced, U unlinked, R renamed, L linked, K folder made;
    N what the driver noted."""

    op: str
    path: str
    other: str | None
    offset: int
    bytes: bytes
    at: int
    inode: int

    @property
    def length(self):
        return len(self.bytes)

    def __str__(self):
        size = f" {self.offset}+{self.length}" if self.op == "W" else ""
        return f"{self.op} {self.path}{f' > {self.other}' if self.other else ''}{size}"


def note(path, value):
    """Appends what the driver knows now."""
    text = json.dumps(value).encode()
    head = HEAD.pack(MAGIC, NOTE, 0, len(text), time.monotonic_ns(), 0, 0, os.getpid())
    with open(path, "ab", buffering=0) as file:
        file.write(head + text)


def read(path):
    """All entries. A record at the end that is not whole was of a process that was killed."""
    whole = path.read_bytes()
    entries, at = [], 0
    while at + HEAD.size <= len(whole):
        magic, op, offset, length, when, inode, names, _ = HEAD.unpack_from(whole, at)
        assert magic == MAGIC, f"{path} makes no sense at {at}"
        at += HEAD.size
        found = whole[at:at + names].split(b"\0")
        at += names
        # Of a cut and of a note of the shim the length says nothing about bytes that follow.
        size = length if op in (b"W", NOTE) else 0
        entries.append(Entry(op.decode(), found[0].decode(),
                             found[1].decode() if names and len(found) > 2 else None,
                             offset, whole[at:at + size], when, inode))
        at += size
    return entries


def value(entry):
    """What a note says."""
    return json.loads(entry.bytes)

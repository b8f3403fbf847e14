"""Reads the journals of disk_shim.c: changes of files, with the driver's notes in between.

A journal is a list of Entry. The driver appends its notes to the same file, so a note about an
answer comes after all writes that the answer waited for.
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
    """`op`: O created, W written, T truncated, S synced, U unlinked, R renamed, L linked, K folder
    created, N note of the driver."""

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
    """Appends a note of the driver."""
    text = json.dumps(value).encode()
    head = HEAD.pack(MAGIC, NOTE, 0, len(text), time.monotonic_ns(), 0, 0, os.getpid())
    with open(path, "ab", buffering=0) as file:
        file.write(head + text)


def read(path):
    """All entries. The last record may be incomplete if the process was killed."""
    whole = path.read_bytes()
    entries, at = [], 0
    while at + HEAD.size <= len(whole):
        magic, op, offset, length, when, inode, names, _ = HEAD.unpack_from(whole, at)
        assert magic == MAGIC, f"{path} is invalid at byte {at}"
        at += HEAD.size
        found = whole[at:at + names].split(b"\0")
        at += names
        # In other records the length does not count bytes that follow.
        size = length if op in (b"W", NOTE) else 0
        entries.append(Entry(op.decode(), found[0].decode(),
                             found[1].decode() if names and len(found) > 2 else None,
                             offset, whole[at:at + size], when, inode))
        at += size
    return entries


def value(entry):
    """The decoded content of a note."""
    return json.loads(entry.bytes)

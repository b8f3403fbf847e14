"""Builds disk images, as they may be after a power cut, from a journal.

A disk is a set of files (by inode) and names. Synced data is always there. Of the later writes, a
prefix image has all, and a torn image any subset, each whole or in part by 512-byte sectors. Names
change in order and are durable once a folder was synced. A truncation orders the writes of its
file: if it is lost, so is everything after it.
"""

import os
import pickle
from pathlib import Path

SECTOR = 512


class File:
    def __init__(self, content=b""):
        self.now, self.sure, self.pending = bytearray(content), bytearray(content), []

    def change(self, entry):
        apply(self.now, entry)
        self.pending.append(entry)

    def sync(self):
        self.sure, self.pending = bytearray(self.now), []

    def torn(self, random):
        """The content after a power cut in which any of the last writes may be lost."""
        share = random.choice((0, 0.1, 0.5, 0.9, 1))
        content = bytearray(self.sure)
        for entry in self.pending:
            if random.random() > share:
                if entry.op == "T":
                    break
                continue
            for part in sectors(entry, random):
                apply(content, part)
        return content


def apply(content, entry):
    if entry.op == "T":
        del content[entry.offset:]
        content.extend(bytes(entry.offset - len(content)))
        return
    offset, piece = entry.offset, entry.bytes
    content.extend(bytes(max(0, offset - len(content))))
    content[offset:offset + len(piece)] = piece


class Piece:
    """The surviving part of a write within one sector."""

    op = "W"

    def __init__(self, offset, piece):
        self.offset, self.bytes = offset, piece


def sectors(entry, random):
    """The whole write, or, one time in five, only some of its sectors."""
    if entry.op == "T" or random.random() > 0.2:
        return [entry]
    end, at, pieces = entry.offset + entry.length, entry.offset, []
    how = random.choice(("first", "last", "any"))
    turn = random.randrange(1 + entry.length // SECTOR)
    while at < end:
        stop = min(end, (at // SECTOR + 1) * SECTOR)
        index = len(pieces)
        keep = {"first": index < turn, "last": index >= turn, "any": random.random() < 0.5}[how]
        pieces.append(Piece(at, entry.bytes[at - entry.offset:stop - entry.offset]) if keep
                      else None)
        at = stop
    return [p for p in pieces if p]


class Disk:
    """Replays the journal of `root`, starting from what `keep` saved, if anything."""

    def __init__(self, root):
        self.names, self.folders, self.inodes = {}, set(), {}
        self.sure_names, self.changes = {}, []
        kept = before(root)
        if kept.exists():
            self.folders, files = pickle.loads(kept.read_bytes())
            for name, inode, content in files:
                self.names[name] = self.inodes[inode] = File(content)
        self.sure_names = dict(self.names)

    def step(self, entry):
        if entry.op == "O":
            self.inodes[entry.inode] = self.name(entry.path, File())
        elif entry.op in "WT":
            if entry.inode in self.inodes:
                self.inodes[entry.inode].change(entry)
        elif entry.op == "S":
            self.sync(entry)
        elif entry.op == "U":
            self.name(entry.path, None)
        elif entry.op == "R":
            file = self.names.get(entry.path)
            self.name(entry.path, None)
            self.name(entry.other, file)
            # A rename is one change: the file always has one of the two names.
            self.changes[-2:] = [self.changes[-2:]]
        elif entry.op == "L":
            self.name(entry.other, self.names.get(entry.path))
        elif entry.op == "K":
            self.folders.add(entry.path)

    def name(self, path, file):
        set_name(self.names, path, file)
        self.changes.append([(path, file)])
        return file

    def sync(self, entry):
        file = self.inodes.get(entry.inode)
        if file and entry.path not in self.folders and entry.path != ".":
            file.sync()
        else:
            self.sure_names, self.changes = dict(self.names), []

    def prefix(self):
        return {path: file.now for path, file in self.names.items()}

    def torn(self, random):
        names = dict(self.sure_names)
        for change in self.changes[:random.randint(0, len(self.changes))]:
            for path, file in flat(change):
                set_name(names, path, file)
        contents = {id(f): f.torn(random) for f in names.values()}
        return {path: contents[id(file)] for path, file in names.items()}


def before(root):
    return Path(f"{root}.before")


def keep(root):
    """Saves the content of a folder before the journal begins."""
    paths = [(str(path.relative_to(root)), path) for path in sorted(root.rglob("*"))]
    files = [(name, path.stat().st_ino, path.read_bytes()) for name, path in paths
             if path.is_file() and not name.endswith("-shm")]
    before(root).write_bytes(pickle.dumps(({n for n, path in paths if path.is_dir()}, files)))


def flat(change):
    return [pair for part in change for pair in (part if isinstance(part, list) else [part])]


def set_name(names, path, file):
    if file is None:
        names.pop(path, None)
    else:
        names[path] = file


class Stage:
    """Puts images into the folder of the recorded life, because the home contains its own paths.

    node.db keeps its inode. The node takes a different file with the same content for a copy and
    continues under a new store id, which is not what happens after a power cut.
    """

    def __init__(self, root, store="home/node.db", kept=None):
        self.root, self.store, self.kept = Path(root), store, kept or Path(f"{root}.store")
        if not self.kept.exists():
            os.link(self.root / store, self.kept)

    def show(self, folders, image):
        for path in sorted(self.root.rglob("*"), reverse=True):
            path.rmdir() if path.is_dir() and not path.is_symlink() else path.unlink()
        for folder in sorted({*folders, "home"} - {"."}):
            (self.root / folder).mkdir(mode=0o700, exist_ok=True)
        for name, content in image.items():
            path = self.root / name
            # The folder may have existed only for a while, such as a backup's.
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            if name == self.store:
                os.link(self.kept, path)
            with open(path, "r+b" if name == self.store else "wb") as file:
                file.truncate(0)
                file.write(content)
            path.chmod(0o600)

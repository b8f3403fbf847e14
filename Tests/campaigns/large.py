"""A home whose store is larger than the node's page cache, and mostly in the log.

It is built once and restored byte for byte for each case, with the inode that the node expects.
"""

import pickle
import shutil
import sqlite3
from pathlib import Path

from images import Disk, Stage, keep
from lives import make_home
from node import Node

# 15 KB each, together about 12 MB; the cache holds 8 MB.
MESSAGES = 800
TEXT = "zebra {} " + "y" * 15_000


def show(node):
    """Restores the home. Returns its messages: text to id."""
    kept = Path(f"{node.root.parent}/large")
    if not kept.exists():
        make(kept)
    said = pickle.loads(Path(f"{kept}.said").read_bytes())
    disk, root = Disk(kept), node.root
    shutil.rmtree(root, ignore_errors=True)
    make_home(root)
    if not Path(f"{kept}.store").exists():
        raise AssertionError("there is no large store")
    stage = Stage(root, kept=Path(f"{kept}.store"))
    stage.show(disk.folders, disk.prefix())
    return said


def make(root):
    node = Node(make_home(root), "Mina")
    try:
        node.start().found()
        # An open reader prevents checkpoints.
        reader = sqlite3.connect(node.home / "node.db", isolation_level=None)
        reader.execute("BEGIN")
        reader.execute("SELECT count(*) FROM meta").fetchall()
        said = {}
        for number in range(MESSAGES):
            text = TEXT.format(number)
            said[text] = node.call("message.send", channel="general", text=text)["id"]
    finally:
        node.kill()
    keep(node.root)
    Stage(node.root)
    reader.close()
    Path(f"{root}.said").write_bytes(pickle.dumps(said))

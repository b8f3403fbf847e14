"""People who hand files to each other: their homes, what they did, and what it cost their nodes."""

import filecmp
import os
import threading
import time
from pathlib import Path

from lives import make_home
from node import Node, Refused

MIB = 1 << 20
# What a process may take more than at rest, whatever the size of a file.
MEMORY_MAX = 32 * MIB
# What a kill may cost again: bytes on the disk that nothing has made sure of.
UNCLAIMED_MAX = 64 * MIB
# How long nothing may come before a transfer counts as stuck, in seconds.
PATIENCE = 90


class Failed(Exception):
    """What was expected and did not come, in words."""


class Team:
    """Homes of one workspace, which the first of them founds, all linked to all."""

    def __init__(self, base, names, before=None, listen="127.0.0.1:0"):
        self.base, self.listen = base, listen
        self.nodes = [Node(make_home(base / name.lower()), name, (before or {}).get(name, ()))
                      for name in names]

    def gather(self, linked=True):
        """Starts all, and has them join the first one."""
        first, *others = (self.start(node) for node in self.nodes)
        first.found()
        for node in others:
            node.call("identity.create", name=node.name)
            node.call("workspace.join", link=first.call("invite.create")["link"])
        if linked:
            for node in self.nodes:
                until(f"that {node.name} is linked to all", lambda: links(node) == len(others))
        for node in self.nodes:
            # What the disk of this machine has is no matter here.
            node.call("cache.quota", bytes=1 << 40)
        return self.nodes

    def start(self, node):
        node.start(listen=self.listen)
        # Reading a large file takes its time.
        node.link.socket.settimeout(900)
        return node

    def end(self):
        for node in self.nodes:
            node.kill()


def until(expected, test, seconds=60):
    """Waits until `test()` gives something true, and is that."""
    end = time.monotonic() + seconds
    while not (found := test()):
        if time.monotonic() > end:
            raise Failed(f"{expected}, within {seconds} s")
        time.sleep(0.02)
    return found


def links(node):
    return sum(peer["state"] == "connected" for peer in node.call("peer.list")["items"])


def random_file(path, byte_count):
    with open(path, "wb") as file:
        while byte_count > 0:
            file.write(os.urandom(min(byte_count, MIB)))
            byte_count -= MIB
    return path


def send_files(node, paths, channel="general"):
    """Puts files and sends them in one message. Their ids."""
    ids = [node.call("blob.add", path=str(path), apart=True)["id"] for path in paths]
    node.call("message.send", channel=channel, attachments=ids)
    return ids


def know(node, blob):
    """Waits until a message has told a node of a file."""
    def told():
        try:
            return node.call("blob.stat", blob=blob)
        except Refused:
            return None
    return until(f"that {node.name} knows of the file", told)


def follow(node, blob, to):
    """Waits until so many bytes of a file are here, or all; that may take as long as some come. The
    progress never goes back, nor above the size."""
    seen, since = -1, time.monotonic()
    while True:
        file = node.call("blob.stat", blob=blob)
        if file["have"] < seen or file["have"] > file["size"]:
            raise Failed(f"progress that goes from {seen} to {file['have']} of {file['size']}")
        if file["complete"] or file["have"] >= to:
            return file
        if file["have"] > seen:
            seen, since = file["have"], time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise Failed(f"nothing comes to {node.name} for {PATIENCE} s at {seen} bytes: {file}")
        time.sleep(0.005)


def finish(node, blob):
    """Waits until all of a file is here."""
    file = follow(node, blob, to=1 << 62)
    if not file["complete"] or file["have"] != file["size"]:
        raise Failed(f"a file that is not whole: {file}")


def save(node, blob, source):
    """Saves it beside the home, and looks whether it equals its source. Nothing stays of it."""
    folder = node.root / "saved"
    folder.mkdir(exist_ok=True)
    saved = Path(node.call("blob.get", blob=blob, folder=str(folder))["path"])
    if not filecmp.cmp(source, saved, shallow=False):
        raise Failed(f"{saved.name}, saved by {node.name}, differs from its source")
    saved.unlink()


def chunk_file(node, size):
    """Where the ciphertext of the one blob of that size lies."""
    found = [path for path in (node.home / "blobs").glob("??/*") if path.stat().st_size >= size]
    if len(found) != 1:
        raise Failed(f"{len(found)} blobs of {size} bytes at {node.name}")
    return found[0]


def network_bytes(node, direction):
    """Bytes that the process has exchanged with peers since its start: "in" or "out"."""
    start = f'wsx_net_bytes_total{{direction="{direction}"}} '
    for line in node.call("node.metrics")["text"].splitlines():
        if line.startswith(start):
            return int(line[len(start):])
    raise Failed(f"{node.name} says nothing of its bytes")


class Moved:
    """Bytes that went from one node to another, though either of them is killed now and then.

    A process takes its count with it. From kill to kill that of the other one is taken.
    """

    def __init__(self, sender, receiver):
        self.counted = {sender: (receiver, "out"), receiver: (sender, "in")}
        self.before = {node: self.now(node) for node in self.counted}
        self.byte_count = 0

    def now(self, node):
        return network_bytes(node, self.counted[node][1])

    def killed(self, victim):
        survivor = self.counted[victim][0]
        self.survived(survivor)
        self.before[victim] = 0

    def survived(self, survivor):
        now = self.now(survivor)
        self.byte_count += now - self.before[survivor]
        self.before[survivor] = now


class Memory:
    """The most that processes took while it was watched, beside what they had at rest."""

    # Until then the log of the store is emptied, and a node that has nothing to do is at rest.
    QUIET = 6.5

    def __init__(self, nodes):
        time.sleep(self.QUIET)
        self.nodes = nodes
        self.rest = {node: self.resident(node) for node in nodes}
        self.most = dict(self.rest)
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        self.thread.start()

    @staticmethod
    def resident(node):
        try:
            with open(f"/proc/{node.process.pid}/status") as status:
                kilobytes = next(line.split()[1] for line in status if line.startswith("VmRSS:"))
            return int(kilobytes) * 1024
        except (OSError, StopIteration):
            return 0  # It was killed just now.

    def watch(self):
        while not self.is_over.wait(0.02):
            for node in self.nodes:
                self.most[node] = max(self.most[node], self.resident(node))

    def end(self):
        """Bytes over rest, of each."""
        self.is_over.set()
        self.thread.join()
        return [self.most[node] - self.rest[node] for node in self.nodes]


def mib(byte_count):
    return f"{byte_count / MIB:.1f}"


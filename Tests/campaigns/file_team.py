"""People who send each other files: their homes, transfers, and the memory and traffic used."""

import filecmp
import os
import threading
import time
from pathlib import Path

from lives import make_home
from node import Node, Refused

MIB = 1 << 20
# Extra memory a process may use above idle, for any file size.
MEMORY_MAX = 32 * MIB
# Bytes that a kill may force to be sent again: written, but not yet recorded as safe.
UNCLAIMED_MAX = 64 * MIB
# Seconds without progress before a transfer counts as stuck.
PATIENCE = 90


class Failed(Exception):
    """A scene failed; the message says what was expected."""


class Team:
    """Homes in one workspace that the first one creates. All are linked to each other."""

    def __init__(self, base, names, before=None, listen="127.0.0.1:0"):
        self.base, self.listen = base, listen
        self.nodes = [Node(make_home(base / name.lower()), name, (before or {}).get(name, ()))
                      for name in names]

    def gather(self, linked=True):
        """Starts all nodes, and makes the others join the first one's workspace."""
        first, *others = (self.start(node) for node in self.nodes)
        first.found()
        for node in others:
            node.call("identity.create", name=node.name)
            node.call("workspace.join", link=first.call("invite.create")["link"])
        if linked:
            for node in self.nodes:
                until(f"{node.name} to be linked to all others", lambda: links(node) == len(others))
        for node in self.nodes:
            # Ignore how large this machine's disk is.
            node.call("cache.quota", bytes=1 << 40)
        return self.nodes

    def start(self, node):
        node.start(listen=self.listen)
        # Adding a large file takes long.
        node.link.socket.settimeout(900)
        return node

    def end(self):
        for node in self.nodes:
            node.kill()


def until(expected, test, seconds=60):
    """Waits until `test()` returns something true, and returns that."""
    end = time.monotonic() + seconds
    while not (found := test()):
        if time.monotonic() > end:
            raise Failed(f"expected {expected} within {seconds} s")
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
    """Adds files and sends them in one message. Returns their ids."""
    ids = [node.call("blob.add", path=str(path), apart=True)["id"] for path in paths]
    node.call("message.send", channel=channel, attachments=ids)
    return ids


def know(node, blob):
    """Waits until a node knows about a file from a message. Returns the file's status."""
    def told():
        try:
            return node.call("blob.stat", blob=blob)
        except Refused:
            return None
    return until(f"{node.name} to know the file", told)


def follow(node, blob, to):
    """Waits until `to` bytes of a file, or all, have arrived. Fails after PATIENCE seconds without
    progress, or if progress decreases or exceeds the file's size."""
    seen, since = -1, time.monotonic()
    while True:
        file = node.call("blob.stat", blob=blob)
        if file["have"] < seen or file["have"] > file["size"]:
            raise Failed(f"progress went from {seen} to {file['have']} of {file['size']}")
        if file["complete"] or file["have"] >= to:
            return file
        if file["have"] > seen:
            seen, since = file["have"], time.monotonic()
        if time.monotonic() - since > PATIENCE:
            raise Failed(f"{node.name} got nothing for {PATIENCE} s at {seen} bytes: {file}")
        time.sleep(0.005)


def finish(node, blob):
    """Waits until a file is complete."""
    file = follow(node, blob, to=1 << 62)
    if not file["complete"] or file["have"] != file["size"]:
        raise Failed(f"incomplete file: {file}")


def save(node, blob, source):
    """Saves the file next to the home, compares it with its source, and deletes it."""
    folder = node.root / "saved"
    folder.mkdir(exist_ok=True)
    saved = Path(node.call("blob.get", blob=blob, folder=str(folder))["path"])
    if not filecmp.cmp(source, saved, shallow=False):
        raise Failed(f"{saved.name}, saved by {node.name}, differs from its source")
    saved.unlink()


def chunk_file(node, size):
    """The path of the ciphertext of the only blob of this size."""
    found = [path for path in (node.home / "blobs").glob("??/*") if path.stat().st_size >= size]
    if len(found) != 1:
        raise Failed(f"{len(found)} blobs of {size} bytes at {node.name}")
    return found[0]


def network_bytes(node, direction):
    """Bytes exchanged with peers since the process started. `direction`: "in" or "out"."""
    start = f'wsx_net_bytes_total{{direction="{direction}"}} '
    for line in node.call("node.metrics")["text"].splitlines():
        if line.startswith(start):
            return int(line[len(start):])
    raise Failed(f"{node.name} has no metric for its traffic")


class Moved:
    """Counts the bytes from one node to another while either of them may be killed.

    A killed process loses its counter, so the other one's counter is used up to the kill.
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
    """Measures the peak memory of processes, compared with their memory when idle."""

    # After these seconds, an idle node has emptied the log of its store and is at rest.
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
            return 0  # The process was just killed.

    def watch(self):
        while not self.is_over.wait(0.02):
            for node in self.nodes:
                self.most[node] = max(self.most[node], self.resident(node))

    def end(self):
        """The peak of each process, in bytes above idle."""
        self.is_over.set()
        self.thread.join()
        return [self.most[node] - self.rest[node] for node in self.nodes]


def mib(byte_count):
    return f"{byte_count / MIB:.1f}"


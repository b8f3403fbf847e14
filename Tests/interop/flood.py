"""Floods a node with operations, and measures what it uses meanwhile.

WSX_FLOOD          number of operations (default 100,000)
WSX_FLOOD_SECONDS  time limit in seconds (default 180)
"""

import os
import threading
import time

import writer
from foreign import CLOSED
from intruder import Attacker
from terms import CUTPART, DOCCREATE, RMDEV

FLOOD = int(os.environ.get("WSX_FLOOD", "100000"))
SECONDS = int(os.environ.get("WSX_FLOOD_SECONDS", "180"))
# Limits of 11.7 for a removed member, in KiB of memory and of disk; and the limit of a local call.
ROOM_KIB, PATIENCE_MS = 16 * 1024, 2_000
CHUNK = 100


class Watch(threading.Thread):
    """Measures the node's resources, and the time of local calls, during an attack."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage, self.over = stage, threading.Event()
        self.before = stage.usage()
        self.quiet = max(stage.call_ms() for _ in range(3))
        self.stored = self.count()
        self.most, self.slowest, self.calls, self.failed = list(self.before), 0, 0, 0
        self.start()

    def count(self):
        return self.stage.cli("status")[0]["workspaces"][0]["operations"]

    def run(self):
        while not self.over.wait(0.3):
            try:
                self.slowest = max(self.slowest, self.stage.call_ms())
                self.most = [max(pair) for pair in zip(self.most, self.stage.usage(), strict=True)]
                self.calls += 1
            except (AssertionError, OSError):
                self.failed += 1

    def end(self, what, sent, seconds):
        self.over.set()
        self.join()
        stage, stored = self.stage, self.count() - self.stored
        grown = [most - before for most, before in zip(self.most, self.before, strict=True)]
        stage.note(f"{what}: {sent} sent in {seconds:.0f} s, {stored} more stored; memory "
                   f"+{grown[0]} KiB, disk +{grown[1]} KiB, CPU {grown[2]} ms; "
                   f"{self.calls} calls, the slowest {self.slowest} ms (before: {self.quiet} ms)")
        stage.judge(grown[0] > ROOM_KIB or grown[1] > ROOM_KIB,
                    f"{what}: memory or disk grow by more than {ROOM_KIB} KiB", "bounded")
        stage.judge(self.slowest > PATIENCE_MS + self.quiet or self.failed > 0,
                    f"{what}: local calls are slow ({self.failed} failed)", "served meanwhile")


class Flood:
    """Operations by a removed member, in all shapes that 11.7 names."""

    def __init__(self, attacker, heads):
        self.a, self.heads, self.root = attacker, heads, attacker.copy.root.id
        self.now, self.key = int(time.time() * 1000), attacker.copy.root.map[4]

    def write(self, device, said, grant, deps, after=...):
        return device.write(self.root, *said, grant, deps, self.now, after)

    def doc(self):
        return DOCCREATE, {1: 1, 2: os.urandom(16)}

    def chunk(self, shape):
        device, grant = self.a.device, self.a.grant
        if shape == "incarnations":
            return [self.write(device, self.doc(), grant, self.heads, None) for _ in range(CHUNK)]
        if shape == "one log":
            return [self.write(device, self.doc(), grant, self.heads) for _ in range(CHUNK)]
        if shape == "large":
            # 300 cuts of about 55 bytes each are 16 KiB.
            cuts = [[device.id, 0, [[self.root, n, bytes(16)] for n in range(300)]]]
            return [self.write(device, (CUTPART, {1: cuts}), grant, self.heads, None)
                    for _ in range(CHUNK // 5)]
        if shape == "faults":
            said = RMDEV, {1: os.urandom(32), 2: [], 3: None}
            return [self.write(device, said, grant, self.heads, None) for _ in range(CHUNK)]
        made = []
        for _ in range(CHUNK // 2):
            new = writer.Device()
            listed = writer.for_linking(new, self.root, device.id, self.a.member)
            added = self.write(device, writer.adddev(listed, self.key), grant, self.heads, None)
            made += [added, self.write(new, self.doc(), added.id, [added])]
        return made


SHAPES = ("incarnations", "one log", "large", "keys", "faults")


def pour(stage, courier, chunks, most, seconds, announced=False):
    """Delivers what `chunks` makes, over as many links as needed. Returns the number delivered.

    `courier` makes a link. An announced operation counts once the node pulls it.
    """
    sent, links, refused, ends, v = 0, 0, 0, {}, None
    end = time.monotonic() + seconds
    while sent < most and time.monotonic() < end:
        if v is None:
            try:
                v, links = courier(), links + 1
            except (*CLOSED, AssertionError):
                refused += 1
                time.sleep(0.2)
                continue
        v.ended, before, operations = None, v.served, next(chunks)
        (v.announce if announced else v.push)(operations)
        if not v.ended:
            v.settle(0.15 if announced else 0.02)
        sent += v.served - before if announced else len(operations)
        if v.ended:
            ends[v.ended] = ends.get(v.ended, 0) + 1
            v.close()
            v = None
    stage.note(f"{links} links, ends: {ends}, {refused} times no answer")
    return sent


def couriers(stage, removed):
    """The ways to deliver what a removed member wrote: that member, a newcomer, and a member."""
    friend = stage.join("many", source="127.0.0.4")
    stranger = Attacker(stage.links["member"], source="127.0.0.3")
    stranger.copy = removed.copy

    def own():
        removed.enter()
        return removed.visitor

    def newcomer():
        return stranger.visit(writer.Device())[0]

    def inside():
        friend.enter()
        return friend.visitor

    return {"itself": (own, False), "a newcomer": (newcomer, False),
            "a newcomer who announces": (newcomer, True), "a member": (inside, False),
            "a member who announces": (inside, True)}

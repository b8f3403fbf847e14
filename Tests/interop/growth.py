"""Growth by a member: the cost of each operation as they become many, and the effect on others.

Others keep what a member writes, some kinds only as fast as shares allow (S-8, S-9): once the node
reports that a member's operations wait, no more are delivered. This judges that the cost per
operation does not grow, that memory stays near the amount sent, that others are served meanwhile,
and that the home starts. WSX_FLOOD_SECONDS is as in flood.py.
"""

import contextlib
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from flood import CHUNK, ROOM_KIB, SECONDS
from foreign import CLOSED, OPS, OURS
from notation import enc
from runs import write_run
from stage import Stage

# Limit for the calls of others, in ms above their time before the attack.
PATIENCE_MS, START_MS = 1_000, 15_000
# Number of operations delivered one by one, and the allowed growth of their cost.
TRICKLE, DEARER = 100, 3


@contextlib.contextmanager
def another(stage, name="Nora"):
    """Starts a second node with its own home, which joins by a link."""
    home = tempfile.mkdtemp(prefix="wsx-attack.")
    other = Stage(home, {})
    try:
        other.cli("up", "--name", name, "--listen", "127.0.0.1:0", "--announce", "off")
        other.cli("join", stage.links["many"])
        yield other
    finally:
        with contextlib.suppress(AssertionError, subprocess.TimeoutExpired):
            other.cli("down")
        shutil.rmtree(home, ignore_errors=True)


class Meanwhile(threading.Thread):
    """Measures the calls of others: local writes to another channel, and joins."""

    def __init__(self, stage):
        super().__init__(daemon=True)
        self.stage, self.over, self.failed = stage, threading.Event(), []
        self.calls = {"send": self.send, "newcomer": stage.look}
        self.quiet = {what: max(self.took(call) for _ in range(3))
                      for what, call in self.calls.items()}
        self.slowest, self.most = dict.fromkeys(self.calls, 0), stage.usage()[0]
        self.start()

    def send(self):
        self.stage.cli("send", "general", "and we go on")

    def took(self, call):
        start = time.monotonic()
        call()
        return int((time.monotonic() - start) * 1000)

    def run(self):
        while not self.over.wait(0.5):
            for what, call in self.calls.items():
                try:
                    self.slowest[what] = max(self.slowest[what], self.took(call))
                    self.most = max(self.most, self.stage.usage()[0])
                except (AssertionError, OSError, subprocess.TimeoutExpired, *CLOSED) as error:
                    self.failed.append(f"{what}: {error}")

    def end(self, what):
        self.over.set()
        self.join()
        for call, slowest in self.slowest.items():
            self.stage.judge(slowest > PATIENCE_MS + self.quiet[call],
                             f"{what}: {call} takes {slowest} ms (before: {self.quiet[call]})",
                             "served meanwhile")
        self.stage.judge(self.failed, f"{what}: {len(self.failed)} calls fail: {self.failed[:2]}",
                         "none does")


class Courier:
    """Delivers logs of any documents, and waits until the node has stored them."""

    def __init__(self, stage, attacker):
        self.stage, self.a, self.bytes, self.ends = stage, attacker, 0, []
        self.is_full = False
        attacker.enter()

    def bring(self, operations):
        """Sends all at once, each log as a run. Returns whether the last one is stored; if not, the
        share is used up."""
        logs = {}
        for o in operations:
            logs.setdefault(o.log, []).append(o)
        runs = [write_run(log[0].document, log) for log in logs.values()]
        said = {1: OURS, 2: 0, 3: runs, 4: True}
        since, last = self.newest(), operations[-1]
        for _ in range(3):
            v = self.a.visitor
            v.peer.socket.settimeout(60)
            v.send(OPS, said, 1)
            self.bytes += len(enc(said))
            if not v.ended:
                v.settle(0.005)
            start, asked = time.monotonic(), 0
            while not v.ended and time.monotonic() < start + 90:
                if self.has(last, since):
                    return True
                if time.monotonic() > max(start + 10, asked + 5):
                    asked = time.monotonic()
                    if "member.delayed" in str(self.stage.cli("status")):
                        self.is_full = True
                        return False
                time.sleep(0.005)
            if self.has(last, since):
                return True
            self.ends.append(v.ended or "not stored in 90 s")
            self.stage.again(self.a)
        raise AssertionError(f"a member's allowed operation is not stored: {self.ends}")

    def asked(self, query, *values):
        path = f"file:{Path(self.stage.home) / 'node.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True, timeout=10)) as store:
            return store.execute(query, values).fetchone()

    def newest(self):
        return self.asked("SELECT max(arr) FROM operation")[0]

    def has(self, o, since):
        """Whether o is stored. Searches only arrivals after `since`, for lack of an index by id."""
        return self.asked("SELECT 1 FROM operation WHERE arr > ? AND id = ?", since, o.id)


def grow(stage, courier, make, most, what, chunk=CHUNK):
    """Delivers the operations that `make` returns for each step, in batches, and some one by one
    after each batch."""
    meanwhile, first, sent, costs = Meanwhile(stage), stage.usage(), 0, []
    end, before_bytes = time.monotonic() + SECONDS, courier.bytes
    for size in sorted({most // 100, most // 20, most // 4, most // 2, most}):
        before, since, start = stage.usage(), sent, time.monotonic()
        while sent < max(size, since + chunk) and time.monotonic() < end:
            steps = [make() for _ in range(chunk)]
            if not courier.bring([o for step in steps for o in step]):
                break
            sent += len(steps)
        if sent == since or courier.is_full:
            break
        # Indexing waits until the node is idle or someone searches; count it as cost of the batch.
        indexed(stage)
        piece = spent(stage, before) / (sent - since)
        took, before = time.monotonic() - start, stage.usage()
        start, alone = time.monotonic(), 0
        while alone < TRICKLE and time.monotonic() < start + 20 and courier.bring(make()):
            alone += 1
        # If the share is used up, few operations would carry ten seconds of calls by others.
        if not alone or courier.is_full:
            sent += alone
            break
        sent += alone
        single = spent(stage, before) / alone
        costs.append((sent, piece, single))
        stage.note(f"{what}: at {sent}, {piece:.2f} ms of CPU time each in batches, {single:.2f} "
                   f"one by one ({took:.0f} s, memory +{stage.usage()[0] - first[0]} KiB)")
    meanwhile.end(what)
    if courier.is_full:
        stage.note(f"{what}: stopped, the member's share is used up")
    said = (courier.bytes - before_bytes) // 1024
    grown = [meanwhile.most - first[0], stage.usage()[1] - first[1]]
    stage.note(f"{what}: {sent} in {said} KiB; memory +{grown[0]} KiB, at last "
               f"+{stage.usage()[0] - first[0]}, disk +{grown[1]} KiB: {grown[0] * 1024 // max(sent, 1)} "
               f"and {grown[1] * 1024 // max(sent, 1)} bytes for each; ends: {courier.ends}")
    for place, way, noise in ((1, "in batches", 0.2), (2, "one by one", 1)) if costs else ():
        low, high = costs[0][place], costs[-1][place]
        stage.judge(high > DEARER * low + noise, f"{what} {way}: {low:.2f} ms to {high:.2f} ms",
                    "does not grow")
    stage.judge(grown[0] > ROOM_KIB + 3 * said, f"{what}: memory grows more than what was sent",
                "bounded")


def indexed(stage):
    """Waits until search can find everything that arrived."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        if stage.cli("rpc", "search", "query=nothing")[0]["complete"]:
            return
        time.sleep(0.1)


def spent(stage, before):
    """Waits until the node has processed everything. Returns ms of CPU time since `before`."""
    last, end = stage.usage()[2], time.monotonic() + 60
    while time.monotonic() < end:
        time.sleep(0.3)
        now = stage.usage()[2]
        if now - last <= 60:
            break
        last = now
    return now - before[2]


def ends(stage, attacker):
    """Judges the node with all this data: idle, under local calls, at startup, when someone joins,
    and when the owner removes the member."""
    before = stage.usage()[2]
    time.sleep(5)
    resting = (stage.usage()[2] - before) / 50
    calls = {}
    for words in (("channel", "list"), ("unread",), ("status",), ("send", "general", "still here")):
        start = time.monotonic()
        stage.cli(*words)
        calls[words[0]] = int((time.monotonic() - start) * 1000)
    stage.note(f"idle: {resting:.0f} % of a CPU; calls, in ms: {calls}")
    took = stage.restart()
    if took is not None:
        stage.judge(took > START_MS, f"the home takes {took} ms to start", "it starts")
        stage.cli("send", "general", "after a restart")
    start = time.monotonic()
    with another(stage) as other:
        took = int((time.monotonic() - start) * 1000)
        stage.judge(took > START_MS, f"a node takes {took} ms to join, {other.usage()[2]} ms of "
                    "CPU time", "it joins")
    before, start = stage.usage(), time.monotonic()
    try:
        stage.removes(attacker)
        took, cost = int((time.monotonic() - start) * 1000), spent(stage, before)
        stage.judge(took > START_MS, f"removing the member takes {took} ms, {cost} ms of "
                    "CPU time", "removed")
        stage.cli("send", "general", "in peace")
    except (AssertionError, subprocess.TimeoutExpired) as error:
        stage.broken(f"the member cannot be removed: {error}")

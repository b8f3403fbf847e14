"""A foreign peer that joins a workspace, reads its authority document, and sends anything.

Sections 5.3 to 5.6 of docs/PROTOCOL.md, for one link and one workspace.
"""

import socket
import struct

from notation import H, enc
from operation import AUTHORITY
from protocol import Identity, dial
from runs import read_run, write_run
from terms import CREATE

ZEROS = bytes(32)
WS_OPEN, WS_RESULT, JOIN1, JOIN2, RESULT = 1, 2, 3, 4, 5
TIPS, PULL, OPS, PING, ERROR = 0x12, 0x13, 0x15, 0x30, 0x3F
LINK_OFFER, LINK_REQUEST, LINK_RESULT = 6, 7, 8
OURS = 1
CLOSED = (EOFError, ConnectionError, socket.timeout, BrokenPipeError)
CODES = "open admitted pending invalid expired used busy".split()


class Copy:
    """The attacker's copy of the authority document."""

    def __init__(self):
        self.ops, self.at = {}, {}

    def take(self, o):
        if o.id not in self.ops:
            self.ops[o.id] = o
            self.at.setdefault((o.device, o.inc, o.seq), []).append(o.id)

    def ids(self, device, inc, seq):
        return self.at.get((device, inc, seq), [])

    def heads(self):
        cited = {c for o in self.ops.values() for c in [o.previous, *(d[3] for d in o.deps)]}
        return [o for o in self.ops.values() if o.id not in cited]

    def of(self, *types):
        return [o for o in self.ops.values() if o.type in types]

    @property
    def root(self):
        return self.of(CREATE)[0]


class Visitor:
    """One device of the attacker, on one link."""

    def __init__(self, address, psk, device, copy=None, source=None, timeout=8):
        self.device, self.copy = device, copy or Copy()
        self.identity = Identity(device.key)
        self.peer = dial(address, psk, self.identity, source=source)
        self.peer.socket.settimeout(timeout)
        self.answerer = self.peer.payload[1]
        self.workspace, self.requests, self.ended = None, 0, None
        self.own, self.tips, self.served = {}, [], 0

    def close(self):
        self.peer.socket.close()

    # Messages

    def send(self, kind, fields, class_=0):
        try:
            for part in fragments(bytes([kind]) + enc(fields), class_):
                sealed = self.peer.noise.encrypt(part)
                self.peer.socket.sendall(struct.pack(">H", len(sealed)) + sealed)
        except CLOSED as error:
            self.ended = self.ended or f"closed ({type(error).__name__})"

    def receive(self):
        """The next message that is not handled automatically, or None at the end of the link."""
        while True:
            try:
                kind, fields = self.peer.receive()
            except CLOSED as error:
                quiet = isinstance(error, (socket.timeout, TimeoutError))
                self.ended = self.ended or ("silence" if quiet else "closed")
                return None
            if kind == PING and not fields[2]:
                self.send(PING, {1: fields[1], 2: True})
            elif kind == PULL:
                self.serve(fields)
            elif kind == ERROR:
                self.ended = f"error {fields[1]}"
            else:
                if kind == TIPS:
                    self.tips += [t for d, ts in fields[2] if d == self.workspace for t in ts]
                return kind, fields

    def until(self, *kinds):
        while True:
            message = self.receive()
            if message is None or message[0] in kinds:
                return message

    def settle(self, seconds=2.0):
        """Listens until nothing arrives for a while. Returns whether the link is still open."""
        self.peer.socket.settimeout(seconds)
        self.ended = None
        while self.receive():
            pass
        self.peer.socket.settimeout(8)
        if self.ended == "silence":
            self.ended = None
        return self.ended is None

    # 5.6

    def knock(self, invite):
        """Sends join1, and pulls the authority document if the answer is 0. Returns the code."""
        self.send(JOIN1, invite.hello(self.peer.handshake_hash))
        message = self.until(RESULT)
        if not message:
            return None
        result = message[1]
        self.workspace = result.get(2, self.workspace)
        if result[1] == 0:
            self.open()
            self.pull(tips_in(result))
        return result[1]

    def open(self):
        tag = H(b"wsx-wstag1", self.workspace, self.peer.handshake_hash)[:16]
        self.send(WS_OPEN, {1: OURS, 2: tag, 3: ZEROS, 5: ZEROS})

    def pull(self, tips):
        """Pulls everything up to some tips of the authority document."""
        wanted = [t for t in tips if not any(i[:16] == t[3][:16]
                                             for i in self.copy.ids(t[0], t[1], t[2]))]
        logs = [[self.workspace, t[0], t[1], t[2], t[3][:16], []] for t in wanted]
        for start in range(0, len(logs), 64):
            self.requests += 1
            self.send(PULL, {1: OURS, 2: self.requests, 3: logs[start : start + 64], 4: 1 << 20})
            while True:
                message = self.until(OPS)
                if not message:
                    return
                for run in message[1][3]:
                    for o in read_run(run, self.copy.ids):
                        if o.kind == AUTHORITY:
                            self.copy.take(o)
                if message[1][2] == self.requests:
                    break

    def join2(self, on, member, listed, proven, end=None):
        said = {1: on, 2: member, 3: listed, 4: proven, 5: "Kim"}
        self.send(JOIN2, said if end is None else {**said, 6: end})
        message = self.until(RESULT)
        if not message:
            return None
        if message[1][1] == 1:
            self.pull(tips_in(message[1]))
        return message[1][1]

    # 5.4

    def keep(self, operations):
        """Keeps operations by log, to serve them later."""
        logs = {}
        for o in operations:
            logs.setdefault((o.device, o.inc), []).append(o)
        for name, log in logs.items():
            self.own.setdefault(name, []).extend(log)
        return logs

    def push(self, operations):
        """Sends operations live, and keeps them."""
        runs = [write_run(self.workspace, log) for log in self.keep(operations).values()]
        self.send(OPS, {1: OURS, 2: 0, 3: runs, 4: True}, 1)

    def announce(self, operations):
        """Sends the tips, so that the node can pull what it wants."""
        last = [log[-1] for log in self.keep(operations).values()]
        tips = sorted([o.device, o.inc, o.seq, o.id[:16]] for o in last)
        self.send(TIPS, {1: OURS, 2: [[self.workspace, tips]], 3: True})

    def serve(self, fields):
        """Answers a pull from the announced operations."""
        runs = []
        for document, device, inc, seq, _, have in fields[3]:
            held = max((h[0] for h in have), default=-1)
            log = [o for o in self.own.get((device, inc), []) if held < o.seq <= seq]
            if log and document == self.workspace:
                runs.append(write_run(document, log))
                self.served += len(log)
        self.send(OPS, {1: OURS, 2: fields[2], 3: runs, 4: True}, 2)


def tips_in(result):
    """The tips of join_result have the same form as in `tips`, which 5.3 does not say."""
    return [tip for _, tips in result.get(3) or [] for tip in tips]


def fragments(message, class_):
    """Splits a message into frames of one fragment each."""
    parts = [message[i : i + 16_384] for i in range(0, len(message), 16_384)]
    for place, part in enumerate(parts):
        last = 4 if place == len(parts) - 1 else 0
        yield struct.pack(">BH", class_ | last, len(part)) + part

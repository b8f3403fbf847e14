"""A handwritten workspace, for selftest.py."""

from dataclasses import dataclass

import writer
from authority import Authority
from terms import MEMBER
from writer import Device, InviteKey


@dataclass
class Person:
    """A device with the grant under which it acts."""

    device: Device
    member: bytes
    grant: bytes

    def under(self, o):
        return Person(self.device, self.member, o.id)


class World:
    """Operations in the order of writing, and the expected verdicts of some."""

    def __init__(self, recovery=None):
        device = Device()
        self.root = writer.create(device, recovery)
        self.ops, self.faulty, self.expected = [self.root], [], {}
        self.owner = Person(device, self.root.map[2], self.root.id)
        self.keys = {}

    def heads(self, ops):
        cited = {c for o in ops for c in [o.previous, *(d[3] for d in o.deps)]}
        return [o for o in ops if o.id not in cited]

    def write(self, who, said, expect=None, knows=None, ms=None, after=...):
        """`knows`: what to cite instead of everything so far. Operations that are expected to have
        a fault are kept separately, so that nothing cites them by default."""
        deps = self.heads(self.ops) if knows is None else self.heads(knows)
        before = who.device.inc, who.device.tip
        o = who.device.write(self.root.id, *said, who.grant, deps, ms, after)
        if expect in (None, "valid", "void"):
            self.ops.append(o)
        else:
            self.faulty.append(o)
            who.device.inc, who.device.tip = before
        if expect:
            self.expected[o.id] = expect
        return o

    def invite(self, who, role, expect=None, knows=None, after=..., **more):
        key = InviteKey()
        o = self.write(who, writer.invite(role, key.public, **more), expect, knows, after=after)
        self.keys[o.id] = key
        return o

    def admission(self, who, on, device, recovery=None, request=None, key=bytes(16)):
        """The admit by `who` of a device that signed for `who`, or for the author of the
        request."""
        answerer = request.device if request else who.device.id
        member, listed = writer.for_joining([device], self.root.id, on.id, answerer, recovery)
        return self.with_proof(on, member, listed, key, request)

    def with_proof(self, on, member, listed, key=bytes(16), request=None):
        proven = self.keys[on.id].prove(self.root.id, on.id, member, listed)
        return writer.admit(on.id, member, listed, proven, key, request and request.id)

    def admit(self, who, on, device=None, expect=None, knows=None, after=..., **more):
        device = device or Device()
        said = self.admission(who, on, device, **more)
        o = self.write(who, said, expect, knows, after=after)
        return Person(device, said[1][2], o.id), o

    def join(self, role=MEMBER, by=None):
        by = by or self.owner
        return self.admit(by, self.invite(by, role))[0]

    def ask(self, who, on, device, expect=None, ms=None):
        """A request by `who` for a device."""
        member, listed = writer.for_joining([device], self.root.id, on.id, who.device.id)
        proven = self.keys[on.id].prove(self.root.id, on.id, member, listed)
        return self.write(who, writer.request(on.id, member, listed, proven), expect, ms=ms)

    def link(self, who, device=None, expect=None, knows=None, after=..., takes_place=False):
        """An adddev for the member of `who`."""
        device = device or Device()
        listed = writer.for_linking(device, self.root.id, who.device.id, who.member)
        said = writer.adddev(listed, takes_place=takes_place)
        o = self.write(who, said, expect, knows, after=after)
        return Person(device, who.member, o.id), o

    def listed(self, o):
        """The entries that an operation published."""
        return {d[0]: d for d in o.map[3 if o.type != 5 else 1]}

    def op(self, name):
        return next(o for o in self.ops + self.faulty if o.id == name)

    def judged(self):
        return Authority(self.ops + self.faulty)

    def disagreements(self):
        """The verdicts that differ from the expected ones."""
        a, found = self.judged(), []
        for name, expected in self.expected.items():
            verdict = a.refused.get(name) or ("valid" if name in a.valid else "void")
            if name in a.waiting:
                verdict = "waiting"
            if verdict != expected:
                found.append(f"type {self.op(name).type}: {verdict} instead of {expected}")
        return found


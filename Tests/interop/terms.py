"""The terms of section 4 of docs/PROTOCOL.md: past, lam, grants, rank, binding, age.

Everything follows the text literally, with pasts as plain sets, without regard to speed.
"""

from typing import NamedTuple

from ages import Roll

OWNER, ADMIN, MEMBER, GUEST = range(4)
INFINITY = 1 << 64
(CREATE, INVITE, REQUEST, ADMIT, ADDDEV, GRANT, REMOVE, RMDEV, RVINV, LEAVE, RECUT, CUTPART,
 DOCCREATE, DOCSET, DOCDEL, WSSET, WSDEL, REKEY, FEATURE,
 CONFIRM) = range(1, 21)
# The maximum number of successive phrases behind a listed one (V-12).
SUCCESSIONS_MAX = 16
# The last parts of the rank of a device that took no other's place.
NOTHING_TAKEN = (0, bytes(32))
GRANTS = {CREATE, ADMIT, ADDDEV, GRANT}


class Given(NamedTuple):
    """What a grant gives one device."""

    member: bytes
    role: int
    place: int


class Terms:
    """A causally closed set of operations, and the terms of section 4 about them."""

    def __init__(self):
        self.ops, self.past, self.lam = {}, {}, {}
        self.rolls = {}

    def cited(self, o):
        return [c for c in [o.previous, *(d[3] for d in o.deps)] if c]

    def place(self, o):
        """Adds an operation. Everything that it cites must be here."""
        cited = self.cited(o)
        self.ops[o.id] = o
        self.past[o.id] = set(cited).union(*(self.past[c] for c in cited))
        self.lam[o.id] = 1 + max((self.lam[c] for c in cited), default=0)

    def knows(self, o, other):
        return other in self.past[o.id]

    def known(self, o, *types):
        """The operations of some types in the past of o."""
        return [p for p in map(self.ops.get, self.past[o.id]) if p.type in types]

    def knows_as(self, o, other, *types):
        """The operation with an id, if it is in o's past and has one of these types."""
        found = self.ops.get(other)
        return found if found and self.knows(o, other) and found.type in types else None

    # Grants

    def listed(self, g):
        """What a grant gives to its devices, in the order of the table of grants."""
        if g.type == CREATE:
            return [(d[0], g.map[2], OWNER) for d in g.map[3]]
        if g.type == ADMIT:
            return [(d[0], g.map[2], self.invited_role(g)) for d in g.map[3]]
        if g.type == ADDDEV:
            author = self.author(g)
            return [(d[0], author.member, author.role) for d in g.map[1]]
        heirs = [(d, g.map[1], g.map[3]) for d in g.map[2]]
        if not g.map[5]:
            return heirs
        author = self.author(g)
        return heirs + [(d, author.member, author.role + 1) for d in g.map[5]]

    def invited_role(self, admit):
        """The role of the invite. After an unknown feature there may be none; it is unused
        (A-6)."""
        on = self.ops.get(admit.map[1])
        return on.map.get(1, GUEST) if on and on.type == INVITE and on.map else GUEST

    def gives(self, g, device):
        """What a grant gives a device, at its first place; None if it does not list it."""
        for place, (listed, member, role) in enumerate(self.listed(g)):
            if listed == device:
                return Given(member, role, place)
        return None

    def author(self, o):
        """The author's member and the acting role. If the author acts behind another device under
        the grant, those of that device."""
        return self.gives(self.ops[o.grant], self.acting(o))

    def acting(self, o):
        """The device as which an operation is judged under its grant (V-12)."""
        return o.behind[0] if o.behind else o.device

    def supports(self, o):
        """V-1: what must be valid for an operation: its grant, an admit's invite, an invite's
        wsset."""
        named = o.map[1] if o.type == ADMIT else o.map.get(8) if o.type == INVITE else None
        return [n for n in (o.grant, named) if n in self.ops]

    def drops(self, o):
        return o.type == GRANT and o.map[5] is not None

    def is_end(self, o):
        return o.type in (REMOVE, LEAVE)

    def is_own_end(self, o):
        return o.type == LEAVE or o.type == RMDEV and o.map[1] == o.device

    def is_final_end(self, o):
        """Whether o is an rmdev of its own device that knows a successor."""
        return o.type == RMDEV and self.is_own_end(o) and bool(self.successions(o))

    def successions(self, o):
        """The adddevs with 4 that o knows, by o's device for the same member."""
        return [p for p in self.known(o, ADDDEV) if self.takes_place(p) and p.device == o.device
                and self.author(p).member == self.author(o).member]

    def successor(self, end):
        """V-12: the successor: the device of the first such adddev that a final end knows, leaving
        out devices that it knows the old phrase revoked; None if it revoked all."""
        gone = {p.map[1] for p in self.known(end, RMDEV) if p.device == end.device
                and self.author(p).member == self.author(end).member}
        named = [p for p in self.successions(end) if p.map[1][0][0] not in gone]
        first = min(named, key=lambda p: (self.lam[p.id], p.id), default=None)
        return first and first.map[1][0][0]

    def introduces(self, o):
        """The name of the key that an operation introduces, or None."""
        if o.type == CREATE:
            return o.map[4]
        if o.type == REKEY:
            return o.map[1]
        return o.map[3] and o.map[3][0] if o.type in (REMOVE, RMDEV) else None

    # Ranks: smaller is stronger

    def rank_of_grant(self, g, device):
        """The rank of a grant for a device. A succession adds its own part after the place."""
        if self.takes_place(g):
            return (*self.rank_of_author(g)[:4], self.lam[g.id], g.id)
        given = self.gives(g, device)
        return (given.role, self.lam[g.id], g.id, given.place, *NOTHING_TAKEN)

    def rank_of_author(self, o):
        return self.rank_of_grant(self.ops[o.grant], self.acting(o))

    def rank(self, o):
        if o.type == CREATE:
            return (-1,)
        own = self.own_rank(o)
        if o.type != ADMIT:
            return own
        return max(own, (*self.rank_of_author(self.ops[o.map[1]]), 1, INFINITY, o.id))

    def own_rank(self, o):
        """The rank of o by its author alone, regardless of the invite that it names."""
        author, lam = self.rank_of_author(o), self.lam[o.id]
        if o.type == ADMIT and self.rank_of_author(self.ops[o.map[1]]) >= author:
            lam = INFINITY
        generation = o.behind[1] if o.behind else 0
        return (*author, 2 * generation + (0 if self.is_own_end(o) else 1), lam, o.id)

    # Binding

    def takes_place(self, o):
        """Whether o adds a new recovery phrase, right behind its author."""
        return o.type == ADDDEV and 4 in o.map

    def ends_own_phrase(self, o):
        """V-6: whether o is an rmdev of another recovery device of its author's member."""
        return o.type == RMDEV and o.map[1] != o.device and any(
            self.makes_recovery(p, o.map[1], self.author(o).member)
            for p in map(self.ops.get, self.past[o.id]))

    def makes_recovery(self, o, device, member):
        """Whether an operation makes a device a recovery device of a member."""
        devices, bound = self.binds(o)
        if bound != member or device not in devices:
            return False
        return self.takes_place(o) or len(devices) == 2 and devices[0] == device

    def binds(self, o):
        """The devices that an operation binds, in order, and their member."""
        if o.type in (CREATE, ADMIT):
            return [d[0] for d in o.map[3]], o.map[2]
        if o.type == ADDDEV:
            return [d[0] for d in o.map[1]], self.author(o).member
        return [], None

    def bindings(self, past):
        """(device, member) of every binding in a past."""
        for b in map(self.ops.get, past):
            devices, member = self.binds(b)
            for device in devices:
                yield device, member

    def members_of(self, device, past):
        return {m for d, m in self.bindings(past) if d == device}

    def is_bound(self, member, devices, past):
        return any(m == member or d in devices for d, m in self.bindings(past))

    def roll(self, member, past):
        return Roll(self, member, past)

    def roll_of_grant(self, grant, member):
        """The roll of a grant's past, including the grant."""
        if (grant, member) not in self.rolls:
            self.rolls[grant, member] = self.roll(member, {*self.past[grant], grant})
        return self.rolls[grant, member]

    def is_barred(self, device, past):
        """Whether an rmdev bars a device for any of its members."""
        return any(self.roll(m, past).bars.get(device) for m in self.members_of(device, past))

    def is_tied(self, device, member, past):
        """Whether a binding of a device to a member counts, and nothing bars the device."""
        return device in self.roll(member, past).ages and not self.is_barred(device, past)

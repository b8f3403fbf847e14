"""Membership of private documents: sections 4.3 and 4.4 of docs/PROTOCOL.md.

Uses the engine of section 4, with members in the place of devices. One operation may give several
seats; each seat is a separate part, named by the operation's id and its position. Unlike in
section 4, an operation with a fault is not refused.
"""

from types import SimpleNamespace

from authority import Authority
from notation import Malformed, enc_decoded
from private import private_plaintext
from standings import Later, hits_later
from terms import ADMIN, CREATE, GRANT, LEAVE, OWNER, REMOVE

ROOT, ADD, OUT, GONE, ROLE, SET, REKEY, DELETE = range(1, 9)
CHANNEL, DIRECT, OWN = range(1, 4)
# Changes without a type in the engine: they revoke nothing, and only need their author's right.
FIELDS, END, KEY, NOTHING = range(100, 104)


class PrivateAuthority(Authority):
    """The verdicts on the operations of kind 3 of one document.

    `workspace` answers for section 4: `author(o)`, the member who wrote an operation;
    `is_valid(o)`, whether it is valid there; `ends(member)`, the valid removes and leaves of a
    member; `grant_past(o)`, the past of the grant in a header.
    """

    has_devices = False

    def __init__(self, document, operations, keys, workspace):
        self.whole = {o.id: o for o in operations}
        self.workspace = workspace
        self.said = {o.id: self.change(private_plaintext(o, keys)) for o in operations}
        root = self.said.get(document)
        self.subtype = root[1][1] if root and self.is_root(document, root[1]) else None
        self.ops, self.past, self.lam, self.structural = {}, {}, {}, {}
        self.parts, self.heard, self.valid = {}, {}, set()
        if self.subtype is None:
            return
        for o in self.placed(document):
            self.take_parts(o)
        self.root = self.ops[document, 0]
        self.valid = self.judged()

    def take_parts(self, o):
        cited = [c for c in self.cites(o) if c in self.parts]
        self.heard[o.id] = set(cited).union(*(self.heard[c] for c in cited))
        lam = 1 + max((self.lam[self.parts[c][-1]] for c in cited), default=0)
        past = set().union(*(self.parts[c] for c in self.heard[o.id]))
        self.parts[o.id] = []
        for part in self.actions(o):
            self.ops[part.id] = part
            self.lam[part.id], self.past[part.id] = lam, past | set(self.parts[o.id])
            self.parts[o.id].append(part.id)
            self.structural[part.id] = self.is_structural(part)

    def change(self, plaintext):
        """Returns (type, map), or None for a meaningless change."""
        try:
            said = enc_decoded(plaintext) if plaintext is not None else None
        except Malformed:
            return None
        return said if said and said[0] in range(ROOT, DELETE + 1) else None

    def is_root(self, document, root):
        own = self.workspace.author(self.whole[document])
        return [own, OWNER] in root[2] and (root[1] != OWN or len(root[2]) == 1)

    # The graph

    def cites(self, o):
        """The cited ids. Previous is the nearest earlier operation of kind 3 on the branch."""
        deps = [d[3] for d in o.deps if d[3] in self.whole]
        return [c for c in [o.earlier, *deps] if c]

    def placed(self, document):
        """Sorts causes first. What cites a missing operation is left out."""
        waiting, done = dict(self.whole), set()
        while True:
            ready = [o for o in waiting.values() if all(c in done for c in self.cites(o))
                     and (self.cites(o) or o.id == document)]
            if not ready:
                return
            for o in ready:
                done.add(o.id)
                del waiting[o.id]
                yield o

    # One operation in terms of the engine

    def epoch(self, o):
        """The fields of the epoch that an operation introduces, or None. A root has its key."""
        if not self.said[o.id]:
            return None
        kind, said = self.said[o.id]
        if kind == ROOT:
            return [o.keyid, [], []]
        return said.get({ADD: 2, OUT: 3, REKEY: 1}.get(kind))

    def actions(self, o):
        said, author = self.said[o.id], self.workspace.author(o)
        epoch = self.epoch(o)
        sound = said and author is not None and (epoch is None or epoch[0] == o.keyid)
        kind, what = said if sound else (0, {})
        for place, (type_, map_) in enumerate(self.acts(kind, what, author)):
            grant = (o.id, 0) if kind == ROOT else self.seat_of(what.get(15), author)
            yield SimpleNamespace(id=(o.id, place), type=type_, map=map_, device=author,
                                  grant=grant, deps=[], whole=o, is_add=kind in (ROOT, ADD),
                                  is_again=False, behind=None)

    def acts(self, kind, what, author):
        """The engine's (type, map) pairs for one operation."""
        if kind == ROOT:
            others = [s for s in what[2] if s[0] != author]
            return [(CREATE, {2: author, 3: [[author]]}), *map(seat, others)]
        if kind == REKEY:
            return [(KEY, {})]
        if self.subtype != CHANNEL or kind == 0:
            return [(NOTHING, {})]
        if kind == ADD:
            return [seat(s) for s in what[1]]
        if kind == ROLE:
            return [seat([what[1], what[2]], not what[3], [author] if what[3] else None)]
        return {OUT: lambda: [(REMOVE, {1: what[1], 2: what[2], 3: None, 5: 0})],
                GONE: lambda: [(LEAVE, {1: what[1]})],
                SET: lambda: [(END if what.get(4) is not None else FIELDS, {})],
                DELETE: lambda: [(END, {})]}[kind]()

    def listed(self, g):
        """(member, member, role) of a grant's seats. A transfer also seats its author as admin."""
        if g.type == CREATE:
            return [(g.map[2], g.map[2], OWNER)]
        own = [(d, d, ADMIN) for d in g.map[5] or []]
        return [(g.map[1], g.map[1], g.map[3]), *own]

    def seat_of(self, operation, member):
        """The part of an operation that gives a member a seat."""
        return next((p for p in self.parts.get(operation, []) if self.is_seat(p, member)), None)

    def is_seat(self, part, member):
        seated = self.ops[part]
        return seated.type in (CREATE, GRANT) and self.gives(seated, member) is not None

    # 4.3 Structure

    def counted(self):
        return [o for o in self.ops.values() if self.structural[o.id]]

    def is_structural(self, o):
        if not self.workspace.is_valid(o.whole) or o.type == NOTHING:
            return False
        if o.type == CREATE:
            return True
        if o.grant not in self.past[o.id] or self.has_lapsed(o):
            return False
        own, role, _ = self.author(o)
        if o.type == GRANT:
            if role > ADMIN or o.map[1] == own or (o.map[3] == OWNER) != self.drops(o):
                return False
            known = any(self.structural[p] and self.is_seat(p, o.map[1]) for p in self.past[o.id])
            return ((role == OWNER if self.drops(o) else o.map[3] > role)
                    and (o.is_add or known))
        return {REMOVE: role <= ADMIN and o.map.get(1) != own, LEAVE: role != OWNER,
                FIELDS: role <= ADMIN, END: role == OWNER, KEY: True}[o.type]

    def has_lapsed(self, o):
        """Whether the grant in its header knows an end of its author that its seat does not."""
        if self.subtype != CHANNEL or o.is_add and o.grant == (o.whole.id, 0):
            return False
        seat = o.grant[0]
        known = set()
        for s in {seat} | self.heard[seat]:
            known |= self.workspace.grant_past(self.whole[s])
            # A named grant proves what its author knew; a named end proves nothing.
            for named in (self.epoch(self.whole[s]) or [0, 0, []])[2]:
                known |= self.workspace.past_of_grant(named)
        return not self.workspace.ends(o.device) & self.workspace.grant_past(o.whole) <= known

    # 4.3 Owners

    def judged(self):
        self.handing = self.owners()
        return super().judged()

    def owners(self):
        """Maps each owner's seat and member to the next transfer: a chain from the root."""
        handing, seat, owner = {}, self.root.id, self.root.device
        while True:
            transfers = [o for o in self.counted() if o.type == GRANT and self.drops(o)
                         and (o.grant, o.device) == (seat, owner)]
            if not transfers:
                return handing
            following = handing[seat, owner] = min(transfers, key=self.rank)
            seat, owner = following.id, following.map[1]

    def stands(self, o, valid, revocations):
        following = self.handing.get((o.grant, o.device))
        if following and o.id != following.id and o.id not in self.past[following.id]:
            return False
        return super().stands(o, valid, revocations)

    def is_valid(self, o):
        return any(p in self.valid for p in self.parts.get(o.id, []))

    # 4.4 Which keys there are

    def introductions(self, key, member):
        """The introductions of a key that count for a member: valid, or by someone else."""
        naming = [o for o in self.whole.values() if o.id in self.parts
                  and any(self.structural[p] for p in self.parts[o.id])
                  and (self.epoch(o) or [None])[0] == key]
        first = [o for o in naming if not any(n.id in self.heard[o.id] for n in naming)]
        return [o for o in first if self.is_valid(o) or self.workspace.author(o) != member]

    # Content

    def ends(self, member, seat, seen=()):
        """The valid removes and leaves that hit a seat, or a seat that replaced it."""
        found = set()
        if seat in seen:
            return found
        for r in self.in_force:
            if r.type not in (REMOVE, LEAVE) and not (r.type == GRANT and r.map[4]):
                continue
            if hits_later(self, self.in_force, r, Later(member, seat)):
                found |= {r.id} if r.type in (REMOVE, LEAVE) else self.ends(member, r.id, seen)
        # The seat that the member kept in the latest transfer that the seat does not know.
        kept = [r for r in self.in_force if r.type == GRANT and self.drops(r) and r.device == member
                and r.id != seat and r.id not in self.past[seat]]
        if kept:
            latest = max(kept, key=lambda r: (self.lam[r.id], r.id))
            found |= self.ends(member, latest.id, (*seen, seat))
        return found

    def allows(self, o, covers):
        """Whether content counts. `covers(cut)` says whether a cut keeps it."""
        member = self.workspace.author(o)
        introducing = self.introductions(o.keyid, member)
        seats = {p for p in self.valid if self.is_seat(p, member)}
        ends = {seat: self.ends(member, seat) for seat in seats}
        for seat in seats:
            survived = {r[0] for other in seats for r in ends[other] if r in self.past[seat]}
            if survived and not any(survived <= self.heard[e.id] | {e.id} for e in introducing):
                continue
            if all(any(covers(cut) for cut in self.cuts(self.ops[r])) for r in ends[seat]):
                return True
        return False


def seat(entry, replaces=False, drops=None):
    member, role = entry
    return GRANT, {1: member, 2: [member], 3: role, 4: replaces, 5: drops, 6: []}

"""Section 4 of docs/PROTOCOL.md: which authority operations are accepted, and which are valid."""

from dataclasses import replace

import bindings
import faults
from revocations import gives_up, hits, is_confirmed, is_revocation, unknown_additions
from standings import held, strongest
from terms import (ADDDEV, ADMIN, ADMIT, CONFIRM, CREATE, FEATURE, GRANT, GRANTS, INVITE, OWNER, RMDEV, SUCCESSIONS_MAX,
                   WSSET, Terms)


class Authority(Terms):
    """The verdicts on a set of authority operations of one document.

    `refused` maps each operation with a fault to the rule it breaks, and what cites one to S-1;
    these are not in `ops`. `valid` has the ids of the valid operations; the rest of `ops` is void.
    """

    # In a private document, members take the place of devices.
    has_devices = True
    # The valid operations as they count: a final end once for each grant (V-10).
    in_force = ()
    # The features known to this reader (4.0.5).
    known_features = frozenset()

    def __init__(self, operations):
        super().__init__()
        self.refused, self.waiting, self.root = {}, {}, None
        for o in self.in_causal_order(operations):
            self.take(o)
        self.valid = self.judged()

    def in_causal_order(self, operations):
        done, waiting = set(), {o.id: o for o in operations}
        while True:
            ready = [o for o in waiting.values() if all(c in done for c in self.cited(o))]
            if not ready:
                self.waiting = waiting
                return
            for o in ready:
                done.add(o.id)
                del waiting[o.id]
                yield o

    def take(self, o):
        """S-1: an operation is judged once, when all of its past is here."""
        if any(c in self.refused for c in self.cited(o)):
            self.refused[o.id] = "S-1"
            return
        self.place(o)
        if o.type == CREATE and self.root is None and not o.previous:
            self.root = o
        rule = faults.fault(self, o)
        if rule:
            self.refused[o.id] = rule
            del self.ops[o.id], self.past[o.id], self.lam[o.id]

    def invite(self, o):
        """The invite named by a request, admit or rvinv, if it is in the past."""
        return self.knows_as(o, o.map[1], INVITE)

    def binding_fault(self, o):
        """The rule of A-1 to A-4 that an operation breaks, or None."""
        return bindings.fault(self, o)

    def is_behind_feature(self, o):
        return any(f.map[1] not in self.known_features for f in self.known(o, FEATURE))

    def cuts(self, o):
        return faults.cuts(self, o)

    # V-1

    def judged(self):
        """Judges all in one pass, the strongest first."""
        valid, revocations = set(), []
        # V-6: what is valid only because it is confirmed; and adddevs that only their own person
        # has ended, because confirmed operations may rest on them.
        self.kept, self.standing_only, self.displaced, self.in_force = set(), set(), set(), []
        for o in sorted([*self.counted(), *self.counted_again()], key=self.rank):
            if o.type != CREATE and not self.stands(o, valid, revocations):
                continue
            valid.add(o.id)
            self.in_force.append(o)
            if is_revocation(self, o):
                revocations.append(o)
        return valid

    def counted(self):
        """What is judged: nothing after an unknown feature (4.0.5)."""
        return [o for o in self.ops.values() if not self.is_behind_feature(o)]

    def counted_again(self):
        """V-10: each end of a device again, as if it cited each other grant where it counts."""
        counted = self.counted()
        ends = [o for o in counted if o.type == RMDEV]
        lines = {e.id: self.line(e.device, self.author(e).member, e) for e in ends}
        for g in (g for g in counted if g.type in GRANTS):
            first = self.first_given(g) if g.type == GRANT else {}
            for e in ends:
                place = first.get(self.author(e).member)
                if place and self.counts_unlisted(e, g):
                    yield replace(e, grant=g.id, is_again=True, behind=(place, -1))
                behind = [(root, k) for k, root in enumerate(lines[e.id], 1)
                          if self.gives_own(g, root, e)]
                listed = [None] if self.gives_own(g, e.device, e) and g.id != e.grant else []
                for place in [*listed, *behind]:
                    if self.is_final_end(e) or self.is_first_for(e, g):
                        yield replace(e, grant=g.id, is_again=True, behind=place)

    def gives_own(self, g, device, e):
        """Whether g gives a device to the member for whom e ends one."""
        given = self.gives(g, device)
        return given and given.member == self.author(e).member

    def line(self, device, member, o):
        """V-12: the line of phrases before a device that o knows, the nearest first."""
        found = []
        while len(found) < SUCCESSIONS_MAX:
            words = [b for b in self.known(o, ADDDEV) if self.takes_place(b)
                     and b.map[1][0][0] == device and self.author(b).member == member]
            o = min(words, key=lambda b: (self.lam[b.id], b.id), default=None)
            if o is None:
                break
            device = o.device
            found.append(device)
        return found

    def first_given(self, g):
        """Maps each member to the first device that g gives it."""
        found = {}
        for device, _, _ in self.listed(g):
            found.setdefault(self.gives(g, device).member, device)
        return found

    def counts_unlisted(self, e, g):
        """V-13: whether e is a final end of a phrase that g does not give, g knows an adddev by the
        phrase, and g does not know e."""
        member = self.author(e).member
        return (self.is_final_end(e) and not self.gives_own(g, e.device, e) and not self.knows(g, e.id)
                and any(b.device == e.device and self.author(b).member == member
                        for b in self.known(g, ADDDEV)))

    def is_confirmed_by_another(self, o):
        """V-13: whether a valid confirm by another member that is stronger than o names it."""
        return any(c.type == CONFIRM and o.id in c.map[1] and self.rank(c) < self.rank(o)
                   and self.author(c).member != self.author(o).member for c in self.in_force)

    def has_followed(self, o):
        """V-12: whether the phrase before it has a final end under the grant that names it. V-13:
        whether another member has confirmed it, if the grant does not give its phrase."""
        if not o.behind:
            return True
        root, generation = o.behind
        if generation < 0:
            return self.is_confirmed_by_another(o)
        return any(e.grant == o.grant and self.is_final_end(e) and self.successor(e) == o.device
                   and (e.behind == (root, generation - 1)
                        or generation == 1 and not e.behind and e.device == root)
                   for e in self.in_force if e.type == RMDEV)

    def is_first_for(self, e, g):
        """Whether g is no adddev, and gives the ended device to the member or knows a binding by
        it that e does not know; and g knows neither e nor an earlier own revocation of the same
        device by the same device that e knows."""
        author, given = self.author(e), self.gives(g, e.map[1])
        return (e.map[1] != e.device and g.type != ADDDEV
                and (given and given.member == author.member or unknown_additions(self, e, g))
                and not self.knows(g, e.id)
                and not any(p.map[1] == e.map[1] and p.device == e.device
                            and self.author(p).member == author.member
                            and not self.knows(g, p.id) for p in self.known(e, RMDEV)))

    def stands(self, o, valid, revocations):
        confirmed = is_confirmed(self, o, valid) and not self.ends_own_phrase(o)
        if o.grant not in valid and o.grant not in self.standing_only or not self.has_followed(o):
            return False
        if o.type == ADMIT and (o.map[1] not in valid or o.map[1] in self.kept and not confirmed):
            return False
        if o.type == INVITE and not (8 not in o.map or o.map[8] in valid):
            return False
        if o.type == INVITE and not self.is_invited_rightly(o, valid):
            return False
        ends = [r for r in revocations if hits(self, r, o)]
        if not all(gives_up(self, r, o) for r in ends):
            return False
        if o.grant in valid and not ends:
            return True
        displaced = o.grant in self.displaced
        if displaced and o.type == RMDEV:
            return False
        if confirmed:
            self.kept.add(o.id)
        elif o.type == ADDDEV:
            self.standing_only.add(o.id)
            if displaced or any(self.is_final_end(r) for r in ends):
                self.displaced.add(o.id)
        return confirmed

    def is_invited_rightly(self, o, valid):
        """4.0.6, Inviting: whether the policy in force in its past allows it."""
        role = self.author(o).role
        if role == OWNER:
            return True
        said = [w for w in self.known(o, WSSET)
                if 4 in w.map and w.id in valid and self.rank(w) < self.rank(o)]
        policy = max(said, key=lambda w: (self.lam[w.id], self.rank(w))).map[4] if said else 1
        return policy == 2 or policy == 1 and role == ADMIN

    # V-2

    def standing(self, device):
        """(role, member) of a device now, or None."""
        seat = self.strongest(device)
        return seat and (seat.role, seat.member)

    def strongest(self, device):
        """The strongest seat of a device."""
        return strongest(self, self.in_force, device)

    def roles(self):
        """The strongest role of every member who is in. A device may belong to several members."""
        found = {}
        for seat in held(self, self.in_force):
            found[seat.member] = min(seat.role, found.get(seat.member, seat.role))
        return found

    def is_read_only(self):
        """4.0.5: whether a valid operation is an unknown feature."""
        return any(o.type == FEATURE and o.map[1] not in self.known_features for o in self.in_force)

    def uses(self, invite):
        """S-6: the members admitted by valid admits on an invite."""
        return {o.map[2] for o in self.in_force if o.type == ADMIT and o.map[1] == invite}

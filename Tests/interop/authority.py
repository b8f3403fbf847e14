"""Who may do what: sections 3.1 and 4 of docs/PROTOCOL.md.

The rules are taken as they are said, with pasts as plain sets and no thought of speed.
"""

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from protocol import H, enc

OWNER, ADMIN, MEMBER, GUEST = range(4)
INFINITY = 1 << 64
(CREATE, INVITE, REQUEST, ADMIT, ADDDEV, GRANT, REMOVE, RMDEV, RVINV, LEAVE, RECUT, CUTPART,
 DOCCREATE, DOCSET, DOCDEL, WSSET, WSDEL, REKEY, FEATURE) = range(1, 20)
GRANTS = {CREATE, ADMIT, ADDDEV, GRANT}


def signed(key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


class Authority:
    """The verdicts on a set of authority operations, every one with all it cites in the set."""

    def __init__(self, operations):
        self.ops = {o.id: o for o in operations}
        self.root = next(o for o in operations if o.type == CREATE)
        self.salts = {self.root.map[2]: self.root.map[1]}
        self.past, self.lam, self.structural = {}, {}, {}
        for o in self.in_causal_order():
            cited = self.cited(o)
            self.past[o.id] = set(cited).union(*(self.past[c] for c in cited))
            self.lam[o.id] = 1 + max((self.lam[c] for c in cited), default=0)
            self.structural[o.id] = self.is_structural(o)
        self.valid = self.run()

    def cited(self, o):
        return [c for c in [o.previous, *(d[3] for d in o.deps)] if c]

    def in_causal_order(self):
        done, waiting = set(), dict(self.ops)
        while waiting:
            ready = [o for o in waiting.values() if all(c in done for c in self.cited(o))]
            assert ready, "what an operation cites is missing"
            for o in ready:
                done.add(o.id)
                del waiting[o.id]
                yield o

    # What grants say

    def subject(self, grant):
        o = self.ops[grant]
        return {CREATE: lambda: o.map[2], ADMIT: lambda: o.map[2], GRANT: lambda: o.map[1],
                ADDDEV: lambda: self.subject(o.grant)}[o.type]()

    def devices(self, grant):
        o = self.ops[grant]
        return {CREATE: lambda: [d[0] for d in o.map[3]], ADMIT: lambda: [d[0] for d in o.map[3]],
                GRANT: lambda: o.map[2], ADDDEV: lambda: [d[0] for d in o.map[1]]}[o.type]()

    def role(self, grant):
        """What a grant gives."""
        o = self.ops[grant]
        return {CREATE: lambda: OWNER, ADMIT: lambda: self.ops[o.map[1]].map[1],
                GRANT: lambda: o.map[3], ADDDEV: lambda: self.acting_role(o)}[o.type]()

    def acting_role(self, o):
        """What the author may do: one role less where the author had given it up before."""
        role, own = self.role(o.grant), self.subject(o.grant)
        known = self.past[o.id] - self.past[o.grant]
        given_up = any(
            d.type == GRANT and d.map[5] and d.id != o.grant and self.structural[d.id]
            and self.subject(d.grant) == own for d in map(self.ops.get, known))
        return min(role + 1, MEMBER) if given_up and role <= ADMIN else role

    # Ranks: smaller is stronger

    def rank_of_grant(self, grant):
        return (self.role(grant), self.lam[grant], grant)

    def rank_of_author(self, o):
        return (self.acting_role(o), self.lam[o.grant], o.grant,
                self.devices(o.grant).index(o.device))

    def rank(self, o):
        if o.type == CREATE:
            return (-1,)
        rank = self.rank_of_author(o) + (self.lam[o.id], o.id)
        if o.type != ADMIT:
            return rank
        return max(rank, self.rank_of_author(self.ops[o.map[1]]) + (INFINITY, b""))

    # Binding

    def member_of(self, devices, salt):
        return H(b"wsx-member", devices[0][0] + salt)[:16]

    def possessed(self, devices, member, salt):
        return all(signed(d[0], b"wsx-dev1" + salt + member + d[1], d[2]) for d in devices)

    def possessed_first(self, devices, member, salt):
        """In create, request and admit the first of several is a recovery device."""
        if len(devices) < 2:
            return self.possessed(devices, member, salt)
        first, second = devices[0], devices[1]
        return (len({d[0] for d in devices}) == len(devices)
                and signed(first[0], b"wsx-rec1" + first[1] + second[0], first[2])
                and self.possessed(devices[1:], member, salt))

    def is_well_bound(self, o):
        workspace = self.root.id
        if o.type == CREATE:
            return self.member_of(o.map[3], o.map[1]) == o.map[2] and self.possessed_first(
                o.map[3], o.map[2], o.map[1])
        if o.type in (REQUEST, ADMIT):
            invite = self.ops.get(o.map[1])
            if not invite or invite.type != INVITE:
                return False
            said = (b"wsx-inv1" + workspace + o.map[1] + o.map[2]
                    + H(b"wsx-devs1", enc(o.map[3])))
            salt = self.salts.get(o.map[2], workspace)
            return (self.member_of(o.map[3], salt) == o.map[2]
                    and self.possessed_first(o.map[3], o.map[2], salt)
                    and signed(invite.map[4], said, o.map[4]))
        if o.type == ADDDEV:
            if o.grant not in self.ops or self.ops[o.grant].type not in GRANTS:
                return False
            member = self.subject(o.grant)
            return self.possessed(o.map[1], member, self.salts.get(member, workspace))
        return o.type <= FEATURE

    def bound_devices(self, o):
        """The devices that an operation makes its subject's."""
        if o.type in (CREATE, ADMIT):
            return {d[0] for d in o.map[3]}
        return {d[0] for d in o.map[1]} if o.type == ADDDEV else set()

    def owners(self, device, past):
        """The members to whom a past binds a device."""
        return {self.subject(p) for p in past
                if self.structural[p] and device in self.bound_devices(self.ops[p])}

    def takes_no_device(self, o):
        member = self.subject(o.id)
        return all(self.owners(d, self.past[o.id]) <= {member} for d in self.bound_devices(o))

    # Parts

    def cuts(self, o):
        """What a revocation keeps, with its parts; None where the parts are not those it names."""
        own = {GRANT: 6, REMOVE: 2, RMDEV: 2, LEAVE: 1, RECUT: 2}.get(o.type)
        if o.type != REMOVE or o.map[5] == 0:
            return list(o.map[own]) if own else []
        parts, at = [], o
        while len(parts) < min(o.map[5], 65):
            at = self.ops.get(at.previous)
            if not at or at.type != CUTPART:
                return None
            parts.insert(0, at)
        if o.map[5] > 64 or H(b"wsx-cutparts1", *(p.id for p in parts)) != o.map[6]:
            return None
        return [cut for p in parts for cut in p.map[1]] + o.map[2]

    # Structure: a function of the past

    def is_structural(self, o):
        if not self.is_well_bound(o) or self.cuts(o) is None:
            return False
        if o.type == CREATE:
            return not o.deps
        past = self.past[o.id]
        if not self.cites_grant(o):
            return False
        role, own = self.acting_role(o), self.subject(o.grant)
        if o.type == INVITE:
            return self.invites(o, role, past)
        if o.type == REQUEST:
            asked = sum(p.type == REQUEST and p.map[1] == o.map[1] and self.structural[p.id]
                        for p in map(self.ops.get, past))
            return (self.knows(o, o.map[1], INVITE) and role <= MEMBER
                    and asked < max(16, self.ops[o.map[1]].map[2]))
        if o.type == ADMIT:
            return self.admits(o, role, past) and self.takes_no_device(o)
        if o.type == ADDDEV:
            return self.takes_no_device(o)
        if o.type == GRANT:
            return (role <= ADMIN and o.map[1] != own
                    and (o.map[3] > role or o.map[3] == role == OWNER)
                    and all(o.map[1] in self.owners(d, past) for d in o.map[2]))
        if o.type == REMOVE:
            return role <= ADMIN and o.map[1] != own
        if o.type == RVINV:
            return self.ends(o, role, own)
        if o.type == RECUT:
            widened = self.ops.get(o.map[1])
            return (o.map[1] in past and self.is_revocation(widened)
                    and self.cites_grant(widened)
                    and (self.subject(widened.grant) == own
                         or self.rank_of_author(o) <= self.rank_of_author(widened)))
        if o.type in (WSSET, REKEY, FEATURE):
            return role <= ADMIN
        if o.type == WSDEL:
            return role == OWNER
        if o.type in (DOCCREATE, DOCSET, DOCDEL):
            return role <= MEMBER
        if o.type == LEAVE:
            return role != OWNER or any(
                self.structural[p] and self.ops[p].type in GRANTS and self.gives(p)
                and self.role(p) == OWNER and self.subject(p) != own for p in past)
        return o.type in (RMDEV, CUTPART)

    def gives(self, grant):
        """Whether a grant names whom it serves and with which role: those of its past do."""
        o = self.ops[grant]
        if o.type == ADMIT:
            return self.knows(o, o.map[1], INVITE)
        return o.type != ADDDEV or self.cites_grant(o)

    def cites_grant(self, o):
        return (o.grant in self.past[o.id] and self.ops[o.grant].type in GRANTS
                and self.gives(o.grant) and o.device in self.devices(o.grant))

    def knows(self, o, other, kind):
        return other in self.past[o.id] and self.ops[other].type == kind

    def invites(self, o, role, past):
        policy = o.map.get(8)
        if policy is None:
            return role <= ADMIN and o.map[1] > role
        return (self.knows(o, policy, WSSET) and self.ops[policy].map.get(4) == 2
                and role == MEMBER and o.map[1] == MEMBER)

    def ends(self, o, role, own):
        if not self.knows(o, o.map[1], INVITE):
            return False
        invite = self.ops[o.map[1]]
        if not self.cites_grant(invite):
            return False
        is_own = self.subject(invite.grant) == own and 8 in invite.map
        return ((role <= ADMIN or is_own)
                and self.rank_of_author(o) <= self.rank_of_author(invite))

    def admits(self, o, role, past):
        if not self.knows(o, o.map[1], INVITE):
            return False
        invite, known = self.ops[o.map[1]], [self.ops[p] for p in past]
        if role > min(invite.map[1], MEMBER):
            return False
        listed = {d[0] for d in o.map[3]}
        gone = any(
            p.type == REMOVE and p.map[1] == o.map[2] or p.type == RMDEV and p.map[1] in listed
            for p in known)
        if gone and role > ADMIN:
            return False
        if sum(p.type == ADMIT and p.map[1] == o.map[1] for p in known) >= invite.map[2]:
            return False
        if not invite.map[5]:
            return o.hlc >> 16 <= invite.map[3]
        return role <= ADMIN and any(
            p.type == REQUEST and self.structural[p.id] and p.map[1] == o.map[1]
            and p.map[2] == o.map[2] and [d[0] for d in p.map[3]] == [d[0] for d in o.map[3]]
            and p.hlc >> 16 <= invite.map[3] for p in known)

    # Revocations

    def is_revocation(self, o):
        return o.type in (REMOVE, RMDEV, RVINV, LEAVE) or o.type == GRANT and (o.map[4] or o.map[5])

    def hits(self, r, o):
        if o.type == CREATE or not self.rank(r) < self.rank(o):
            return False
        bound = self.bound_devices(r)
        if bound:
            return (bool(bound & self.bound_devices(o))
                    and self.subject(r.id) != self.subject(o.id))
        if r.type == RVINV:
            return o.type == ADMIT and o.map[1] == r.map[1]
        if r.type == REMOVE and o.type == ADMIT:
            invite = self.ops[o.map[1]]
            if self.subject(invite.grant) == r.map[1] and r.id not in self.past[invite.grant]:
                return True
        if self.is_exempt(r, o.grant):
            return False
        return self.is_aimed(r, o.grant, o.device) or self.gave_up(r, o)

    def is_exempt(self, r, grant):
        """Whether a grant was given knowing the revocation; after a departure by somebody else."""
        while r.type == LEAVE and self.ops[grant].type == ADDDEV:
            grant = self.ops[grant].grant
        return r.id in self.past[grant]

    def gave_up(self, r, o):
        """Whether a dropping grant reaches what its author's member wrote without knowing of it."""
        return (r.type == GRANT and bool(r.map[5]) and not (o.type == GRANT and o.map[5])
                and self.subject(r.grant) == self.subject(o.grant)
                and r.id not in self.past[o.id])

    def is_aimed(self, r, grant, device):
        author = self.subject(grant)
        if r.type == REMOVE:
            return author == r.map[1]
        if r.type == RMDEV:
            return device == r.map[1] and (
                author == self.subject(r.grant) or self.acting_role(r) <= ADMIN)
        if r.type == LEAVE:
            return author == self.subject(r.grant)
        return (r.type == GRANT and bool(r.map[4]) and author == r.map[1]
                and grant in self.past[r.id])

    # Who may invite

    def is_allowed(self, o, valid):
        """Whether the policy in force in an invite's past lets its author write it."""
        role = self.acting_role(o)
        if role == OWNER:
            return True
        said = [p for p in map(self.ops.get, self.past[o.id])
                if p.type == WSSET and 4 in p.map and valid.get(p.id)
                and self.rank(p) < self.rank(o)]
        if not said:
            return True
        right = max(said, key=lambda p: (self.lam[p.id], self.rank(p))).map[4]
        if right == 1:
            return 8 not in o.map
        return right == 2 and (role <= ADMIN or 8 in o.map)

    def run(self):
        valid, revocations = {}, []
        structural = [o for o in self.ops.values() if self.structural[o.id]]
        for o in sorted(structural, key=self.rank):
            good = o.type == CREATE or (
                valid.get(o.grant, False)
                and (o.type != ADMIT or valid.get(o.map[1], False))
                and (o.type != INVITE or valid.get(o.map.get(8, o.grant), False))
                and (o.type != INVITE or self.is_allowed(o, valid))
                and not any(self.hits(r, o) and o.id not in self.past[r.id] for r in revocations))
            valid[o.id] = good
            if good and (self.is_revocation(o) or self.bound_devices(o)):
                revocations.append(o)
        return {i for i, good in valid.items() if good}

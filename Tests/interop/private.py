"""Private documents: sections 3.4, 3.5, 4.3 and 4.4 of docs/PROTOCOL.md.

The engine is that of authority.py, with members in the place of devices. One operation may give
several seats; each of them is a part of its own, named by the operation's id and its place.
"""

from types import SimpleNamespace

from cryptography.exceptions import InvalidTag

from authority import ADMIN, CREATE, GRANT, LEAVE, OWNER, REMOVE, Authority
from protocol import H, Hk, Malformed, enc, enc_decoded
from salsa import public_key, shared
from xchacha import opened

ROOT, ADD, OUT, GONE, ROLE, SET, REKEY, DELETE = range(1, 9)
CHANNEL, DIRECT, OWN = range(1, 4)
# What the engine has no name for: nothing of it revokes, and only its author's right is asked.
FIELDS, END, KEY, NOTHING = range(100, 104)


# 3.4 What is sealed


def unpadded(text):
    return text.rstrip(b"\0")[:-1]


def private_plaintext(o, keys):
    """What an operation of kind 3 seals, or None where no key opens it."""
    key = keys.get((o.document, o.keyid))
    if key is None:
        return None
    clear, sealed = enc_decoded(o.payload)
    assert (clear is not None) == (not any(o.header[2])), "a clear part, exactly in a root"
    subkey = Hk(key, b"wsx-pauth")
    sealing = Hk(subkey, b"wsx-root", clear[2]) if clear else Hk(subkey, b"wsx-doc", o.document)
    try:
        return unpadded(opened(sealing, sealed[:24], sealed[24:], enc(o.header[:11])))
    except InvalidTag:
        return None


def content_plaintext(o, keys):
    """What content of a private document seals, or None."""
    key = keys.get((o.document, o.keyid))
    if key is None:
        return None
    try:
        return unpadded(opened(Hk(key, b"wsx-doc", o.document), o.payload[:24], o.payload[24:],
                               enc(o.header[:11])))
    except InvalidTag:
        return None


# 3.5 What is in the mailbox


def mail(o, secrets):
    """Messages by device, for the devices whose box keys are given; the sender's among them."""
    nonce, boxes = enc_decoded(o.payload)
    assert len(nonce) == 16 and len(boxes) in (4, 16, 64, 256), "boxes are filled up"
    tags = [tag for tag, _ in boxes]
    assert tags == sorted(set(tags)) and all(len(t) == 8 and len(b) == 144 for t, b in boxes)
    sender, found = public_key(secrets[o.device]), {}
    for device, secret in sorted(secrets.items()):
        if device == o.device:
            continue
        between = shared(secret, sender)
        tag = Hk(between, b"wsx-tag", o.device, nonce)[:8]
        box = dict(boxes).get(tag)
        if box is None:
            continue
        said = enc([o.document, o.device, o.inc, o.seq])
        text = opened(Hk(between, b"wsx-box", o.device, nonce), bytes(24), box, said)
        assert len(text) == 128 and enc_decoded(unpadded(text))[0] in (1, 2)
        found[device] = unpadded(text)
    return found


# 4.3 Who is in


class PrivateAuthority(Authority):
    """The verdicts on the operations of kind 3 of one document.

    `author` and `stands` are the workspace's: whose an operation is, and whether it lets it be.
    """

    def __init__(self, document, operations, keys, author, stands):
        self.whole = {o.id: o for o in operations}
        self.author, self.stands = author, stands
        self.said = {o.id: self.change(private_plaintext(o, keys)) for o in operations}
        self.before = {o.id: self.previous_of_kind(o) for o in operations}
        root = self.said.get(document)
        self.subtype = root[1][1] if root and self.is_root(document, root[1]) else None
        self.ops, self.past, self.lam, self.structural = {}, {}, {}, {}
        self.parts, self.known, self.valid = {}, {}, set()
        if self.subtype is None:
            return
        for o in self.placed(document):
            cited = [c for c in self.cites(o) if c in self.parts]
            self.known[o.id] = set(cited).union(*(self.known[c] for c in cited))
            lam = 1 + max((self.lam[self.parts[c][-1]] for c in cited), default=0)
            past = set().union(*(self.parts[c] for c in self.known[o.id]))
            self.parts[o.id] = []
            for part in self.actions(o):
                self.ops[part.id] = part
                self.lam[part.id], self.past[part.id] = lam, past | set(self.parts[o.id])
                self.parts[o.id].append(part.id)
                self.structural[part.id] = self.is_structural(part)
        self.root = self.ops[document, 0]
        self.valid = self.run()

    def change(self, plaintext):
        """Type and map, or None for what means nothing."""
        try:
            said = enc_decoded(plaintext) if plaintext is not None else None
        except Malformed:
            return None
        return said if said and said[0] in range(ROOT, DELETE + 1) else None

    def is_root(self, document, root):
        own = self.author(self.whole[document])
        return [own, OWNER] in root[2] and (root[1] != OWN or len(root[2]) == 1)

    # The graph

    def previous_of_kind(self, o):
        """The nearest earlier operation of kind 3 on the same branch: given by the reader."""
        return o.earlier

    def cites(self, o):
        deps = [d[3] for d in o.deps if d[3] in self.whole]
        return [c for c in [self.before[o.id], *deps] if c]

    def placed(self, document):
        """Causes first; what cites something that is not there waits."""
        waiting = dict(self.whole)
        done = set()
        while True:
            ready = [o for o in waiting.values() if all(c in done for c in self.cites(o))
                     and (self.cites(o) or o.id == document)]
            if not ready:
                return
            for o in ready:
                done.add(o.id)
                del waiting[o.id]
                yield o

    # One operation as the engine knows it

    def epoch(self, o):
        """What it introduces, itself if it is a root."""
        if not self.said[o.id]:
            return None
        kind, said = self.said[o.id]
        if kind == ROOT:
            return [o.keyid, [], []]
        return said.get({ADD: 2, OUT: 3, REKEY: 1}.get(kind))

    def actions(self, o):
        said, author = self.said[o.id], self.author(o)
        epoch = self.epoch(o)
        sound = said and author is not None and (epoch is None or epoch[0] == o.keyid)
        kind, what = said if sound else (0, {})
        seats = []
        if kind == ROOT:
            others = [s for s in what[2] if s[0] != author]
            seats = [(CREATE, {2: author, 3: [[author]]})] + [self.seat(s) for s in others]
        elif kind == REKEY:
            seats = [(KEY, {})]
        elif self.subtype != CHANNEL or not sound:
            seats = [(NOTHING, {})]
        elif kind == ADD:
            seats = [self.seat(s) for s in what[1]]
        elif kind == OUT:
            seats = [(REMOVE, {1: what[1], 2: what[2], 5: 0})]
        elif kind == GONE:
            seats = [(LEAVE, {1: what[1]})]
        elif kind == ROLE:
            seats = [self.seat([what[1], what[2]], replaces=not what[3], drops=what[3])]
        elif kind == SET:
            seats = [(END if what.get(4) is not None else FIELDS, {})]
        elif kind == DELETE:
            seats = [(END, {})]
        for place, (type_, map_) in enumerate(seats):
            grant = (o.id, 0) if kind == ROOT else self.seat_of(what.get(15), author)
            yield SimpleNamespace(id=(o.id, place), type=type_, map=map_, device=author,
                                  grant=grant, deps=[], whole=o, is_add=kind in (ROOT, ADD))

    def seat(self, seat, replaces=False, drops=False):
        member, role = seat
        return GRANT, {1: member, 2: [member], 3: role, 4: replaces, 5: drops, 6: []}

    def seat_of(self, operation, member):
        """The part of an operation that seats a member."""
        for part in self.parts.get(operation, []):
            seated = self.ops[part]
            if seated.type in (CREATE, GRANT) and self.subject(part) == member:
                return part
        return None

    # What the engine asks

    def bound_devices(self, o):
        return set()

    def is_structural(self, o):
        if not self.stands(o.whole) or o.type == NOTHING:
            return False
        if o.type == CREATE:
            return True
        if o.grant not in self.past[o.id] or self.ops[o.grant].type not in (CREATE, GRANT):
            return False
        role, own = self.acting_role(o), self.subject(o.grant)
        if o.type == GRANT:
            drops = bool(o.map[5])
            if role > ADMIN or o.map[1] == own or (o.map[3] == OWNER) != drops:
                return False
            known = any(self.structural[p] and self.ops[p].type in (CREATE, GRANT)
                        and self.subject(p) == o.map[1] for p in self.past[o.id])
            return (role == OWNER if drops else o.map[3] > role) and (o.is_add or known)
        return {REMOVE: role <= ADMIN and o.map.get(1) != own, LEAVE: role != OWNER,
                FIELDS: role <= ADMIN, END: role == OWNER, KEY: True}[o.type]

    def is_valid(self, o):
        return any(p in self.valid for p in self.parts.get(o.id, []))

    # 4.4 Which keys there are

    def knows(self, o, others):
        """Whether an operation has these in its past, or is them."""
        return others <= self.known[o.id] | {o.id}

    def introductions(self, key):
        naming = [o for o in self.whole.values() if o.id in self.parts
                  and any(self.structural[p] for p in self.parts[o.id])
                  and (self.epoch(o) or [None])[0] == key]
        first = [o for o in naming if not any(n.id in self.known[o.id] for n in naming)]
        return [o for o in first if self.is_valid(o)]

    # Content

    def ends(self, member, seat):
        """The valid removals and departures that hit a seat, or one that has replaced it."""
        found = set()
        for r in (self.ops[p] for p in self.valid):
            if not self.reaches(r, member, seat):
                continue
            found |= {r.id} if r.type in (REMOVE, LEAVE) else self.ends(member, r.id)
        return found

    def reaches(self, r, member, seat):
        if not self.is_revocation(r):
            return False
        weight = self.rank_of_grant(seat) + (0, 1 << 64)
        if r.type != LEAVE and not self.rank(r) < weight:
            return False
        if r.type == GRANT and not r.map[4]:
            return False
        return not self.is_exempt(r, seat) and self.is_aimed(r, seat, member)

    def allows(self, o, covers):
        """Whether content counts; `covers(cut)` tells whether a cut keeps it."""
        introducing, member = self.introductions(o.keyid), self.author(o)
        seats = {p for p in self.valid if self.ops[p].type in (CREATE, GRANT)
                 and self.subject(p) == member}
        ends = {seat: self.ends(member, seat) for seat in seats}
        for seat in seats:
            survived = {r[0] for other in seats for r in ends[other] if r in self.past[seat]}
            if not any(self.knows(e, survived) for e in introducing):
                continue
            if all(any(covers(cut) for cut in self.cuts(self.ops[r])) for r in ends[seat]):
                return True
        return False

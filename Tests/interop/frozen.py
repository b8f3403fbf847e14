"""Checks the frozen vector file.

    frozen.py FILE

The program once generated the file. Every header, id, signature, sealed payload, box, verdict and
digest in it is computed again here, so that no format can change by accident.
"""

import json
import sys
from dataclasses import replace

from authority import Authority
from notation import H, enc
from operation import AUTHORITY, CONTENT, MAILBOX, PRIVATE, Operation
from members import PrivateAuthority
from private import content_plaintext, mail, private_plaintext
from standings import content_ends
from terms import DOCCREATE, GRANTS, GUEST, LEAVE, MEMBER, RECUT, REMOVE

SEGMENT = 1_024


class Workspace:
    """Section 4 for content, and section 5.4 for digests."""

    def __init__(self, operations):
        self.ops = {o.id: o for o in operations}
        self.authority = Authority([o for o in operations if o.kind == AUTHORITY])
        self.branch_past = {}
        workspace = self.authority.root.id
        self.members_alone = {H(b"wsx-prof", workspace)} | {
            o.id for o in operations if o.kind == AUTHORITY and o.type == DOCCREATE}
        assert all(o.document == H(b"wsx-mbox", workspace) for o in operations
                   if o.kind == MAILBOX), "the mailbox"

    def is_valid(self, o):
        """V-1 for authority operations, V-5 for content."""
        a = self.authority
        if o.kind == AUTHORITY:
            return o.id in a.valid
        ends = content_ends(a, o, self.least(o))
        return ends is not None and all(self.survives(o, r) for r in ends)

    def least(self, o):
        """The weakest role that may write: guest, except in public channels and names."""
        return MEMBER if o.document in self.members_alone else GUEST

    def author(self, o):
        """The member of the device that wrote an operation; None if its grant lacks the device."""
        a = self.authority
        grant = a.ops.get(o.grant)
        given = a.gives(grant, o.device) if grant and grant.type in GRANTS else None
        return given and given.member

    def private(self, document, keys):
        """Section 4.3."""
        return PrivateAuthority(
            document,
            [o for o in self.ops.values() if o.kind == PRIVATE and o.document == document],
            keys, self)

    def ends(self, member):
        """The valid removes and leaves of a member."""
        a = self.authority
        return {e.id for e in a.in_force
                if e.type == REMOVE and e.map[1] == member
                or e.type == LEAVE and a.author(e).member == member}

    def grant_past(self, o):
        """The past of the grant in a header."""
        return self.authority.past.get(o.grant, set())

    def past_of_grant(self, id_):
        """The past of a grant; empty if the id is not a grant."""
        o = self.authority.ops.get(id_)
        return self.authority.past[id_] if o is not None and o.type in GRANTS else set()

    def counts(self, o, private):
        """Whether an operation has effect in its private document."""
        if o.kind == PRIVATE:
            return private.is_valid(o)
        return self.is_valid(o) and private.allows(
            o, lambda cut: (cut[0], cut[1], cut[2]) == o.log and o.seq <= cut[3]
            and o.id in self.past_of_tip(o.log, cut[3], cut[4]))

    def survives(self, o, r):
        entries = self.authority.cuts(r)
        for w in map(self.ops.get, self.authority.valid):
            if w.type == RECUT and w.map[1] == r.id:
                entries += self.authority.cuts(w)
        tips = [e for e in entries if (e[0], e[1], e[2]) == o.log and o.seq <= e[3]]
        return any(o.id in self.past_of_tip(o.log, e[3], e[4]) for e in tips)

    def past_of_tip(self, log, seq, prefix):
        """The operation that a cut names, and everything before it on its branch."""
        named = [o for o in self.ops.values()
                 if o.log == log and o.seq == seq and o.id[:16] == prefix]
        found = set()
        at = named[0] if named else None
        while at:
            found.add(at.id)
            at = self.ops.get(at.previous)
        return found

    def kept(self):
        kept, waiting = set(), [o for o in self.ops.values() if self.is_valid(o)]
        while waiting:
            o = waiting.pop()
            if o.id not in kept:
                kept.add(o.id)
                cited = [o.previous, o.grant, *(d[3] for d in o.deps)]
                waiting += [self.ops[c] for c in cited if c in self.ops]
        return kept

    def digests(self):
        """D of every document, and the root."""
        kept = [self.ops[i] for i in self.kept()]
        inner = {o.previous for o in kept}
        tips = {}
        for o in kept:
            if o.id not in inner:
                tips.setdefault(o.document, []).append([o.device, o.inc, o.seq, o.id])
        documents = {d: H(b"wsx-doc1", enc(sorted(t))) for d, t in tips.items()}
        buckets = b""
        for b in range(256):
            inside = b"".join(d + documents[d] for d in sorted(documents) if d[0] == b)
            buckets += H(b"wsx-bucket1", inside)[:16] if inside else bytes(16)
        return documents, H(b"wsx-root1", buckets)


def check_chain(operations):
    """Section 2: every log is a chain covered by its signatures."""
    known = {o.id: o for o in operations}
    covered = set()
    for o in operations:
        if o.previous:
            before = known[o.previous]
            assert before.log == o.log and before.seq + 1 == o.seq and before.hlc < o.hlc
        if o.kind == AUTHORITY:
            assert o.is_signed, "an authority operation must be signed itself"
        if not o.is_signed:
            continue
        at = o
        while at and at.seq // SEGMENT == o.seq // SEGMENT:
            covered.add(at.id)
            at = known.get(at.previous)
    assert covered == set(known), "every operation must be covered by a signature"


def with_earlier(operations):
    """Each operation with the nearest one of kind 3 before it on its branch."""
    known = {}
    for o in operations:
        before = known.get(o.previous)
        earlier = before and (before.id if before.kind == PRIVATE else before.earlier)
        known[o.id] = replace(o, earlier=earlier)
    return list(known.values())


def check_sealed(o, entry, keys, private_keys):
    """Sections 3.2, 3.4: the plaintext of payloads whose key is given."""
    if o.kind == PRIVATE:
        plaintext = private_plaintext(o, private_keys)
    elif o.kind == CONTENT and o.keyid in keys:
        plaintext = o.plaintext(keys)
    else:
        plaintext = content_plaintext(o, private_keys) if o.kind == CONTENT else None
    assert (plaintext and plaintext.hex()) == entry.get("plaintext"), "a sealed payload"


def check_private(workspace, operations, vectors, keys):
    """Sections 3.5, 4.3 and 4.4: boxes, and what has effect in private documents."""
    secrets = {bytes.fromhex(k["device"]): bytes.fromhex(k["secret"])
               for k in vectors.get("boxKeys", [])}
    documents = {d: workspace.private(d, keys) for d in {d for d, _ in keys}}
    for o, entry in zip(operations, vectors["operations"], strict=True):
        if o.document in documents:
            counts = workspace.counts(o, documents[o.document])
            assert counts == entry["counts"], f"the effect of {entry['id']}"
        if entry.get("mail") is not None:
            said = {bytes.fromhex(m["device"]): bytes.fromhex(m["message"]) for m in entry["mail"]}
            assert mail(o, secrets) == said, f"the boxes of {entry['id']}"


def check(vectors):
    data = bytes.fromhex
    keys = {data(k["id"]): data(k["key"]) for k in vectors["keys"]}
    for name, key in keys.items():
        assert H(b"wsx-keyid1", key)[:16] == name, "the name of an epoch key"
    operations = []
    for entry in vectors["operations"]:
        o = Operation.read(data(entry["header"]), data(entry["payload"]), data(entry["signature"]))
        assert o.id.hex() == entry["id"], "the id of an operation"
        operations.append(o)
    check_chain(operations)
    operations = with_earlier(operations)
    private_keys = {(data(k["document"]), data(k["id"])): data(k["key"])
                    for k in vectors.get("documentKeys", [])}
    for (_, name), key in private_keys.items():
        assert H(b"wsx-keyid1", key)[:16] == name, "the name of a private key"
    for o, entry in zip(operations, vectors["operations"], strict=True):
        check_sealed(o, entry, keys, private_keys)
    workspace = Workspace(operations)
    check_private(workspace, operations, vectors, private_keys)
    for o, entry in zip(operations, vectors["operations"], strict=True):
        refused = workspace.authority.refused.get(o.id)
        assert bool(refused) == entry.get("refused", False), f"{entry['id']}: {refused}"
        assert workspace.is_valid(o) == entry["valid"], f"the verdict on {entry['id']}"
    documents, root = workspace.digests()
    assert {d.hex(): x.hex() for d, x in documents.items()} == vectors["documents"]
    assert root.hex() == vectors["root"], "the root"
    return operations


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        vectors = json.load(file)
    for scene in vectors["scenes"]:
        operations = check(scene)
        valid = sum(entry["valid"] for entry in scene["operations"])
        print(f"frozen: {scene['name']}: {len(operations)} operations, {valid} valid, as written")


if __name__ == "__main__":
    main()

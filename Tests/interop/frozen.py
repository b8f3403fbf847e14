"""Reads the frozen vector file and agrees with it.

    frozen.py FILE

The file is what the program once made. Every header, id, signature, sealed payload, box, verdict
and digest in it is made again here, so that a format cannot change by accident.
"""

import json
import sys
from dataclasses import dataclass, replace

from authority import DOCCREATE, Authority, signed
from private import PrivateAuthority, content_plaintext, mail, private_plaintext
from protocol import H, Hk, enc, enc_decoded
from xchacha import opened

CONTENT, AUTHORITY, PRIVATE, MAILBOX = 1, 2, 3, 4
SEGMENT = 1_024


@dataclass(frozen=True, eq=False)
class Operation:
    """Section 2: header, payload, signature."""

    header: list
    payload: bytes
    signature: bytes
    id: bytes
    kind: int
    document: bytes
    device: bytes
    inc: int
    seq: int
    previous: bytes
    hlc: int
    grant: bytes
    keyid: bytes
    deps: list
    type: int = 0
    map: dict = None
    # The nearest earlier operation of kind 3 on the same branch of its log.
    earlier: bytes = None

    @classmethod
    def read(cls, header, payload, signature):
        fields = enc_decoded(header)
        assert len(fields) == 13 and fields[0] == 1, "the header"
        assert fields[11] == len(payload) and fields[12] == H(b"wsx-payload1", payload)
        assert (fields[5] == 0) == (fields[6] == b""), "previous, exactly behind sequence 0"
        ids = [ref[3] for ref in fields[10]]
        assert ids == sorted(set(ids)), "deps ascend"
        name = H(b"wsx-op1", header)
        said = enc_decoded(payload) if fields[1] == AUTHORITY else [0, None]
        return cls(fields, payload, signature, name, fields[1],
                   fields[2] if any(fields[2]) else name, *fields[3:11], *said)

    @property
    def log(self):
        return (self.document, self.device, self.inc)

    @property
    def is_signed(self):
        return signed(self.device, b"wsx-sig1" + self.id, self.signature)

    def plaintext(self, keys):
        """Section 3.2, or None where the key is not held."""
        key = keys.get(self.keyid)
        if key is None:
            return None
        padded = opened(Hk(key, b"wsx-doc", self.document), self.payload[:24], self.payload[24:],
                        enc(self.header[:11]))
        return padded.rstrip(b"\0")[:-1]


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
        if o.kind == AUTHORITY:
            return o.id in self.authority.valid
        a = self.authority
        if o.grant not in a.valid or o.device not in a.devices(o.grant):
            return False
        least = self.least(o)
        if a.role(o.grant) > least:
            return False
        # What ends a grant ends the content of those that it replaced.
        later = [g for g in map(self.ops.get, a.valid)
                 if g.type == 6 and g.map[4] and g.map[1] == a.subject(o.grant)
                 and o.grant in a.past[g.id]]
        return all(self.survives(o, r) for r in map(self.ops.get, a.valid)
                   if self.reaches(r, o, o.grant)
                   or r.type != 6 and any(self.reaches(r, o, g.id) for g in later))

    def least(self, o):
        """The weakest role that may write: guests everywhere but in public channels and names."""
        return 2 if o.document in self.members_alone else 3

    def author(self, o):
        """The member whose device wrote something; None where its grant is not for the device."""
        a = self.authority
        if o.grant not in a.ops or a.ops[o.grant].type not in (1, 4, 5, 6):
            return None
        return a.subject(o.grant) if o.device in a.devices(o.grant) else None

    def private(self, document, keys):
        """Section 4.3."""
        return PrivateAuthority(
            document,
            [o for o in self.ops.values() if o.kind == PRIVATE and o.document == document],
            keys, self.author, self.is_valid)

    def counts(self, o, private):
        """Whether an operation has effect in its private document."""
        if o.kind == PRIVATE:
            return private.is_valid(o)
        return self.is_valid(o) and private.allows(
            o, lambda cut: (cut[0], cut[1], cut[2]) == o.log and o.seq <= cut[3]
            and o.id in self.past_of_tip(o.log, cut[3], cut[4]))

    def reaches(self, r, o, grant):
        """Whether a valid revocation hits content as it stands under a grant: content is weaker
        than every authority operation."""
        a = self.authority
        if r.type not in (6, 7, 8, 10) or not a.is_revocation(r):
            return False
        devices = a.devices(grant)
        place = devices.index(o.device) if o.device in devices else 1 << 63
        # A departure ends all content of its author, whichever device wrote it.
        if r.type != 10 and not a.rank(r) < a.rank_of_grant(grant) + (place, 1 << 64, b""):
            return False
        if a.is_exempt(r, grant) or not a.is_aimed(r, grant, o.device):
            return False
        # Of changed roles only one that no longer allows writing takes content away.
        return r.type != 6 or bool(r.map[4]) and r.map[1] == a.subject(grant) and r.map[3] > self.least(o)

    def survives(self, o, r):
        entries = self.authority.cuts(r)
        for w in map(self.ops.get, self.authority.valid):
            if w.type == 11 and w.map[1] == r.id:
                entries += self.authority.cuts(w)
        tips = [e for e in entries if (e[0], e[1], e[2]) == o.log and o.seq <= e[3]]
        return any(o.id in self.past_of_tip(o.log, e[3], e[4]) for e in tips)

    def past_of_tip(self, log, seq, prefix):
        """The operation named by a cut and everything before it on its branch."""
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
    """Sections 2 and 4: every log is a chain that its signatures cover."""
    known = {o.id: o for o in operations}
    covered = set()
    for o in operations:
        if o.previous:
            before = known[o.previous]
            assert before.log == o.log and before.seq + 1 == o.seq and before.hlc < o.hlc
        if o.kind == AUTHORITY:
            assert o.is_signed, "an authority operation verifies by itself"
        if not o.is_signed:
            continue
        at = o
        while at and at.seq // SEGMENT == o.seq // SEGMENT:
            covered.add(at.id)
            at = known.get(at.previous)
    assert covered == set(known), "every operation is covered by a signature"


def with_earlier(operations):
    """Each operation with the nearest one of kind 3 before it on its branch."""
    known = {}
    for o in operations:
        before = known.get(o.previous)
        earlier = before and (before.id if before.kind == PRIVATE else before.earlier)
        known[o.id] = replace(o, earlier=earlier)
    return list(known.values())


def check_sealed(o, entry, keys, private_keys):
    """Sections 3.2, 3.4: what payloads seal, where a key is given."""
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

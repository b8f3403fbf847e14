"""Writes authority operations of section 3.1 of docs/PROTOCOL.md, by any device."""

import os

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from bindings import (FOR_CREATE, FOR_JOINING, FOR_LINKING, FOR_RETURN, ZEROS, certificate, consent,
                      member_name, old_signature, proof)
from notation import VERSION, H, Hk, enc
from operation import AUTHORITY, Operation
from terms import ADDDEV, ADMIT, CREATE, GRANT, INVITE, REQUEST


class Device:
    """The keys of one device, and the tips of its logs."""

    def __init__(self, signing=None, box=None):
        self.key = signing or Ed25519PrivateKey.generate()
        self.secret = box or X25519PrivateKey.generate()
        self.id = self.key.public_key().public_bytes_raw()
        self.box = self.secret.public_key().public_bytes_raw()
        self.inc, self.tip = int.from_bytes(os.urandom(4), "big"), None

    def __repr__(self):
        return self.id.hex()[:8]

    def write(self, document, type_, map_, grant, deps=(), ms=None, after=...):
        """Writes the next operation of its log; `after` forks the log or starts a new one."""
        before = self.tip if after is ... else after
        if after is None:
            self.inc = int.from_bytes(os.urandom(4), "big")
        cited = [d for d in deps if before is None or d.id != before.id]
        hlc = max([0, *(d.hlc for d in cited), before.hlc if before else 0]) + 1
        if ms is not None:
            hlc = max(hlc, ms << 16)
        o = Operation.write(
            self.key, AUTHORITY, document, self.inc, before.seq + 1 if before else 0,
            before.id if before else b"", hlc, grant, b"", [d.ref for d in cited],
            enc([type_, map_]))
        self.tip = o
        return o


class InviteKey:
    """The secret half of an invite."""

    def __init__(self, seed=None):
        self.seed = seed or os.urandom(16)
        self.key = Ed25519PrivateKey.from_private_bytes(Hk(self.seed, b"sign"))
        self.public = self.key.public_key().public_bytes_raw()
        self.psk = Hk(self.seed, b"psk")

    def prove(self, workspace, invite, member, entries):
        return self.key.sign(proof(workspace, invite, member, entries))


# Lists of devices


def entries(devices, use, workspace, context, answerer, member, recovery=None):
    """The device entries of 3.1, each signed for this list. `recovery` comes first."""
    listed = [*([recovery] if recovery else []), *devices]
    if VERSION == 1:
        salt = context[:16] if use == FOR_CREATE else workspace
        said = [d.key.sign(old_signature(salt, member, d.box)) for d in listed]
    else:
        text = consent(use, workspace, context, answerer, member, [[d.id, d.box] for d in listed])
        said = [d.key.sign(text) for d in listed]
    if recovery:
        said[0] = recovery.key.sign(certificate(recovery.box, devices[0].id))
    return [[d.id, d.box, s] for d, s in zip(listed, said, strict=True)]


def for_joining(devices, workspace, invite, answerer, recovery=None):
    """A newcomer's member and list."""
    member = member_name((recovery or devices[0]).id, workspace)
    return member, entries(devices, FOR_JOINING, workspace, invite, answerer, member, recovery)


def for_return(devices, workspace, end, answerer, member):
    return entries(devices, FOR_RETURN, workspace, end, answerer, member)


def for_linking(device, workspace, answerer, member):
    return entries([device], FOR_LINKING, workspace, ZEROS, answerer, member)


# Payloads

FIELD = [bytes(16), bytes(24), bytes(32)]


def create(device, recovery=None, key=bytes(16)):
    """A workspace owned by the device's member."""
    nonce = os.urandom(16)
    member = member_name((recovery or device).id, nonce)
    said = entries([device], FOR_CREATE, ZEROS, nonce + bytes(16), ZEROS, member, recovery)
    # A root names no document, because the document is its own id.
    return device.write(ZEROS, CREATE, {1: nonce, 2: member, 3: said, 4: key, 5: [], 6: FIELD,
                                        7: bytes(16)}, ZEROS)


def invite(role, public, uses=8, expires=1 << 40, approve=False, policy=None):
    said = {1: role, 2: uses, 3: expires, 4: public, 5: approve, 6: [], 7: FIELD}
    return INVITE, said if policy is None else {**said, 8: policy}


def admit(on, member, listed, proven, key=bytes(16), request=None):
    said = {1: on, 2: member, 3: listed, 4: proven, 5: key, 6: [], 7: FIELD}
    return ADMIT, said if request is None else {**said, 8: request}


def request(on, member, listed, proven, end=None):
    said = {1: on, 2: member, 3: listed, 4: proven, 5: FIELD}
    return REQUEST, said if end is None else {**said, 6: end}


def adddev(listed, key=bytes(16), takes_place=False):
    said = {1: listed, 2: key, 3: []}
    return ADDDEV, {**said, 4: True} if takes_place else said


def grant(member, devices, role, replaces=True, drops=None):
    said = drops if VERSION > 1 else drops is not None
    return GRANT, {1: member, 2: devices, 3: role, 4: replaces, 5: said, 6: []}


def fresh_name():
    """The name of a key that nothing introduces."""
    return H(b"wsx-keyid1", os.urandom(32))[:16]

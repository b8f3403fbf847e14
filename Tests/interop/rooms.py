"""Writes private documents and key boxes: sections 3.4 and 3.5 of docs/PROTOCOL.md."""

import os
import time

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from notation import H, Hk, enc
from operation import MAILBOX, PRIVATE, Operation
from salsa import secretbox, shared
from xchacha import hchacha20

CHANNEL, DIRECT = 1, 2
ROOT, ADD, SET, REKEY = 1, 2, 6, 7


def sealed(key, nonce, text, associated):
    """XChaCha20-Poly1305."""
    cipher = ChaCha20Poly1305(hchacha20(key, nonce[:16]))
    return cipher.encrypt(bytes(4) + nonce[16:], text, associated)


def padded(text):
    text += b"\x80"
    return text + bytes(-len(text) % 32)


def name_of(key):
    return H(b"wsx-keyid1", key)[:16]


def fresh_inc():
    return int.from_bytes(os.urandom(4), "big")


class Room:
    """A private document of the attacker, with its newest key."""

    def __init__(self, attacker, subtype, others, name=None, opens=True, role=2):
        """`others`: members besides the author. Without `opens`, it is sealed with a random key."""
        self.a, self.key, self.last, self.inc = attacker, os.urandom(32), None, fresh_inc()
        seats = sorted([[attacker.member, 0], *([m, role] for m in others)])
        said = {1: subtype, 2: seats, 3: 0}
        if name:
            said[4] = name
        self.root = self.write([ROOT, said], nonce=os.urandom(16), opens=opens)
        self.id = self.root.id

    def write(self, said, key=None, nonce=None, opens=True, deps=(), alone=False):
        """Writes the next change; `alone` puts it in its own log. `nonce` is for a root."""
        if key:
            self.key = key
        before = None if alone else self.last
        document = bytes(32) if nonce else self.id
        hlc = max([int(time.time() * 1000) << 16, *(d.hlc + 1 for d in deps),
                   before.hlc + 1 if before else 0])
        inc = fresh_inc() if alone else self.inc
        place = inc, before.seq + 1 if before else 0, before.id if before else b""
        refs = sorted((d.ref for d in deps), key=lambda ref: ref[3])
        header = [2, PRIVATE, document, self.a.device.id, *place, hlc, self.a.grant,
                  name_of(self.key), refs]
        own = Hk(self.key, b"wsx-pauth")
        sealing = Hk(own, b"wsx-root", nonce) if nonce else Hk(own, b"wsx-doc", document)
        if not opens:
            sealing = os.urandom(32)
        drawn = os.urandom(24)
        body = drawn + sealed(sealing, drawn, padded(enc(said)), enc(header))
        clear = {1: self.a.copy.root.id, 2: nonce} if nonce else None
        o = Operation.write(self.a.device.key, PRIVATE, document, *place, hlc, self.a.grant,
                            name_of(self.key), refs, enc([clear, body]))
        if not alone:
            self.last = o
        return o

    def rekey(self, hands_on=False, **more):
        """Writes a new key; with `hands_on`, it contains the previous key."""
        key, older = os.urandom(32), []
        if hands_on:
            nonce = os.urandom(24)
            older = [[name_of(self.key), 0,
                      nonce + secretbox(Hk(key, b"wsx-older"), nonce, self.key)]]
        return self.write([REKEY, {1: [name_of(key), older, []], 15: self.id}], key, **more)

    def add(self, members, role=2, **more):
        """Adds seats for any members."""
        return self.write([ADD, {1: [[m, role] for m in sorted(members)], 15: self.id}], **more)


class Mail:
    """Writes boxes for one device, in one log."""

    def __init__(self, attacker, box):
        self.a, self.last, self.inc = attacker, None, fresh_inc()
        self.document = H(b"wsx-mbox", attacker.copy.root.id)
        self.between = shared(attacker.device.secret.private_bytes_raw(), box)

    def box(self, document, key):
        """An operation with a key for the device."""
        device, nonce, before = self.a.device, os.urandom(16), self.last
        seq = before.seq + 1 if before else 0
        tag = Hk(self.between, b"wsx-tag", device.id, nonce)[:8]
        text = enc([1, document, key]) + b"\x80"
        said = sealed(Hk(self.between, b"wsx-box", device.id, nonce), bytes(24),
                      text + bytes(128 - len(text)),
                      enc([self.document, device.id, self.inc, seq]))
        boxes = [[tag, said], *([os.urandom(8), os.urandom(144)] for _ in range(3))]
        hlc = max(int(time.time() * 1000) << 16, before.hlc + 1 if before else 0)
        self.last = Operation.write(device.key, MAILBOX, self.document, self.inc, seq,
                                    before.id if before else b"", hlc, self.a.grant, b"", [],
                                    enc([nonce, sorted(boxes)]))
        return self.last

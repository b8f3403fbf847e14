"""An independent implementation of links, as in docs/PROTOCOL.md.

Section numbers are those of the document. Uses noiseprotocol and cryptography from PyPI, and
nothing of the Swift program.
"""

import os
import socket
import struct
import time

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey, Ed25519PublicKey
from noise.connection import Keypair, NoiseConnection
from noise.exceptions import NoiseInvalidMessage

from notation import LINK, H, Hk, base32, base32_decoded, enc, enc_decoded

NOISE_NAME = b"Noise_XXpsk0_25519_ChaChaPoly_BLAKE2b"
PROLOGUE = b"wsx/1"
TIMEOUT_SECONDS = 20


# 5.6 Joining


class Invite:
    """The secret of an invite, and its link."""

    def __init__(self, workspace, seed, invite, hints):
        self.workspace, self.seed, self.invite, self.hints = workspace, seed, invite, hints
        self.psk = Hk(seed, b"psk")
        self.key = Ed25519PrivateKey.from_private_bytes(Hk(seed, b"sign"))
        self.public = self.key.public_key().public_bytes_raw()

    @property
    def link(self):
        body = b"\x01" + self.workspace + self.seed + self.invite
        for host, port in self.hints:
            body += b"\x04" + socket.inet_aton(host) + struct.pack(">H", port)
        return "wsx://join/" + base32(body + H(b"wsx-link1", body)[:3])

    @classmethod
    def read(cls, link):
        data = base32_decoded(link[len("wsx://join/") :])
        body, check = data[:-3], data[-3:]
        assert H(b"wsx-link1", body)[:3] == check, "the checksum of the link"
        assert body[0] == 1, "the version of the link"
        hints, rest = [], body[41:]
        while rest:
            assert rest[0] == 4, "a node on 127.0.0.1 has only IPv4 hints"
            hints.append((socket.inet_ntoa(rest[1:5]), struct.unpack(">H", rest[5:7])[0]))
            rest = rest[7:]
        return cls(body[1:17], body[17:33], body[33:41], hints)

    def hello(self, handshake_hash):
        """The map of join1."""
        proof = self.key.sign(b"wsx-join1" + handshake_hash)
        return {1: H(b"wsx-door1", self.public + self.workspace)[:16], 2: proof}


# 5.1 Handshake


class Identity:
    """A device, its store, and the static key that the device certified."""

    def __init__(self, signing=None):
        self.signing = signing or Ed25519PrivateKey.generate()
        self.device = self.signing.public_key().public_bytes_raw()
        self.static = os.urandom(32)
        self.store = os.urandom(16)

    def payload(self, static_public):
        certificate = self.signing.sign(b"wsx-st1" + self.device + static_public + self.store)
        now = int(time.time() * 1000)
        return enc({1: self.device, 2: certificate, 3: LINK, 4: LINK, 5: 0,
                    6: self.store, 7: now})


class Peer:
    """One end of an established link."""

    def __init__(self, connection, noise, payload, remote_static):
        self.socket, self.noise = connection, noise
        self.handshake_hash = bytes(noise.get_handshake_hash())
        self.payload = check_payload(payload, remote_static)
        self.buffer = b""
        self.parts = {}
        self.messages = []

    # 5.2 Frames

    def send(self, type_number, fields, message_class=0):
        message = bytes([type_number]) + enc(fields)
        head = message_class | 4
        plaintext = struct.pack(">BH", head, len(message)) + message
        sealed = self.noise.encrypt(plaintext)
        self.socket.sendall(struct.pack(">H", len(sealed)) + sealed)

    def receive(self):
        """Receives the next message. Returns its type and map."""
        while not self.messages:
            rest = bytes(self.noise.decrypt(self.frame()))
            assert rest, "a frame without a fragment"
            while rest:
                head, size = struct.unpack(">BH", rest[:3])
                assert head & ~7 == 0 and 0 < size <= 16 * 1024, "the head of a fragment"
                self.parts[head & 3] = self.parts.get(head & 3, b"") + rest[3 : 3 + size]
                rest = rest[3 + size :]
                if head & 4:
                    message = self.parts.pop(head & 3)
                    self.messages.append((message[0], enc_decoded(message[1:])))
        return self.messages.pop(0)

    def frame(self):
        """Receives the next frame. After a timeout in the middle of a frame, its start is kept."""
        while len(self.buffer) < 2 or len(self.buffer) < 2 + int.from_bytes(self.buffer[:2], "big"):
            part = self.socket.recv(1 << 16)
            if not part:
                raise EOFError("the peer closed the link")
            self.buffer += part
        end = 2 + int.from_bytes(self.buffer[:2], "big")
        frame, self.buffer = self.buffer[2:end], self.buffer[end:]
        return frame

    def ping(self, number):
        """Sends a ping and waits for the answer. Returns the messages that came before it."""
        self.send(0x30, {1: number, 2: False})
        others = []
        while True:
            message = self.receive()
            if message == (0x30, {1: number, 2: True}):
                return others
            others.append(message)


def check_payload(data, remote_static):
    """Section 5.1: checks the fields, and that the device certified the key that Noise proved."""
    fields = enc_decoded(bytes(data))
    assert sorted(fields) == [1, 2, 3, 4, 5, 6, 7], "the keys in the payload"
    assert [len(fields[key]) for key in (1, 2, 6)] == [32, 64, 16], "the sizes in the payload"
    assert fields[3] <= LINK <= fields[4], "the versions"
    assert abs(fields[7] - time.time() * 1000) < 60_000, "the clock of the peer"
    certified = b"wsx-st1" + fields[1] + remote_static + fields[6]
    try:
        Ed25519PublicKey.from_public_bytes(fields[1]).verify(fields[2], certified)
    except InvalidSignature:
        raise AssertionError("the certificate does not match the static key") from None
    return fields


def hint(psk, ephemeral):
    return Hk(psk, b"hint", ephemeral)[:16]


def noise_under(psk, identity):
    noise = NoiseConnection.from_name(NOISE_NAME)
    noise.set_prologue(PROLOGUE)
    noise.set_psks(psk=psk)
    noise.set_keypair_from_private_bytes(Keypair.STATIC, identity.static)
    static_public = noise.noise_protocol.keypairs["s"].public_bytes
    return noise, static_public


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError("the peer closed the link")
        data += part
    return data


def framed(message):
    return struct.pack(">H", len(message)) + bytes(message)


def next_message(connection):
    return exactly(connection, struct.unpack(">H", exactly(connection, 2))[0])


def dial(address, psk, identity, certified_static=None, hint_psk=None, source=None):
    """The initiator. `certified_static` and `hint_psk` can be wrong; `source`: local address."""
    connection = socket.create_connection(
        address, timeout=TIMEOUT_SECONDS, source_address=source and (source, 0))
    noise, static_public = noise_under(psk, identity)
    noise.set_as_initiator()
    noise.start_handshake()
    state = noise.noise_protocol.handshake_state
    first = noise.write_message()
    assert len(first) == 48, "message 1 is a key and a tag"
    connection.sendall(hint(hint_psk or psk, first[:32]) + framed(first))
    answer = noise.read_message(next_message(connection))
    connection.sendall(
        framed(noise.write_message(identity.payload(certified_static or static_public))))
    return Peer(connection, noise, answer, state.rs.public_bytes)


def answer(connection, psk, identity):
    """The responder."""
    connection.settimeout(TIMEOUT_SECONDS)
    noise, static_public = noise_under(psk, identity)
    noise.set_as_responder()
    noise.start_handshake()
    state = noise.noise_protocol.handshake_state
    said = exactly(connection, 16)
    first = next_message(connection)
    assert said == hint(psk, first[:32]), "the hint of message 1"
    assert bytes(noise.read_message(first)) == b"", "message 1 has an empty payload"
    connection.sendall(framed(noise.write_message(identity.payload(static_public))))
    payload = noise.read_message(next_message(connection))
    return Peer(connection, noise, payload, state.rs.public_bytes)


__all__ = ["H", "Identity", "Invite", "NoiseInvalidMessage", "Peer", "answer", "base32", "dial"]

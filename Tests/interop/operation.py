"""Section 2 of docs/PROTOCOL.md: reading and writing one operation."""

from dataclasses import dataclass

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from notation import VERSION, H, Hk, enc, enc_decoded
from xchacha import opened

CONTENT, AUTHORITY, PRIVATE, MAILBOX, REDACT = range(1, 6)


def signed(key, message, signature):
    try:
        Ed25519PublicKey.from_public_bytes(key).verify(signature, message)
        return True
    except (InvalidSignature, ValueError):
        return False


@dataclass(frozen=True, eq=False)
class Operation:
    """Header, payload, signature. `type` and `map` are an authority operation's payload."""

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
    # Whether it is judged again under a grant other than the one it cites (V-10).
    is_again: bool = False
    # The listed device for which it acts there, and how many phrases it is behind it (V-12).
    behind: tuple = None

    @classmethod
    def read(cls, header, payload, signature):
        fields = enc_decoded(header)
        assert len(fields) == 13 and fields[0] == VERSION, "the header"
        assert fields[11] == len(payload) and fields[12] == H(b"wsx-payload1", payload)
        assert (fields[5] == 0) == (fields[6] == b""), "previous, exactly after sequence 0"
        ids = [ref[3] for ref in fields[10]]
        assert ids == sorted(set(ids)), "deps ascend"
        name = H(b"wsx-op1", header)
        said = enc_decoded(payload) if fields[1] == AUTHORITY else [0, None]
        return cls(fields, payload, signature, name, fields[1],
                   fields[2] if any(fields[2]) else name, *fields[3:11], *said)

    @classmethod
    def write(cls, key, kind, document, inc, seq, previous, hlc, grant, keyid, deps, payload):
        """Signs an operation with an Ed25519PrivateKey, whose public key is the device."""
        device = key.public_key().public_bytes_raw()
        header = enc([VERSION, kind, document, device, inc, seq, previous, hlc, grant, keyid,
                      sorted(deps, key=lambda ref: ref[3]), len(payload),
                      H(b"wsx-payload1", payload)])
        return cls.read(header, payload, key.sign(b"wsx-sig1" + H(b"wsx-op1", header)))

    @property
    def log(self):
        return (self.document, self.device, self.inc)

    @property
    def ref(self):
        return [self.device, self.inc, self.seq, self.id]

    @property
    def ms(self):
        return self.hlc >> 16

    @property
    def is_signed(self):
        return signed(self.device, b"wsx-sig1" + self.id, self.signature)

    def plaintext(self, keys):
        """The plaintext (section 3.2), or None without the key."""
        key = keys.get(self.keyid)
        if key is None:
            return None
        padded = opened(Hk(key, b"wsx-doc", self.document), self.payload[:24], self.payload[24:],
                        enc(self.header[:11]))
        return padded.rstrip(b"\0")[:-1]

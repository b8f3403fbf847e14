"""HSalsa20 and XSalsa20-Poly1305 (Bernstein, "Extending the Salsa20 nonce", 2011), and sealed
boxes."""

import hashlib
import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.poly1305 import Poly1305

CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
COLUMNS = ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11))
ROWS = ((0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14))


def rounds(words):
    """20 rounds of Salsa20 over 16 words."""
    x = list(words)
    for _ in range(10):
        for quarters in (COLUMNS, ROWS):
            for q in quarters:
                for step, shift in ((1, 7), (2, 9), (3, 13), (0, 18)):
                    mixed = x[q[step - 1]] + x[q[step - 2]] & 0xFFFFFFFF
                    x[q[step]] ^= (mixed << shift | mixed >> 32 - shift) & 0xFFFFFFFF
    return x


def hsalsa20(key, nonce):
    """The subkey for a 32-byte key and a 16-byte nonce."""
    k, n = struct.unpack("<8I", key), struct.unpack("<4I", nonce)
    c = CONSTANTS
    x = rounds([c[0], *k[:4], c[1], *n, c[2], *k[4:], c[3]])
    return struct.pack("<8I", x[0], x[5], x[10], x[15], *x[6:10])


def public_key(secret):
    """The X25519 public key of a 32-byte secret."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def shared(secret, other):
    """The shared key of two devices: X25519, then HSalsa20 with zeros."""
    point = X25519PrivateKey.from_private_bytes(secret).exchange(
        X25519PublicKey.from_public_bytes(other))
    return hsalsa20(point, bytes(16))


def salsa20_block(key, nonce, counter):
    """One 64-byte block of the stream for an 8-byte nonce."""
    k, c = struct.unpack("<8I", key), CONSTANTS
    n, b = struct.unpack("<2I", nonce), struct.unpack("<2I", struct.pack("<Q", counter))
    start = [c[0], *k[:4], c[1], *n, *b, c[2], *k[4:], c[3]]
    mixed = zip(rounds(start), start, strict=True)
    return struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in mixed))


def stream(key, nonce, count):
    """XSalsa20: `count` bytes for a 24-byte nonce."""
    subkey = hsalsa20(key, nonce[:16])
    return b"".join(salsa20_block(subkey, nonce[16:], i) for i in range(count // 64 + 1))[:count]


def secretbox(key, nonce, text):
    """XSalsa20-Poly1305 as in NaCl, with the tag first."""
    pad = stream(key, nonce, 32 + len(text))
    sealed = bytes(a ^ b for a, b in zip(text, pad[32:], strict=True))
    return Poly1305.generate_tag(pad[:32], sealed) + sealed


def secretbox_opened(key, nonce, sealed):
    """The text, or None if the tag is wrong."""
    tag, body = sealed[:16], sealed[16:]
    pad = stream(key, nonce, 32 + len(body))
    if Poly1305.generate_tag(pad[:32], body) != tag:
        return None
    return bytes(a ^ b for a, b in zip(body, pad[32:], strict=True))


def seal(public, text):
    """libsodium's crypto_box_seal."""
    ephemeral = X25519PrivateKey.generate()
    own = ephemeral.public_key().public_bytes_raw()
    nonce = hashlib.blake2b(own + public, digest_size=24).digest()
    return own + secretbox(shared(ephemeral.private_bytes_raw(), public), nonce, text)


def seal_opened(secret, box):
    nonce = hashlib.blake2b(box[:32] + public_key(secret), digest_size=24).digest()
    return secretbox_opened(shared(secret, box[:32]), nonce, box[32:])

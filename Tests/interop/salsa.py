"""HSalsa20 (Bernstein, "Extending the Salsa20 nonce", 2011), by which two box keys make a secret."""

import struct

from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

CONSTANTS = struct.unpack("<4I", b"expand 32-byte k")
COLUMNS = ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11))
ROWS = ((0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14))


def hsalsa20(key, nonce):
    """The subkey for a key of 32 bytes and 16 bytes of nonce."""
    k, n = struct.unpack("<8I", key), struct.unpack("<4I", nonce)
    c = CONSTANTS
    x = [c[0], *k[:4], c[1], *n, c[2], *k[4:], c[3]]
    for _ in range(10):
        for quarters in (COLUMNS, ROWS):
            for q in quarters:
                for step, shift in ((1, 7), (2, 9), (3, 13), (0, 18)):
                    mixed = x[q[step - 1]] + x[q[step - 2]] & 0xFFFFFFFF
                    x[q[step]] ^= (mixed << shift | mixed >> 32 - shift) & 0xFFFFFFFF
    return struct.pack("<8I", x[0], x[5], x[10], x[15], *x[6:10])


def public_key(secret):
    """The X25519 key of 32 secret bytes."""
    return X25519PrivateKey.from_private_bytes(secret).public_key().public_bytes_raw()


def shared(secret, other):
    """What two devices share: X25519, then HSalsa20 with zeros."""
    point = X25519PrivateKey.from_private_bytes(secret).exchange(
        X25519PublicKey.from_public_bytes(other))
    return hsalsa20(point, bytes(16))

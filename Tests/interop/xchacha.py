"""XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha-03): HChaCha20 before the cipher of
`cryptography`."""

import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

CONSTANTS = b"expand 32-byte k"


def hchacha20(key, nonce):
    """The subkey for a 32-byte key and the first 16 bytes of a nonce."""
    x = list(struct.unpack("<16I", CONSTANTS + key + nonce))

    def turn(a, b, c, d):
        for left, right, other, shift in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
            x[left] = x[left] + x[right] & 0xFFFFFFFF
            mixed = x[other] ^ x[left]
            x[other] = (mixed << shift | mixed >> 32 - shift) & 0xFFFFFFFF

    for _ in range(10):
        for i in range(4):
            turn(i, i + 4, i + 8, i + 12)
        for i in range(4):
            turn(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
    return struct.pack("<8I", *x[:4], *x[12:])


def opened(key, nonce, sealed, associated):
    """The plaintext of `sealed`, or InvalidTag."""
    subkey = hchacha20(key, nonce[:16])
    return ChaCha20Poly1305(subkey).decrypt(bytes(4) + nonce[16:], sealed, associated)

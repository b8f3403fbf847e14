"""An independent implementation of blobs (docs/PROTOCOL.md). Prints the expected values of
Tests/BlobStoreTests.

    python3 Tests/interop/blobs.py
"""

import struct

from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

from notation import H, enc
from xchacha import hchacha20

TAG = 16


def shape(size):
    """k and the number of chunks of a blob of `size` bytes."""
    k = 18
    while (count := max(1, -(-size // ((1 << k) - TAG)))) > 16_384:
        k += 1
    return k, count


def sealed(key, number, plaintext):
    """Seals one chunk. The nonce is its number as 8 little-endian bytes, and 16 zeros."""
    nonce = struct.pack("<Q", number) + bytes(16)
    cipher = ChaCha20Poly1305(hchacha20(key, nonce[:16]))
    return cipher.encrypt(bytes(4) + nonce[16:], plaintext, b"")


def top(hashes):
    """The root of a tree, level by level; an odd node moves up unchanged."""
    while len(hashes) > 1:
        pairs = [hashes[i : i + 2] for i in range(0, len(hashes), 2)]
        hashes = [H(b"wsx-node1", *pair) if len(pair) == 2 else pair[0] for pair in pairs]
    return hashes[0]


def root(size, leaves):
    k, count = shape(size)
    assert len(leaves) == count
    return H(b"wsx-blob1", enc([size, k, top(leaves)]))


def blob(key, plaintext):
    """The leaves and the root of a file."""
    k, count = shape(len(plaintext))
    step = (1 << k) - TAG
    chunks = [sealed(key, i, plaintext[i * step : (i + 1) * step]) for i in range(count)]
    leaves = [H(b"wsx-leaf1", chunk) for chunk in chunks]
    return leaves, root(len(plaintext), leaves)


def text(size):
    """The content of a test file."""
    return bytes((i * 7 + (i >> 8)) & 0xFF for i in range(size))


def main():
    key = bytes(range(32))
    for size in (0, 1, 262_128, 262_129, 1_000_000, 1_310_641):
        leaves, name = blob(key, text(size))
        print("blob", size, leaves[-1].hex(), name.hex())
    for count in (1, 2, 3, 5, 6, 7, 13, 64, 1_000):
        leaves = [H(b"wsx-leaf1", struct.pack("<I", i)) for i in range(count)]
        print("tree", count, root(count * 262_128, leaves).hex())
    for size in (2**32 - 16 * 16_384, 2**32 - 16 * 16_384 + 1, 2**34, 2**38 - 16 * 16_384):
        print("shape", size, *shape(size))
    name = bytes(range(100, 132))
    manifest = [
        ["a.txt", "text/plain", b"hello"],
        ["b.bin", "application/octet-stream", 1_000_000, 18, name, key],
    ]
    print("manifest", enc(manifest).hex())
    print("want", "80" + enc({1: name, 2: [[0, 4], [9, 1]], 3: [0, 16]}).hex())
    print("have", "81" + enc({1: name, 2: 1_310_641, 3: 18, 4: [1, 2, 1, 1]}).hex())
    print("nothing", "81" + enc({1: name}).hex())
    print("leaves", "82" + enc({1: name, 2: 500_000, 3: 18, 4: 1, 5: key, 6: name}).hex())
    print("piece", "83" + (name + struct.pack("<I", 258) + b"abc").hex())
    print("cancel", "84" + enc({1: name, 2: [[3, 1]]}).hex())
    print("cancel all", "84" + enc({1: name}).hex())


if __name__ == "__main__":
    main()

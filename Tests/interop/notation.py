"""Section 1 of docs/PROTOCOL.md: hashes, base32, and the canonical encoding of values."""

import hashlib
import os
import struct

# WSX_PROTO=1 is for older programs, from before the rules of section 4 were numbered: header and
# handshake version 1, and a device signs only its member and its box key.
VERSION = int(os.environ.get("WSX_PROTO", "2"))
# The protocol version of a link; the header of an operation has a separate version.
LINK = 3 if VERSION > 1 else 1


def H(person, *parts):
    """BLAKE2b-256 with a personalization string."""
    return hashlib.blake2b(b"".join(parts), digest_size=32, person=person).digest()


def Hk(key, *parts):
    """Keyed BLAKE2b-256."""
    return hashlib.blake2b(b"".join(parts), digest_size=32, key=key).digest()


LETTERS = "0123456789abcdefghjkmnpqrstvwxyz"


def base32(data):
    number = int.from_bytes(data, "big") << (-len(data) * 8 % 5)
    count = (len(data) * 8 + 4) // 5
    return "".join(LETTERS[number >> 5 * (count - 1 - i) & 31] for i in range(count))


def base32_decoded(text):
    number = 0
    for letter in text.lower().translate(str.maketrans("oil", "011")):
        number = number << 5 | LETTERS.index(letter)
    spare = len(text) * 5 % 8
    if number & ((1 << spare) - 1):
        raise ValueError("bits after the last byte")
    return (number >> spare).to_bytes(len(text) * 5 // 8, "big")


class Malformed(Exception):
    """Bytes that are not Enc of section 1."""


def enc(value):
    """The subset of deterministic CBOR: uint, bytes, text, list, dict with uint keys, bool,
    None."""

    def head(major, number):
        if number < 24:
            return bytes([major << 5 | number])
        for code, form, limit in ((24, ">B", 8), (25, ">H", 16), (26, ">I", 32), (27, ">Q", 64)):
            if number < 1 << limit:
                return bytes([major << 5 | code]) + struct.pack(form, number)
        raise ValueError("too large")

    if value is True or value is False or value is None:
        return {False: b"\xf4", True: b"\xf5", None: b"\xf6"}[value]
    if isinstance(value, int):
        return head(0, value)
    if isinstance(value, bytes):
        return head(2, len(value)) + value
    if isinstance(value, str):
        return head(3, len(value.encode())) + value.encode()
    if isinstance(value, (list, tuple)):
        return head(4, len(value)) + b"".join(map(enc, value))
    return head(5, len(value)) + b"".join(enc(k) + enc(value[k]) for k in sorted(value))


def enc_decoded(data):
    """Decodes strictly: only the canonical encoding of a value, and nothing after it."""

    def text(part):
        try:
            return part.decode()
        except UnicodeDecodeError:
            raise Malformed("UTF-8") from None

    def item(at, depth=0):
        if at >= len(data) or depth > 8:
            raise Malformed("truncated, or too deep")
        major, low = data[at] >> 5, data[at] & 31
        if major == 7:
            if low not in (20, 21, 22):
                raise Malformed("an unknown simple value")
            return {20: False, 21: True, 22: None}[low], at + 1
        size = {24: 1, 25: 2, 26: 4, 27: 8}.get(low, 0)
        if low > 27 or at + 1 + size > len(data):
            raise Malformed("head")
        number = int.from_bytes(data[at + 1 : at + 1 + size], "big") if size else low
        at += 1 + size
        if major == 0:
            return number, at
        if major in (2, 3):
            if at + number > len(data):
                raise Malformed("cut")
            part = data[at : at + number]
            return (part if major == 2 else text(part)), at + number
        if major == 4:
            values = []
            for _ in range(number):
                value, at = item(at, depth + 1)
                values.append(value)
            return values, at
        if major == 5:
            values = {}
            for _ in range(number):
                key, at = item(at, depth + 1)
                if type(key) is not int:
                    raise Malformed("a key")
                values[key], at = item(at, depth + 1)
            return values, at
        raise Malformed("major type")

    value, end = item(0)
    if end != len(data) or enc(value) != bytes(data):
        raise Malformed("not the canonical encoding")
    return value

"""Opens private documents and the mailbox: sections 3.4 and 3.5 of docs/PROTOCOL.md."""

from cryptography.exceptions import InvalidTag

from notation import Hk, enc, enc_decoded
from salsa import public_key, shared
from xchacha import opened


# 3.4 Sealed payloads


def unpadded(text):
    return text.rstrip(b"\0")[:-1]


def private_plaintext(o, keys):
    """The plaintext of an operation of kind 3, or None if no key opens it."""
    key = keys.get((o.document, o.keyid))
    if key is None:
        return None
    clear, sealed = enc_decoded(o.payload)
    assert (clear is not None) == (not any(o.header[2])), "exactly a root has a clear part"
    subkey = Hk(key, b"wsx-pauth")
    sealing = Hk(subkey, b"wsx-root", clear[2]) if clear else Hk(subkey, b"wsx-doc", o.document)
    try:
        return unpadded(opened(sealing, sealed[:24], sealed[24:], enc(o.header[:11])))
    except InvalidTag:
        return None


def content_plaintext(o, keys):
    """The plaintext of content in a private document, or None."""
    key = keys.get((o.document, o.keyid))
    if key is None:
        return None
    try:
        return unpadded(opened(Hk(key, b"wsx-doc", o.document), o.payload[:24], o.payload[24:],
                               enc(o.header[:11])))
    except InvalidTag:
        return None


# 3.5 The mailbox


def mail(o, secrets):
    """Maps devices to their messages, for the devices whose box keys are given, sender included."""
    nonce, boxes = enc_decoded(o.payload)
    assert len(nonce) == 16 and len(boxes) in (4, 16, 64, 256), "boxes are padded"
    tags = [tag for tag, _ in boxes]
    assert tags == sorted(set(tags)) and all(len(t) == 8 and len(b) == 144 for t, b in boxes)
    sender, found = public_key(secrets[o.device]), {}
    for device, secret in sorted(secrets.items()):
        if device == o.device:
            continue
        between = shared(secret, sender)
        tag = Hk(between, b"wsx-tag", o.device, nonce)[:8]
        box = dict(boxes).get(tag)
        if box is None:
            continue
        said = enc([o.document, o.device, o.inc, o.seq])
        text = opened(Hk(between, b"wsx-box", o.device, nonce), bytes(24), box, said)
        assert len(text) == 128 and enc_decoded(unpadded(text))[0] in (1, 2)
        found[device] = unpadded(text)
    return found

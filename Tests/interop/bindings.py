"""Section 4.0.1 of docs/PROTOCOL.md: devices sign the list that they enter in. A-1 to A-4."""

from notation import H, enc
from operation import signed
from terms import ADDDEV, ADMIT, CREATE, REQUEST

# The use of a device list: the first byte after the name in the signed text.
FOR_CREATE, FOR_JOINING, FOR_RETURN, FOR_LINKING = 1, 3, 4, 5
ZEROS = bytes(32)


def consent(use, workspace, context, answerer, member, devices):
    """The text that each device in a list, except a recovery device, signs. An entry starts with
    the device's two keys."""
    pairs = [[d[0], d[1]] for d in devices]
    return (b"wsx-dev2" + bytes([use]) + workspace + context + answerer + member
            + H(b"wsx-devs2", enc(pairs)))


def certificate(recovery_box, device):
    """The text that a recovery device signs, once, for the second device."""
    return b"wsx-rec1" + recovery_box + device


def member_name(first, salt):
    return H(b"wsx-member", first + salt)[:16]


def proof(workspace, invite, member, devices):
    """The text that the invite's key signs."""
    return b"wsx-inv1" + workspace + invite + member + H(b"wsx-devs1", enc(devices))


def situation(a, o):
    """The use, workspace, context and answerer of an operation's list, or None without a list."""
    if o.type == CREATE:
        return FOR_CREATE, ZEROS, o.map[1] + bytes(16), ZEROS
    if o.type == REQUEST and 6 in o.map:
        return FOR_RETURN, a.root.id, o.map[6], o.device
    if o.type == REQUEST:
        return FOR_JOINING, a.root.id, o.map[1], o.device
    if o.type == ADMIT:
        request = a.knows_as(o, o.map[8], REQUEST) if 8 in o.map else None
        return FOR_JOINING, a.root.id, o.map[1], (request or o).device
    if o.type == ADDDEV:
        return FOR_LINKING, a.root.id, ZEROS, o.device
    return None


def fault(a, o):
    """The rule of A-1 to A-4 that an operation breaks, or None."""
    where = situation(a, o)
    if where is None:
        return None
    devices = o.map[1] if o.type == ADDDEV else o.map[3]
    member = a.author(o).member if o.type == ADDDEV else o.map[2]
    most = {FOR_LINKING: 1, FOR_RETURN: 16}.get(where[0], 2)
    if not 1 <= len(devices) <= most or len({d[0] for d in devices}) < len(devices):
        return "A-2"
    if any(int.from_bytes(d[1], "little") >= 2**255 - 19 for d in devices):
        return "A-1"
    said, signing = consent(*where, member, devices), devices
    if where[0] in (FOR_CREATE, FOR_JOINING) and len(devices) == 2:
        recovery, signing = devices[0], devices[1:]
        if not signed(recovery[0], certificate(recovery[1], devices[1][0]), recovery[2]):
            return "A-1"
    if not all(signed(d[0], said, d[2]) for d in signing):
        return "A-1"
    if where[0] in (FOR_CREATE, FOR_JOINING):
        salt = o.map[1] if o.type == CREATE else a.root.id
        if member_name(devices[0][0], salt) != member:
            return "A-3"
    if o.type in (REQUEST, ADMIT):
        invite = a.invite(o)
        if not invite or not signed(
                invite.map[4], proof(a.root.id, o.map[1], member, devices), o.map[4]):
            return "A-4"
    return None


def old_signature(salt, member, box):
    """The text that a device signed in version 1."""
    return b"wsx-dev1" + salt + member + box


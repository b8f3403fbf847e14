"""Histories of invites: number of uses, expiry and rights, with the expected verdicts."""

import writer
from histories import history, remove
from terms import ADMIN, GUEST, LEAVE, MEMBER, RVINV, WSSET
from world import Person, World
from writer import Device


@history
def an_invite_counts_persons():
    """A17: the limit counts different members in the admit's own past, valid or not."""
    w = World()
    on = w.invite(w.owner, MEMBER, uses=2)
    new, before = Device(), list(w.ops)
    w.admit(w.owner, on, new, "valid")
    w.admit(w.owner, on, new, "valid", knows=before, after=None)
    w.admit(w.owner, on, expect="valid")
    w.admit(w.owner, on, expect="A-13")
    return w


@history
def what_nobody_cites_uses_nothing_up():
    """A17: a removed member's admits are void, and authors cite only what is valid."""
    w = World()
    on = w.invite(w.owner, MEMBER, uses=2)
    thief, before = w.join(ADMIN), list(w.ops)
    honest = [*w.ops, w.write(w.owner, remove(thief.member), "valid")]
    for _ in range(4):
        w.admit(thief, on, expect="void", knows=before, after=None)
    w.admit(w.owner, on, expect="valid", knows=honest)
    assert len(w.judged().uses(on.id)) == 1, "S-6"
    return w


@history
def expiry_and_approval():
    """A-15, A-16: times come from headers; approve needs exactly that request."""
    w = World()
    late, soon = w.invite(w.owner, MEMBER, expires=1000), w.invite(w.owner, MEMBER, expires=1000)
    member = w.join(MEMBER)
    new = Device()
    asked_on = w.invite(w.owner, MEMBER, expires=1000, approve=True)
    w.admit(w.owner, asked_on, expect="A-15")
    request = w.ask(member, asked_on, new, "valid", ms=900)
    said = w.admission(w.owner, asked_on, new, request=request)
    w.write(member, w.admission(member, asked_on, new, request=request), "A-15")
    other = w.admission(w.owner, asked_on, Device(), request=request)
    w.write(w.owner, other, "A-14")
    w.write(w.owner, w.admission(w.owner, late, new), "A-16", ms=1001, after=None)
    w.write(w.owner, w.admission(w.owner, soon, Device()), "valid", ms=1000, after=None)
    w.write(w.owner, said, "valid", ms=5000)
    # A late request cannot be admitted; nothing else is wrong with it.
    tardy = w.ask(member, asked_on, Device(), "valid", ms=1001)
    w.write(w.owner, w.with_proof(asked_on, tardy.map[2], tardy.map[3], request=tardy), "A-15")
    return w


@history
def who_may_invite():
    """A-8, A-9 and the policy in force."""
    w = World()
    admin, member = w.join(ADMIN), w.join(MEMBER)
    w.invite(admin, ADMIN, "A-8")
    w.invite(member, MEMBER, "A-8")
    closed, before = w.write(w.owner, (WSSET, {4: 0}), "valid"), list(w.ops)
    w.invite(member, MEMBER, "A-9", policy=closed.id)
    said = w.write(admin, (WSSET, {4: 2}), "void")
    w.write(w.owner, (8, {1: admin.device.id, 2: [], 3: None}), "valid", knows=before)
    w.invite(member, MEMBER, "void", policy=said.id)
    admin = w.join(ADMIN)
    all_ = w.write(w.owner, (WSSET, {4: 2}), "valid")
    on = w.invite(member, MEMBER, "valid", policy=all_.id)
    w.invite(member, MEMBER, "void", policy=said.id)
    w.invite(member, GUEST, "A-9", policy=all_.id)
    w.invite(admin, MEMBER, "A-9", policy=all_.id)
    w.write(w.owner, (WSSET, {4: 0}), "valid")
    late = w.invite(admin, MEMBER, "void")
    w.admit(w.owner, late, expect="void")
    w.invite(member, MEMBER, "void", policy=all_.id)
    w.write(member, (RVINV, {1: on.id}), "valid")
    w.admit(member, on, expect="void")
    return w


@history
def keys_and_rights():
    """A-18 and rows without a number."""
    w = World()
    member, guest = w.join(MEMBER), w.join(GUEST)
    w.admit(w.owner, w.invite(w.owner, MEMBER), expect="A-18", key=writer.fresh_name())
    w.write(member, (WSSET, {4: 2}), "A-27")
    w.write(guest, (13, {1: 1, 2: bytes(16)}), "A-26")
    w.write(w.owner, (WSSET, {7: 2}), "A-7")
    w.write(w.owner, (20, {}), "A-7")
    stranger = Person(Device(), b"", w.root.id)
    w.write(stranger, (LEAVE, {1: []}), "A-5")
    return w


"""Histories of ends: removals, departures and features, with the expected verdicts."""

import writer
from histories import history, remove, rmdev
from notation import H
from terms import (ADMIN, CUTPART, FEATURE, GUEST, LEAVE, MEMBER, OWNER, RECUT, REKEY, RVINV,
                   WSSET)
from world import World
from writer import Device


@history
def a_strangers_device():
    """A16: rmdev of an unbound or someone else's device; adddev of another member's device."""
    w = World()
    mina, joon = w.join(MEMBER), w.join(MEMBER)
    w.write(mina, rmdev(Device()), "A-22")
    w.write(mina, rmdev(joon.device), "A-22")
    listed = w.listed(w.op(joon.grant))[joon.device.id]
    w.write(mina, writer.adddev([listed]), "A-17")
    w.link(mina, joon.device, "A-17")
    w.write(mina, writer.adddev([]), "A-2")
    w.write(w.owner, rmdev(joon.device), "valid")
    return w


@history
def two_bind_one_device():
    """Both bindings count: both members had its key."""
    w = World()
    on, new = w.invite(w.owner, MEMBER), Device()
    mina, before = w.join(MEMBER), list(w.ops)
    w.link(mina, new, "valid", knows=before)
    w.admit(w.owner, on, new, "valid", knows=before)
    return w


@history
def a_removal_and_what_did_not_know_of_it():
    """A removal ends operations and invites; admits on those invites are void."""
    w = World()
    admin = w.join(ADMIN)
    on = w.invite(admin, MEMBER)
    before = list(w.ops)
    w.write(w.owner, remove(admin.member), "valid")
    w.admit(w.owner, on, expect="void")
    w.write(admin, (WSSET, {5: 1}), "void", knows=before)
    w.write(admin, remove(w.owner.member), "void", knows=before, after=None)
    assert w.judged().roles() == {w.owner.member: OWNER}
    return w


@history
def a_departure_that_a_linked_device_knows():
    """Leave: a chain of adddevs leads back to the grant, which did not know it."""
    w = World()
    mina = w.join(MEMBER)
    w.write(mina, (LEAVE, {1: []}), "valid")
    linked, _ = w.link(mina, expect="void")
    w.link(linked, expect="void")
    assert mina.member not in w.judged().roles()
    return w


@history
def a_lesser_leave_keeps_the_greater_device():
    """V-4: a plain member's grant leaves; the device that was made admin stays."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(mina)
    w.write(w.owner, writer.grant(mina.member, [mina.device.id], ADMIN, replaces=False), "valid")
    w.write(second, (LEAVE, {1: []}), "valid")
    a = w.judged()
    assert a.standing(mina.device.id) == (ADMIN, mina.member)
    assert a.standing(second.device.id) is None
    return w


@history
def a_replacing_grant():
    """It hits every admit of its subject, known or not, and the other grants that it knows."""
    w = World()
    on, new = w.invite(w.owner, MEMBER, uses=9), Device()
    before = list(w.ops)
    mina, _ = w.admit(w.owner, on, new, "valid")
    w.admit(w.owner, on, new, "valid", knows=before, after=None)
    again = w.ops[-1]
    less = w.write(w.owner, writer.grant(mina.member, [new.id], GUEST), "valid",
                   knows=[*before, w.op(mina.grant)], after=None)
    w.link(mina, expect="void")
    w.link(mina.under(again), expect="void")
    w.link(mina.under(less), expect="valid")
    assert w.judged().standing(new.id)[0] == GUEST
    return w


@history
def features():
    """A-6, A-7, A-28, G14: after an unknown feature only A-5; a void one changes nothing."""
    w = World()
    admin = w.join(ADMIN)
    w.write(admin, (FEATURE, {1: 1}), "A-28")
    given = w.write(w.owner, writer.grant(admin.member, [admin.device.id], OWNER), "valid")
    heir, before = admin.under(given), list(w.ops)
    behind = w.write(heir, (FEATURE, {1: 1}), "void")
    w.write(heir, (20, {1: b"later"}), "void")
    w.write(heir, remove(w.owner.member), "void")
    w.write(w.owner, remove(heir.member), "valid", knows=before)
    w.write(w.owner, (WSSET, {4: 0}), "valid", knows=[*before, w.ops[-1]])
    w.write(w.owner, (20, {1: b"later"}), "A-7", knows=before)
    w.write(heir.under(behind), (20, {}), "A-5", knows=[behind], after=None)
    assert not w.judged().is_read_only()
    w.write(w.owner, (FEATURE, {1: 1}), "valid", knows=[o for o in w.ops if o.type == WSSET])
    assert w.judged().is_read_only()
    # Nothing counts after a valid unknown feature.
    w.write(w.owner, (WSSET, {4: 1}), "void", knows=[o for o in w.ops if o.type == FEATURE][-1:])
    return w


@history
def requests_have_a_bound():
    """A-10: sixteen on an invite with one use, not counting those of removed members."""
    w = World()
    on = w.invite(w.owner, MEMBER, uses=1, approve=True)
    asked = [w.ask(w.owner, on, Device(), "valid") for _ in range(16)]
    w.ask(w.owner, on, Device(), "A-10")
    w.write(w.owner, remove(asked[0].map[2]), "valid")
    w.ask(w.owner, on, Device(), "valid")
    w.ask(w.owner, on, Device(), "A-10")
    return w


@history
def parts_recuts_and_ends_of_invites():
    """A-21, A-24, A-25."""
    w = World()
    admin, mina = w.join(ADMIN), w.join(MEMBER)
    part = w.write(w.owner, (CUTPART, {1: []}), "valid")
    said = {1: mina.member, 2: [], 3: None, 4: [], 5: 1, 6: H(b"wsx-cutparts1", part.id)}
    w.write(w.owner, (7, {**said, 6: bytes(32)}), "A-21")
    w.write(w.owner, (7, {**said, 5: 2}), "A-21")
    w.write(w.owner, (7, {**said, 1: w.owner.member}), "A-21")
    end = w.write(w.owner, (7, said), "valid")
    w.write(admin, (RECUT, {1: end.id, 2: []}), "A-25")
    w.write(admin, (RECUT, {1: part.id, 2: []}), "A-25")
    w.write(w.owner, (RECUT, {1: end.id, 2: []}), "valid")
    on = w.invite(w.owner, MEMBER)
    w.write(admin, (RVINV, {1: on.id}), "A-24")
    w.write(w.owner, (RVINV, {1: end.id}), "A-24")
    w.write(w.owner, (REKEY, {1: bytes(16), 2: [], 3: [], 8: b""}), "A-7")
    w.write(w.owner, (RVINV, {1: on.id}), "valid")
    w.admit(w.owner, on, expect="void")
    return w


@history
def what_is_linked_behind_a_departure():
    """Leave: the chain of adddevs leads back to a grant that did not know it."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(mina)
    w.write(second, (LEAVE, {1: []}), "valid")
    # The older device is stronger and continues; what it links now is weaker and does not.
    third, _ = w.link(mina, expect="valid")
    w.link(third, expect="void")
    return w


@history
def a_device_of_two_is_revoked_by_one():
    """A member's rmdev hits what the device did for that member, an admin's hits everything."""
    w = World()
    on, new = w.invite(w.owner, MEMBER), Device()
    mina, before = w.join(MEMBER), list(w.ops)
    w.link(mina, new, "valid", knows=before)
    joon, _ = w.admit(w.owner, on, new, "valid", knows=before)
    w.write(mina, rmdev(new), "valid")
    w.link(joon, expect="valid")
    w.write(w.owner, rmdev(new), "valid")
    w.link(joon, expect="void")
    return w


@history
def an_invite_ends_with_who_made_it():
    """An admit is no stronger than its invite, no matter who writes it."""
    w = World()
    first, second = w.join(ADMIN), w.join(ADMIN)
    on = w.invite(second, MEMBER)
    before = list(w.ops)
    w.write(first, remove(second.member), "valid")
    w.admit(w.owner, on, expect="void", knows=before)
    return w


@history
def somebody_who_was_rejected():
    """A-13: a removal of the person who asked; only an admin can change that decision."""
    w = World()
    member, new = w.join(MEMBER), Device()
    on = w.invite(w.owner, MEMBER, approve=True)
    w.invite(w.owner, MEMBER)
    other = w.ops[-1]
    asked = w.ask(member, on, new, "valid")
    w.write(w.owner, remove(asked.map[2]), "valid")
    w.admit(member, other, new, "A-13")
    w.admit(w.owner, other, new, "valid")
    return w

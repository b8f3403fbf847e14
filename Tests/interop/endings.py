"""Histories of ends: removals, departures, transfers, features, with the verdict on what matters."""

import writer
from histories import remove, rmdev
from notation import H
from terms import (ADMIN, CUTPART, FEATURE, GUEST, LEAVE, MEMBER, OWNER, RECUT, REKEY, RVINV, WSDEL,
                   WSSET)
from world import World
from writer import Device

ALL = []


def history(function):
    ALL.append(function)
    return function


def transfer(w, heir, devices=None, who=None, own=None):
    who = who or w.owner
    devices = [heir.device.id] if devices is None else devices
    return writer.grant(heir.member, devices, OWNER, drops=own or [who.device.id])


@history
def an_owner_does_not_leave():
    """A-23; after a transfer it leaves as the admin that it then is."""
    w = World()
    mina = w.join(MEMBER)
    w.write(w.owner, (LEAVE, {1: []}), "A-23")
    handed = w.write(w.owner, transfer(w, mina), "valid")
    w.write(w.owner, (LEAVE, {1: []}), "A-23")
    left = w.write(w.owner.under(handed), (LEAVE, {1: []}), "valid")
    a = w.judged()
    assert a.roles() == {mina.member: OWNER}, "V-4"
    assert a.knows(left, handed.id)
    return w


@history
def a_transfer():
    """The old owner goes on as an admin by citing it; what cites the old grant is hit."""
    w = World()
    mina = w.join(MEMBER)
    handed = w.write(w.owner, transfer(w, mina), "valid")
    assert w.judged().roles() == {mina.member: OWNER, w.owner.member: ADMIN}, "V-3"
    w.write(w.owner, (WSSET, {5: 0}), "void")
    w.write(w.owner.under(handed), (WSSET, {5: 1}), "valid")
    w.write(w.owner.under(handed), (WSDEL, {}), "4.0.2")
    w.invite(w.owner.under(handed), ADMIN, "A-8")
    w.write(mina.under(handed), (WSDEL, {}), "valid")
    return w


@history
def two_transfers_apart():
    """Of two that do not know each other the stronger counts."""
    w = World()
    mina, joon = w.join(MEMBER), w.join(MEMBER)
    second, _ = w.link(w.owner)
    before = list(w.ops)
    weak = w.write(second, transfer(w, joon, who=second), "void", knows=before)
    w.write(joon.under(weak), (WSSET, {5: 1}), "void")
    strong = w.write(w.owner, transfer(w, mina, own=[w.owner.device.id, second.device.id]),
                     "valid", knows=before, after=None)
    a = w.judged()
    assert a.roles() == {mina.member: OWNER, joon.member: MEMBER, w.owner.member: ADMIN}
    w.write(second.under(strong), (WSSET, {5: 1}), "valid")
    return w


@history
def a_stronger_device_undoes_a_transfer():
    """A13: the weakest device of the owner hands over; the strongest revokes that device."""
    w = World()
    mina = w.join(MEMBER)
    stolen, _ = w.link(w.owner)
    before = list(w.ops)
    handed = w.write(stolen, transfer(w, mina, who=stolen), "void")
    w.write(mina.under(handed), remove(w.owner.member), "void")
    w.write(w.owner, rmdev(stolen.device), "valid", knows=before, after=None)
    assert w.judged().roles() == {w.owner.member: OWNER, mina.member: MEMBER}
    return w


@history
def a_void_transfer_cited_by_a_plain_member():
    """Who acts under a void grant acts in vain, and takes nobody along."""
    w = World()
    mina = w.join(MEMBER)
    admin = w.join(ADMIN)
    w.write(admin, transfer(w, mina, who=admin), "A-19")
    w.write(mina, transfer(w, admin, who=mina), "A-19")
    before = list(w.ops)
    promoted = w.write(admin, writer.grant(mina.member, [mina.device.id], MEMBER), "void")
    w.write(w.owner, remove(admin.member), "valid", knows=before)
    w.link(mina.under(promoted), expect="void")
    w.link(mina, expect="valid")
    return w


@history
def what_a_transfer_needs():
    """A-19, A-20: owner, an heir who is here, own devices, not empty."""
    w = World()
    mina, guest = w.join(MEMBER), w.join(GUEST)
    w.write(w.owner, writer.grant(mina.member, [mina.device.id], OWNER, drops=[]), "A-20")
    w.write(w.owner, transfer(w, mina, []), "A-20")
    w.write(w.owner, transfer(w, guest), "A-20")
    w.write(w.owner, transfer(w, mina, own=[mina.device.id]), "A-20")
    w.write(w.owner, transfer(w, mina, [guest.device.id]), "A-19")
    w.write(w.owner, writer.grant(mina.member, [mina.device.id], ADMIN,
                                  drops=[w.owner.device.id]), "A-20")
    w.write(w.owner, writer.grant(w.owner.member, [w.owner.device.id], ADMIN), "A-19")
    return w


@history
def the_weakest_device_cannot_end_the_owner():
    """A13, G15: rmdev of an older device by a younger is weaker, and bars nobody."""
    w = World()
    stolen, _ = w.link(w.owner)
    w.write(stolen, rmdev(w.owner.device), "valid")
    w.write(stolen, (LEAVE, {1: []}), "A-23")
    a = w.judged()
    assert a.standing(w.owner.device.id)[0] == OWNER
    assert not a.is_barred(w.owner.device.id, w.owner.member, set(a.ops))
    w.write(w.owner, (WSSET, {5: 1}), "valid")
    return w


@history
def a_strangers_device():
    """A16: rmdev of what is bound to nobody, or to somebody else; adddev of another's device."""
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
    """The stronger counts; the weaker is void."""
    w = World()
    on, new = w.invite(w.owner, MEMBER), Device()
    mina, before = w.join(MEMBER), list(w.ops)
    w.link(mina, new, "void", knows=before)
    w.admit(w.owner, on, new, "valid", knows=before)
    return w


@history
def a_removal_and_what_did_not_know_of_it():
    """Removal ends operations and invites; void are those who were let in by them."""
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
    """Leave: a chain of adddevs leads back to the grant, which did not know of it."""
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
    """It reaches every admit of its subject, known or not, and other grants that it knows."""
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
    """A-6, A-7, G14: behind an unknown one only A-5; a void one changes nothing."""
    w = World()
    admin = w.join(ADMIN)
    before = list(w.ops)
    behind = w.write(admin, (FEATURE, {1: 1}), "void")
    w.write(admin, (20, {1: b"later"}), "void")
    w.write(admin, remove(w.owner.member), "void")
    w.write(w.owner, remove(admin.member), "valid", knows=before)
    w.write(w.owner, (WSSET, {4: 0}), "valid", knows=[*before, w.ops[-1]])
    w.write(w.owner, (20, {1: b"later"}), "A-7", knows=before)
    w.write(admin.under(behind), (20, {}), "A-5", knows=[behind], after=None)
    assert not w.judged().is_read_only()
    w.write(w.owner, (FEATURE, {1: 1}), "valid", knows=[o for o in w.ops if o.type == WSSET])
    assert w.judged().is_read_only()
    return w


@history
def requests_have_a_bound():
    """A-10: sixteen on an invite of one use."""
    w = World()
    on = w.invite(w.owner, MEMBER, uses=1, approve=True)
    for _ in range(16):
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
    w.write(w.owner, (REKEY, {1: bytes(16), 2: [], 3: [], 8: b""}), "3.1")
    w.write(w.owner, (RVINV, {1: on.id}), "valid")
    w.admit(w.owner, on, expect="void")
    return w


@history
def a_stolen_device_hands_over_and_leaves():
    """What section 4 says today, and should not: the weakest device of the owner hands over, and
    leaves as an admin. The strongest device is out for whoever asks (V-3, V-4), and its rmdev
    cannot hit what it knows. Its operations stand, so nodes disagree with themselves about it."""
    w = World()
    thief = w.join(MEMBER)
    stolen, _ = w.link(w.owner)
    handed = w.write(stolen, transfer(w, thief, who=stolen), "valid")
    w.write(stolen.under(handed), (LEAVE, {1: []}), "valid")
    w.write(w.owner, rmdev(stolen.device), "valid")
    w.write(w.owner, (WSSET, {5: 1}), "valid")
    a = w.judged()
    assert a.standing(w.owner.device.id) is None
    assert a.roles() == {thief.member: OWNER}
    return w

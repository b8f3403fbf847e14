"""Histories of owners: transfers and departures, with the expected verdicts."""

import writer
from histories import history, remove, rmdev
from standings import Later, content_ends
from terms import ADMIN, GUEST, LEAVE, MEMBER, OWNER, WSDEL, WSSET
from world import Person, World
from writer import Device


def transfer(w, heir, devices=None, who=None, own=None):
    who = who or w.owner
    devices = [heir.device.id] if devices is None else devices
    return writer.grant(heir.member, devices, OWNER, drops=own or [who.device.id])


@history
def an_owner_does_not_leave():
    """A-23: after a transfer, the owner leaves as an admin."""
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
    """The old owner continues as an admin by citing it; what cites the old grant is hit."""
    w = World()
    mina = w.join(MEMBER)
    handed = w.write(w.owner, transfer(w, mina), "valid")
    assert w.judged().roles() == {mina.member: OWNER, w.owner.member: ADMIN}, "V-3"
    w.write(w.owner, (WSSET, {5: 0}), "void")
    w.write(w.owner.under(handed), (WSSET, {5: 1}), "valid")
    w.write(w.owner.under(handed), (WSDEL, {}), "A-28")
    w.invite(w.owner.under(handed), ADMIN, "A-8")
    w.write(mina.under(handed), (WSDEL, {}), "valid")
    return w


@history
def two_transfers_apart():
    """Of two concurrent transfers, the stronger counts."""
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
    """A13: the owner's weakest device transfers; the strongest revokes that device."""
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
    """Acting under a void grant has no effect, and harms nobody."""
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
    """A-19, A-20: by an owner, to an heir who is in, with own devices, not empty."""
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
    """A13, G15: an rmdev of an older device by a younger one is weaker, and bars nobody."""
    w = World()
    stolen, _ = w.link(w.owner)
    w.write(stolen, rmdev(w.owner.device), "valid")
    w.write(stolen, (LEAVE, {1: []}), "A-23")
    a = w.judged()
    assert a.standing(w.owner.device.id)[0] == OWNER
    assert not a.is_barred(w.owner.device.id, set(a.ops))
    w.write(w.owner, (WSSET, {5: 1}), "valid")
    return w


@history
def a_stolen_device_hands_over_and_leaves():
    """A13, V-3: the weakest device takes nothing from the strongest, no matter what it lists."""
    for named in (False, True):
        w = World()
        thief = w.join(MEMBER)
        stolen, _ = w.link(w.owner)
        own = [stolen.device.id, *[w.owner.device.id] * named]
        handed = w.write(stolen, transfer(w, thief, who=stolen, own=own), "valid")
        w.write(stolen.under(handed), (LEAVE, {1: []}), "valid")
        a = w.judged()
        assert a.standing(w.owner.device.id) == (OWNER, w.owner.member)
        assert a.standing(stolen.device.id) is None
        w.write(w.owner, rmdev(stolen.device), "valid")
        w.write(w.owner, writer.grant(thief.member, [thief.device.id], MEMBER, replaces=True),
                "valid")
        assert w.judged().roles() == {w.owner.member: OWNER, thief.member: MEMBER}
    return w


@history
def the_phrase_goes_along():
    """V-3: a recovery device, the strongest, becomes an admin once all everyday devices are."""
    phrase = Device()
    w = World(recovery=phrase)
    mina = w.join(MEMBER)
    phone, _ = w.link(w.owner)
    w.write(phone, transfer(w, mina, who=phone, own=[phrase.id, phone.device.id]), "valid")
    a = w.judged()
    assert a.standing(phrase.id)[0] == a.standing(w.owner.device.id)[0] == OWNER
    # Without the strongest everyday device, the phone is the strongest.
    w.write(Person(phrase, w.owner.member, w.root.id), rmdev(w.owner.device), "valid")
    a = w.judged()
    assert a.standing(phrase.id)[0] == a.standing(phone.device.id)[0] == ADMIN
    assert a.roles()[mina.member] == OWNER
    return w


@history
def an_admin_about_the_owner():
    """V-5: a replacing grant that is weaker than the other one replaces nothing."""
    w = World()
    admin = w.join(ADMIN)
    w.write(admin, writer.grant(w.owner.member, [w.owner.device.id], MEMBER, replaces=True), "valid")
    w.write(admin, remove(w.owner.member), "valid")
    a = w.judged()
    assert a.roles() == {w.owner.member: OWNER, admin.member: ADMIN}
    assert content_ends(a, Later(w.owner.device.id, w.root.id), MEMBER) == []
    return w


@history
def a_phone_that_is_lost_after_a_transfer():
    """V-3, V-5: its content has the rank that the transfer gives it, below its revoker."""
    w = World()
    mina = w.join(MEMBER)
    phone, linked = w.link(w.owner)
    handed = w.write(w.owner, transfer(w, mina, own=[w.owner.device.id, phone.device.id]), "valid")
    lost = w.write(w.owner.under(handed), rmdev(phone.device), "valid")
    a = w.judged()
    assert a.standing(phone.device.id) is None
    assert content_ends(a, Later(phone.device.id, linked.id), MEMBER) == [lost]
    return w

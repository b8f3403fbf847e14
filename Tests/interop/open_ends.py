"""Histories in which section 4 says what it should not, each with the goal that it misses.

They assert what is written. When a rule is mended its history turns red, and is to be turned round.
"""

import writer
from apart import CHANNEL, Apart
from histories import history, remove, rmdev
from terms import ADMIN, MEMBER, WSSET
from transfers import transfer
from world import World
from writer import Device

@history
def a_second_device_that_a_transfer_does_not_list():
    """G7: the owner's other device is in as an admin (V-2), and whatever it writes is void."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(w.owner)
    w.write(w.owner, transfer(w, mina), "valid")
    w.write(second, (WSSET, {5: 1}), "void")
    assert w.judged().standing(second.device.id)[1] == w.owner.member
    return w


@history
def void_admissions_that_a_member_cites():
    """A17: who is removed lets people in apart; a member cites that, and the invite is used up for
    everybody who hears of the member."""
    w = World()
    on = w.invite(w.owner, MEMBER, uses=2)
    thief, friend, before = w.join(MEMBER), w.join(MEMBER), None
    before = list(w.ops)
    end = w.write(w.owner, remove(thief.member), "valid")
    voids = [w.admit(thief, on, expect="void", knows=before, after=None)[1] for _ in range(2)]
    w.write(friend, (13, {1: 1, 2: bytes(16)}), "valid", knows=[*before, end, *voids])
    assert not w.judged().uses(on.id)
    w.admit(w.owner, on, expect="A-13")
    return w


@history
def one_member_has_sixty_four_devices():
    """G11, A-17: as many as one member may link, each with a budget of its own."""
    w = World()
    mina = w.join(MEMBER)
    for _ in range(64):
        mina, _ = w.link(mina, expect="valid")
        w.write(mina, (13, {1: 1, 2: bytes(16)}), "valid")
    w.link(mina, expect="A-17")
    return w


@history
def as_many_as_a_stolen_device_links():
    """A-17: they take no room from an older one; and from a younger one until it is revoked."""
    w = World()
    mina = w.join(MEMBER)
    stolen, _ = w.link(mina)
    younger, _ = w.link(mina)
    for _ in range(62):
        w.link(stolen, expect="valid")
    w.link(stolen, expect="A-17")
    w.link(younger, expect="A-17")
    w.link(mina, expect="valid")
    w.write(mina, rmdev(stolen.device), "valid")
    w.link(younger, expect="valid")
    return w


@history
def a_late_admit_makes_a_device_no_stronger():
    """G15, V-10: who answered a newcomer admits it again in an older past. What the phrase revoked is
    out by that, too."""
    recovery = Device()
    w = World()
    on = w.invite(w.owner, MEMBER)
    answerer, old = w.join(MEMBER), list(w.ops)
    new = Device()
    for _ in range(3):
        w.write(w.owner, (WSSET, {5: 0}))
    mina, admitted = w.admit(answerer, on, new, "valid", recovery=recovery)
    phrase = type(mina)(recovery, mina.member, admitted.id)
    w.write(phrase, rmdev(new), "valid")
    assert w.judged().standing(new.id) is None
    said = w.admission(answerer, on, new, recovery=recovery)
    late = w.write(answerer, said, "valid", knows=old, after=None)
    a = w.judged()
    assert a.standing(new.id) is None
    assert a.strongest(recovery.id).grant.id == late.id
    return w



@history
def an_invite_of_a_revoked_device():
    """A12, G12: rmdev and demotion leave open what was invited before; only a removal ends it."""
    w = World()
    stolen, _ = w.link(w.owner)
    admin = w.join(ADMIN)
    on, other = w.invite(stolen, ADMIN), w.invite(admin, MEMBER)
    w.write(w.owner, rmdev(stolen.device), "valid")
    w.write(w.owner, writer.grant(admin.member, [admin.device.id], MEMBER), "valid")
    w.admit(w.owner, on, expect="valid")
    w.admit(w.owner, other, expect="valid")
    return w


@history
def a_void_removal_by_somebody_who_was_an_admin():
    """4.0: a removal ends a confirm whether it is valid or not. Who was a stronger admin than the one that has
    confirmed the person's end removes that one as if before, and none of two ends counts more than the other."""
    s = Apart()
    w, (gone, admin) = s.w, s.admins
    known = list(w.ops)
    w.write(w.owner, writer.grant(gone.member, [gone.device.id], MEMBER, True), "valid")
    new, _, end, own = s.replaced(expect="valid", before=list(w.ops))
    s.confirm(admin, end, own)
    thief, _, _, _ = s.replaced(expect="void")
    w.write(gone, remove(admin.member), "void", knows=known, after=None)
    w.write(s.eve, CHANNEL)
    assert s.standings(new, thief) == [MEMBER, None]
    for phrase in (new, thief):
        s.role([phrase, s.mina], None, "A-19")
    return w

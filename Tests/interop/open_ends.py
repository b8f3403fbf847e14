"""Histories of known gaps in section 4, each with the goal that it misses.

They assert the current rules. When a rule is fixed, its history fails and has to be inverted.
"""

import writer
from apart import CHANNEL, Apart
from confirmations import confirming
from histories import history, remove, rmdev
from terms import ADMIN, CONFIRM, LEAVE, MEMBER, WSSET
from transfers import transfer
from world import Person, World
from writer import Device


@history
def a_second_device_that_a_transfer_does_not_list():
    """G7: the owner's other device is in as an admin (V-2), but everything it writes is void."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(w.owner)
    w.write(w.owner, transfer(w, mina), "valid")
    w.write(second, (WSSET, {5: 1}), "void")
    assert w.judged().standing(second.device.id)[1] == w.owner.member
    return w


@history
def void_admissions_that_a_member_cites():
    """A17: a removed member admits people concurrently. A member cites that, and the invite is used
    up for everyone who hears from that member."""
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
    """G11, A-17: as many devices as one member may link, each with its own budget."""
    w = World()
    mina = w.join(MEMBER)
    for _ in range(64):
        mina, _ = w.link(mina, expect="valid")
        w.write(mina, (13, {1: 1, 2: bytes(16)}), "valid")
    w.link(mina, expect="A-17")
    return w


@history
def as_many_as_a_stolen_device_links():
    """A-17: they do not limit an older device, and a younger one only until they are revoked."""
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
    """G15, V-10: the answerer of a newcomer admits it again with an older past. What the phrase
    revoked is out under that admit too."""
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
    """A12, G12: rmdev and demotion leave earlier invites open; only a removal ends them."""
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
    """4.0: a removal ends a confirm even if it is void. A former, stronger admin removes the
    confirmer of the person's end with a backdated operation; then neither of two ends outranks the
    other."""
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


def chosen(a, ends):
    """F-16: of the ends of one phrase, the one named by the strongest valid confirm that is
    stronger than the end is under some grant; None if there is none."""
    records = [*ends, *(o for o in a.counted_again() if o.id in {e.id for e in ends})]
    named = [(a.rank(c), o) for c in a.in_force if c.type == CONFIRM for o in records
             if o.id in c.map[1] and a.author(c).member != a.author(o).member
             and a.rank(c) < a.rank(o)]
    found = min(named, key=lambda n: n[0], default=(None, None))[1]
    return next((e for e in ends if found and e.id == found.id), None)


@history
def an_end_that_cites_a_role_is_chosen_too():
    """F-16, V-7: Mina's end cites her role; the admin who confirms it is younger than that. The
    thief's end cites her entry, and a still weaker admin hears it first. The owner's node confirms
    Mina's."""
    s = Apart()
    w = s.w
    g = s.role([s.words, s.mina, s.phone], s.before)
    young, younger = w.join(ADMIN), w.join(ADMIN)
    start = list(w.ops)
    new, _, end, own = s.replaced(g, None, start)
    s.confirm(young, end, own)
    evil, link = w.link(s.words.under(g), knows=start, after=None, takes_place=True)
    known = [*start, link]
    for device in (s.mina.device, s.phone.device):
        known.append(w.write(s.words.under(g), rmdev(device), knows=known))
    theft = w.write(s.words, rmdev(s.words.device), knows=known)
    s.confirm(younger, theft, [*known, theft])
    a = w.judged()
    assert end.id in a.valid and theft.id not in a.valid
    assert s.standings(new, s.mina, s.phone, evil) == [ADMIN, ADMIN, ADMIN, None]
    assert chosen(a, [end, theft]) is end
    w.write(w.owner, confirming(end), "valid")
    assert s.standings(new, s.mina, s.phone, evil) == [ADMIN, ADMIN, ADMIN, None]
    return w


@history
def an_end_that_is_chosen_though_it_is_void():
    """F-16: the same without the other admin. The thief's end comes first under the role and is
    valid there. The owner's node confirms Mina's, as the weaker admin did, and V-7 takes the
    thief's."""
    for named in range(2):
        s = Apart()
        w = s.w
        g = s.role([s.words, s.mina], s.before)
        young = w.join(ADMIN)
        start = list(w.ops)
        thief, _, theft, _ = s.replaced(g, None, [*s.before, g])
        new, _, end, own = s.replaced(g, None, start)
        s.confirm(young, end, own)
        a = w.judged()
        assert (end.id in a.valid, theft.id in a.valid) == (False, True)
        assert chosen(a, [end, theft]) is end
        w.write(w.owner, confirming([theft, end][named]), "valid")
        assert s.standings(new, thief) == [[None, ADMIN], [ADMIN, None]][named]
    return w


def who_confirms_and_is_ended(s):
    """Cases that yield the confirming admin, who is in force, and who then writes void
    operations."""
    w = s.w

    def one_whose_admit_is_kept():
        bob = s.admins[0]
        on, known = w.invite(w.owner, ADMIN), list(w.ops)
        ann, admit = w.admit(bob, on)
        w.write(w.owner, confirming(admit), "valid")
        w.write(bob, (LEAVE, {1: []}), "valid", knows=known, after=None)
        return ann, None, None

    def one_with_old_words():
        words, computer = Device(), Device()
        ann, entry = w.admit(w.owner, w.invite(w.owner, ADMIN), computer, recovery=words)
        old, known = Person(words, ann.member, entry.id), list(w.ops)
        w.link(old, takes_place=True)
        w.write(w.owner, confirming(w.write(old, rmdev(words), "valid")), "valid")
        return ann, old, known

    def one_with_a_revoked_computer():
        words, computer = Device(), Device()
        ann, entry = w.admit(w.owner, w.invite(w.owner, ADMIN), computer, recovery=words)
        phrase = Person(words, ann.member, entry.id)
        laptop, _ = w.link(phrase)
        known = list(w.ops)
        w.write(phrase, rmdev(computer), "valid")
        return laptop, ann, known
    return one_whose_admit_is_kept, one_with_old_words, one_with_a_revoked_computer


@history
def a_confirm_that_an_ended_device_or_a_kept_admit_takes():
    """4.0: the confirmer is an admin in force. Still, void operations by their old words or by a
    computer that they revoked end the confirm, or the backdated leave of the admin who admitted
    them."""
    for n in range(3):
        s = Apart()
        w = s.w
        admin, ended, known = who_confirms_and_is_ended(s)[n]()
        new, _, end, own = s.replaced(expect="valid", before=list(w.ops))
        s.confirm(admin, end, own)
        thief, _, _, _ = s.replaced(expect="void")
        if ended:
            w.write(ended, rmdev(admin.device), "void", knows=known, after=None)
        w.write(s.eve, CHANNEL)
        assert s.standings(admin, new, thief) == [ADMIN, MEMBER, None]
        for phrase in (new, thief):
            s.role([phrase, s.mina], None, "A-19")
        assert not w.disagreements(), w.disagreements()
    return w

"""Histories of ends confirmed by admins who had not heard of each other, and of other concurrent
operations by someone with the old words (4.0, V-6, V-12)."""

import writer
from confirmations import confirming
from histories import history, remove, rmdev
from terms import ADDDEV, ADMIN, DOCCREATE, LEAVE, MEMBER
from world import Person, World
from writer import Device

CHANNEL = (DOCCREATE, {1: 1, 2: bytes(16)})


class Apart:
    """Two admins, the first stronger, and a member with a phrase, a computer and a phone."""

    def __init__(self, role=MEMBER):
        self.w = w = World()
        self.admins = [w.join(ADMIN), w.join(ADMIN)]
        self.eve = w.join(MEMBER)
        words, device = Device(), Device()
        self.mina, self.entry = w.admit(w.owner, w.invite(w.owner, role), device, recovery=words)
        self.words = Person(words, self.mina.member, self.entry.id)
        self.phone, _ = w.link(self.words)
        self.before = list(w.ops)

    def replaced(self, under=None, expect=None, before=None):
        """A new phrase and the final end of the old one, which know nothing else."""
        words = self.words.under(under) if under else self.words
        before = before or self.before
        new, added = self.w.link(words, knows=before, after=None, takes_place=True)
        known = [*before, added]
        end = self.w.write(words, rmdev(words.device), expect, knows=known)
        return new, added, end, [*known, end]

    def confirm(self, who, end, known, expect="valid"):
        return self.w.write(who, confirming(end), expect, knows=known, after=None)

    def role(self, listed, knows, expect="valid", level=ADMIN):
        """A grant by the owner, who knows these operations."""
        said = writer.grant(self.mina.member, [p.device.id for p in listed], level, False)
        return self.w.write(self.w.owner, said, expect, knows=knows, after=None)

    def standings(self, *who):
        a = self.w.judged()
        return [s and s[0] for s in (a.standing(p.device.id) for p in who)]


@history
def two_ends_that_were_confirmed_apart():
    """Whichever end the strongest admin has confirmed stays."""
    for first in range(2):
        s = Apart()
        ends = [s.replaced(expect="valid" if n == first else "void") for n in range(2)]
        for n, (_, _, end, known) in enumerate(ends):
            s.confirm(s.admins[0 if n == first else 1], end, known)
        assert s.standings(s.words, ends[first][0], ends[1 - first][0]) == [None, MEMBER, None]
        assert not s.w.disagreements(), s.w.disagreements()
    return s.w


@history
def two_departures_that_were_confirmed_apart():
    s = Apart()
    ends = [s.w.write(s.mina, (LEAVE, {1: []}), expect, knows=s.before, after=None)
            for expect in ("void", "valid")]
    for end, admin in zip(ends, reversed(s.admins)):
        s.confirm(admin, end, [*s.before, end])
    assert s.standings(s.words, s.mina, s.phone) == [None, None, None]
    return s.w


@history
def old_words_confirm_an_end_of_their_own():
    """The confirm is void and a plain member cites it: the new phrase can still be given a role."""
    s = Apart()
    w = s.w
    g = w.write(w.owner, writer.grant(
        s.mina.member, [s.words.device.id, s.mina.device.id], ADMIN, False))
    before = list(w.ops)
    new, _, end, known = s.replaced(g, "valid", before)
    s.confirm(w.owner, end, known)
    _, _, other, known = s.replaced(g, "void", before)
    s.confirm(s.words.under(g), other, known, "void")
    w.write(s.eve, CHANNEL)
    w.write(w.owner, writer.grant(s.mina.member, [new.device.id], MEMBER, True), "valid")
    return w


@history
def an_admin_who_was_removed_confirms_an_end():
    s = Apart()
    w, (gone, admin) = s.w, s.admins
    w.write(w.owner, remove(gone.member), "valid")
    new, _, end, known = s.replaced(None, "valid", list(w.ops))
    s.confirm(admin, end, known)
    _, _, other, known = s.replaced(None, "void")
    s.confirm(gone, other, known, "void")
    w.write(s.eve, CHANNEL)
    w.write(w.owner, writer.grant(s.mina.member, [new.device.id], MEMBER, False), "valid")
    return w


@history
def old_words_revoke_what_their_end_does_not_know():
    """Even if an admin who had not heard of the end confirmed it; the new phrase's signature is
    public."""
    for victim in range(3):
        s = Apart()
        w = s.w
        new, added, end, known = s.replaced(None, "valid")
        s.confirm(s.admins[0], end, known)
        said = {key: value for key, value in added.map.items() if key != 4}
        again = w.write(s.words, (ADDDEV, said), "void", knows=s.before, after=None)
        device = (new, s.phone, s.mina)[victim].device
        kick = w.write(s.words, rmdev(device), "void", knows=[*s.before, again])
        s.confirm(s.admins[1], kick, [*s.before, again, kick])
        assert s.standings(new, s.phone, s.mina) == [MEMBER, MEMBER, MEMBER]
        assert not w.disagreements(), w.disagreements()
    return w


@history
def an_end_names_no_phrase_that_the_old_one_has_revoked():
    s = Apart()
    w = s.w
    evil, other = w.link(s.words, knows=s.before, after=None, takes_place=True)
    known = [*s.before, other]
    known.append(w.write(s.words, rmdev(evil.device), "valid", knows=known))
    new, added = w.link(s.words, knows=known, takes_place=True)
    known.append(added)
    end = w.write(s.words, rmdev(s.words.device), "valid", knows=known)
    s.confirm(s.admins[0], end, [*known, end])
    w.write(new, rmdev(s.mina.device), "valid", knows=[*known, end])
    devices = [s.words.device.id, s.mina.device.id, s.phone.device.id]
    w.write(w.owner, writer.grant(s.mina.member, devices, ADMIN, False), "valid",
            knows=s.before, after=None)
    w.write(evil, rmdev(s.phone.device), "void", knows=[*s.before, other])
    assert s.standings(s.words, s.mina, s.phone, new) == [None, None, ADMIN, MEMBER]
    return w


def former_admins(s):
    """Ways to stop being an admin. Each yields the backdating author and what they need to know."""
    w, (gone, _) = s.w, s.admins
    phone, link = w.link(gone)

    def demoted():
        w.write(w.owner, writer.grant(gone.member, [gone.device.id], MEMBER, True), "valid")
        return gone, []

    def left():
        w.write(gone, (LEAVE, {1: []}), "valid")
        return gone, []

    def by_a_phone_that_was_revoked():
        known = [*w.ops]
        w.write(gone, rmdev(phone.device), "valid")
        s.admins[1] = w.join(ADMIN)
        other, again = w.link(phone, expect="void", knows=known, after=None)
        return other, [again]

    def by_a_friend_whom_they_let_in():
        on = w.invite(w.owner, ADMIN)
        known = [*w.ops]
        w.write(w.owner, remove(gone.member), "valid")
        s.admins[1] = w.join(ADMIN)
        friend, admit = w.admit(gone, on, expect="void", knows=known, after=None)
        return friend, [admit]
    return demoted, left, by_a_phone_that_was_revoked, by_a_friend_whom_they_let_in


@history
def a_void_confirm_by_somebody_who_was_an_admin():
    """4.0: of two final ends, the one counts that has a confirm which is not ended there, nor what
    that rests on. So the new phrase can be listed, and the thief's cannot."""
    for n in range(4):
        s = Apart()
        w = s.w
        former, more = former_admins(s)[n]()
        new, _, end, known = s.replaced(expect="valid", before=[o for o in w.ops if o not in more])
        s.confirm(s.admins[1], end, known)
        thief, _, theft, aware = s.replaced(expect="void")
        said = w.write(former, confirming(theft), "void", knows=[*aware, *more], after=None)
        w.write(s.eve, CHANNEL, knows=[*known, *aware, *more, said])
        assert s.standings(new, thief) == [MEMBER, None]
        s.role([thief, s.mina], None, "A-19")
        s.role([new, s.mina], None, "valid")
        assert not w.disagreements(), w.disagreements()
    return w

"""Histories of V-13: a grant lists a phrase added by someone with the old words instead of the old
phrase, because its author knows only their end."""

import writer
from apart import Apart
from confirmations import confirming
from histories import history, remove, rmdev
from terms import ADMIN, MEMBER, SUCCESSIONS_MAX, WSSET


def role(s, *said, **more):
    return s.role(*said, **more)


@history
def a_role_that_lists_a_phrase_of_a_thiefs():
    """The person's end counts under it once another member has confirmed it."""
    for is_confirmed in (True, False):
        s = Apart()
        w = s.w
        thief, added, _, known = s.replaced()
        g = role(s, [thief, s.mina, s.phone], known)
        new, _, end, aware = s.replaced()
        if is_confirmed:
            s.confirm(s.admins[0], end, aware)
        wanted = None if is_confirmed else ADMIN
        assert s.standings(s.words, thief, s.mina, s.phone) == [None, wanted, ADMIN, ADMIN]
        verdict = "void" if is_confirmed else "valid"
        w.write(thief.under(g), rmdev(s.mina.device), verdict, knows=[*known, g], after=None)
        if is_confirmed:
            assert s.standings(new, s.mina) == [MEMBER, ADMIN]
    return w


@history
def a_role_that_lists_what_a_thiefs_phrase_has_put_in():
    """The same for a chain of such phrases, and for the devices that they linked."""
    s = Apart()
    w = s.w
    thief, _, _, known = s.replaced()
    second, next_ = w.link(thief, knows=known, takes_place=True)
    gone = w.write(thief, rmdev(thief.device), knows=[*known, next_])
    tablet, link = w.link(second, knows=[*known, next_, gone])
    known = [*known, next_, gone, link]
    g = role(s, [second, s.mina, tablet], known)
    _, _, end, aware = s.replaced()
    s.confirm(s.admins[0], end, aware)
    assert s.standings(s.words, thief, second, s.mina, tablet) == [None, None, None, ADMIN, None]
    w.write(tablet.under(g), (WSSET, {5: 0}), "void", knows=[*known, g], after=None)
    return w


@history
def a_role_that_lists_the_last_of_a_long_chain_of_a_thiefs():
    """V-13: the person's end counts under a grant that lists a phrase behind 16 or 17 others."""
    for length in (SUCCESSIONS_MAX, SUCCESSIONS_MAX + 1):
        s = Apart()
        last, known = s.words, list(s.before)
        for _ in range(length):
            after = None if last is s.words else ...
            next_, link = s.w.link(last, knows=known, after=after, takes_place=True)
            known.append(link)
            known.append(s.w.write(last, rmdev(last.device), knows=known))
            last = next_
        role(s, [last, s.mina, s.phone], known)
        _, _, end, aware = s.replaced(expect="valid")
        s.confirm(s.w.owner, end, aware)
        assert s.standings(last, s.mina, s.phone) == [None, ADMIN, ADMIN]
    return s.w


@history
def a_role_that_lists_what_a_thiefs_phrase_has_linked_and_no_phrase():
    """V-13: the thief's phrase revokes its successor, and ends itself. Devices that the old words
    linked and that the person's end knows stay."""
    s = Apart()
    w = s.w
    thief, _, _, known = s.replaced()
    evil, link = w.link(thief, knows=known)
    second, next_ = w.link(thief, knows=[*known, link], takes_place=True)
    known = [*known, link, next_]
    known.append(w.write(thief, rmdev(second.device), knows=known))
    known.append(w.write(thief, rmdev(thief.device), knows=known))
    role(s, [s.mina, s.phone, evil], known)
    _, _, end, aware = s.replaced(expect="valid")
    s.confirm(w.owner, end, aware)
    assert s.standings(thief, s.mina, s.phone, evil) == [None, ADMIN, ADMIN, None]
    return w


@history
def a_role_that_lists_a_phrase_which_the_old_words_have_revoked():
    """The person knew the thief's phrase, but not the thief's end."""
    s = Apart()
    w = s.w
    thief, added = w.link(s.words, knows=s.before, after=None, takes_place=True)
    theft = w.write(s.words, rmdev(s.words.device), knows=[*s.before, added])
    g = role(s, [thief, s.mina], [*s.before, added, theft])
    known = [*s.before, added]
    known.append(w.write(s.words, rmdev(thief.device), "valid", knows=known, after=None))
    new, link = w.link(s.words, knows=known, takes_place=True)
    known.append(link)
    end = w.write(s.words, rmdev(s.words.device), "valid", knows=known)
    s.confirm(s.admins[0], end, [*known, end])
    assert s.standings(s.words, thief, s.mina, new) == [None, None, ADMIN, MEMBER]
    return w


@history
def a_role_that_lists_the_phrase_of_the_person():
    """The reverse: a thief's end takes the new phrase only if the strongest confirm names it,
    no matter which end comes first."""
    for confirmed in ("none", "both", "theirs"):
        s = Apart()
        new, _, end, known = s.replaced()
        role(s, [new, s.mina], known)
        _, _, theft, aware = s.replaced()
        if confirmed == "both":
            s.confirm(s.admins[0], end, known)
        if confirmed != "none":
            s.confirm(s.admins[1], theft, aware)
        wanted = None if confirmed == "theirs" else ADMIN
        assert s.standings(s.words, new, s.mina) == [None, wanted, ADMIN], confirmed
    return s.w


@history
def a_role_that_lists_the_phrase_and_a_weaker_confirm():
    """The confirmer must be stronger than the phrase there, and so able to revoke it."""
    s = Apart()
    w = s.w
    new, _, end, known = s.replaced()
    from_owner = writer.grant(s.mina.member, [new.device.id, s.mina.device.id], 0, False)
    w.write(w.owner, from_owner, "valid", knows=known, after=None)
    _, _, theft, aware = s.replaced()
    s.confirm(s.admins[0], theft, aware)
    assert s.standings(s.words, new, s.mina) == [None, 0, 0]
    return w


@history
def a_role_that_lists_the_phrase_and_a_confirm_by_its_person():
    """An admin's old words confirm their own end, under an earlier role."""
    s = Apart(ADMIN)
    w = s.w
    new, _, end, known = s.replaced()
    g = role(s, [new, s.mina], known, level=MEMBER)
    _, _, theft, aware = s.replaced()
    w.write(s.mina, confirming(theft), "valid", knows=aware)
    assert not any(o.id == theft.id and o.grant == g.id for o in w.judged().in_force)
    assert not any(o.id == end.id and o.grant == g.id for o in w.judged().in_force)
    return w


@history
def a_thiefs_end_that_comes_first_under_a_role():
    """V-7: a weaker admin confirmed the person's end, and so did the owner's node, knowing both.
    The thief's end goes, unless a confirm names both or the owner confirmed the thief's end
    before."""
    for names in ("one", "both", "theirs before"):
        s = Apart()
        w = s.w
        g = role(s, [s.words, s.mina], s.before)
        young = w.join(ADMIN)
        known = list(w.ops)
        thief, _, theft, aware = s.replaced(g, None, [*s.before, g])
        new, _, end, own = s.replaced(before=known)
        s.confirm(young, end, own)
        assert s.standings(s.words, new, thief, s.mina) == [None, None, ADMIN, ADMIN]
        if names == "theirs before":
            s.confirm(w.owner, theft, aware)
        w.write(w.owner, confirming(*[end, theft][:2 if names == "both" else 1]), "valid")
        wanted = [MEMBER, None] if names == "one" else [None, ADMIN]
        assert s.standings(s.words, s.mina, new, thief) == [None, ADMIN, *wanted], names
        assert (theft.id in w.judged().valid) == (names != "one")
    return w


@history
def what_the_old_words_have_let_in_revokes_nothing_that_lasts():
    """V-6: an admin who had not heard of the end confirmed an rmdev by a device that the old words
    added, and by one that this device linked. The end hits the adddev, so the devices are in
    again."""
    for takes_place in (True, False):
        for is_chain in (False, True):
            s = Apart()
            w = s.w
            entry = [w.op(name) for name in w.judged().past[s.entry.id]] + [s.entry]
            # It is stronger than what was linked later.
            evil, link = w.link(s.words, knows=entry, after=None, takes_place=takes_place)
            stolen = [link]
            if is_chain:
                evil, link = w.link(evil, knows=[*entry, link])
                stolen.append(link)
            before = list(s.before)
            for _ in range(3):
                tablet, link = w.link(s.words, knows=before, after=None)
                before.append(link)
            theft = w.write(evil, rmdev(tablet.device), "void", knows=[*before, *stolen])
            s.confirm(s.admins[0], theft, [*before, *stolen, theft])
            assert s.standings(tablet) == [None]
            new, _, end, aware = s.replaced(expect="valid", before=before)
            assert s.standings(new, evil, s.mina, tablet) == [MEMBER, None, MEMBER, MEMBER]
            s.confirm(w.owner, end, aware)
            assert s.standings(new, evil, s.mina, tablet) == [MEMBER, None, MEMBER, MEMBER]
            assert not w.disagreements(), w.disagreements()
    return w


class Replaced(Apart):
    """The owner has heard of a thief's end alone, and gives Mina a role that replaces: it lists the
    thief's phrase. Mina's end is void by that, so no node stores it."""

    def __init__(self):
        super().__init__()
        w = self.w
        self.thief, _, self.theft, known = self.replaced()
        listed = [p.device.id for p in (self.thief, self.mina, self.phone)]
        self.g = w.write(w.owner, writer.grant(self.mina.member, listed, MEMBER), "valid",
                         knows=known, after=None)
        self.heard = [*known, self.g]
        self.evil = self.thief.under(self.g)
        self.new, self.added, self.end, _ = self.replaced()

    def says(self, who, said, expect="valid"):
        """An operation of somebody who has not heard of Mina's end."""
        o = self.w.write(who, said, expect, knows=self.heard, after=None)
        if expect == "valid":
            self.heard.append(o)
        return o

    def everybody(self):
        return self.standings(self.words, self.thief, self.new, self.mina, self.phone)


@history
def a_role_that_replaces_and_a_revocation_by_name():
    """The owner revokes the thief's phrase: Mina's computers stay, without any phrase. What the
    phrase had linked needs another word."""
    s = Replaced()
    assert s.everybody() == [None, MEMBER, None, MEMBER, MEMBER]
    tablet, link = s.w.link(s.evil, expect="valid", knows=s.heard, after=None)
    s.heard.append(link)
    s.says(s.w.owner, rmdev(s.thief.device))
    assert s.everybody() == [None, None, None, MEMBER, MEMBER]
    assert s.standings(tablet) == [MEMBER]
    s.says(s.w.owner, rmdev(tablet.device))
    assert s.standings(tablet) == [None]
    s.says(s.w.owner, writer.grant(s.mina.member, [s.mina.device.id], ADMIN, False))
    s.says(s.w.owner, writer.grant(s.mina.member, [s.new.device.id], ADMIN, False), "A-19")
    return s.w


@history
def a_role_that_replaces_and_a_removal_with_a_return():
    """One removal takes the thief's phrase and all that it linked. The owner lets in the computer
    that Mina asks with."""
    s = Replaced()
    tablet, link = s.w.link(s.evil, expect="valid", knows=s.heard, after=None)
    s.heard.append(link)
    s.says(s.w.owner, remove(s.mina.member))
    assert s.everybody() == [None] * 5
    back = s.says(s.w.owner, writer.grant(s.mina.member, [s.mina.device.id], MEMBER, False))
    assert s.everybody() == [None, None, None, MEMBER, None]
    assert s.standings(tablet) == [None]
    s.w.write(s.evil, rmdev(s.mina.device), "void", knows=s.heard, after=None)
    s.w.link(s.mina.under(back), expect="valid")
    return s.w


@history
def a_role_that_replaces_and_a_phrase_that_revoked_all_computers():
    """A gap: no word of the owner brings these computers back, for an older device of their member
    revoked them. Were Mina's end confirmed, all would be hers, but nobody has it."""
    for is_confirmed in (False, True):
        s = Replaced()
        w = s.w
        verdict = "void" if is_confirmed else "valid"
        s.heard.append(w.write(s.evil, rmdev(s.mina.device), verdict, knows=s.heard, after=None))
        s.heard.append(w.write(s.evil, rmdev(s.phone.device), verdict, knows=s.heard))
        if is_confirmed:
            s.heard += [s.added, s.end]
            s.says(w.owner, confirming(s.end))
            listed = [p.device.id for p in (s.new, s.mina, s.phone)]
            s.says(w.owner, writer.grant(s.mina.member, listed, MEMBER))
            assert s.everybody() == [None, None, MEMBER, MEMBER, MEMBER]
        else:
            s.says(w.owner, rmdev(s.thief.device))
            assert s.everybody() == [None] * 5
            s.says(w.owner, writer.grant(s.mina.member, [s.mina.device.id], MEMBER), "A-19")
        a = w.judged()
        assert (s.theft.id in a.valid, s.end.id in a.valid) == (not is_confirmed, is_confirmed)
        assert not w.disagreements(), w.disagreements()
    return w

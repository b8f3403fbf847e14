"""Histories of old words that certify a new admit; of operations by the new phrase where only the
old one is known (V-11, V-12); and of void operations, which bar nobody (4.0)."""

import writer
from along import promoted, standings
from bindings import FOR_JOINING, consent
from confirmations import confirming
from final_ends import member_with_phrase
from histories import history, remove, rmdev
from terms import ADMIN, MEMBER, WSSET
from world import Person, World
from writer import Device


class Late:
    """Eve was in and knew an invite before Mina joined. Mina has since replaced her phrase."""

    def __init__(self, is_confirmed=True):
        self.w = w = World()
        self.on = w.invite(w.owner, MEMBER, uses=9)
        self.eve, _ = w.admit(w.owner, self.on)
        self.before = list(w.ops)
        for _ in range(3):
            w.write(w.owner, (WSSET, {5: 0}))
        self.admin, words = w.join(ADMIN), Device()
        self.mina, self.entry = w.admit(w.owner, w.invite(w.owner, MEMBER), recovery=words)
        self.words = Person(words, self.mina.member, self.entry.id)
        self.phone, _ = w.link(self.mina)
        self.unaware = list(w.ops)
        self.new, self.added = w.link(self.words, takes_place=True)
        self.end = w.write(self.words, rmdev(words), "valid")
        if is_confirmed:
            w.write(self.admin, confirming(self.end), "valid")

    def admit(self, device, expect="valid"):
        """A second, backdated admit of Mina by Eve, with the phrase and a device that signs for
        itself. The phrase's signature for Mina's computer is public."""
        w, phrase = self.w, self.words.device
        pairs = [[d.id, d.box] for d in (phrase, device)]
        said = consent(FOR_JOINING, w.root.id, self.on.id, self.eve.device.id, self.mina.member,
                       pairs)
        certified = w.listed(self.entry)[phrase.id]
        if device is not self.mina.device:
            _, [certified, _] = writer.for_joining([device], w.root.id, self.on.id,
                                                   self.eve.device.id, phrase)
        listed = [certified, [*pairs[1], device.key.sign(said)]]
        late = w.write(self.eve, w.with_proof(self.on, self.mina.member, listed), expect,
                       knows=self.before, after=None)
        return Person(device, self.mina.member, late.id), late


@history
def old_words_that_certify_a_new_device():
    """Nothing remains under an admit that the final end does not know; its operations bar
    nobody."""
    for is_confirmed in (True, False):
        s = Late(is_confirmed)
        w = s.w
        evil, late = s.admit(Device())
        apart = [*s.before, late]
        w.write(evil, (WSSET, {5: 0}), "A-27", knows=apart)
        _, link = w.link(evil, expect="void", knows=apart)
        theft = [w.write(evil, rmdev(p.device), "void") for p in (s.new, s.mina, s.phone)]
        assert standings(w, s.words, s.mina, s.phone, s.new, evil) == [None, 2, 2, 2, None]
        # The owner knows all this, and gives a role to Mina's devices but not to the other one.
        w.write(w.owner, writer.grant(s.mina.member, [evil.device.id], ADMIN), "A-19")
        listed = [p.device.id for p in (s.new, s.mina, s.phone)]
        w.write(w.owner, writer.grant(s.mina.member, listed, ADMIN), "valid", after=None)
        assert all(w.judged().knows(w.ops[-1], o.id) for o in (link, *theft))
        assert standings(w, s.mina, s.phone, s.new, evil) == [1, 1, 1, None]
    return w


@history
def a_role_that_knows_an_admit_by_old_words():
    """It lists the old phrase and what that certified. What has its place by other means stays."""
    s = Late()
    w = s.w
    evil, late = s.admit(Device())
    second, link = w.link(evil, expect="void", knows=[*s.before, late])
    known = [*s.unaware, late, link]
    g = promoted(w, s.mina, [s.words, evil, s.mina, s.phone, second], known)
    assert standings(w, s.words, evil, second, s.mina, s.phone) == [None, None, None, 1, 1]
    w.write(evil.under(g), rmdev(s.mina.device), "void", knows=[*known, g], after=None)
    return w


@history
def an_end_by_the_old_words_that_knows_only_the_late_admit():
    """The person's end is confirmed, so it is the only one that counts."""
    s = Late()
    w = s.w
    evil, late = s.admit(Device())
    old = s.words.under(late)
    _, added = w.link(old, expect="void", knows=[*s.before, late], after=None, takes_place=True)
    w.write(old, rmdev(old.device), "void", knows=[*s.before, late, added])
    w.write(s.eve, (WSSET, {5: 0}), "A-27")
    listed = [p.device.id for p in (s.new, s.mina, s.phone)]
    w.write(w.owner, writer.grant(s.mina.member, listed, ADMIN), "valid")
    w.write(w.owner, writer.grant(s.mina.member, [evil.device.id], ADMIN), "A-19", after=None)
    assert standings(w, s.words, s.mina, s.phone, s.new, evil) == [None, 1, 1, 1, None]
    return w


@history
def a_late_admit_of_a_computer_that_the_new_phrase_revoked():
    """It does not need the words, because the phrase's signature for the computer is public."""
    s = Late()
    w = s.w
    w.write(s.new, rmdev(s.mina.device), "valid")
    thief, _ = s.admit(s.mina.device)
    theft = [w.write(thief, rmdev(p.device), "void") for p in (s.new, s.phone)]
    assert standings(w, s.words, s.mina, s.phone, s.new) == [None, None, 2, 2]
    listed = [p.device.id for p in (s.new, s.phone)]
    g = w.write(w.owner, writer.grant(s.mina.member, listed, ADMIN), "valid")
    assert all(w.judged().knows(g, o.id) for o in theft)
    return w


@history
def a_late_admit_of_a_computer_that_somebody_revoked():
    """V-10: the phrase's rmdev counts under that admit without being written again, and an admin's
    is stronger. But a computer that gave itself up is in by it, until somebody revokes it."""
    for author in ("phrase", "admin", "itself"):
        w = World()
        on = w.invite(w.owner, MEMBER, uses=9)
        eve, _ = w.admit(w.owner, on)
        before = list(w.ops)
        admin = w.join(ADMIN)
        words, computer = Device(), Device()
        mina, entry = w.admit(eve, on, computer, recovery=words)
        phrase = Person(words, mina.member, entry.id)
        who = {"phrase": phrase, "admin": admin, "itself": mina}[author]
        w.write(who, rmdev(computer), "valid")
        late = w.write(eve, w.admission(eve, on, computer, recovery=words), "valid", knows=before,
                       after=None)
        is_in = author == "itself"
        w.link(mina.under(late), expect="valid" if is_in else "void", knows=[*before, late],
               after=None)
        assert standings(w, phrase, mina) == [MEMBER, MEMBER if is_in else None]
        if is_in:
            w.write(phrase, rmdev(computer), "valid")
            assert standings(w, phrase, mina) == [MEMBER, None]
        assert not w.disagreements(), w.disagreements()
    return w


@history
def a_role_that_knows_the_old_phrase_and_the_computer_that_the_new_one_revoked():
    """V-12: the new phrase acts for the old one there, but only through the old one's final end."""
    for is_ended in (True, False):
        s = Late(is_confirmed=is_ended)
        w = s.w
        w.write(s.new, rmdev(s.mina.device), "valid")
        if not is_ended:
            w.ops.remove(s.end)
            w.expected.pop(s.end.id)
            s.new.device.inc, s.new.device.tip = s.new.device.inc + 1, None
            w.ops.pop()
            w.expected.clear()
            w.write(s.new, rmdev(s.mina.device), "valid", knows=[*s.unaware, s.added], after=None)
        g = promoted(w, s.mina, [s.words, s.mina, s.phone], s.unaware)
        found = standings(w, s.words, s.mina, s.phone, s.new)
        assert found == ([None, None, 1, 2] if is_ended else [1, 1, 1, 2]), found
        if is_ended:
            w.write(s.mina.under(g), rmdev(s.phone.device), "void", knows=[*s.unaware, g],
                    after=None)
    return w


@history
def a_role_that_knows_the_first_of_three_phrases():
    """A chain: each phrase acts for the one before it."""
    s = Late()
    w = s.w
    third, _ = w.link(s.new, takes_place=True)
    known = list(w.ops)
    w.write(s.new, rmdev(s.new.device), "valid")
    w.write(third, rmdev(s.mina.device), "valid")
    # The finder of the second phrase revokes the phone and the third phrase.
    w.write(s.new, rmdev(s.phone.device), "void", knows=known, after=None)
    w.write(s.new, rmdev(third.device), "void", knows=known, after=None)
    promoted(w, s.mina, [s.words, s.mina, s.phone], s.unaware)
    assert standings(w, s.words, s.mina, s.phone, third) == [None, None, 1, 2]
    return w


@history
def a_late_admit_of_a_phrase_between():
    """It goes with the admit but still stands behind the first phrase, so the third follows it."""
    s = Late()
    w = s.w
    third, _ = w.link(s.new, takes_place=True)
    w.write(s.new, rmdev(s.new.device), "valid")
    w.write(third, rmdev(s.phone.device), "valid")
    _, late = s.admit(s.new.device)
    promoted(w, s.mina, [s.words, s.new, s.mina, s.phone], [*s.unaware, late])
    assert standings(w, s.words, s.new, s.mina, s.phone, third) == [None, None, 1, None, 2]
    return w


@history
def a_phrase_that_two_have_put_in_their_places():
    """V-12: the first adddev that an end knows decides behind which phrase its author stands."""
    for is_first in (True, False):
        w, _, words, mina = member_with_phrase()
        before = list(w.ops)
        other, _ = w.link(words, knows=before, after=None, takes_place=True)
        known, new = list(w.ops), Device()
        own, one = w.link(words, new, knows=before, after=None, takes_place=True)
        theirs, two = w.link(other, new, knows=known, after=None, takes_place=True)
        w.write(words, rmdev(words.device), "valid", knows=[*before, one], after=None)
        # An end that only knows the later adddev has another line.
        said = w.write(own if is_first else theirs, rmdev(mina.device), after=None,
                       knows=[*known, one, two] if is_first else [*known, two])
        promoted(w, mina, [words, mina], before)
        assert standings(w, words, mina) == [None, None if is_first else ADMIN], said
    return w


@history
def a_second_phrase_by_the_old_words_stands_for_nothing():
    """An end names one successor, the first that it knows."""
    s = Late()
    w = s.w
    known = [o for o in w.ops if o is not s.end][:len(s.unaware) + 1]
    evil, added = w.link(s.words, expect="void", knows=known, after=None, takes_place=True)
    w.write(evil, rmdev(s.mina.device), "void", knows=[*known, added])
    promoted(w, s.mina, [s.words, s.mina, s.phone], s.unaware)
    assert standings(w, s.mina, s.phone, s.new) == [1, 1, 2]
    return w


def found_two():
    """Mina has a computer and a phone, both linked by her phrase, and both are stolen."""
    w = World()
    w.join(ADMIN)
    words = Device()
    mina, entry = w.admit(w.owner, w.invite(w.owner, MEMBER), recovery=words)
    words = Person(words, mina.member, entry.id)
    phone, _ = w.link(words)
    return w, words, mina, phone


@history
def a_role_that_knows_the_end_of_one_of_two_that_linked_a_device():
    """An adddev that the end does not know is no chain, no matter when its device was stolen."""
    for is_old in (False, True):
        w, words, mina, phone = found_two()
        before = list(w.ops)
        first = w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
        evil, one = w.link(mina, expect="void", knows=before)
        _, two = w.link(phone, evil.device, "void", after=None,
                        knows=[*before, first, one] if is_old else before)
        known = [*before, one, two, w.write(w.owner, (WSSET, {5: 0}), knows=[*before, one]), first]
        g = promoted(w, words, [words, phone, evil], known)
        w.write(words, rmdev(phone.device), "valid", knows=[*before, first], after=None)
        w.write(evil.under(g), (WSSET, {5: 0}), "void", knows=[*known, g], after=None)
        assert standings(w, words, mina, phone, evil) == [1, None, None, None]
    return w


@history
def what_two_linked_and_a_weaker_device_has_ended():
    """A gap: the device stays in until someone stronger revokes it by name."""
    w, words, mina, phone = found_two()
    tablet, _ = w.link(words)
    before = list(w.ops)
    evil, one = w.link(mina, expect="void")
    _, two = w.link(tablet, evil.device, "void", knows=before, after=None)
    g = promoted(w, words, [words, mina, evil, phone, tablet], [*before, one, two])
    first = w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    w.write(phone, rmdev(tablet.device), "valid", knows=[*before, first], after=None)
    assert standings(w, words, mina, evil, phone, tablet) == [1, None, 1, 1, None]
    w.write(words.under(g), rmdev(evil.device), "valid", after=None)
    assert standings(w, words, mina, evil, phone, tablet) == [1, None, None, 1, None]
    return w


@history
def a_confirmed_revocation_whose_author_was_revoked():
    """V-6 also holds under a concurrent grant; unconfirmed, the rmdev goes with its author."""
    for is_confirmed in (True, False):
        w, words, mina, _ = found_two()
        admin = w.join(ADMIN)
        tablet, _ = w.link(mina)
        before = list(w.ops)
        word = w.write(mina, rmdev(tablet.device), "valid" if is_confirmed else "void")
        if is_confirmed:
            # The admin already was one before the grant.
            w.write(admin, confirming(word), "valid")
        promoted(w, words, [words, mina, tablet], before)
        w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
        assert standings(w, words, mina, tablet) == [1, None, None if is_confirmed else 1]
    return w


@history
def void_words_of_a_replaced_phrase_bar_nobody():
    """Someone cites them; the owner can still give a role."""
    s = Late()
    w = s.w
    before = [*s.unaware, s.added]
    for victim in (s.new, s.mina):
        w.write(s.words, rmdev(victim.device), "void", knows=before, after=None)
    w.link(w.join(MEMBER), expect="valid")
    listed = [p.device.id for p in (s.new, s.mina, s.phone)]
    w.write(w.owner, writer.grant(s.mina.member, listed, ADMIN), "valid")
    assert standings(w, s.new, s.mina, s.phone) == [1, 1, 1]
    return w


@history
def void_words_of_a_revoked_computer_bar_nobody():
    """Nor do those of devices that it linked; what its end knows continues."""
    w, words, mina, phone = found_two()
    tablet, _ = w.link(mina)
    known = w.write(mina, rmdev(tablet.device), "valid")
    before = list(w.ops)
    younger, _ = w.link(words)
    w.write(words, rmdev(mina.device), "valid", knows=[*w.ops])
    evil, link = w.link(mina, expect="void", knows=before, after=None)
    later = [*w.ops]
    w.write(mina, rmdev(younger.device), "void", knows=later)
    w.write(evil, rmdev(younger.device), "void", knows=later)
    w.write(w.owner, writer.grant(mina.member, [words.device.id, younger.device.id], ADMIN), "valid")
    for device in (tablet, evil, mina):
        w.write(w.owner, writer.grant(mina.member, [device.device.id], ADMIN), "A-19", after=None)
    assert w.judged().is_barred(tablet.device.id, set(w.judged().ops)) and known
    return w


@history
def what_a_revoked_device_linked_asks_to_come_back():
    """A-12: an adddev that the revocation does not know ties the device to nobody."""
    w, words, mina, phone = found_two()
    eve, before = w.join(MEMBER), list(w.ops)
    w.write(words, rmdev(mina.device), "valid")
    on = w.invite(w.owner, MEMBER, uses=9)
    end = w.write(w.owner, remove(mina.member), "valid")
    evil, _ = w.link(mina, expect="void", knows=before, after=None)
    for person, verdict in ((evil, "A-12"), (phone, "valid")):
        back = writer.for_return([person.device], w.root.id, end.id, eve.device.id, mina.member)
        proven = w.keys[on.id].prove(w.root.id, on.id, mina.member, back)
        w.write(eve, writer.request(on.id, mina.member, back, proven, end.id), verdict)
    return w

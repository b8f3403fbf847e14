"""Histories of V-10: replaced phrases and revoked devices, and grants that did not know it."""

import writer
from confirmations import confirming
from histories import history, remove, rmdev
from standings import Later, content_ends
from successions import scene
from terms import ADMIN, GUEST, MEMBER, OWNER, WSSET
from transfers import transfer
from world import Person, World
from writer import Device


def member_with_phrase():
    """A workspace with an admin, and a member with a phrase and a computer."""
    w = World()
    admin = w.join(ADMIN)
    phrase = Device()
    mina, entry = w.admit(w.owner, w.invite(w.owner, MEMBER), recovery=phrase)
    return w, admin, Person(phrase, mina.member, entry.id), mina


def replaced(w, old, knows=None):
    """A new phrase and the final end of the old one, under its first grant."""
    new, added = w.link(old, knows=knows, takes_place=True)
    known = None if knows is None else [*knows, added]
    return new, w.write(old, rmdev(old.device), "valid", knows=known)


def given(w, old, mina, role, knows, replaces=False, expect="valid"):
    """A grant of the owner's that lists the old phrase."""
    said = writer.grant(mina.member, [old.device.id, mina.device.id], role, replaces)
    return w.write(w.owner, said, expect, knows=knows)


def ends_of_content(w, old, grant, least=MEMBER):
    return [r.id for r in content_ends(w.judged(), Later(old.device.id, grant.id), least)]


@history
def a_promotion_that_did_not_know_of_the_new_phrase():
    """The old phrase is out under the new grant; the new one keeps what the adddev gave it."""
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    new, end = replaced(w, old)
    g = given(w, old, mina, ADMIN, before)
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert a.standing(new.device.id) == (MEMBER, mina.member)
    assert a.standing(mina.device.id) == (ADMIN, mina.member)
    w.write(mina.under(g), (WSSET, {5: 1}), "valid")
    # Someone with the old words writes backdated operations.
    apart = [*before, g]
    w.write(old.under(g), (WSSET, {5: 0}), "void", knows=apart, after=None)
    thief, _ = w.link(old.under(g), expect="void", knows=apart, after=None)
    w.write(thief, (WSSET, {5: 2}), "void")
    another, _ = w.link(old.under(g), expect="void", knows=apart, after=None, takes_place=True)
    w.write(another, rmdev(mina.device), "void")
    assert ends_of_content(w, old, g) == [end.id], "V-5"
    return w


@history
def a_demotion_that_did_not_know_of_the_new_phrase():
    """The replacing grant takes the new phrase with the old grant; the end counts under it."""
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    new, added = w.link(old, expect="void", takes_place=True)
    end = w.write(old, rmdev(old.device), "valid")
    g = given(w, old, mina, GUEST, before, replaces=True)
    a = w.judged()
    assert a.standing(old.device.id) is None and a.standing(new.device.id) is None
    assert a.standing(mina.device.id) == (GUEST, mina.member)
    assert ends_of_content(w, old, g, GUEST) == [end.id]
    # An admin repairs this with a grant that knows the new phrase.
    said = writer.grant(mina.member, [new.device.id, mina.device.id], GUEST, True)
    w.write(w.owner, said, "valid")
    assert w.judged().standing(new.device.id) == (GUEST, mina.member)
    # A grant that knows the end may not list the old phrase.
    given(w, old, mina, GUEST, None, expect="A-19")
    return w


@history
def a_transfer_to_who_had_replaced_a_phrase():
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    new, end = replaced(w, old)
    said = transfer(w, mina, devices=[old.device.id, mina.device.id])
    handed = w.write(w.owner, said, "valid", knows=before)
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert a.roles() == {**a.roles(), mina.member: OWNER, w.owner.member: ADMIN}
    w.write(old.under(handed), remove(w.owner.member), "void", knows=[*before, handed], after=None)
    w.write(mina.under(handed), (WSSET, {5: 1}), "valid")
    return w


@history
def a_transfer_that_keeps_a_phrase_that_was_replaced():
    """A transfer is also a grant for the devices of its second list."""
    w, old, phone = scene()
    joon = w.join(MEMBER)
    before = list(w.ops)
    new, end = replaced(w, old)
    own = [old.device.id, w.owner.device.id, phone.device.id]
    handed = w.write(w.owner, transfer(w, joon, own=own), knows=before)
    a = w.judged()
    assert a.standing(old.device.id) is None
    w.write(old.under(handed), (WSSET, {5: 0}), "void", knows=[*before, handed], after=None)
    return w


@history
def a_removal_and_a_return_that_did_not_know_of_the_new_phrase():
    """A removal hits the end under the first grant, but it counts under the second."""
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    w.link(old, expect="void", takes_place=True)
    end = w.write(old, rmdev(old.device), "valid")
    gone = w.write(w.owner, remove(mina.member), "valid", knows=before)
    back = given(w, old, mina, MEMBER, [*before, gone])
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert a.standing(mina.device.id) == (MEMBER, mina.member)
    assert ends_of_content(w, old, back) == [end.id]
    return w


@history
def a_removal_and_no_return():
    """If no remaining grant lists the phrase, the end has no effect."""
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    w.link(old, expect="void", takes_place=True)
    w.write(old, rmdev(old.device), "void")
    w.write(w.owner, remove(mina.member), "valid", knows=before)
    return w


@history
def two_final_ends():
    """The end with the smaller (lam, id) counts, under both grants."""
    w, admin, old, mina = member_with_phrase()
    before = list(w.ops)
    _, added = w.link(old, expect="valid", takes_place=True)
    known = [*before, added]
    first = w.write(old, rmdev(old.device), "valid", knows=known, after=None)
    known.append(w.invite(admin, MEMBER, knows=known))
    w.write(old, rmdev(old.device), "void", knows=known, after=None)
    g = given(w, old, mina, ADMIN, before)
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert ends_of_content(w, old, g) == [first.id]
    return w


def backdated(is_confirmed):
    """The old words end the old phrase again, under the stronger grant, backdated."""
    w, admin, old, mina = member_with_phrase()
    before = list(w.ops)
    w.invite(admin, MEMBER)
    counts = "valid" if is_confirmed else "void"
    new, _ = w.link(old, expect=counts, takes_place=True)
    end = w.write(old, rmdev(old.device), counts)
    g = given(w, old, mina, ADMIN, before)
    if is_confirmed:
        w.write(w.owner, confirming(end), "valid")
    verdict = "void" if is_confirmed else "valid"
    w.write(old.under(g), rmdev(old.device), verdict, knows=[*before, g], after=None)
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert (a.standing(new.device.id) is not None) == is_confirmed
    return w


@history
def an_end_as_if_before_that_which_nobody_answers():
    """A backdated end takes the new phrase, as it would under the same grant."""
    return backdated(False)


@history
def an_end_as_if_before_that_which_is_answered():
    """A confirm of a final end hits every other end of that device that does not know the end."""
    return backdated(True)


@history
def a_confirmed_revocation_of_the_new_phrase_by_the_old_one():
    """V-6: it is never kept, even if its confirmer had not heard of the old phrase's end."""
    w, admin, old, _ = member_with_phrase()
    new, _ = w.link(old, expect="valid", takes_place=True)
    known = list(w.ops)
    theft = w.write(old, rmdev(new.device), "void")
    w.write(w.owner, confirming(theft), "valid")
    w.write(old, rmdev(old.device), "valid", knows=known, after=None)
    a = w.judged()
    assert a.standing(new.device.id) is not None
    assert a.standing(old.device.id) is None
    return w


@history
def an_end_that_knows_no_successor_is_no_final_one():
    """It counts only under its own grant: a new grant for the same phrase is not affected."""
    w, _, old, mina = member_with_phrase()
    before = list(w.ops)
    w.write(old, rmdev(old.device), "valid")
    given(w, old, mina, ADMIN, before)
    assert w.judged().standing(old.device.id) == (ADMIN, mina.member)
    return w


@history
def a_final_end_of_a_device_that_another_member_has_too():
    """It only counts for the member as whose device it was written, not for the other's grant."""
    w = World()
    joon, before = w.join(MEMBER), list(w.ops)
    phrase = Device()
    mina, entry = w.admit(w.owner, w.invite(w.owner, MEMBER), recovery=phrase)
    old = Person(phrase, mina.member, entry.id)
    replaced(w, old)
    _, link = w.link(joon, phrase, "valid", knows=before)
    said = writer.grant(joon.member, [phrase.id], ADMIN, False)
    w.write(w.owner, said, "valid", knows=[*before, link], after=None)
    a = w.judged()
    assert a.standing(phrase.id) == (ADMIN, joon.member)
    return w


@history
def a_promotion_that_did_not_know_of_a_revoked_device():
    """The phrase revokes the computer. The finder gains nothing from the new role."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    w.write(words, rmdev(mina.device), "valid")
    g = given(w, words, mina, ADMIN, before)
    a = w.judged()
    assert a.standing(mina.device.id) is None
    assert a.standing(words.device.id) == (ADMIN, mina.member)
    apart = [*before, g]
    w.write(mina.under(g), (WSSET, {5: 0}), "void", knows=apart, after=None)
    w.write(mina.under(g), remove(w.owner.member), "void", knows=apart, after=None)
    w.write(mina.under(g), rmdev(words.device), "void", knows=apart, after=None)
    return w


@history
def a_promotion_that_did_not_know_of_a_weaker_word():
    """The computer's rmdev of the phrase ends nothing there either."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    w.write(mina, rmdev(words.device), "valid")
    given(w, words, mina, ADMIN, before)
    a = w.judged()
    assert a.standing(words.device.id) == (ADMIN, mina.member)
    assert a.standing(mina.device.id) == (ADMIN, mina.member)
    return w


@history
def a_promotion_that_did_not_know_of_the_second_of_two_words():
    """Only the first counts again. The grant knows it, and a barred device cannot be listed."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    gone = w.write(w.owner, remove(mina.member), "valid")
    first = w.write(words, rmdev(mina.device), knows=before, after=None)
    w.write(words, rmdev(mina.device), "void", knows=[*before, first])
    given(w, words, mina, MEMBER, [*before, gone])
    a = w.judged()
    assert first.id in a.valid
    assert a.standing(mina.device.id) is None
    given(w, words, mina, MEMBER, [*before, gone, first], expect="A-19")
    return w


@history
def a_revocation_by_a_device_that_two_have_linked():
    """V-10: it counts again under no adddev. It is void if the adddev that it cites is void."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    phone, one = w.link(mina, expect="void")
    decoy, _ = w.link(mina, expect="void", knows=before)
    w.link(words, phone.device, "valid", knows=[*before, w.ops[-1]], after=None)
    tablet, two = w.link(words, knows=before, after=None)
    w.write(phone, rmdev(mina.device), "void", knows=[*before, one], after=None)
    w.write(words, rmdev(mina.device), "valid", knows=[*before, two])
    return w


@history
def an_admins_word_of_a_device_that_others_have_too():
    """Counted again under an admin's grant, it ends the device only for its author's member."""
    w = World()
    ann, bob = w.join(MEMBER), w.join(MEMBER)
    before, tablet = list(w.ops), Device()
    _, one = w.link(ann, tablet, "valid", knows=before, after=None)
    w.link(bob, tablet, "valid", knows=before, after=None)
    known = [*before, one]
    w.write(ann, rmdev(tablet), "valid", knows=known)
    said = writer.grant(ann.member, [ann.device.id, tablet.id], ADMIN, False)
    w.write(w.owner, said, "valid", knows=known, after=None)
    a = w.judged()
    assert a.standing(ann.device.id) == (ADMIN, ann.member)
    assert a.standing(tablet.id) == (MEMBER, bob.member)
    return w

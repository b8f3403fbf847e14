"""Histories of a new recovery phrase that takes the place of the old one (3.3, A-17)."""

import writer
from histories import history, rmdev
from terms import ADMIN, MEMBER, OWNER, WSSET
from transfers import transfer
from world import Person, World
from writer import Device


def scene():
    """A workspace with an owner who has a phrase, a computer and a phone."""
    phrase = Device()
    w = World(recovery=phrase)
    phone, _ = w.link(w.owner)
    return w, Person(phrase, w.owner.member, w.root.id), phone


@history
def a_new_phrase_revokes_an_older_computer():
    """The new phrase is right behind the old one, before everything that was behind that."""
    w, old, phone = scene()
    new, _ = w.link(old, expect="valid", takes_place=True)
    w.write(old, rmdev(old.device), "valid")
    a = w.judged()
    assert a.standing(old.device.id) is None
    assert a.standing(new.device.id) == (OWNER, w.owner.member)
    w.write(new, rmdev(w.owner.device), "valid")
    a = w.judged()
    assert a.standing(w.owner.device.id) is None, "rank"
    assert a.is_barred(w.owner.device.id, set(a.ops)), "age"
    assert a.standing(phone.device.id) == (OWNER, w.owner.member)
    return w


@history
def no_device_of_every_day_hands_its_place_on():
    """A-17: neither the computer, which is the second of two, nor a phone is a recovery device."""
    w, old, phone = scene()
    w.link(w.owner, expect="A-17", takes_place=True)
    w.link(phone, expect="A-17", takes_place=True)
    mina = w.join(MEMBER)
    w.link(mina, expect="A-17", takes_place=True)
    # A device that a phrase links without 4 is an everyday device.
    linked, _ = w.link(old, expect="valid")
    w.link(linked, expect="A-17", takes_place=True)
    return w


@history
def a_new_phrase_is_a_new_device():
    """A-17: neither the old phrase itself nor an existing device of the person."""
    w, old, phone = scene()
    for device in (old.device, w.owner.device, phone.device):
        w.link(old, device, "A-17", takes_place=True)
    w.link(old, phone.device, "valid")
    return w


@history
def a_phrase_behind_a_phrase():
    """A chain: each phrase is before everything that was behind the first one."""
    w, old, phone = scene()
    second, _ = w.link(old, expect="valid", takes_place=True)
    w.write(old, rmdev(old.device), "valid")
    third, _ = w.link(second, expect="valid", takes_place=True)
    w.write(second, rmdev(second.device), "valid")
    w.write(third, rmdev(w.owner.device), "valid")
    a = w.judged()
    assert [a.standing(p.device.id) for p in (old, second, w.owner)] == [None] * 3
    assert a.standing(third.device.id) == a.standing(phone.device.id) == (OWNER, w.owner.member)
    return w


@history
def nobody_comes_back_by_a_phrase_that_was_replaced():
    """A phrase that ends itself is barred if it knows its successor, and otherwise is not."""
    for replaced in (True, False):
        w, old, _ = scene()
        if replaced:
            w.link(old, expect="valid", takes_place=True)
        w.write(old, rmdev(old.device), "valid")
        w.link(w.owner, old.device, "A-17" if replaced else "valid")
    return w


@history
def two_new_phrases():
    """Both are valid, the one with the smaller (lam, id) first; an end takes those that it does not
    know."""
    w, old, _ = scene()
    first, _ = w.link(old, expect="valid", takes_place=True)
    second, _ = w.link(old, expect="valid", takes_place=True)
    w.write(second, rmdev(first.device), "valid")
    a = w.judged()
    assert a.standing(first.device.id) == (OWNER, w.owner.member), "the second must be weaker"
    w.write(first, rmdev(second.device), "valid")
    assert w.judged().standing(second.device.id) is None

    w, old, _ = scene()
    before = list(w.ops)
    first, _ = w.link(old, expect="valid", takes_place=True)
    w.write(old, rmdev(old.device), "valid")
    thief, _ = w.link(old, expect="void", knows=before, after=None, takes_place=True)
    w.write(thief, (WSSET, {5: 1}), "void")
    assert w.judged().standing(first.device.id) == (OWNER, w.owner.member)
    return w


@history
def an_older_end_takes_the_new_phrase():
    """What the holder of the old words can still do: an own end that knows no successor, and that
    no valid confirm answers, takes the new phrase if it is stronger."""
    w, old, _ = scene()
    before = list(w.ops)
    new, _ = w.link(old, expect="void", takes_place=True)
    w.write(old, rmdev(old.device), "void")
    w.write(old, rmdev(old.device), "valid", knows=before, after=None)
    assert w.judged().standing(new.device.id) is None
    return w


@history
def a_new_phrase_goes_along_with_a_transfer():
    """V-3: the new phrase is a recovery device, so it does not withstand a transfer."""
    w, old, phone = scene()
    new, _ = w.link(old, expect="valid", takes_place=True)
    w.write(old, rmdev(old.device), "valid")
    before = list(w.ops)
    mina = w.join(MEMBER)
    w.write(phone, transfer(w, mina, who=phone, own=[new.device.id, phone.device.id]), "valid")
    a = w.judged()
    assert a.standing(new.device.id)[0] == a.standing(w.owner.device.id)[0] == OWNER
    w.write(new, rmdev(w.owner.device), "valid", knows=before)
    a = w.judged()
    assert a.standing(new.device.id)[0] == a.standing(phone.device.id)[0] == ADMIN
    assert a.roles()[mina.member] == OWNER
    return w


@history
def a_mark_that_is_not_true():
    """3.1: false is malformed."""
    w, old, _ = scene()
    new = Device()
    listed = writer.for_linking(new, w.root.id, old.device.id, old.member)
    kind, said = writer.adddev(listed)
    w.write(old, (kind, {**said, 4: False}), "A-7")
    return w

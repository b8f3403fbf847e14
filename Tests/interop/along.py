"""Histories of V-11: an end that counts again under a grant also takes what the device linked."""

import writer
from final_ends import member_with_phrase
from histories import history, rmdev
from terms import ADMIN, MEMBER, WSSET


def promoted(w, mina, people, knows, role=ADMIN):
    """A grant by the owner that lists the devices of these people."""
    said = writer.grant(mina.member, [p.device.id for p in people], role, False)
    return w.write(w.owner, said, "valid", knows=knows, after=None)


def standings(w, *people):
    """The roles of people; None for those who are out."""
    found = [w.judged().standing(p.device.id) for p in people]
    return [seat and seat[0] for seat in found]


@history
def a_promotion_that_lists_what_a_revoked_device_linked():
    """The finder of the computer links a device of their own, and the owner's grant lists it."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    evil, link = w.link(mina, expect="void")
    g = promoted(w, mina, [words, mina, evil], [*before, link])
    w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    assert standings(w, words, mina, evil) == [ADMIN, None, None]
    w.write(evil.under(g), (WSSET, {5: 0}), "void", knows=[*before, link, g], after=None)
    return w


@history
def a_promotion_that_lists_a_phrase_which_the_old_words_put_in():
    """Someone with the old words adds their own phrase while the person replaces theirs too."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    evil, link = w.link(words, expect="void", takes_place=True)
    g = promoted(w, mina, [words, evil, mina], [*before, link])
    new, added = w.link(words, knows=before, after=None, takes_place=True)
    w.write(words, rmdev(words.device), "valid", knows=[*before, added])
    assert standings(w, words, evil, mina, new) == [None, None, ADMIN, MEMBER]
    apart = [*before, link, g]
    w.write(evil.under(g), rmdev(mina.device), "void", knows=apart, after=None)
    return w


@history
def a_promotion_that_lists_a_chain_of_what_a_revoked_device_linked():
    """What that device linked goes too, even though the two have linked each other."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    first, one = w.link(mina, expect="void")
    second, two = w.link(first, expect="void")
    w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    promoted(w, mina, [words, mina, first, second], [*before, one, two])
    assert standings(w, words, first, second) == [ADMIN, None, None]
    return w


@history
def a_revocation_that_knows_what_its_device_linked():
    """The person saw the device in the list and let it stay."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    phone, link = w.link(mina, expect="valid")
    known = [*before, link]
    promoted(w, mina, [words, mina, phone], known)
    w.write(words, rmdev(mina.device), "valid", knows=known, after=None)
    assert standings(w, words, mina, phone) == [ADMIN, None, ADMIN]
    return w


@history
def a_promotion_that_lists_what_the_words_have_linked_too():
    """A device that another device has also bound stays."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    phone, link = w.link(mina, expect="void")
    _, again = w.link(words, phone.device, "valid", knows=before, after=None)
    promoted(w, mina, [words, mina, phone], [*before, link, again])
    w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    assert standings(w, words, mina, phone) == [ADMIN, None, ADMIN]
    return w


@history
def a_promotion_and_a_weaker_word_about_what_linked_others():
    """An rmdev that ends nothing there takes nothing else. The adddev is by a weaker role."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    phone, link = w.link(words, expect="void")
    w.write(mina, rmdev(words.device), "valid", knows=before, after=None)
    promoted(w, mina, [words, mina, phone], [*before, link])
    assert standings(w, words, mina, phone) == [ADMIN, ADMIN, ADMIN]
    return w


@history
def a_promotion_that_lists_what_two_revoked_devices_both_linked():
    """The computer and the phone are stolen together; neither vouches for what both have linked."""
    w, _, words, mina = member_with_phrase()
    phone, _ = w.link(mina, expect="valid")
    before = list(w.ops)
    evil, one = w.link(mina, expect="void")
    _, two = w.link(phone, evil.device, "void", knows=before, after=None)
    first = w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    w.write(words, rmdev(phone.device), "valid", knows=[*before, first])
    g = promoted(w, mina, [words, mina, phone, evil], [*before, one, two])
    assert standings(w, words, mina, phone, evil) == [ADMIN, None, None, None]
    w.write(evil.under(g), (WSSET, {5: 0}), "void", knows=[*before, one, two, g], after=None)
    return w


@history
def a_promotion_that_lists_what_one_of_two_revoked_devices_linked_and_one_that_stays():
    """The chain through the phone, which nobody revoked, is enough."""
    w, _, words, mina = member_with_phrase()
    phone, _ = w.link(words, expect="valid")
    decoy, _ = w.link(mina, expect="valid")
    before = list(w.ops)
    tablet, one = w.link(mina, expect="void")
    _, two = w.link(decoy, tablet.device, "void", knows=before, after=None)
    _, three = w.link(phone, tablet.device, "valid", knows=before, after=None)
    first = w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    w.write(words, rmdev(decoy.device), "valid", knows=[*before, first])
    promoted(w, mina, [words, phone, mina, decoy, tablet], [*before, one, two, three])
    assert standings(w, words, phone, mina, decoy, tablet) == [ADMIN, ADMIN, None, None, ADMIN]
    return w


@history
def a_promotion_that_lists_what_linked_it_no_more():
    """The thief gives up the computer first, so the owner lists the thief's device without it."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    evil, link = w.link(mina, expect="void")
    gone = w.write(mina, rmdev(mina.device), knows=[*before, link])
    known = [*before, link, gone]
    g = promoted(w, mina, [words, evil], known)
    w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    assert standings(w, words, mina, evil) == [ADMIN, None, None]
    w.write(evil.under(g), rmdev(words.device), "void", knows=[*known, g], after=None)
    return w


@history
def a_promotion_that_lists_a_known_device_and_not_what_linked_it():
    """The person gave up the computer, kept the phone it linked, and revokes the computer again."""
    w, _, words, mina = member_with_phrase()
    phone, link = w.link(mina, expect="valid")
    known = [*w.ops]
    gone = w.write(mina, rmdev(mina.device))
    promoted(w, mina, [words, phone], [*known, gone])
    w.write(words, rmdev(mina.device), "valid", knows=known, after=None)
    assert standings(w, words, mina, phone) == [ADMIN, None, ADMIN]
    return w


@history
def a_promotion_and_a_stolen_devices_word_that_is_hit():
    """What the thief's end would undo stays, because that end has no effect under the role."""
    w, _, words, mina = member_with_phrase()
    tablet, _ = w.link(words, expect="valid")
    before = list(w.ops)
    phone, one = w.link(mina, expect="void")
    _, two = w.link(tablet, phone.device, "valid", knows=before, after=None)
    g = promoted(w, mina, [words, mina, tablet, phone], [*before, one, two])
    w.write(mina, rmdev(tablet.device), "void", knows=before, after=None)
    w.write(words, rmdev(mina.device), "valid", knows=before, after=None)
    assert standings(w, words, mina, tablet, phone) == [ADMIN, None, ADMIN, ADMIN]
    w.write(phone.under(g), (WSSET, {5: 0}), "valid", knows=[*before, one, two, g], after=None)
    return w

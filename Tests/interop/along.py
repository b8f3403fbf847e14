"""Histories of what a device linked that is ended again: it goes along under that grant (V-11)."""

import writer
from final_ends import member_with_phrase
from histories import history, rmdev
from terms import ADMIN, MEMBER, WSSET


def promoted(w, mina, people, knows, role=ADMIN):
    """A grant of the owner's that lists the devices of these people."""
    said = writer.grant(mina.member, [p.device.id for p in people], role, False)
    return w.write(w.owner, said, "valid", knows=knows, after=None)


def standings(w, *people):
    """Their roles; None for who is out."""
    found = [w.judged().standing(p.device.id) for p in people]
    return [seat and seat[0] for seat in found]


@history
def a_promotion_that_lists_what_a_revoked_device_linked():
    """Who has found the computer links one of their own, and the owner's role lists it."""
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
    """Who has the old words puts a phrase of their own in, beside the person who does it, too."""
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
    """What that one linked goes along, though the two have linked each other."""
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
    """The person saw it in the list, and has let it stay."""
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
    """A device that another one has bound as well stays."""
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
    """A word that ends nothing there takes nothing along. The adddev itself was written in a weaker role."""
    w, _, words, mina = member_with_phrase()
    before = list(w.ops)
    phone, link = w.link(words, expect="void")
    w.write(mina, rmdev(words.device), "valid", knows=before, after=None)
    promoted(w, mina, [words, mina, phone], [*before, link])
    assert standings(w, words, mina, phone) == [ADMIN, ADMIN, ADMIN]
    return w

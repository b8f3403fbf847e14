"""Histories of what somebody stronger has confirmed (V-6): it stays when its author gives it up."""

import writer
from histories import history, remove, rmdev
from terms import ADMIN, CONFIRM, CUTPART, DOCCREATE, LEAVE, MEMBER, RVINV, WSSET
from world import World

NOTHING = (CUTPART, {1: []})


def confirming(*operations):
    return CONFIRM, {1: [o.id for o in operations]}


def ends(who):
    """The words by which somebody gives up a device or the membership."""
    return (LEAVE, {1: []}), rmdev(who.device)


def answered(w, bob, on):
    """What Bob knows when he goes, whom he lets in after that, and the channel that he makes."""
    before = list(w.ops)
    w.write(w.owner, NOTHING)
    new, admit = w.admit(bob, on)
    channel = w.write(bob, (DOCCREATE, {1: 1, 2: bytes(16)}))
    return before, new, admit, channel


@history
def confirmed_by_an_admin():
    for n in range(2):
        w = World()
        admin, bob = w.join(ADMIN), w.join(MEMBER)
        on = w.invite(w.owner, MEMBER, uses=9)
        before, new, admit, channel = answered(w, bob, on)
        w.write(admin, confirming(admit, channel), "valid")
        w.write(new, (DOCCREATE, {1: 1, 2: bytes(16)}), "valid")
        w.write(bob, ends(bob)[n], "valid", knows=before, after=None)
        w.expected |= {admit.id: "valid", channel.id: "valid"}
        assert not w.disagreements(), w.disagreements()
    return w


@history
def confirmed_by_who_may():
    """A-30: an admin, of what is in the past, once, and is something that others build on."""
    w = World()
    admin, bob = w.join(ADMIN), w.join(MEMBER)
    before = list(w.ops)
    on = w.invite(w.owner, MEMBER, uses=9)
    _, admit = w.admit(bob, on)
    other = w.write(bob, NOTHING)
    w.write(bob, confirming(admit), "A-30")
    w.write(admin, confirming(), "A-30")
    w.write(admin, confirming(admit, admit), "A-30")
    w.write(admin, confirming(admit, other), "A-30")
    w.write(admin, confirming(admit), "A-30", knows=before)
    w.write(admin, confirming(on, admit), "valid")
    return w


@history
def confirmed_by_nobody_stronger():
    """Who only knows it confirms nothing, nor does an admin who is weaker than its author."""
    for n in range(2):
        w = World()
        bob, weak = w.join(ADMIN), w.join(ADMIN)
        on = w.invite(w.owner, MEMBER, uses=9)
        before, new, admit, channel = answered(w, bob, on)
        w.write(w.owner, NOTHING, "valid")
        w.write(weak, confirming(admit, channel), "valid")
        w.write(new, NOTHING, "void")
        w.write(bob, ends(bob)[n], "valid", knows=before, after=None)
        w.expected |= {admit.id: "void", channel.id: "void"}
        assert not w.disagreements(), w.disagreements()
    return w


@history
def confirmed_by_what_is_void():
    w = World()
    admin, bob = w.join(ADMIN), w.join(MEMBER)
    on = w.invite(w.owner, MEMBER, uses=9)
    before, _, admit, _ = answered(w, bob, on)
    w.write(admin, confirming(admit), "void")
    w.write(bob, (LEAVE, {1: []}), "valid", knows=before, after=None)
    w.write(w.owner, remove(admin.member), "valid", knows=before, after=None)
    w.expected[admit.id] = "void"
    return w


@history
def confirmed_and_taken_by_somebody_else():
    w = World()
    bob = w.join(MEMBER)
    on = w.invite(w.owner, MEMBER, uses=9)
    before, _, admit, _ = answered(w, bob, on)
    w.write(w.owner, confirming(admit), "valid")
    w.write(w.owner, rmdev(bob.device), "valid", knows=before, after=None)
    w.expected[admit.id] = "void"
    return w


@history
def confirmed_by_an_invite_of_a_member():
    """Who came in by it stays, and nobody comes in by it any more."""
    for n in range(2):
        w = World()
        admin, bob, eve = w.join(ADMIN), w.join(MEMBER), w.join(MEMBER)
        policy = w.write(w.owner, (WSSET, {4: 2}))
        before = list(w.ops)
        w.write(w.owner, NOTHING)
        on = w.invite(bob, MEMBER, "valid", uses=9, policy=policy.id)
        _, early = w.admit(eve, on, expect="valid")
        w.write(admin, confirming(on, early), "valid")
        w.admit(eve, on, expect="void")
        w.write(bob, ends(bob)[n], "valid", knows=before, after=None)
        assert not w.disagreements(), w.disagreements()
    return w


@history
def confirmed_by_nobody_who_only_knows_it():
    """Who has lost a device makes it count again by no accomplice whom honest people cite."""
    w = World()
    admin, bob, eve = w.join(ADMIN), w.join(MEMBER), w.join(MEMBER)
    on = w.invite(w.owner, MEMBER, uses=9)
    w.write(bob, rmdev(bob.device), "valid")
    _, admit = w.admit(bob, on, expect="void")
    w.write(eve, NOTHING, "valid")
    w.write(admin, NOTHING, "valid")
    return w


@history
def confirmed_of_a_linked_device():
    """What the linked device did stays, and the device goes; what it does later is void."""
    for n in range(2):
        w = World()
        admin, bob = w.join(ADMIN), w.join(MEMBER)
        on = w.invite(w.owner, MEMBER, uses=9)
        before = list(w.ops)
        w.write(w.owner, NOTHING)
        linked, adddev = w.link(bob)
        third, again = w.link(linked)
        new, admit = w.admit(third, on)
        channel = w.write(third, (DOCCREATE, {1: 1, 2: bytes(16)}))
        w.write(admin, confirming(admit, channel), "valid")
        w.write(new, (DOCCREATE, {1: 1, 2: bytes(16)}), "valid")
        w.write(third, NOTHING, "void")
        w.write(bob, ends(bob)[n], "valid", knows=before, after=None)
        w.expected |= {adddev.id: "void", again.id: "void", admit.id: "valid",
                       channel.id: "valid"}
        assert not w.disagreements(), w.disagreements()
    w.write(w.owner, remove(bob.member), "valid", knows=before, after=None)
    w.expected |= {admit.id: "void", channel.id: "void"}
    w.expected = {k: v for k, v in w.expected.items() if w.op(k).type in (4, 13)
                  and w.op(k).grant != admit.id}
    return w


@history
def confirmed_and_a_members_invite_is_ended():
    """An rvinv of a member takes back whom nobody confirmed, an admin's everybody."""
    for by_admin in (False, True):
        w = World()
        admin, bob, eve = w.join(ADMIN), w.join(MEMBER), w.join(MEMBER)
        policy = w.write(w.owner, (WSSET, {4: 2}))
        on = w.invite(bob, MEMBER, "valid", uses=9, policy=policy.id)
        before = list(w.ops)
        _, early = w.admit(eve, on, expect="void" if by_admin else "valid")
        w.write(admin, confirming(on, early), "valid")
        w.admit(eve, on, expect="void")
        w.write(w.owner if by_admin else bob, (RVINV, {1: on.id}), "valid", knows=before,
                after=None)
        assert not w.disagreements(), w.disagreements()
    return w


@history
def confirmed_and_an_invite_that_was_known():
    w = World()
    bob, eve = w.join(MEMBER), w.join(MEMBER)
    policy = w.write(w.owner, (WSSET, {4: 2}))
    on = w.invite(bob, MEMBER, "valid", uses=9, policy=policy.id)
    before = list(w.ops)
    w.write(bob, (LEAVE, {1: []}), "valid")
    w.admit(eve, on, expect="valid", knows=before)
    return w

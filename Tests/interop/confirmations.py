"""Histories of V-6: what someone stronger has confirmed stays if its author gives it up."""

import writer
from histories import history, remove, rmdev
from terms import ADMIN, CONFIRM, CUTPART, DOCCREATE, LEAVE, MEMBER, RVINV, WSSET
from world import World

NOTHING = (CUTPART, {1: []})


def confirming(*operations):
    return CONFIRM, {1: [o.id for o in operations]}


def ends(who):
    """The operations with which someone gives up a device or their membership."""
    return (LEAVE, {1: []}), rmdev(who.device)


CHANNEL = (DOCCREATE, {1: 1, 2: bytes(16)})


class Doorkeeper:
    """A world in which Bob admits a newcomer, makes a channel, and then leaves, backdated."""

    def __init__(self, *roles, bob=MEMBER, linked=False):
        self.w = w = World()
        self.others = [w.join(role) for role in roles if role != MEMBER]
        self.bob = w.join(bob)
        self.others += [w.join(role) for role in roles if role == MEMBER]
        on = w.invite(w.owner, MEMBER, uses=9)
        self.before = list(w.ops)
        w.write(w.owner, NOTHING)
        self.links, self.device = [], self.bob
        for _ in range(2 if linked else 0):
            self.device, link = w.link(self.device)
            self.links.append(link)
        self.new, self.admit = w.admit(self.device, on)
        self.channel = w.write(self.device, CHANNEL)

    def goes(self, n):
        return self.w.write(self.bob, ends(self.bob)[n], "valid", knows=self.before, after=None)

    def expect(self, verdict):
        self.w.expected |= {self.admit.id: verdict, self.channel.id: verdict}
        self.w.expected |= {link.id: "void" for link in self.links}
        assert not self.w.disagreements(), self.w.disagreements()


@history
def confirmed_by_an_admin():
    for n in range(2):
        d = Doorkeeper(ADMIN)
        d.w.write(d.others[0], confirming(d.admit, d.channel), "valid")
        d.w.write(d.new, CHANNEL, "valid")
        d.goes(n)
        d.expect("valid")
    return d.w


@history
def confirmed_by_who_may():
    """A-30: by an admin, each id once, of operations in the past that others build on."""
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
    """Knowing an operation does not confirm it, nor does an admin weaker than its author."""
    for n in range(2):
        d = Doorkeeper(bob=ADMIN)
        weak = d.w.join(ADMIN)
        d.w.write(d.w.owner, NOTHING, "valid")
        d.w.write(weak, confirming(d.admit, d.channel), "valid")
        d.w.write(d.new, NOTHING, "void")
        d.goes(n)
        d.expect("void")
    return d.w


@history
def confirmed_by_what_is_void():
    d = Doorkeeper(ADMIN)
    d.w.write(d.others[0], confirming(d.admit, d.channel), "void")
    d.goes(0)
    d.w.write(d.w.owner, remove(d.others[0].member), "valid", knows=d.before, after=None)
    d.expect("void")
    return d.w


@history
def confirmed_and_taken_by_somebody_else():
    d = Doorkeeper()
    d.w.write(d.w.owner, confirming(d.admit, d.channel), "valid")
    d.w.write(d.w.owner, rmdev(d.bob.device), "valid", knows=d.before, after=None)
    d.expect("void")
    return d.w


@history
def confirmed_by_an_invite_of_a_member():
    """Those who joined by the invite stay, and nobody can join by it any more."""
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
    """A lost device's finder cannot make it count again with an accomplice that others cite."""
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
    """The linked device goes, and what it did stays; what it does later is void."""
    for n in range(2):
        d = Doorkeeper(ADMIN, linked=True)
        d.w.write(d.others[0], confirming(d.admit, d.channel), "valid")
        d.w.write(d.new, CHANNEL, "valid")
        d.w.write(d.device, NOTHING, "void")
        d.goes(n)
        d.expect("valid")
    return d.w


@history
def confirmed_of_a_linked_device_of_somebody_removed():
    d = Doorkeeper(ADMIN, linked=True)
    d.w.write(d.others[0], confirming(d.admit, d.channel), "valid")
    d.w.write(d.w.owner, remove(d.bob.member), "valid", knows=d.before, after=None)
    d.expect("void")
    return d.w


@history
def confirmed_and_a_members_invite_is_ended():
    """A member's rvinv takes back only unconfirmed admits; an admin's takes back all."""
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


@history
def confirmed_end_of_an_own_part():
    """Someone who left cannot end the same part again, backdated to before the first end."""
    for n in range(2):
        for again in range(2):
            w = World()
            admin, eve = w.join(ADMIN), w.join(MEMBER)
            before = list(w.ops)
            w.write(admin, remove(eve.member), "valid")
            last = w.write(admin, ends(admin)[n], "valid")
            w.write(w.owner, confirming(last), "valid")
            # After a device revoked itself, the person may still leave with the rest.
            w.write(admin, ends(admin)[again], "void", knows=before, after=None)
            assert not w.disagreements(), w.disagreements()
    return w


@history
def confirmed_end_of_an_own_part_that_others_know_too():
    """A confirm that knows both ends takes neither: the stronger counts, as without a confirm."""
    w = World()
    admin, eve = w.join(ADMIN), w.join(MEMBER)
    before = list(w.ops)
    removal = w.write(admin, remove(eve.member), "void")
    last = w.write(admin, ends(admin)[0], "void")
    w.write(admin, ends(admin)[0], "valid", knows=before, after=None)
    w.write(w.owner, confirming(last), "valid")
    assert removal and not w.disagreements(), w.disagreements()
    return w

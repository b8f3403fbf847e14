"""The worked histories of section 4.0.3 of docs/PROTOCOL.md, row by row, with the verdicts
there."""

from confirmations import NOTHING, confirming
from histories import history, remove, rmdev
from terms import ADMIN, LEAVE, MEMBER, RVINV, WSDEL
from transfers import transfer
from world import World
from writer import Device


@history
def worked_row_1_of_a_member_who_leaves_and_admits():
    """M leaves | M admits a friend: void unless confirmed."""
    for confirms in (False, True):
        w = World()
        m = w.join(MEMBER)
        on = w.invite(w.owner, MEMBER)
        before = list(w.ops)
        _, admit = w.admit(m, on, expect="valid" if confirms else "void")
        if confirms:
            w.write(w.owner, confirming(admit), "valid")
        w.write(m, (LEAVE, {1: []}), "valid", knows=before, after=None)
        assert not w.disagreements()
    return w


@history
def worked_row_3_of_a_member_who_is_removed_and_links():
    """A removes M | M adds a device: the addition is void, because A is stronger."""
    w = World()
    a, m = w.join(ADMIN), w.join(MEMBER)
    before = list(w.ops)
    w.link(m, expect="void")
    w.write(a, remove(m.member), "valid", knows=before)
    return w


@history
def worked_row_4_of_an_owner_who_hands_over():
    """F hands over to A | F's laptop deletes the workspace: the transfer hits that."""
    w = World()
    a = w.join(ADMIN)
    laptop, _ = w.link(w.owner)
    before = list(w.ops)
    own = [w.owner.device.id, laptop.device.id]
    w.write(laptop, (WSDEL, {}), "void")
    w.write(w.owner, transfer(w, a, own=own), "valid", knows=before)
    return w


def removal_by_a_phone(confirms):
    """A's phone removes M | A's older laptop revokes the phone."""
    w = World()
    laptop, m = w.join(ADMIN), w.join(MEMBER)
    phone, _ = w.link(laptop)
    before = list(w.ops)
    removal = w.write(phone, remove(m.member), "valid" if confirms else "void")
    if confirms:
        w.write(w.owner, confirming(removal), "valid")
    w.write(laptop, rmdev(phone.device), "valid", knows=before)
    roles = w.judged().roles()
    assert (m.member in roles) != confirms, roles
    return w


@history
def worked_row_5_of_an_admin_who_revokes_the_phone():
    return removal_by_a_phone(confirms=False)


@history
def worked_row_6_of_an_admin_whose_removal_is_confirmed():
    return removal_by_a_phone(confirms=True)


@history
def worked_row_7_of_an_invite_that_is_revoked():
    """A invites; then F revokes the invite | M admits someone on it: void."""
    w = World()
    a, m = w.join(ADMIN), w.join(MEMBER)
    on = w.invite(a, MEMBER, uses=9)
    before = list(w.ops)
    new, _ = w.admit(m, on, expect="void")
    w.write(w.owner, (RVINV, {1: on.id}), "valid", knows=before)
    assert new.member not in w.judged().roles()
    return w


@history
def worked_row_8_of_two_admins_who_decide_apart():
    """M asks; then A removes M | B admits M: the admit is valid, and M is out."""
    w = World()
    a, b = w.join(ADMIN), w.join(ADMIN)
    on = w.invite(w.owner, MEMBER, uses=9, approve=True)
    device = Device()
    asked = w.ask(a, on, device)
    before = list(w.ops)
    said = w.admission(b, on, device, request=asked)
    admit = w.write(b, said, "valid")
    w.write(a, remove(admit.map[2]), "valid", knows=before)
    assert admit.map[2] not in w.judged().roles()
    w.write(w.owner, NOTHING, "valid")
    return w

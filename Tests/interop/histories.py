"""Histories of joining, with the expected verdicts and the rules that decide them."""

import writer
from bindings import FOR_JOINING
from stage import signed_list
from terms import ADMIN, GUEST, LEAVE, MEMBER, REMOVE, RMDEV
from world import World
from writer import Device

ALL = []
OUT = {2: [], 3: None, 4: [], 5: 0, 6: b""}


def history(function):
    ALL.append(function)
    return function


def remove(member):
    return REMOVE, {1: member, **OUT}


def rmdev(device):
    return RMDEV, {1: device.id, 2: [], 3: None}


@history
def everybody_enters_by_the_book():
    """Owner, admin, member, guest and a linked device: nothing is refused."""
    w = World(recovery=Device())
    admin, member = w.join(ADMIN), w.join(MEMBER)
    on = w.invite(admin, GUEST, "valid")
    w.admit(member, on, expect="valid")
    w.admit(w.owner, on, expect="valid")
    w.admit(admin, w.invite(admin, MEMBER), expect="valid", recovery=Device())
    w.link(member, expect="valid")
    w.write(member, (LEAVE, {1: []}), "valid")
    return w


@history
def the_owners_name_with_recombined_entries():
    """C1: an admit with the owner's id, with published entries and one of the thief's."""
    recovery = Device()
    w = World(recovery=recovery)
    thief, stolen = w.join(MEMBER), w.listed(w.root)
    on = w.invite(w.owner, MEMBER, uses=100)
    new = Device()
    r, d = stolen[recovery.id], stolen[w.owner.device.id]
    member = w.owner.member
    for devices in ([r, d, new], [r, new], [d, new], [new, d], [r, d], [d], [new], [r]):
        listed = signed_list(devices, w.root.id, on.id, thief.device.id, member)
        w.write(thief, w.with_proof(on, member, listed), "A-13")
        if devices == [new]:
            # Under its own name, the same list is correct.
            name = writer.member_name(new.id, w.root.id)
            listed = signed_list(devices, w.root.id, on.id, thief.device.id, name)
            w.write(thief, w.with_proof(on, name, listed), "valid")
    return w


@history
def a_new_name_with_somebody_elses_entry():
    """Lists that bind a device which did not sign, or that are named after another device."""
    recovery = Device()
    w = World(recovery=recovery)
    on, new = w.invite(w.owner, MEMBER, uses=100), Device()
    member, listed = writer.for_joining([new], w.root.id, on.id, w.owner.device.id)
    w.write(w.owner, w.with_proof(on, member, []), "A-2")
    w.write(w.owner, w.with_proof(on, member, listed * 2), "A-2")
    other = Device()
    phrase, other = Device(), Device()
    member2, pair = writer.for_joining([other], w.root.id, on.id, w.owner.device.id, phrase)
    pair[0][2] = phrase.key.sign(writer.certificate(phrase.box, new.id))
    w.write(w.owner, w.with_proof(on, member2, pair), "A-1")
    misnamed = writer.entries([new], FOR_JOINING, w.root.id, on.id, w.owner.device.id, bytes(16))
    w.write(w.owner, w.with_proof(on, bytes(16), misnamed), "A-3")
    stranger = [[other.id, other.box, listed[0][2]]]
    w.write(w.owner, w.with_proof(on, member, [*listed, *stranger]), "A-1")
    swapped = [[new.id, other.box, listed[0][2]]]
    w.write(w.owner, w.with_proof(on, member, swapped), "A-1")
    wrong = w.with_proof(on, member, listed)
    wrong[1][4] = bytes(64)
    faulty = w.write(w.owner, wrong, "A-4")
    # What cites an operation with a fault is refused too.
    w.write(w.owner, w.with_proof(on, member, listed), "S-1", knows=[*w.ops, faulty])
    w.write(w.owner, w.with_proof(on, member, listed), "valid")
    return w


@history
def a_join_is_for_one_answerer():
    """G16: a list signed for the owner's device is invalid for another device or invite."""
    w = World()
    member = w.join(MEMBER)
    on, other, new = w.invite(w.owner, MEMBER), w.invite(w.owner, MEMBER), Device()
    said = w.admission(w.owner, on, new)
    w.write(member, said, "A-1")
    w.write(member, w.with_proof(other, said[1][2], said[1][3]), "A-1")
    w.write(w.owner, said, "valid")
    return w


@history
def an_admit_again():
    """An admit replayed where its member is known, and a concurrent one."""
    w = World()
    on = w.invite(w.owner, MEMBER)
    new = Device()
    said = w.admission(w.owner, on, new)
    before = list(w.ops)
    w.write(w.owner, said, "valid")
    w.write(w.owner, said, "A-13")
    w.write(w.owner, said, "valid", knows=before, after=None)
    return w


@history
def a_revoked_device_with_a_fresh_link():
    """A12: a device that was bound stays bound, and no link admits it."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(mina)
    w.write(mina, rmdev(second.device), "valid")
    on = w.invite(w.owner, MEMBER, uses=9)
    w.admit(w.owner, on, second.device, "A-13")
    w.ask(w.owner, on, second.device, "A-11")
    w.link(mina, second.device, "A-17")
    return w


@history
def a_removed_person_comes_back_by_a_grant():
    """Coming back: a request with 6, and a grant that knows the end; nothing else."""
    w = World()
    mina = w.join(MEMBER)
    apart = list(w.ops)
    end = w.write(w.owner, remove(mina.member), "valid")
    on = w.invite(w.owner, MEMBER)
    back = writer.for_return([mina.device], w.root.id, end.id, w.owner.device.id, mina.member)
    proven = w.keys[on.id].prove(w.root.id, on.id, mina.member, back)
    asked = writer.request(on.id, mina.member, back, proven, end.id)
    asked = w.write(w.owner, asked, "valid")
    w.link(mina, expect="void", knows=apart)
    again = w.write(w.owner, writer.grant(mina.member, [mina.device.id], MEMBER), "valid")
    w.link(mina.under(again), expect="valid")
    w.link(mina, expect="void")
    a = w.judged()
    assert a.standing(mina.device.id) == (MEMBER, mina.member), "V-2"
    return w


@history
def a_return_that_names_no_end():
    """A-12: another member's end, someone else's device, a device that signed for another end."""
    w = World()
    mina, joon = w.join(MEMBER), w.join(MEMBER)
    end = w.write(w.owner, remove(mina.member))
    other = w.write(joon, (LEAVE, {1: []}), "valid")
    on = w.invite(w.owner, MEMBER)

    def ask(devices, cited, signed_for, rule):
        listed = writer.for_return(devices, w.root.id, signed_for.id, w.owner.device.id,
                                   mina.member)
        proven = w.keys[on.id].prove(w.root.id, on.id, mina.member, listed)
        said = writer.request(on.id, mina.member, listed, proven, cited.id)
        w.write(w.owner, said, rule, after=None)

    ask([mina.device], other, other, "A-12")
    ask([mina.device], on, on, "A-12")
    ask([mina.device, joon.device], end, end, "A-12")
    ask([Device()], end, end, "A-12")
    ask([mina.device], end, other, "A-1")
    ask([mina.device] * 2, end, end, "A-2")
    ask([], end, end, "A-2")
    return w


@history
def a_barred_device_in_a_grant():
    """A-19, A-20: barred if an older device of the member revoked it, not itself or a younger."""
    w = World()
    mina = w.join(MEMBER)
    second, _ = w.link(mina)
    third, _ = w.link(mina)
    w.write(mina, rmdev(second.device), "valid")
    w.write(third, rmdev(third.device), "valid")
    w.write(w.owner, writer.grant(mina.member, [second.device.id], MEMBER), "A-19")
    w.write(w.owner, writer.grant(mina.member, [third.device.id, mina.device.id], MEMBER), "valid",
            after=None)
    return w

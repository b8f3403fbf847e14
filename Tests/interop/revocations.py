"""Section 4.0.3 of docs/PROTOCOL.md: what a revocation hits."""

from typing import NamedTuple

from terms import (ADDDEV, ADMIN, ADMIT, CREATE, GRANT, GUEST, GRANTS, INFINITY, LEAVE, REMOVE,
                   RMDEV, RVINV)


class Later(NamedTuple):
    """What a device would write now under a grant, weaker than all else of it there (V-2, V-5)."""

    device: bytes
    grant: bytes


def is_revocation(a, o):
    """Whether it may hit anything. What binds devices hits who binds them to somebody else."""
    return (o.type in (REMOVE, RMDEV, RVINV, LEAVE, CREATE, ADMIT, ADDDEV)
            or o.type == GRANT and (o.map[4] or a.drops(o)))


def hits(a, r, o):
    """Whether r hits the authority operation o."""
    if o.type == CREATE or a.knows(r, o.id) or r is o or not a.rank(r) < a.rank(o):
        return False
    if r.type == RVINV:
        return o.type == ADMIT and o.map[1] == r.map[1]
    if r.type in (CREATE, ADMIT, ADDDEV):
        return binds_another(a, r, o)
    if r.type == REMOVE and o.type == ADMIT:
        invite = a.ops[o.map[1]]
        if (a.author(invite).member == r.map[1]
                and not a.knows(a.ops[invite.grant], r.id)):
            return True
    return is_aimed(a, r, a.ops[o.grant], o.device)


def binds_another(a, r, o):
    (devices, member), (taken, other) = a.binds(r), a.binds(o)
    return o.type in (ADMIT, ADDDEV) and member != other and bool(set(devices) & set(taken))


def is_aimed(a, r, grant, device):
    """The second and third column of the table, for what a device does under a grant."""
    author = a.gives(grant, device)
    if r.type == REMOVE:
        return author.member == r.map[1] and not a.knows(grant, r.id)
    if r.type == RMDEV:
        judge = a.author(r)
        return (device == r.map[1] and (author.member == judge.member or judge.role <= ADMIN)
                and not a.knows(grant, r.id))
    if r.type == LEAVE:
        return author.member == a.author(r).member and not a.knows(first_of(a, grant), r.id)
    if r.type != GRANT or grant is r or a.knows(grant, r.id):
        return False
    return (replaces(a, r, grant, device)
            or a.drops(r) and author.member == a.author(r).member)


def replaces(a, r, grant, device):
    """Whether a grant takes the place of another one that a device has."""
    return (r.type == GRANT and r.map[4] and grant is not r and not a.knows(grant, r.id)
            and a.gives(grant, device).member == r.map[1]
            and (a.knows(r, grant.id) or grant.type == ADMIT))


def first_of(a, grant):
    """The grant to which a chain of adddevs leads back."""
    while grant.type == ADDDEV:
        grant = a.ops[grant.grant]
    return grant


# What is asked now, and content


def role_now(a, valid, grant, device):
    """V-3: the role of a grant, one less where a transfer takes it from the device."""
    given = a.gives(grant, device)
    taken = any(takes(a, valid, t, grant, device) for t in valid)
    return given.role + 1 if taken and given.role <= ADMIN else given.role


def takes(a, valid, t, grant, device):
    """V-3: whether a transfer takes a grant from a device."""
    member = a.gives(grant, device).member
    if not is_open_to(a, t, grant, member):
        return False
    if a.rank(t) < now(a, grant, device):
        return True
    if not is_recovery(a, valid, device, member):
        return False
    return not any(withstands(a, valid, t, g, d) for g in valid if g.type in GRANTS
                   for d, m, _ in a.listed(g) if m == member)


def is_open_to(a, t, grant, member):
    return (a.drops(t) and t is not grant and not a.knows(grant, t.id)
            and a.author(t).member == member)


def now(a, grant, device):
    """The rank of what a device writes now under a grant."""
    return (*a.rank_of_grant(grant, device), INFINITY)


def withstands(a, valid, t, grant, device):
    """Whether a device of every day is in by a grant too strong for a transfer."""
    member = a.gives(grant, device).member
    return (not is_recovery(a, valid, device, member) and is_open_to(a, t, grant, member)
            and now(a, grant, device) < a.rank(t)
            and not any(r.type != LEAVE and hits_later(a, valid, r, Later(device, grant.id))
                        for r in valid))


def is_recovery(a, valid, device, member):
    """Whether it is the first of two devices of a create or admit."""
    for o in valid:
        if o.type in (CREATE, ADMIT):
            devices, bound = a.binds(o)
            if bound == member and len(devices) == 2 and devices[0] == device:
                return True
    return False


def holds_more(a, valid, device, member, role):
    """V-4: whether a device is in for a member in a stronger role, by whatever grant."""
    for g in valid:
        given = g.type in GRANTS and a.gives(g, device)
        if (given and given.member == member and role_now(a, valid, g, device) < role
                and not any(hits_later(a, valid, r, Later(device, g.id)) for r in valid)):
            return True
    return False


def hits_later(a, valid, r, o):
    """Whether r hits what a device would write now, or its content, under a grant.

    A transfer does not: it makes the role one less (V-3), which would mean nothing otherwise.
    """
    grant = a.ops[o.grant]
    if r.type in (CREATE, ADMIT, ADDDEV, RVINV) or not is_revocation(a, r):
        return False
    if r.type == LEAVE:
        # V-4: it need not be stronger.
        role = a.author(r).role
        stronger = (role_now(a, valid, grant, o.device) >= role
                    and not (a.has_devices and holds_more(a, valid, o.device, a.author(r).member, role)))
    else:
        stronger = a.rank(r) < (*a.rank_of_grant(grant, o.device), INFINITY)
    aimed = replaces if r.type == GRANT else is_aimed
    return stronger and aimed(a, r, grant, o.device)


def ends_content(a, valid, o):
    """V-5: the revocations whose cuts say how much of a device's content under a grant stays."""
    grant = a.ops[o.grant]
    member = a.gives(grant, o.device).member
    found = []
    # What has replaced its grant, and lists the device: what ends content there ends it here.
    successors = [g for g in valid if g.type == GRANT and g.map[4] and g.map[1] == member
                  and replaces(a, g, grant, o.device) and a.gives(g, o.device)
                  and a.rank(g) < (*a.rank_of_grant(grant, o.device), INFINITY)]
    for r in valid:
        if r.type in (REMOVE, RMDEV, LEAVE):
            if any(hits_later(a, valid, r, Later(o.device, g.id)) for g in (grant, *successors)):
                found.append(r)
        elif (r.type == GRANT and r.map[4] and r.map[3] == GUEST and r.map[1] == member
              and hits_later(a, valid, r, Later(o.device, grant.id))):
            found.append(r)
    return found

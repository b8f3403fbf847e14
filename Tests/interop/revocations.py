"""The table in section 4.0.3 of docs/PROTOCOL.md: what a revocation hits."""

from terms import (ADDDEV, ADMIN, ADMIT, CONFIRM, CREATE, DOCCREATE, DOCDEL, DOCSET, GRANT, INVITE,
                   LEAVE, MEMBER, RECUT, REKEY, REMOVE, RMDEV, RVINV, WSSET)


def is_revocation(a, o):
    """Whether an operation can hit anything."""
    return (o.type in (REMOVE, RMDEV, RVINV, LEAVE)
            or o.type == CONFIRM and any(a.is_own_end(a.ops[n]) for n in o.map[1])
            or o.type == GRANT and (o.map[4] or a.drops(o)))


def hits(a, r, o):
    """Whether r hits the authority operation o."""
    if o.type == CREATE or r.id == o.id or not a.rank(r) < a.rank(o):
        return False
    if a.knows(r, o.id) and not passes_over(a, r, o):
        return False
    if r.type == RVINV:
        return o.type == ADMIT and o.map[1] == r.map[1]
    if r.type == CONFIRM:
        return (a.is_own_end(o) and any(is_beside(a, a.ops[n], o) for n in r.map[1])
                and not is_named_before(a, r, o))
    if r.type == REMOVE and o.type == ADMIT:
        invite = a.ops[o.map[1]]
        if (a.author(invite).member == r.map[1]
                and not a.knows(a.ops[invite.grant], r.id)):
            return True
    return (a.rank(r) < a.own_rank(o)
            and is_aimed(a, r, a.ops[o.grant], o.device, a.author(o).member, o.behind))


def is_beside(a, end, o):
    """Whether an own end already ends what the own end o, which does not know it, would end."""
    if a.knows(o, end.id):
        return False
    if end.type == RMDEV:
        return (a.is_own_end(end) and end.device == o.device
                and (end.grant == o.grant
                     or a.is_final_end(end) and a.author(end).member == a.author(o).member))
    of, to = a.author(end), a.author(o)
    return (end.type == LEAVE and of.member == to.member and to.role >= of.role
            and first_of(a, a.ops[end.grant]) is first_of(a, a.ops[o.grant]))


def passes_over(a, r, o):
    """V-7: whether a confirm of a final end passes over another one of that phrase that it
    knows."""
    return (r.type == CONFIRM and o.id not in r.map[1] and a.is_final_end(o)
            and any(a.is_final_end(e) and is_beside(a, e, o) for e in map(a.ops.get, r.map[1])))


def is_named_before(a, r, end):
    """Whether a valid confirm stronger than r names an own end. Of concurrently confirmed ends, the
    one with the strongest confirm stays. `in_force` has everything stronger."""
    return any(c.type == CONFIRM and end.id in c.map[1] and a.rank(c) < a.rank(r) for c in a.in_force)


def gives_up(a, r, o):
    """V-6: whether r gives up its own author's operation, so that it takes nothing confirmed.
    Replacing a phrase gives up no revocation by it, because someone else may have the old words."""
    if r.type == RVINV:
        return a.author(r).role == MEMBER
    if o.type == RMDEV and a.is_final_end(r):
        return False
    return r.type in (RMDEV, LEAVE) and a.author(r).member == a.author(o).member


def is_confirmed(a, o, valid):
    """V-6. `valid` must contain at least all valid operations that are stronger than o."""
    return (is_kept(a, o)
            and any(c.type == CONFIRM and o.id in c.map[1] and a.rank(c) < a.rank(o)
                    for c in map(a.ops.get, valid)))


FOR_OTHERS = (INVITE, ADMIT, RVINV, REMOVE, RMDEV, RECUT, DOCCREATE, DOCSET, DOCDEL, WSSET, REKEY,
              CONFIRM)


def is_kept(a, o):
    """V-6: whether an operation stays if it is confirmed."""
    return (o.type in FOR_OTHERS and not a.is_own_end(o)
            or o.type == GRANT and not a.drops(o))


def is_aimed(a, r, grant, device, member, behind=None):
    """The second and third column of the table, for an operation of a member's device under a
    grant, in its own place or behind another device."""
    if r.type == REMOVE:
        return member == r.map[1] and not a.knows(grant, r.id)
    if r.type == RMDEV:
        judge = a.author(r)
        own = member == judge.member
        if (r.is_again and own and grant.id == r.grant and not behind
                and is_cut_off(a, r, device)):
            return True
        return (device == r.map[1] and (own or not r.is_again and judge.role <= ADMIN)
                and not a.knows(grant, r.id))
    if r.type == LEAVE:
        return member == a.author(r).member and not a.knows(first_of(a, grant), r.id)
    if r.type != GRANT or grant is r or a.knows(grant, r.id):
        return False
    return (replaces(a, r, grant, member)
            or a.drops(r) and member == a.author(r).member)


def is_cut_off(a, r, device):
    """V-11: whether r is the strongest end that leaves no chain to the device under its grant.
    `in_force` has everything stronger."""
    before = {b.id for s in a.in_force
              if s.is_again and s.grant == r.grant and a.rank(s) < a.rank(r) for b in undoes(a, s)}
    undone = {b.id for b in undoes(a, r)} - before
    return (bool(undone) and is_reached(a, r, device, before)
            and not is_reached(a, r, device, before | undone))


def is_reached(a, r, device, undone):
    """V-11: whether a chain of counting bindings that r's grant knows, without the undone ones,
    leads to the device."""
    bound = [(d, b) for d, b in a.roll_of_grant(r.grant, a.author(r).member).links
             if b.id not in undone]
    reached, more = set(), {d for d, b in bound if b.type != ADDDEV}
    while more:
        reached |= more
        more = {d for d, b in bound if b.device in reached} - reached
    return device in reached


def undoes(a, r):
    """V-11: the adddevs that an end undoes under r's grant; for a replaced phrase, the admits
    too."""
    grant, ended = a.ops[r.grant], r.map[1]
    given = a.gives(grant, ended)
    if grant.type == ADDDEV:
        return []
    if (ended != r.device and given and given.member == a.author(r).member
            and not a.rank_of_author(r) < a.rank_of_grant(grant, ended)):
        return []
    return [*unknown_additions(a, r, grant), *revoked_successions(a, r, grant),
            *unknown_admits(a, r, grant)]


def revoked_successions(a, end, grant):
    """V-13: the adddevs of successors of a phrase that the grant does not give, if the phrase has
    revoked those successors, as far as its end knows."""
    if not end.behind or end.behind[1] > 0:
        return []
    member = a.author(end).member
    gone = {p.map[1] for p in a.known(end, RMDEV)
            if p.device == end.device and a.author(p).member == member}
    return [b for b in a.known(grant, ADDDEV) if a.takes_place(b) and b.device == end.device
            and a.author(b).member == member and b.map[1][0][0] in gone and a.knows(end, b.id)]


def unknown_admits(a, end, grant):
    """The admits of a member by a phrase that a grant knows (or is), and that a final end of the
    phrase does not know."""
    if not a.is_final_end(end):
        return []
    return [b for b in [*a.known(grant, ADMIT), grant] if b.type == ADMIT
            and b.map[2] == a.author(end).member and b.map[3][0][0] == end.device
            and not a.knows(end, b.id)]


def unknown_additions(a, end, grant):
    """The adddevs for the member by the device that an end ends, which a grant knows and the end
    does not."""
    member = a.author(end).member
    return [b for b in a.known(grant, ADDDEV)
            if b.device == end.map[1] and a.author(b).member == member and not a.knows(end, b.id)]


def replaces(a, r, grant, member):
    """Whether r replaces another grant of a member."""
    return (r.type == GRANT and r.map[4] and grant is not r and not a.knows(grant, r.id)
            and member == r.map[1] and (a.knows(r, grant.id) or grant.type == ADMIT))


def first_of(a, grant):
    """The grant to which a chain of adddevs leads back."""
    while grant.type == ADDDEV:
        grant = a.ops[grant.grant]
    return grant

"""Section 4.0.3 of docs/PROTOCOL.md, V-2 to V-5: who is in now, and whose content counts."""

from typing import NamedTuple

from revocations import is_aimed, replaces
from terms import (ADMIN, GRANT, GRANTS, GUEST, INFINITY, LEAVE, NOTHING_TAKEN, REMOVE, RMDEV)


class Later(NamedTuple):
    """An operation that a device would write now under a grant, weaker than all its others there
    (V-2, V-5)."""

    device: bytes
    grant: bytes


class Seat(NamedTuple):
    """What a grant gives a device: the member, the role and the rank."""

    device: bytes
    grant: object
    member: bytes
    role: int
    rank: tuple

    @property
    def now(self):
        """The rank of what the device would write now: no own end, in its own place."""
        return (*self.rank, 1, INFINITY)


def said(a, grant, device):
    """A seat as given by its grant."""
    given = a.gives(grant, device)
    return Seat(device, grant, given.member, given.role, a.rank_of_grant(grant, device))


# V-3


def kept(a, valid, seat):
    """A seat after transfers: one role less, with the rank of the latest of them."""
    transfers = taking(a, valid, seat)
    if not transfers or seat.role > ADMIN:
        return seat
    latest = max(transfers, key=lambda t: (a.lam[t.id], t.id))
    given = a.gives(latest, seat.device)
    place = given.place if given and given.member == seat.member else INFINITY
    role, lam = seat.role + 1, max(a.lam[latest.id], a.lam[seat.grant.id])
    return seat._replace(role=role, rank=(role, lam, latest.id, place, *NOTHING_TAKEN))


def has_instead(a, valid, seat):
    """Whether a transfer gives the device another seat in place of the one it takes."""
    return any(seat.device in t.map[5] for t in taking(a, valid, seat))


def taking(a, valid, seat):
    return [t for t in valid if takes(a, valid, t, seat)]


def takes(a, valid, t, seat):
    """Whether a transfer takes a grant from a device."""
    if not is_open_to(a, t, seat):
        return False
    if a.rank(t) < seat.now:
        return True
    if not is_recovery(a, valid, seat.device, seat.member):
        return False
    return not any(withstands(a, valid, t, other) for other in seats(a, valid)
                   if other.member == seat.member)


def seats(a, valid):
    """The seats of every device by valid grants."""
    return [said(a, g, device) for g in valid if g.type in GRANTS
            for device in dict.fromkeys(d for d, _, _ in a.listed(g))]


def is_open_to(a, t, seat):
    return (a.drops(t) and t is not seat.grant and not a.knows(seat.grant, t.id)
            and a.author(t).member == seat.member)


def withstands(a, valid, t, seat):
    """Whether an everyday device is in by a grant too strong for a transfer. This uses the seat as
    granted, because what transfers leave of it depends on the answer."""
    return (not is_recovery(a, valid, seat.device, seat.member) and is_open_to(a, t, seat)
            and seat.now < a.rank(t)
            and not any(r.type != LEAVE and reaches(a, valid, r, seat) for r in valid))


def is_recovery(a, valid, device, member):
    """Whether a device is the first of two in a create or admit, or took the place of such a
    one."""
    return any(a.makes_recovery(o, device, member) for o in valid)


# V-2 and V-4


def held(a, valid, device=None):
    """The seats in which devices (or one device) are in, after transfers."""
    found = [kept(a, valid, s) for s in seats(a, valid)
             if device in (None, s.device) and not has_instead(a, valid, s)]
    return [s for s in found if not any(reaches(a, valid, r, s) for r in valid)]


def strongest(a, valid, device):
    """The strongest seat in which a device is in, or None."""
    # If one transfer took two seats and lists the device for neither, the stronger is the one that
    # was stronger before.
    return min(held(a, valid, device), default=None,
               key=lambda s: (s.rank, a.rank_of_grant(s.grant, device)))


def reaches(a, valid, r, seat):
    """Whether r hits what a device would write now, or its content, in a seat.

    A transfer does not: it lowers the role by one (V-3), which would otherwise have no meaning.
    """
    if r.type not in (REMOVE, RMDEV, LEAVE, GRANT):
        return False
    if r.type == GRANT:
        aimed = replaces(a, r, seat.grant, seat.member)
    else:
        aimed = is_aimed(a, r, seat.grant, seat.device, seat.member)
    if not aimed or r.type != LEAVE:
        return aimed and a.rank(r) < seat.now
    # V-4: it does not need to be stronger.
    role = a.author(r).role
    return seat.role >= role and not (a.has_devices and holds_more(a, valid, seat, role))


def holds_more(a, valid, seat, role):
    """Whether a device is in for a member in a stronger role, by any grant."""
    others = [kept(a, valid, s) for s in seats(a, valid)
              if (s.device, s.member) == (seat.device, seat.member)
              and not has_instead(a, valid, s)]
    # Only ask about seats with a stronger role, so that the recursion ends.
    return any(s.role < role and not any(reaches(a, valid, r, s) for r in valid) for s in others)


def hits_later(a, valid, r, o):
    """Whether r hits what a device would write now under a grant."""
    return reaches(a, valid, r, kept(a, valid, said(a, a.ops[o.grant], o.device)))


# V-5


def content_ends(a, o, least):
    """What ends the content of a device under a grant, if `least` is the weakest role that may
    write; None if nothing of it is valid anyway."""
    valid, grant = a.in_force, a.ops.get(o.grant)
    if not grant or grant.id not in a.valid or grant.type not in GRANTS:
        return None
    given = a.gives(grant, o.device)
    # V-3: a transfer only carries the content of its heir.
    if not given or grant.type == GRANT and given.place >= len(grant.map[2]):
        return None
    seat = kept(a, valid, said(a, grant, o.device))
    if seat.role > least:
        return None
    later = [kept(a, valid, succeeding(a, g, seat)) for g in valid if succeeds(a, g, seat)]
    found = []
    for r in valid:
        if r.type in (REMOVE, RMDEV, LEAVE):
            if any(reaches(a, valid, r, s) for s in (seat, *later)):
                found.append(r)
        elif (r.type == GRANT and r.map[3] == GUEST and least < GUEST
              and reaches(a, valid, r, seat)):
            found.append(r)
    # A final end may hit it under several grants (V-10), but ends it once.
    return list({r.id: r for r in found}.values())


def succeeds(a, g, seat):
    """Whether a grant replaced a seat: it replaces, knows the seat, and is stronger."""
    return (g.type == GRANT and g.map[4] and g.map[1] == seat.member
            and a.knows(g, seat.grant.id) and a.rank(g) < seat.now)


def succeeding(a, g, seat):
    """A device's seat by a grant; if the grant does not list it, after the last place."""
    places = g.map[2]
    place = places.index(seat.device) if seat.device in places else INFINITY
    rank = (g.map[3], a.lam[g.id], g.id, place, *NOTHING_TAKEN)
    return Seat(seat.device, g, seat.member, g.map[3], rank)

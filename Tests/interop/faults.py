"""Section 4.0.2 of docs/PROTOCOL.md: faults. Each function returns the broken rule."""

from notation import H
from revocations import is_kept
from shapes import is_well_formed
from terms import (ADDDEV, ADMIN, ADMIT, CONFIRM, CREATE, CUTPART, DOCCREATE, DOCDEL, DOCSET, FEATURE,
                   GRANT, GRANTS, GUEST, INVITE, LEAVE, MEMBER, OWNER, RECUT, REKEY, REMOVE, REQUEST,
                   RMDEV, RVINV, WSDEL, WSSET)

# The rows that only require a role.
PLAIN = {**dict.fromkeys((DOCCREATE, DOCSET, DOCDEL), ("A-26", MEMBER)),
         **dict.fromkeys((WSSET, REKEY), ("A-27", ADMIN)),
         **dict.fromkeys((WSDEL, FEATURE), ("A-28", OWNER)), CUTPART: ("A-29", GUEST)}


def fault(a, o):
    """The first rule that an operation breaks, or None. Its past is known and without fault."""
    if not is_framed(a, o):
        return "A-5"
    if a.is_behind_feature(o):
        return None
    if o.type > CONFIRM:
        return "A-7"
    if not is_well_formed(o):
        return "A-7"
    if o.type == CREATE:
        return a.binding_fault(o)
    return RULES[o.type](a, o, a.author(o)) or a.binding_fault(o)


def is_framed(a, o):
    """A-5. A grant after a feature may have an unknown form; then it lists nobody here."""
    if o.type == CREATE:
        if not is_well_formed(o):
            return False
        devices = [d[0] for d in o.map[3]]
        return not a.cited(o) and not any(o.grant) and o.device in devices[-1:]
    grant = a.knows_as(o, o.grant, *GRANTS)
    return bool(grant and is_well_formed(grant) and a.gives(grant, o.device))


def broken(rule, *conditions):
    return None if all(conditions) else rule


def invite(a, o, author):
    if 8 not in o.map:
        return broken("A-8", author.role <= ADMIN, o.map[1] > author.role)
    policy = a.knows_as(o, o.map[8], WSSET)
    return broken("A-9", author.role == MEMBER, policy and policy.map.get(4) == 2,
                  o.map[1] == MEMBER)


def request(a, o, author):
    on = a.invite(o)
    if author.role > MEMBER or not on:
        return "A-10"
    removed = {r.map[1] for r in a.known(o, REMOVE)}
    asked = [r for r in a.known(o, REQUEST) if r.map[1] == on.id and r.map[2] not in removed]
    if len(asked) >= max(16, on.map[2]):
        return "A-10"
    past, devices, member = a.past[o.id], [d[0] for d in o.map[3]], o.map[2]
    if 6 not in o.map:
        return broken("A-11", not a.is_bound(member, devices, past))
    end = a.knows_as(o, o.map[6], REMOVE, LEAVE, ADMIT)
    return broken("A-12", end and subject(a, end) == member,
                  all(a.members_of(d, past) == {member} for d in devices),
                  are_own(a, devices, member, past))


def subject(a, o):
    """The member that a remove, admit or leave is about."""
    return a.author(o).member if o.type == LEAVE else o.map[1 if o.type == REMOVE else 2]


def admit(a, o, author):
    on, past, member = a.invite(o), a.past[o.id], o.map[2]
    if not on:
        return "A-13"
    others = {p.map[2] for p in a.known(o, ADMIT) if p.map[1] == on.id}
    removed = any(r.map[1] == member for r in a.known(o, REMOVE))
    if (author.role > min(on.map[1], MEMBER) or len(others) >= on.map[2]
            or a.is_bound(member, [d[0] for d in o.map[3]], past)
            or removed and author.role > ADMIN):
        return "A-13"
    asked = a.knows_as(o, o.map.get(8), REQUEST)
    if 8 in o.map and not is_answer(asked, o):
        return "A-14"
    if on.map[5]:
        return broken("A-15", author.role <= ADMIN, asked and asked.ms <= on.map[3])
    return broken("A-16", o.ms <= on.map[3])


def is_answer(asked, o):
    """A-14: whether an admit admits exactly what the request asked for."""
    return (asked is not None and 6 not in asked.map
            and (asked.map[1], asked.map[2]) == (o.map[1], o.map[2])
            and [d[:2] for d in asked.map[3]] == [d[:2] for d in o.map[3]])


def adddev(a, o, author):
    past, devices = a.past[o.id], [d[0] for d in o.map[1]]
    roll = a.roll(author.member, past)
    own = roll.ages.get(o.device)
    linkers = [p.device for p in a.known(o, ADDDEV) if a.author(p).member == author.member]
    counting = {d for d in linkers if d == o.device
                or own is not None and d in roll.ages and roll.ages[d] < own
                and not a.is_barred(d, past)}
    linked = [d for d in linkers if d in counting]
    takes = not a.takes_place(o) or any(
        a.makes_recovery(p, o.device, author.member) for p in map(a.ops.get, past))
    is_new = not a.takes_place(o) or not any(a.members_of(d, past) for d in devices)
    return broken("A-17", takes, is_new, len(linked) < 64 or a.takes_place(o),
                  all(a.members_of(d, past) <= {author.member} for d in devices),
                  not any(a.is_barred(d, past) for d in devices))


def with_key(rule, key):
    """A-18: the key that an admit or adddev names must be introduced."""
    def both(a, o, author):
        known = any(a.introduces(p) == o.map[key] for p in map(a.ops.get, a.past[o.id]))
        return rule(a, o, author) or broken("A-18", known)
    return both


def grant(a, o, author):
    past, subject = a.past[o.id], o.map[1]
    if not (author.role <= ADMIN and subject != author.member
            and (o.map[3] > author.role or o.map[3] == author.role == OWNER)
            and are_own(a, o.map[2], subject, past)):
        return "A-19"
    if not a.drops(o):
        return None
    ranks = [role for g in a.known(o, *GRANTS) for _, m, role in a.listed(g) if m == subject]
    # 2 must not be empty, or the workspace would have no owner.
    return broken("A-20", author.role == OWNER, o.map[3] == OWNER, o.map[2], o.map[5],
                  any(role <= MEMBER for role in ranks),
                  are_own(a, o.map[5], author.member, past))


def are_own(a, devices, member, past):
    return all(a.is_tied(d, member, past) for d in devices)


def remove(a, o, author):
    return broken("A-21", author.role <= ADMIN, o.map[1] != author.member,
                  cuts(a, o) is not None)


def rmdev(a, o, author):
    members = a.members_of(o.map[1], a.past[o.id])
    return broken("A-22", author.member in members or members and author.role <= ADMIN)


def leave(a, o, author):
    return broken("A-23", author.role != OWNER)


def rvinv(a, o, author):
    on = a.invite(o)
    if not on:
        return "A-24"
    own = 8 in on.map and a.author(on).member == author.member
    return broken("A-24", author.role <= ADMIN or own and author.role <= MEMBER,
                  a.rank_of_author(o) <= a.rank_of_author(on))


def recut(a, o, author):
    widened = a.knows_as(o, o.map[1], REMOVE, RMDEV, RVINV, LEAVE, GRANT)
    if not widened or widened.type == GRANT and not (widened.map[4] or a.drops(widened)):
        return "A-25"
    own = a.author(widened).member == author.member
    not_weaker = a.rank_of_author(o) <= a.rank_of_author(widened)
    if widened.type == LEAVE:
        return broken("A-25", not own, author.role <= ADMIN)
    if widened.type == RMDEV and own:
        return broken("A-25", not_weaker)
    return broken("A-25", author.role <= ADMIN, own or not_weaker)


def confirm(a, o, author):
    named = o.map[1]
    return broken("A-30", author.role <= ADMIN, 1 <= len(named) <= 256,
                  len(set(named)) == len(named),
                  all(a.knows(o, n) and (is_kept(a, a.ops[n]) or a.is_own_end(a.ops[n]))
                      for n in named))


def plain(a, o, author):
    rule, least = PLAIN[o.type]
    return broken(rule, author.role <= least)


RULES = {INVITE: invite, REQUEST: request, ADMIT: with_key(admit, 5), ADDDEV: with_key(adddev, 2),
         GRANT: grant, REMOVE: remove, RMDEV: rmdev, LEAVE: leave, RVINV: rvinv, RECUT: recut,
         CONFIRM: confirm,
         **dict.fromkeys(PLAIN, plain)}


def cuts(a, o):
    """The cuts that a revocation keeps, with its parts (4.0.6); None if the parts do not match."""
    own = {GRANT: 6, REMOVE: 2, RMDEV: 2, LEAVE: 1, RECUT: 2}.get(o.type)
    if o.type != REMOVE or o.map[5] == 0:
        return listed(o.map[own]) if own else []
    if o.map[5] > 64:
        return None
    parts, at = [], o
    for _ in range(o.map[5]):
        at = a.ops.get(at.previous)
        if not at or at.type != CUTPART:
            return None
        parts.insert(0, at)
    if H(b"wsx-cutparts1", *(p.id for p in parts)) != o.map[6]:
        return None
    return [cut for p in parts for cut in listed(p.map[1])] + listed(o.map[2])


def listed(entries):
    """Cuts as (document, device, inc, seq, first bytes of id)."""
    return [(document, device, inc, seq, prefix)
            for device, inc, places in entries for document, seq, prefix in places]

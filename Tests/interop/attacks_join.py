"""Attacks by joining: A10, A12, A17 of the list of hostile cases."""

import itertools

import writer
from foreign import Attacker, secrets_of
from notation import VERSION
from protocol import Invite
from stage import shown, signed_list
from terms import ADMIT, REMOVE, REQUEST


def entries_of(o):
    return o.map[3]


def salted(root, member, own):
    """Before version 2 the creator's member had the nonce as its salt."""
    return root.map[1] if VERSION == 1 and member == root.map[2] else own


def lists(victims):
    """Every order of one to three of some entries and an own device, for which None stands."""
    for count in (1, 2, 3):
        for chosen in itertools.permutations([*victims, None], count):
            yield list(chosen)


def try_lists(stage, attacker, link, victim, member):
    """join2 with the victim's name and every list. Which of them put X among its devices."""
    victims, reached, answers = entries_of(victim), [], {}
    for shape in lists(victims):
        device = writer.Device()
        listed = [d if d is not None else old_or_new(attacker.copy.root, member, device)
                  for d in shape]
        name = "".join("X" if d is None else "RD"[victims.index(d)] if len(victims) == 2 else "D"
                       for d in shape)
        said = stage.joins(attacker, link, member, listed, device=device)
        answers.setdefault(said, []).append(name)
        held = [o for o in stage.look().of(ADMIT, REQUEST)
                if device.id in [d[0] for d in entries_of(o)] and o.map[2] == member]
        if held:
            reached.append((name, device, held[0]))
    stage.note(f"{link}: " + "; ".join(f"{k}: {' '.join(v)}" for k, v in answers.items()))
    return reached


def old_or_new(root, member, device):
    """The device, or in version 1 its entry, whose salt depends on the member."""
    if VERSION > 1:
        return device
    salt = salted(root, member, root.id)
    return [device.id, device.box, device.key.sign(writer.old_signature(salt, member, device.box))]


def a10_join(stage):
    """A10 (C1): join2 with a name that exists and a list with an own device, over every link."""
    attacker = stage.join("member")
    root = attacker.copy.root
    plain = stage.join("member")
    victims = [("owner", root), ("member", next(
        o for o in plain.copy.of(ADMIT) if o.map[2] == plain.member))]
    # The used link is used up before anybody is on this stage.
    for link in ("member", "guest", "used", "approve"):
        for who, victim in victims if link == "member" else victims[:1]:
            reached = try_lists(stage, attacker, link, victim, victim.map[2])
            stage.judge(bool(reached), f"join2 as {who} over the {link} link: "
                        + (", ".join(f"{n} as type {o.type}" for n, _, o in reached) or "nothing"))
    stage.judge(stage.owner() is None or len(stage.devices_of(root.map[2])) > len(root.map[3]),
                "the owner has other devices than before")


def a10_own_admit(stage):
    """A10 (C1b): the same lists in an admit or request that a plain member writes itself."""
    attacker = stage.join("member")
    root, invite = attacker.copy.root, Invite.read(stage.links["many"])
    on, member = attacker.on(invite), attacker.copy.root.map[2]
    reached, ways = [], {}
    for type_ in (ADMIT, REQUEST):
        for shape in lists(entries_of(root)):
            device = writer.Device()
            listed = signed_list([d if d is not None else old_or_new(root, member, device)
                                  for d in shape], root.id, on.id, attacker.device.id, member)
            proven = invite.key.sign(writer.proof(root.id, on.id, member, listed))
            said = (writer.admit(on.id, member, listed, proven, root.map[4]) if type_ == ADMIT
                    else writer.request(on.id, member, listed, proven))
            deps = [o for o in attacker.copy.heads()]
            o, way = stage.says(attacker, said, after=None, deps=deps, settle=0.15)
            ways[way] = ways.get(way, 0) + 1
            if None in shape and stage.is_held(o):
                reached.append((o, device))
    stage.note("how the links took it: " + str(ways))
    stage.judge(bool(reached), f"{len(reached)} operations with the owner's name are stored")
    count = len(stage.devices_of(member))
    stage.judge(count > len(root.map[3]), f"the owner is shown with {count} devices")


def a10_then_leave(stage):
    """A13 behind A10 (H1): whoever stands under the owner's name leaves for the owner."""
    attacker = stage.join("member")
    root, member = attacker.copy.root, attacker.copy.root.map[2]
    reached = try_lists(stage, attacker, "many", root, member)
    for name, device, o in reached:
        if o.type != ADMIT:
            continue
        grants = [g for g in stage.look().of(ADMIT) if device.id in [d[0] for d in g.map[3]]]
        thief = acting_as(stage, attacker, device, grants[0].id)
        for said in ((10, {1: []}), (8, {1: root.device, 2: [], 3: None})):
            said_now, way = stage.says(thief, said)
            way += f", held: {stage.is_held(said_now)}"
            left = stage.owner()
            stage.judge(left is None or left["id"] != shown(member, "u_"),
                        f"{name}: type {said[0]} under the owner's name ({way}) ends the owner",
                        "the owner is still there")
        break
    stage.judge(bool(reached), "a device stands under the owner's name")


def acting_as(stage, attacker, device, grant):
    """Somebody who acts with a device that was let in."""
    other = Attacker(stage.links["member"], device)
    other.copy, other.grant, other.member = stage.look(), grant, attacker.copy.root.map[2]
    other.disc = next((disc for _, disc in secrets_of(device, other.copy)), None)
    stage.again(other)
    return other


def a12_removed(stage):
    """A12: a removed person, with the old device and with the old name, over fresh links."""
    attacker = stage.join("member")
    root = attacker.copy.root
    stage.removes(attacker)
    entry = next(o for o in attacker.copy.of(ADMIT) if o.map[2] == attacker.member).map[3][0]
    attacker.copy = stage.look()
    end = next(o for o in attacker.copy.of(REMOVE) if o.map[1] == attacker.member)
    for what, devices, cites in (
            ("as before", [attacker.device], None), ("by the old entry", [entry], None),
            ("naming the end, signed as a newcomer", [attacker.device], end.id),
            ("with another device", [attacker.device, writer.Device()], None)):
        if VERSION == 1 and cites:
            continue
        said = stage.joins(attacker, "many", attacker.member, devices, cites, attacker.device)
        inside = shown(attacker.member, "u_") in stage.members()
        stage.judge(said == "admitted" or inside, f"removed person {what}: {said}")
    if VERSION > 1:
        said = comes_back(stage, attacker, end, root)
        inside = shown(attacker.member, "u_") in stage.members()
        stage.judge(said != "pending" or inside, f"the right way is not pending but {said}",
                    "the right way is answered pending")


def comes_back(stage, attacker, end, root):
    """A join2 as 4.0.6 wants it."""
    invite = Invite.read(stage.links["many"])
    visitor, code = attacker.visit(attacker.device, invite)
    if code != 0:
        return code
    listed = writer.for_return([attacker.device], root.id, end.id, visitor.answerer,
                               attacker.member)
    on = attacker.on(invite)
    proven = invite.key.sign(writer.proof(root.id, on.id, attacker.member, listed))
    code = visitor.join2(on.id, attacker.member, listed, proven, end.id)
    visitor.close()
    return "pending" if code == 2 else code


def a12_revoked(stage):
    """A12 (H2): a device that its member revoked comes again, over a fresh link and as a newcomer."""
    attacker = stage.join("member", recovery=writer.Device())
    root, second = attacker.copy.root, writer.Device()
    salt = writer.for_linking(second, root.id, attacker.device.id, attacker.member)
    added, way = stage.says(attacker, writer.adddev(salt, root.map[4]))
    stage.note(f"adddev by the book: {way}, held: {stage.is_held(added)}")
    attacker.copy = stage.look()
    stage.says(attacker, (8, {1: second.id, 2: [], 3: None}))
    attacker.copy = stage.look()
    stage.judge(second.id not in [d[0] for o in attacker.copy.of(5) for d in o.map[1]],
                "the linked device is unknown", "it was known, and is revoked")
    phrase, first = entries_of(next(
        o for o in attacker.copy.of(ADMIT) if o.map[2] == attacker.member))
    tries = (("as a newcomer", None, [second]),
             ("behind its person's phrase", attacker.member, [phrase, second]),
             ("behind its person's list", attacker.member, [phrase, first, second]),
             ("alone under its person's name", attacker.member, [second]))
    for what, member, devices in tries:
        member = member or writer.member_name(second.id, root.id)
        said = stage.joins(attacker, "many", member, devices, device=second)
        held = [o for o in stage.look().of(ADMIT) if second.id in [d[0] for d in o.map[3]]]
        stage.judge(said == "admitted" or bool(held), f"revoked device {what}: {said}")


def a12_removed_device_as_newcomer(stage):
    """A12: a removed person's device in a list whose first device is fresh, so that the name is new."""
    attacker = stage.join("member")
    stage.removes(attacker)
    attacker.copy = stage.look()
    fresh = writer.Device()
    member = writer.member_name(fresh.id, attacker.copy.root.id)
    cert = [fresh.id, fresh.box,
            fresh.key.sign(writer.certificate(fresh.box, attacker.device.id))]
    said = stage.joins(attacker, "many", member, [cert, attacker.device], device=attacker.device)
    held = [o for o in stage.look().of(ADMIT)
            if attacker.device.id in [d[0] for d in o.map[3]] and o.map[2] == member]
    stage.judge(bool(held), f"a removed device behind a fresh recovery device: {said}")


CASES = {"A10-join": a10_join, "A10-own-admit": a10_own_admit, "A10-A13-leave": a10_then_leave,
         "A12-removed": a12_removed, "A12-revoked": a12_revoked,
         "A12-recovery": a12_removed_device_as_newcomer}
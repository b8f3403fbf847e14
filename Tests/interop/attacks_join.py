"""Attacks by joining: A10, A12 and A17 of the list of hostile cases."""

import itertools

import writer
from intruder import Attacker, secrets_of
from notation import VERSION
from protocol import Invite
from stage import shown, signed_list
from terms import ADMIT, REQUEST


def entries_of(o):
    return o.map[3]


def salted(root, member, own):
    """The salt of a member. Before version 2, the creator's salt was the nonce."""
    return root.map[1] if VERSION == 1 and member == root.map[2] else own


def lists(victims):
    """Every order of one to three of some entries and the attacker's own device (None)."""
    for count in (1, 2, 3):
        for chosen in itertools.permutations([*victims, None], count):
            yield list(chosen)


def try_lists(stage, attacker, link, victim, member):
    """Sends join2 with the victim's name and every list. Returns those that bound the device."""
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
    """The device, or in version 1 its entry, which depends on the member's salt."""
    if VERSION > 1:
        return device
    salt = salted(root, member, root.id)
    return [device.id, device.box, device.key.sign(writer.old_signature(salt, member, device.box))]


def a10_join(stage):
    """A10 (C1): join2 with an existing name and the attacker's device in the list, on all links."""
    attacker = stage.join("member")
    root = attacker.copy.root
    # The member that used up the link.
    plain = stage.join("used")
    victims = [("owner", root), ("member", next(
        o for o in plain.copy.of(ADMIT) if o.map[2] == plain.member))]
    for link in ("member", "guest", "used", "approve"):
        for who, victim in victims if link == "member" else victims[:1]:
            reached = try_lists(stage, attacker, link, victim, victim.map[2])
            stage.judge(bool(reached), f"join2 as {who} over the {link} link: "
                        + (", ".join(f"{n} as type {o.type}" for n, _, o in reached) or "nothing"))
    stage.judge(stage.owner() is None or len(stage.devices_of(root.map[2])) > len(root.map[3]),
                "the owner's devices have changed")


def a10_own_admit(stage):
    """A10 (C1b): the same lists in an admit or request written by a plain member."""
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
            if None in shape and (stage.is_held(o) if VERSION == 1 else stage.is_stored(o)):
                reached.append((o, device))
    stage.note("answers of the links: " + str(ways))
    stage.judge(bool(reached), f"{len(reached)} operations in the owner's name are stored")
    count = len(stage.devices_of(member))
    stage.judge(count > len(root.map[3]), f"the owner is shown with {count} devices")


def a10_approve(stage):
    """A10: the same lists over a link that needs approval, and the owner approves every request."""
    attacker = stage.join("member")
    root = attacker.copy.root
    reached = try_lists(stage, attacker, "approve", root, root.map[2])
    for asked in stage.cli("request", "list"):
        try:
            stage.cli("request", "approve", asked["id"])
            stage.note(f"approved {asked['id']}")
        except AssertionError as error:
            stage.note(f"not approved: {error}")
    count = len(stage.devices_of(root.map[2]))
    stage.judge(bool(reached), f"{len(reached)} requests in the owner's name are stored")
    stage.judge(count > len(root.map[3]), f"the owner is shown with {count} devices")


def a10_then_leave(stage):
    """A13 after A10 (H1): a device bound to the owner's name writes a leave for the owner."""
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
    stage.judge(bool(reached), "a device is bound to the owner's name")


def acting_as(stage, attacker, device, grant):
    """An attacker who acts with an admitted device."""
    other = Attacker(stage.links["member"], device)
    other.copy, other.grant, other.member = stage.look(), grant, attacker.copy.root.map[2]
    other.disc = next((disc for _, disc in secrets_of(device, other.copy)), None)
    stage.again(other)
    return other


CASES = {"A10-join": a10_join, "A10-own-admit": a10_own_admit, "A10-approve": a10_approve,
         "A10-A13-leave": a10_then_leave}

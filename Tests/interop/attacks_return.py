"""Attacks by former members: A12."""

import writer
from notation import VERSION
from protocol import Invite
from stage import shown
from terms import ADMIT, REMOVE


def a12_removed(stage):
    """A12: a removed person with the old device or the old name, over fresh links."""
    attacker = stage.join("member")
    root = attacker.copy.root
    stage.removes(attacker)
    entry = next(o for o in attacker.copy.of(ADMIT) if o.map[2] == attacker.member).map[3][0]
    attacker.copy = stage.look()
    end = next(o for o in attacker.copy.of(REMOVE) if o.map[1] == attacker.member)
    for what, devices, cites in (
            ("as before", [attacker.device], None), ("by the old entry", [entry], None),
            ("naming the end, but signed as a newcomer", [attacker.device], end.id),
            ("with another device", [attacker.device, writer.Device()], None)):
        if VERSION == 1 and cites:
            continue
        said = stage.joins(attacker, "many", attacker.member, devices, cites, attacker.device)
        inside = shown(attacker.member, "u_") in stage.members()
        stage.judge(said == "admitted" or inside, f"removed person {what}: {said}")
    for link in ("guest", "approve"):
        said = stage.joins(attacker, link, attacker.member, [attacker.device], None,
                           attacker.device)
        inside = shown(attacker.member, "u_") in stage.members()
        stage.judge(said == "admitted" or inside, f"removed person over the {link} link: {said}")
    if VERSION > 1:
        said = comes_back(stage, attacker, end, root)
        inside = shown(attacker.member, "u_") in stage.members()
        stage.judge(said != "pending" or inside, f"the correct way is answered {said}",
                    "the correct way is answered pending")


def comes_back(stage, attacker, end, root, devices=None):
    """Sends a join2 as 4.0.6 requires it."""
    invite = Invite.read(stage.links["many"])
    visitor, code = attacker.visit(attacker.device, invite)
    if code != 0:
        return code
    listed = writer.for_return(devices or [attacker.device], root.id, end.id, visitor.answerer,
                               attacker.member)
    on = attacker.on(invite)
    proven = invite.key.sign(writer.proof(root.id, on.id, attacker.member, listed))
    code = visitor.join2(on.id, attacker.member, listed, proven, end.id)
    visitor.close()
    return "pending" if code == 2 else code


def a12_revoked(stage):
    """A12 (H2): a device that its member revoked returns, over a fresh link and as a newcomer."""
    attacker = stage.join("member", recovery=writer.Device())
    root, second = attacker.copy.root, writer.Device()
    salt = writer.for_linking(second, root.id, attacker.device.id, attacker.member)
    added, way = stage.says(attacker, writer.adddev(salt, root.map[4]))
    stage.note(f"correct adddev: {way}, held: {stage.is_held(added)}")
    attacker.copy = stage.look()
    stage.says(attacker, (8, {1: second.id, 2: [], 3: None}))
    attacker.copy = stage.look()
    stage.judge(second.id not in [d[0] for o in attacker.copy.of(5) for d in o.map[1]],
                "the linked device is unknown", "it was known and is revoked")
    phrase, first = next(
        o for o in attacker.copy.of(ADMIT) if o.map[2] == attacker.member).map[3]
    tries = (("as a newcomer", None, [second]),
             ("after its person's phrase", attacker.member, [phrase, second]),
             ("after its person's list", attacker.member, [phrase, first, second]),
             ("alone under its person's name", attacker.member, [second]))
    for what, member, devices in tries:
        member = member or writer.member_name(second.id, root.id)
        said = stage.joins(attacker, "many", member, devices, device=second)
        held = [o for o in stage.look().of(ADMIT) if second.id in [d[0] for d in o.map[3]]]
        stage.judge(said == "admitted" or bool(held), f"revoked device {what}: {said}")


def a12_return(stage):
    """A12: the correct way back: pending, a decision, in again; and no barred device."""
    if VERSION == 1:
        return stage.note("before version 2 there is no way back")
    attacker = stage.join("member")
    root, second = attacker.copy.root, writer.Device()
    listed = writer.for_linking(second, root.id, attacker.device.id, attacker.member)
    for said in (writer.adddev(listed, root.map[4]), (8, {1: second.id, 2: [], 3: None})):
        stage.says(attacker, said)
        attacker.copy = stage.look()
    stage.removes(attacker)
    attacker.copy = stage.look()
    end = next(o for o in attacker.copy.of(REMOVE) if o.map[1] == attacker.member)
    said = comes_back(stage, attacker, end, root, [attacker.device, second])
    stage.judge(said != 3, f"a list with a barred device is answered {said}", "answered invalid")
    said = comes_back(stage, attacker, end, root)
    stage.judge(said != "pending", f"the correct way is answered {said}", "answered pending")
    inside = shown(attacker.member, "u_") in stage.members()
    stage.judge(inside, "the device is in before anyone decided", "it waits")
    for asked in stage.cli("request", "list"):
        stage.cli("request", "approve", asked["id"])
    inside = shown(attacker.member, "u_") in stage.members()
    stage.judge(not inside, "after the decision the device is out", "after the decision it is in")
    shows = shown(second.id, "d_") in stage.devices_of(attacker.member) if inside else False
    stage.note(f"the barred device is listed: {shows}")


def a12_removed_device_as_newcomer(stage):
    """A12: a removed person's device after a fresh first device, so that the name is new."""
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
    stage.judge(bool(held), f"a removed device after a fresh recovery device: {said}")


CASES = {"A12-removed": a12_removed, "A12-revoked": a12_revoked, "A12-return": a12_return,
         "A12-recovery": a12_removed_device_as_newcomer}

"""Attacks by operations: A13, A16, A17 and replays."""

import writer
from intruder import Attacker
from notation import VERSION
from protocol import Invite
from stage import shown
from terms import ADDDEV, ADMIN, CREATE, LEAVE, OWNER, REMOVE, RMDEV, RVINV, WSDEL, WSSET

OUT = {2: [], 3: None, 4: [], 5: 0, 6: b""}


def listed_as(new, root, attacker, member):
    """An adddev list for any member, signed by a new device."""
    return writer.for_linking(new, root.id, attacker.device.id, member)


def stands(stage, member, what):
    """Judges that the owner is unchanged, and that its node can still act as the owner."""
    now = stage.owner()
    stage.judge(now is None or now["id"] != shown(member, "u_") or not now["self"],
                f"{what}: the owner is {now and now['name']}", "the owner is still there")
    try:
        stage.cli("policy", "set", "--who-may-invite", "admins")
        stage.cli("send", "general", "still here")
    except AssertionError as error:
        stage.broken(f"{what}: the owner cannot act: {error}")


# A13


def a13_names(stage, link="member"):
    """A13: leave, transfer, adddev and rmdev in the owner's name, by a member's device."""
    attacker = stage.join(link)
    root, new = attacker.copy.root, writer.Device()
    owner, kim = root.map[2], attacker.member
    stage.control(attacker)
    said = {
        "leave": (LEAVE, {1: []}),
        "transfer": writer.grant(kim, [attacker.device.id], OWNER, drops=[root.device]),
        "promotion": writer.grant(kim, [attacker.device.id], ADMIN),
        "adddev": writer.adddev(listed_as(new, root, attacker, owner), root.map[4]),
        "rmdev": (RMDEV, {1: root.device, 2: [], 3: None}),
        "removal": (REMOVE, {1: owner, **OUT}),
        "deletion": (WSDEL, {}),
        "successor": (WSSET, {6: kim}),
    }
    for name, payload in said.items():
        for under, grant in (("the owner's grant", root.id), ("its own grant", attacker.grant)):
            if name == "leave" and grant != root.id:
                continue
            o, way = stage.says(attacker, payload, grant, after=None)
            stage.judge_fault(o, f"{name} under {under} ({way})")
    stands(stage, owner, "operations in the owner's name")
    count = len(stage.devices_of(owner))
    stage.judge(count > len(root.map[3]), f"the owner has {count} devices")


def weakest(stage):
    """A stolen device of the owner, and a member who is the thief's accomplice."""
    heir = stage.join("member")
    thief = Attacker(stage.links["member"])
    code = thief.link(stage.device_link)
    assert code == 0, f"the device could not be linked: {code}"
    thief.enter()
    stage.note(f"a stolen device of the owner: {thief.device}")
    return thief, heir


def a13_device_leave(stage):
    """A13 (H1): the owner's weakest device leaves, with and without another owner."""
    thief, heir = weakest(stage)
    root, owner = thief.copy.root, thief.copy.root.map[2]
    o, way = stage.says(thief, (LEAVE, {1: []}))
    stage.note(f"leave: {way}")
    stage.judge_fault(o, "leave of an owner")
    stands(stage, owner, "after a leave")
    # Another owner, by a grant from the same device.
    thief.copy = stage.look()
    stage.says(thief, writer.grant(heir.member, [heir.device.id], OWNER), after=None)
    # The leave has to know the other owner.
    thief.copy = stage.look()
    o, way = stage.says(thief, (LEAVE, {1: []}))
    stage.note(f"leave while there is another owner: {way}")
    stage.judge_fault(o, "leave of an owner")
    stage.judge(root.device not in device_ids(stage, thief), "the strongest device is out",
                "the strongest device is in")
    mine = [m for m in stage.members().values() if m["id"] == shown(owner, "u_")]
    stage.judge(not mine or mine[0]["role"] != "owner",
                f"the owner is {mine[0]['role'] if mine else 'gone'} after a leave of its weakest "
                "device", "the owner is still an owner")


def device_ids(stage, thief):
    """The owner's devices as shown, or none if the owner is not shown."""
    try:
        devices = stage.devices_of(thief.member)
    except AssertionError:
        return set()
    return {thief.copy.root.device} if shown(thief.copy.root.device, "d_") in devices else set()


def a13_device_transfer(stage):
    """A13: the owner's weakest device transfers ownership, then leaves as an admin."""
    thief, heir = weakest(stage)
    owner, copy = thief.copy.root.map[2], thief.copy
    handed, way = stage.says(thief, writer.grant(heir.member, [heir.device.id], OWNER,
                                                 drops=[thief.device.id]))
    stage.note(f"transfer by the weakest device: {way}; held: {stage.is_held(handed)}")
    copy.take(handed)
    now = stage.owner()
    stage.note(f"while it is in force, the owner is {now and now['name']}")
    o, way = stage.says(thief, (LEAVE, {1: []}), handed.id if VERSION > 1 else None)
    stage.note(f"leave as an admin: {way}")
    mine = [m for m in stage.members().values() if m["id"] == shown(owner, "u_")]
    stage.note(f"while both are in force, Mina is {mine[0]['role'] if mine else 'no member'}")
    try:
        stage.cli("device", "revoke", shown(thief.device.id, "d_"))
        stage.note("the owner revoked the stolen device")
    except AssertionError as error:
        stage.broken(f"the owner cannot revoke the stolen device: {error}")
    stands(stage, owner, "after the stolen device was revoked")


def a13_device_rmdev(stage):
    """A13, G15: the owner's weakest device revokes the strongest, and is then revoked."""
    thief, _ = weakest(stage)
    root = thief.copy.root
    o, way = stage.says(thief, (RMDEV, {1: root.device, 2: [], 3: None}))
    stage.note(f"rmdev of the strongest device: {way}; held: {stage.is_held(o)}")
    stands(stage, root.map[2], "after rmdev by the weakest device")
    stage.cli("device", "revoke", shown(thief.device.id, "d_"))
    o, way = stage.says(thief, writer.adddev(writer.for_linking(
        writer.Device(), root.id, thief.device.id, thief.member), root.map[4]))
    count = len([d for d in stage.cli("device", "list") if not d["revoked"]])
    stage.judge(count > 2, f"{count} devices after the stolen one was revoked")


# A16


def a16_tables(stage, link="member"):
    """A16: faults whose content would poison the tables of devices, owners and invites."""
    attacker = stage.join(link)
    root, new = attacker.copy.root, writer.Device()
    owner, kim = root.map[2], attacker.member
    invite = Invite.read(stage.links["few"])
    on = attacker.on(invite)
    stage.control(attacker)
    before, invites = stage.members(), stage.cli("invite", "list")
    copied = root.map[3]

    def admit(member, listed):
        proven = invite.key.sign(writer.proof(root.id, on.id, member, listed))
        return writer.admit(on.id, member, listed, proven, root.map[4])

    broken = [[d[0], d[1], bytes(64)] for d in copied]
    own = writer.for_linking(new, root.id, attacker.device.id, kim)
    said = {
        "adddev of the owner's devices": (ADDDEV, {1: copied, 2: root.map[4], 3: []}),
        "adddev of one, unsigned": (ADDDEV, {1: broken[-1:], 2: root.map[4], 3: []}),
        "adddev with the attacker's box key": (
            ADDDEV, {1: [[root.device, new.box, copied[-1][2]]], 2: root.map[4], 3: []}),
        "adddev with an unknown key": writer.adddev(own, writer.fresh_name()),
        "admit of the owner's devices": admit(writer.member_name(copied[0][0], root.id), copied),
        "admit of the owner's name": admit(owner, [*copied[:1], *own]),
        "admit without a proof": writer.admit(on.id, kim, own, bytes(64), root.map[4]),
        "rmdev of the owner's device": (RMDEV, {1: root.device, 2: [], 3: None}),
        "rmdev of the phrase": (RMDEV, {1: copied[0][0], 2: [], 3: None}),
        "rmdev of an unbound device": (RMDEV, {1: new.id, 2: [], 3: None}),
        "removal of the owner": (REMOVE, {1: owner, **OUT}),
        "grant to the attacker": writer.grant(kim, [attacker.device.id, root.device], OWNER),
        "end of an invite": (RVINV, {1: on.id}),
        "invite by the attacker": writer.invite(ADMIN, invite.public),
        "create": (CREATE, root.map),
        "unknown type": (20, {1: owner}),
        "malformed": (RMDEV, {1: root.device}),
        "unknown feature": (19, {1: 7}),
    }
    for name, payload in said.items():
        o, way = stage.says(attacker, payload, after=None, settle=0.2)
        stage.judge_fault(o, f"{name} ({way})")
    compare(stage, before, invites, "operations with faults")
    stands(stage, owner, "after operations with faults")


def compare(stage, members, invites, what, now=None):
    """Judges that members and invites are unchanged. `now`: the members to compare."""
    keep = ("id", "role", "devices", "removed")

    def seen(all_):
        return sorted(tuple(m[k] for k in keep) for m in all_.values())

    def open_(all_):
        return sorted((i["id"], i["used"], i["state"]) for i in all_)

    stage.judge(seen(now or stage.members()) != seen(members), f"{what} change who is in")
    stage.judge(open_(stage.cli("invite", "list")) != open_(invites), f"{what} change invites")


def as_guest(case):
    """The same case, played by a guest."""
    def by_guest(stage):
        case(stage, "guest")

    by_guest.__doc__ = case.__doc__.splitlines()[0] + " By a guest."
    return by_guest


CASES = {"A13-names": a13_names, "A13-guest": as_guest(a13_names),
         "A16-guest": as_guest(a16_tables), "A13-device-leave": a13_device_leave,
         "A13-device-transfer": a13_device_transfer, "A13-device-rmdev": a13_device_rmdev,
         "A16-tables": a16_tables}
"""Attacks with admits that have no effect, and with replays of what others wrote: A17, A18."""

import writer
from attacks_rules import compare
from intruder import Attacker
from notation import VERSION
from protocol import Invite
from terms import ADDDEV, ADMIT, CREATE, DOCCREATE, DOCDEL, DOCSET, INVITE, RVINV


def a17(stage):
    """A17: admits without effect on an invite with three uses; it must still admit."""
    attacker = stage.join("member")
    root, invite = attacker.copy.root, Invite.read(stage.links["few"])
    on, before = attacker.on(invite), attacker.copy.heads()
    for _ in range(6):
        new = writer.Device()
        member, listed = writer.for_joining([new], root.id, on.id, attacker.device.id)
        listed[0][2] = bytes(64)
        proven = invite.key.sign(writer.proof(root.id, on.id, member, listed))
        said = writer.admit(on.id, member, listed, proven, root.map[4])
        _, way = stage.says(attacker, said, after=None, deps=before, settle=0.2)
    stage.note(f"six admits of devices that did not sign: {way}")
    joins_still(stage, "after six unsigned ones")
    # A removed device continues as if it had not heard of the removal.
    stage.removes(attacker)
    friend, voids = stage.join("many", source="127.0.0.4"), []
    for _ in range(6):
        member, listed = writer.for_joining([writer.Device()], root.id, on.id, attacker.device.id)
        proven = invite.key.sign(writer.proof(root.id, on.id, member, listed))
        said = writer.admit(on.id, member, listed, proven, root.map[4])
        void, way = stage.says(attacker, said, after=None, deps=before, settle=0.2)
        voids.append(void)
    stage.note(f"six admits by a removed member: {way}")
    joins_still(stage, "after six by a removed member")
    # A current member delivers them, and cites them in a valid operation.
    above = friend.device.write(root.id, DOCCREATE, {1: 1, 2: bytes(16)}, friend.grant,
                                [*friend.copy.heads(), *voids], voids[-1].hlc >> 16)
    friend.enter()
    friend.visitor.announce([*voids, above])
    friend.visitor.settle(2)
    stage.note(f"a member delivers and cites them: stored: {stage.is_stored(above)}")
    joins_still(stage, "after six that a member cites")


def joins_still(stage, what):
    newcomer = Attacker(stage.links["few"], source="127.0.0.8")
    code = newcomer.join()
    stage.judge(code != 1, f"a newcomer {what}: {code}", "admitted")


def replays(stage):
    """A18: the payload of every stored operation, under the attacker's key and grant."""
    attacker = stage.join("member")
    stage.control(attacker)
    attacker.copy = stage.look()
    members, invites = stage.members(), stage.cli("invite", "list")
    ways = {}
    for old in list(attacker.copy.ops.values()):
        if old.type in (DOCCREATE, DOCSET, DOCDEL):
            continue
        grants = {attacker.grant, old.grant if any(old.grant) else old.id}
        for grant in sorted(grants):
            o, way = stage.says(attacker, (old.type, old.map), grant, after=None, settle=0.15)
            ways.setdefault(way, []).append(old.type)
            # Repeating the attacker's own operations proves nothing.
            own = old.device == attacker.device.id and grant == attacker.grant
            if VERSION > 1 and not own and old.type in (ADMIT, INVITE, CREATE, ADDDEV, RVINV):
                stage.judge_fault(o, f"type {old.type} again")
    stage.note(str(ways))
    compare(stage, members, invites, "replays")


CASES = {"A17-uses": a17, "A18-replays": replays}

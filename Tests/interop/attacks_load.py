"""Attacks by volume: A14 and A15. The measured numbers depend on the machine; the bounds do not."""

import os
import time

import writer
from flood import CHUNK, FLOOD, ROOM_KIB, SECONDS, SHAPES, Flood, Watch, couriers, pour
from notation import H
from salsa import seal
from terms import ADDDEV, REKEY, REMOVE, RMDEV


def a14(stage):
    """A14: 100,000 operations by a removed member: keys, incarnations, large, faults in turn."""
    attacker = stage.join("member")
    flood = Flood(attacker, attacker.copy.heads())
    ways = couriers(stage, attacker)
    stage.removes(attacker)
    first = stage.usage()
    for who, (courier, announced) in ways.items():
        watch, start = Watch(stage), time.monotonic()
        sent = 0
        for shape in SHAPES:
            sent += pour(stage, courier, iter(lambda s=shape: flood.chunk(s), None),
                         FLOOD // len(SHAPES) // len(ways), SECONDS / len(SHAPES) / len(ways),
                         announced)
        watch.end(f"delivered by {who}", sent, time.monotonic() - start)
    grown = [now - then for now, then in zip(stage.usage(), first, strict=True)]
    stage.judge(grown[0] > ROOM_KIB or grown[1] > ROOM_KIB,
                f"in total: memory +{grown[0]} KiB, disk +{grown[1]} KiB", "bounded")
    served(stage)


def a14_turns(stage):
    """A14: valid, then void: a member writes, is removed, and keeps writing in the same log."""
    attacker = stage.join("member")
    flood = Flood(attacker, attacker.copy.heads())
    ways = couriers(stage, attacker)
    watch, start = Watch(stage), time.monotonic()
    sent = pour(stage, ways["itself"][0], iter(lambda: flood.chunk("one log"), None),
                FLOOD // 20, SECONDS / 4)
    stage.note(f"{sent} while a member")
    stage.removes(attacker)
    for who in ("a newcomer", "a member who announces"):
        for shape in ("one log", "keys", "incarnations"):
            courier, announced = ways[who]
            sent += pour(stage, courier, iter(lambda s=shape: flood.chunk(s), None),
                         FLOOD // 20, SECONDS / 8, announced)
    watch.end("by turns", sent, time.monotonic() - start)
    served(stage)


def a14_cited(stage):
    """A14: a member writes a valid operation that cites everything a removed member wrote."""
    attacker, friend = stage.join("member"), stage.join("many", source="127.0.0.4")
    flood = Flood(attacker, attacker.copy.heads())
    stage.removes(attacker)
    watch, start = Watch(stage), time.monotonic()
    friend.enter()
    v, sent, tips = friend.visitor, 0, []
    while sent < FLOOD // 4 and time.monotonic() < start + SECONDS / 2 and not v.ended:
        made = [*flood.chunk("one log"), *flood.chunk("keys")]
        tips = [made[CHUNK - 1], *made[-40:]]
        v.announce(made)
        deps = [*friend.copy.heads(), *tips][:60]
        above = friend.device.write(friend.copy.root.id, *flood.doc(), friend.grant, deps,
                                    flood.now)
        v.announce([above])
        v.settle(0.5)
        sent += len(made) + 1
    stage.note(f"link: {v.ended or 'open'}, {v.served} pulled")
    watch.end("cited by a member", sent, time.monotonic() - start)
    served(stage)


def a14_devices(stage):
    """A14, S-5: one member with many devices, each with its own budget."""
    attacker = stage.join("member")
    flood = Flood(attacker, attacker.copy.heads())
    devices = []
    for _ in range(min(250, FLOOD // 100)):
        new = writer.Device()
        listed = writer.for_linking(new, flood.root, attacker.device.id, attacker.member)
        devices.append((new, flood.write(attacker.device, writer.adddev(listed, flood.key),
                                         attacker.grant, flood.heads)))
    watch, start, taken = Watch(stage), time.monotonic(), watch_count(stage)
    attacker.enter()
    v = attacker.visitor
    v.announce([o for _, o in devices])
    v.settle(2)
    for device, added in devices:
        v.announce([flood.write(device, flood.doc(), added.id, [added]) for _ in range(100)])
        v.settle(0.1)
        if v.ended or time.monotonic() > start + SECONDS:
            break
    v.settle(3)
    taken = watch_count(stage) - taken
    watch.end("many devices of one member", v.served, time.monotonic() - start)
    stage.judge(taken > 1_024, f"a node accepts {taken} operations of one member in a minute",
                "bounded")
    served(stage)


def watch_count(stage):
    return stage.cli("status")[0]["workspaces"][0]["operations"]


def served(stage):
    """Judges whether others are still served."""
    start = time.monotonic()
    try:
        stage.look()
        took = int((time.monotonic() - start) * 1000)
        stage.judge(took > 10_000, f"a newcomer waits {took} ms for the document", "served")
    except AssertionError as error:
        stage.broken(str(error))
    stage.cli("send", "general", "still here")


# A15


def boxes(attacker, type_, box, second):
    """Operations with a box for the node's device, each with its own key."""
    root, device = attacker.copy.root, attacker.device
    name = root.device[:8]
    while True:
        made = []
        for _ in range(CHUNK // 2):
            key = os.urandom(32)
            keyid = H(b"wsx-keyid1", key)[:16]
            wraps = [[name, seal(box, key + os.urandom(32))]]
            if type_ == RMDEV:
                said = RMDEV, {1: second.id, 2: [], 3: [keyid, wraps, []]}
            elif type_ == REKEY:
                said = REKEY, {1: keyid, 2: wraps, 3: []}
            elif type_ == REMOVE:
                said = REMOVE, {1: bytes(16), 2: [], 3: [keyid, wraps, []], 4: [], 5: 0, 6: b""}
            else:
                new = writer.Device()
                listed = writer.for_linking(new, root.id, device.id, attacker.member)
                said = ADDDEV, {1: listed, 2: keyid, 3: wraps}
            made.append(device.write(root.id, *said, attacker.grant, attacker.copy.heads(),
                                     int(time.time() * 1000), None))
        yield made


def a15(stage):
    """A15: many key boxes for the node's device, in faulty, void and valid operations."""
    attacker = stage.join("member")
    root, second = attacker.copy.root, writer.Device()
    box = next(d[1] for d in root.map[3] if d[0] == root.device)
    stage.says(attacker, writer.adddev(writer.for_linking(
        second, root.id, attacker.device.id, attacker.member), root.map[4]))
    attacker.copy = stage.look()
    ways = couriers(stage, attacker)
    own = ways["itself"][0]
    # Faults by a member: rekey and remove need an admin, and adddev names an unknown key.
    for what, type_ in (("rekey", REKEY), ("remove", REMOVE), ("adddev", ADDDEV),
                        ("rmdev, valid", RMDEV)):
        watch, start = Watch(stage), time.monotonic()
        sent = pour(stage, own, boxes(attacker, type_, box, second), FLOOD // 20, SECONDS / 6)
        watch.end(f"boxes in {what}", sent, time.monotonic() - start)
    stage.removes(attacker)
    watch, start = Watch(stage), time.monotonic()
    sent = pour(stage, ways["a newcomer"][0], boxes(attacker, RMDEV, box, second), FLOOD // 20,
                SECONDS / 6)
    watch.end("boxes in rmdev, void", sent, time.monotonic() - start)
    served(stage)
    took = stage.restart()
    if took is not None:
        stage.judge(took > 15_000, f"the home takes {took} ms to start", "it starts")
        stage.cli("send", "general", "after a restart")


CASES = {"A14-flood": a14, "A14-turns": a14_turns, "A14-cited": a14_cited,
         "A14-devices": a14_devices, "A15-boxes": a15}

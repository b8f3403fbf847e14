"""A19: using up the shares of others (S-5), and what that blocks."""

import os
import time

import writer
from attacks_rules import weakest
from flood import FLOOD, ROOM_KIB, SECONDS, Flood, Watch
from foreign import OPS, OURS, TIPS
from growth import another
from notation import enc
from operation import CONTENT, PRIVATE, Operation
from runs import write_run
from stage import shown
from terms import CUTPART, DOCCREATE, RMDEV

# The shares of a member with one device: the member's and the device's.
SHARE = 512 + 128


def use_up(stage, attacker):
    """Writes as many operations as are accepted at once, and a few more."""
    flood = Flood(attacker, attacker.copy.heads())
    for _ in range(SHARE // 100 + 1):
        stage.pushes(attacker, flood.chunk("incarnations"))
    return flood


def is_taken(stage, o, seconds=10):
    end = time.monotonic() + seconds
    while not stage.is_stored(o) and time.monotonic() < end:
        time.sleep(0.2)
    return stage.is_stored(o)


def a19_cited(stage):
    """A19, S-5: a member whose share is used up, and another's operation that cites that member."""
    attacker, friend = stage.join("member"), stage.join("many", source="127.0.0.4")
    friend.copy = attacker.copy = stage.look()
    flood = use_up(stage, attacker)
    late = flood.write(attacker.device, flood.doc(), attacker.grant, flood.heads, None)
    # The friend's node accepts that one, because nothing was used up there.
    above = friend.device.write(flood.root, *flood.doc(), friend.grant, [late], flood.now)
    friend.enter()
    friend.visitor.announce([late, above])
    friend.visitor.settle(1)
    stage.judge(not is_taken(stage, above), "what cites a member with a used-up share waits",
                "it is accepted")


def a19_void(stage):
    """A19, S-5: someone delivers the same void operation of a member again and again."""
    attacker, victim = stage.join("member"), stage.join("many", source="127.0.0.4")
    lost, root = writer.Device(), victim.copy.root
    listed = writer.for_linking(lost, root.id, victim.device.id, victim.member)
    added, _ = stage.says(victim, writer.adddev(listed, root.map[4]))
    ended, _ = stage.says(victim, (RMDEV, {1: lost.id, 2: [], 3: None}), deps=[added])
    void = lost.write(root.id, DOCCREATE, {1: 1, 2: os.urandom(16)}, added.id, [added],
                      int(time.time() * 1000))
    stage.note(f"the device is revoked: {stage.is_stored(ended)}")
    attacker.enter()
    v = attacker.visitor
    v.own[void.device, void.inc] = [void]
    for n in range(SHARE + 100):
        # A missing position, so that the node asks for the log again.
        tip = [void.device, void.inc, 1 + n, os.urandom(16)]
        v.send(TIPS, {1: OURS, 2: [[root.id, [tip]]], 3: True})
        v.settle(0.02)
    stage.note(f"link: {v.ended or 'open'}, delivered {v.served} times")
    stage.again(victim)
    o, way = stage.says(victim, (DOCCREATE, {1: 1, 2: os.urandom(16)}), deps=[ended])
    stage.judge(not is_taken(stage, o), f"the member's operation waits ({way})", "it is accepted")


def unread(device, kind, document, grant, before=None, deps=(), ahead=0):
    """An operation that only its author can read."""
    sealed = os.urandom(24 + 16 + 64)
    root = not any(document)
    payload = sealed
    if kind == PRIVATE:
        payload = enc([{1: root and before, 2: os.urandom(16)} if root else None, sealed])
    above = None if root else before
    return Operation.write(
        device.key, kind, document, above.inc if above else int.from_bytes(os.urandom(4), "big"),
        above.seq + 1 if above else 0, above.id if above else b"",
        (int(time.time() * 1000) + ahead << 16) + (above.seq + 1 if above else 0), grant,
        os.urandom(16), [d.ref for d in deps], payload)


def tell(visitor, *logs):
    visitor.send(OPS, {1: OURS, 2: 0, 3: [write_run(log[0].document, log) for log in logs],
                       4: True}, 1)
    visitor.settle(0.5)


def a19_content(stage):
    """A19, S-5: a public message cites one that follows a change that is not accepted yet."""
    attacker, friend = stage.join("member"), stage.join("many", source="127.0.0.4")
    general = attacker.copy.of(DOCCREATE)[0].id
    attacker.enter()
    log = [unread(attacker.device, PRIVATE, bytes(32), attacker.grant, attacker.copy.root.id)]
    for _ in range(2 * SHARE):
        log.append(unread(attacker.device, PRIVATE, log[0].document, attacker.grant, log[-1]))
    tell(attacker.visitor, log)
    change = unread(attacker.device, PRIVATE, general, attacker.grant)
    ahead = unread(attacker.device, CONTENT, general, attacker.grant, change, ahead=7_200_000)
    tell(attacker.visitor, [change, ahead])
    stage.note(f"a change in a public channel is stored: {stage.is_stored(change)}")
    answer = unread(friend.device, CONTENT, general, friend.grant, deps=[ahead], ahead=7_200_000)
    friend.enter()
    tell(friend.visitor, [answer])
    stage.judge(not is_taken(stage, answer), "another member's message waits", "it is accepted")


def a19_large(stage):
    """A19, S-5: a guest's largest operations, valid but useless."""
    attacker = stage.join("guest")
    root, before = attacker.copy.root.id, stage.usage()
    attacker.enter()
    v, heads = attacker.visitor, attacker.copy.heads()
    for n in range(64):
        cuts = [[attacker.device.id, i, [[os.urandom(32), i, bytes(16)]]] for i in range(5_000)]
        v.push([attacker.device.write(root, CUTPART, {1: cuts}, attacker.grant, heads if not n
                                      else [], int(time.time() * 1000))])
    v.settle(2)
    grown = [now - then for now, then in zip(stage.usage(), before, strict=True)]
    stage.note(f"64 delivered, link: {v.ended or 'open'}; memory +{grown[0]} KiB, "
               f"disk +{grown[1]} KiB")
    stage.judge(grown[0] > ROOM_KIB or grown[1] > ROOM_KIB,
                f"64 operations of a guest take more than {ROOM_KIB} KiB", "bounded")


def a19_devices(stage):
    """A19, S-5: 400 devices that one member links concurrently."""
    attacker = stage.join("member")
    flood = Flood(attacker, attacker.copy.heads())
    watch, start, sent = Watch(stage), time.monotonic(), 0
    attacker.enter()
    v = attacker.visitor
    while sent < FLOOD // 250 and not v.ended and time.monotonic() < start + SECONDS:
        new = writer.Device()
        listed = writer.for_linking(new, flood.root, attacker.device.id, attacker.member)
        added = flood.write(attacker.device, writer.adddev(listed, flood.key), attacker.grant,
                            flood.heads, None)
        v.announce([added])
        v.announce([flood.write(new, flood.doc(), added.id, [] if n else [added])
                    for n in range(31)])
        v.settle(0.1)
        sent += 1
    v.settle(3)
    taken = watch.count() - watch.stored
    watch.end(f"{sent} devices", v.served, time.monotonic() - start)
    stage.judge(taken > 1_024, f"a node accepts {taken} operations of one member in a minute",
                "bounded")


def a19_device_waits(stage):
    """A19, S-5: a stolen phone fills its owner's node, which then revokes it."""
    thief, _ = weakest(stage)
    owner, lost = shown(thief.copy.root.map[2], "u_"), shown(thief.device.id, "d_")

    def is_in(other):
        listed = other.cli("device", "list", "--member", owner)
        return any(d["id"] == lost and not d["revoked"] for d in listed)

    with another(stage) as other:
        stage.judge(not is_in(other), "another node does not know the phone", "it does")
        for shape, count in (("one log", 14), ("large", 10)):
            flood = Flood(thief, thief.copy.heads())
            for _ in range(count):
                stage.pushes(thief, flood.chunk(shape))
        stage.note(f"the owner's node holds {stage.cli('status')[0]['workspaces'][0]['operations']}"
                   " operations")
        stage.cli("device", "revoke", lost)
        start = time.monotonic()
        while is_in(other) and time.monotonic() < start + 60:
            time.sleep(0.5)
        took = int(time.monotonic() - start)
        stage.judge(is_in(other), f"after {took} s the phone is still in elsewhere", "it is out")


CASES = {"A19-cited": a19_cited, "A19-void": a19_void, "A19-content": a19_content,
         "A19-large": a19_large, "A19-devices": a19_devices,
         "A19-device-waits": a19_device_waits}

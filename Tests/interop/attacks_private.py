"""A15 in private documents: a member who writes very many epochs, roots and boxes.

WSX_FLOOD and WSX_FLOOD_SECONDS are as in flood.py; the number of epochs is a fifth of WSX_FLOOD.
"""

import os
import time

from attacks_share import unread
from flood import CHUNK, FLOOD
from growth import START_MS, Courier, Meanwhile, another, ends, grow, spent
from operation import CONTENT, PRIVATE
from rooms import CHANNEL, DIRECT, Mail, Room
from terms import DOCCREATE

# Links ask for keys once the roots are equal, which they check every 30 s.
ASKING_SECONDS = 75


def comes(stage):
    """Joins as a member. Returns a courier and the mail for the node's device."""
    attacker = stage.join("member")
    root = attacker.copy.root
    box = next(d[1] for d in root.map[3] if d[0] == root.device)
    return Courier(stage, attacker), attacker, Mail(attacker, box), root.map[2]


def made(courier, mail, attacker, owner, subtype, name=None, role=2):
    """Makes a room that the node's member is in and can open."""
    room = Room(attacker, subtype, [owner], name, role=role)
    courier.bring([mail.box(room.id, room.key), room.root])
    return room


def epochs(stage, shape, most):
    """Tries many epochs of one shape."""
    courier, attacker, mail, owner = comes(stage)
    subtype = DIRECT if shape == "direct" else CHANNEL
    room = made(courier, mail, attacker, owner, subtype, None if shape == "direct" else "trap")
    names = [c["name"] for c in stage.cli("channel", "list", "--all")]
    stage.judge(subtype == CHANNEL and "trap" not in names, "the room does not open", "it does")
    braid = [room.root]

    def step():
        more = {}
        if shape == "wide":
            more = {"deps": [room.root], "alone": True}
        elif shape == "braid":
            more = {"deps": braid[-64:], "alone": True}
        o = room.rekey(hands_on=shape == "chain", **more)
        braid.append(o)
        del braid[:-64]
        return [o] if shape in ("chain", "closed") else [mail.box(room.id, room.key), o]

    grow(stage, courier, step, most, f"epochs, {shape}", 20 if shape == "braid" else CHUNK)
    if shape == "chain":
        # The newest key leads to all earlier ones.
        meanwhile, before, start = Meanwhile(stage), stage.usage(), time.monotonic()
        courier.bring([mail.box(room.id, room.key)])
        cost = spent(stage, before)
        stage.judge(cost > START_MS, f"one box opens them all: {cost} ms of CPU time in "
                    f"{time.monotonic() - start:.1f} s", "bounded")
        meanwhile.end("a chain of keys")
    if subtype == CHANNEL:
        for _ in range(2):
            start = time.monotonic()
            stage.cli("send", "trap", "I write here")
            stage.note(f"writing there takes {int((time.monotonic() - start) * 1000)} ms")
    ends(stage, attacker)


def a15_epochs(stage):
    """A15: 20,000 epochs in a member's private channel, in batches and one by one."""
    epochs(stage, "deep", FLOOD // 5)


def a15_direct(stage):
    """A15: 20,000 epochs in a direct conversation."""
    epochs(stage, "direct", FLOOD // 5)


def a15_wide(stage):
    """A15: concurrent epochs, each in its own log."""
    epochs(stage, "wide", FLOOD // 5)


def a15_braid(stage):
    """A15: epochs that each cite the previous 64."""
    epochs(stage, "braid", FLOOD // 5)


def a15_chain(stage):
    """A15: epochs without boxes, each with the previous key, and finally one box."""
    epochs(stage, "chain", FLOOD // 5)


def a15_closed(stage):
    """A15: epochs whose keys nobody gets."""
    epochs(stage, "closed", FLOOD // 5)


def a15_added(stage):
    """A15: 100 epochs that do not pass on the previous key, and then someone is added."""
    courier, attacker, mail, owner = comes(stage)
    room = made(courier, mail, attacker, owner, CHANNEL, "trap", role=1)
    with another(stage) as other:
        for _ in range(100):
            courier.bring([mail.box(room.id, room.key), room.rekey()])
        own = next(m["id"] for m in stage.members().values() if m["name"] == "Nora")
        stage.cli("channel", "add", "trap", own)
        stage.cli("send", "trap", "welcome")
        start, names = time.monotonic(), []
        while "trap" not in names and time.monotonic() < start + ASKING_SECONDS:
            time.sleep(1)
            names = [c["name"] for c in other.cli("channel", "list", "--all")]
        took = int(time.monotonic() - start)
        stage.judge("trap" not in names, f"the new member reads nothing after {took} s", "read")


def seats(stage, what, people, count):
    """Repeats additions of the members that `people` returns."""
    courier, attacker, mail, owner = comes(stage)
    room = made(courier, mail, attacker, owner, CHANNEL, "trap")
    grow(stage, courier, lambda: [room.add(people(attacker, owner))], count, what, 5)
    ends(stage, attacker)


def a15_seats(stage):
    """A15: 500 additions of 2,000 people who were never in the workspace."""
    seats(stage, "additions of made-up people",
          lambda a, owner: [os.urandom(16) for _ in range(2_000)], max(5, FLOOD // 200))


def a15_again(stage):
    """A15: 20,000 additions of the node's member, who is already in."""
    seats(stage, "additions of an existing member", lambda a, owner: [owner], FLOOD // 5)


def roots(stage, what, most):
    courier, attacker, mail, owner = comes(stage)

    def step():
        if what == "sealed by chance":
            return [Room(attacker, CHANNEL, [owner], "trap", opens=False).root]
        if what == "conversations":
            room = Room(attacker, DIRECT, [owner])
        else:
            room = Room(attacker, CHANNEL, [owner], "trap")
        return [mail.box(room.id, room.key), room.root]

    grow(stage, courier, step, most, f"roots, {what}")
    ends(stage, attacker)


def a15_roots(stage):
    """A15: 100,000 private channels with the same name, with the node's member in each."""
    roots(stage, "channels", FLOOD)


def a15_same(stage):
    """A15: 100,000 direct conversations between the same two."""
    roots(stage, "conversations", FLOOD)


def a15_sealed(stage):
    """A15: 100,000 private roots that nobody can open."""
    roots(stage, "sealed by chance", FLOOD)


def a15_mail(stage):
    """A15: 100,000 boxes for the node's device, for documents that do not exist."""
    courier, attacker, mail, _ = comes(stage)
    grow(stage, courier, lambda: [mail.box(os.urandom(32), os.urandom(32))], FLOOD, "boxes")
    ends(stage, attacker)


def a15_public(stage):
    """A15: 100,000 operations of kind 3 in a public channel."""
    courier, attacker, _, _ = comes(stage)
    general, log = attacker.copy.of(DOCCREATE)[0].id, [None]

    def step():
        log.append(unread(attacker.device, PRIVATE, general, attacker.grant, log.pop()))
        return log[-1:]

    grow(stage, courier, step, FLOOD, "kind 3 in a public channel")
    ends(stage, attacker)


def secret(stage, courier):
    """The id of a private channel of the node, which every relay knows."""
    stage.cli("channel", "create", "secret", "--private")
    return courier.asked(
        "SELECT document.id FROM document JOIN log USING (did) JOIN operation USING (lid) "
        "WHERE operation.kind = 3 AND seq = 0 ORDER BY arr DESC LIMIT 1")[0]


def strange(stage, kind, alone, most, what):
    """Writes to a private document as a member who is not in it."""
    courier, attacker, _, _ = comes(stage)
    document, last = secret(stage, courier), [None]

    def step():
        before = None if alone else last[0]
        last[0] = unread(attacker.device, kind, document, attacker.grant, before)
        return [last[0]]

    grow(stage, courier, step, most, what)
    ends(stage, attacker)


def a15_strange(stage):
    """A15: kind 3 that does not open, each in its own log, by a member outside the document."""
    strange(stage, PRIVATE, True, FLOOD // 5, "outsider's changes in separate logs")


def a15_strange_log(stage):
    """A15: kind 3 that does not open, in one log, by a member outside the document."""
    strange(stage, PRIVATE, False, FLOOD // 5, "outsider's changes in one log")


def a15_message(stage):
    """A15: 1,000 changes that do not open in one message, each in its own log."""
    courier, attacker, _, _ = comes(stage)
    document = secret(stage, courier)
    for n in range(2):
        log_each = [unread(attacker.device, PRIVATE, document, attacker.grant)
                    for _ in range(1_000)]
        meanwhile, before, sent = Meanwhile(stage), stage.usage(), courier.bytes
        courier.bring(log_each)
        stage.note(f"{(courier.bytes - sent) // 1024} KiB cost {spent(stage, before)} ms")
        meanwhile.end(f"message {n + 1}")


def a15_content(stage):
    """A15: content that does not open, each in its own log, by a member outside the document."""
    strange(stage, CONTENT, True, FLOOD // 5, "outsider's content in separate logs")


def a15_content_log(stage):
    """A15: content that does not open, in one log, by a member outside the document."""
    strange(stage, CONTENT, False, FLOOD, "outsider's content in one log")


CASES = {"A15-epochs": a15_epochs, "A15-direct": a15_direct, "A15-wide": a15_wide,
         "A15-braid": a15_braid, "A15-chain": a15_chain, "A15-closed": a15_closed,
         "A15-added": a15_added, "A15-seats": a15_seats, "A15-again": a15_again,
         "A15-roots": a15_roots, "A15-same": a15_same,
         "A15-sealed": a15_sealed, "A15-mail": a15_mail, "A15-public": a15_public,
         "A15-strange": a15_strange, "A15-strange-log": a15_strange_log,
         "A15-message": a15_message, "A15-content": a15_content, "A15-content-log": a15_content_log}

"""A18: whatever was seen, put into every field of every type, signed by keys of one's own.

Each operation is judged by the second reader too. A node that stores what has a fault, or does not
store what is valid, differs from it.

WSX_MIX     how many operations, 400 without it
WSX_SEED    a number for the choices; keys are new each time
"""

import os
import random
import time

import writer
from attacks_rules import compare, stands
from authority import Authority
from notation import VERSION
from shapes import SHAPES
from terms import FEATURE, GRANTS, LEAVE, WSDEL

COUNT = int(os.environ.get("WSX_MIX", "400"))


class Mixer:
    """Payloads from values that were seen, and a few that everybody can make."""

    def __init__(self, rng, attacker):
        self.rng, self.attacker = rng, attacker

    def values(self):
        """Everything that stands in a payload, at any depth, and the names of operations."""
        ops = self.attacker.copy.ops
        found = [0, 1, 2, 3, 1 << 40, True, False, None, [], b"", bytes(16), bytes(32), *ops]
        found += [o.device for o in ops.values()]
        waiting = [v for o in ops.values() for v in o.map.values()]
        while waiting:
            value = waiting.pop()
            found.append(value)
            if type(value) is list:
                waiting += value
        # Lists of what was seen: devices, ids, cuts, pairs.
        for _ in range(40):
            found.append(self.rng.sample(found, self.rng.randint(1, 3)))
        return found

    def payload(self):
        type_ = self.rng.choice(list(SHAPES))
        needed, optional = SHAPES[type_]
        keys = {**needed, **{k: s for k, s in optional.items() if self.rng.random() < 0.3}}
        map_ = {}
        values = self.values()
        for key, shape in keys.items():
            fitting = [v for v in values if fits(shape, v)]
            if not fitting:
                return None
            map_[key] = self.rng.choice(fitting)
        # Half of the lists of devices are signed by what is one's own, for who signs.
        if type_ == 5 and self.rng.random() < 0.5:
            map_[1] = writer.for_linking(writer.Device(), self.attacker.copy.root.id,
                                         self.attacker.device.id, self.attacker.member)
        return type_, map_

    def operation(self, device, own):
        said = self.payload()
        if said is None or said[0] in (FEATURE, LEAVE, WSDEL) and self.rng.random() < 0.9:
            return None
        ops = list(self.attacker.copy.ops.values())
        grant = own
        if self.rng.random() < 0.3:
            grant = self.rng.choice([o.id for o in ops if o.type in GRANTS])
        deps = self.attacker.copy.heads()
        if self.rng.random() < 0.2:
            deps = self.rng.sample(ops, 1)
        return device.write(self.attacker.copy.root.id, *said, grant, deps,
                            int(time.time() * 1000), None)


def fits(shape, value):
    try:
        return bool(shape(value))
    except (TypeError, ValueError):
        return False


def verdict(attacker, o):
    a = Authority([*attacker.copy.ops.values(), o])
    if o.id in a.refused:
        return a.refused[o.id]
    return "valid" if o.id in a.valid else "void"


def mixed(stage):
    """A18: recombined payloads; the node stores what the second reader finds without fault."""
    seed = int(os.environ.get("WSX_SEED") or random.randrange(1 << 32))
    stage.note(f"seed {seed}")
    rng = random.Random(seed)
    attacker, friend = stage.join("member"), stage.join("many", source="127.0.0.4")
    stage.control(attacker)
    attacker.copy, unheard = stage.look(), 0
    owner, members = attacker.copy.root.map[2], stage.members()
    invites, mixer, said = stage.cli("invite", "list"), Mixer(rng, attacker), {}
    for _ in range(COUNT):
        o = mixer.operation(attacker.device, attacker.grant)
        if o is None:
            continue
        judged = verdict(attacker, o) if VERSION > 1 else "unjudged"
        way = stage.pushes(attacker, [o], 0.15)
        stored = stage.is_stored(o)
        said[judged] = said.get(judged, 0) + 1
        if VERSION > 1 and judged not in ("valid", "void") and stored:
            stage.broken(f"type {o.type} breaks {judged}, and is stored ({way}): {o.map}")
        if judged == "valid" and not stored:
            # Who has ended the own device, or whose link ended a moment ago, is not heard, though
            # what comes first in the order of 4 stands: somebody else brings it.
            friend.enter()
            friend.visitor.announce([o])
            friend.visitor.settle(0.5)
            friend.visitor.close()
            stored, unheard = stage.is_stored(o), unheard + 1
        if judged == "valid" and not stored:
            stage.broken(f"type {o.type} is valid, and is not stored ({way}): {o.map}")
        if stored and judged == "valid":
            attacker.copy = stage.look()
    stage.note(f"{unheard} valid ones were not heard of the attacker, and of somebody else")
    stage.note(f"verdicts: {dict(sorted(said.items()))}")
    # Who is in may change by a leave or an rmdev of one's own; the owner and its invites may not.
    mine = {owner_id: m for owner_id, m in stage.members().items() if m["self"]}
    compare(stage, {k: m for k, m in members.items() if m["self"]}, invites, "recombinations", mine)
    stands(stage, owner, "after recombinations")


CASES = {"A18-mixed": mixed}

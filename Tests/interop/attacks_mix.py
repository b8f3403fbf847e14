"""A18: every seen value in every field of every type, signed with the attacker's keys.

The second reader judges each operation too. The node must not store what has a fault, and must
store what is valid.

WSX_MIX     number of operations (default 400)
WSX_SEED    seed of the random choices; the keys are new each time
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
    """Makes payloads from seen values, and a few that anyone can make."""

    def __init__(self, rng, attacker):
        self.rng, self.attacker = rng, attacker

    def values(self):
        """All values in payloads, at any depth, and the ids of operations."""
        ops = self.attacker.copy.ops
        found = [0, 1, 2, 3, 1 << 40, True, False, None, [], b"", bytes(16), bytes(32), *ops]
        found += [o.device for o in ops.values()]
        waiting = [v for o in ops.values() for v in o.map.values()]
        while waiting:
            value = waiting.pop()
            found.append(value)
            if type(value) is list:
                waiting += value
        # Lists of seen values: devices, ids, cuts, pairs.
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
        # In half of the adddevs, the list is signed by a new device, for the author.
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
    """A18: recombined payloads; the node must store exactly those without fault."""
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
            stage.broken(f"type {o.type} breaks {judged}, but is stored ({way}): {o.map}")
        if judged == "valid" and not stored:
            # The node ignores an attacker who has ended their own device, or whose link just ended,
            # although the operation is valid: then someone else delivers it.
            friend.enter()
            friend.visitor.announce([o])
            friend.visitor.settle(0.5)
            friend.visitor.close()
            stored, unheard = stage.is_stored(o), unheard + 1
        if judged == "valid" and not stored:
            stage.broken(f"type {o.type} is valid, but is not stored ({way}): {o.map}")
        if stored and judged == "valid":
            attacker.copy = stage.look()
    stage.note(f"{unheard} valid ones were only accepted from someone else")
    stage.note(f"verdicts: {dict(sorted(said.items()))}")
    # A leave or rmdev by the attacker may change who is in, but not the owner or its invites.
    mine = {owner_id: m for owner_id, m in stage.members().items() if m["self"]}
    compare(stage, {k: m for k, m in members.items() if m["self"]}, invites, "recombinations", mine)
    stands(stage, owner, "after recombinations")


CASES = {"A18-mixed": mixed}

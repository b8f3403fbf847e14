"""The power goes for two homes at once, and both come back.

Each is shown as its disk may have been at one moment, torn by a seed. Then both run, find each
other, and become the same: with what either was told of, once, and `check` finds nothing. It is
what a single home cannot show: that nobody was told by a peer of what that peer has lost.
"""

import random
import time
from collections import Counter

import journal
from images import Disk
from judge import Expected, check
from lives import shown
from node import Gone, Refused


def at(record, moment):
    """The disk and what was known at a moment."""
    disk, expected = Disk(record.node.root), Expected()
    for entry in record.entries:
        if entry.at > moment:
            break
        if entry.op == "N":
            expected.step(entry)
        else:
            disk.step(entry)
    return disk, expected


def moments(records):
    """All at which both are in the workspace, and nobody is about to be removed."""
    first, last = 0, min(r.entries[-1].at for r in records)
    for r in records:
        notes = [(e.at, journal.value(e)) for e in r.entries if e.op == "N"]
        first = max(first, next(when for when, said in notes if "shown" in said))
        removals = [when for when, said in notes if ["member", "Joon"] in said.get("may", [])]
        last = min([last, *(when for when in removals if when > first)])
    return [e.at for r in records for e in r.entries if first < e.at < last]


def play(records, seed):
    """What is broken by the power cut of a seed."""
    chance = random.Random(seed)
    moment, told = chance.choice(moments(records)), []
    for record in records:
        disk, expected = at(record, moment)
        record.stage.show(disk.folders, disk.torn(chance))
        told.append(expected)
    nodes = [record.node for record in records]
    try:
        for node in nodes:
            node.start()
        return meet(nodes, told)
    except (Gone, Refused) as failure:
        return [f"{type(failure).__name__}: {failure}"]
    finally:
        for node in nodes:
            node.kill()


def meet(nodes, told, seconds=30):
    end = time.monotonic() + seconds
    while len({str(node.digest()) for node in nodes}) > 1:
        if time.monotonic() > end:
            return [f"they are not the same after {seconds} s"]
        time.sleep(0.01)
    problems = []
    for node, expected in zip(nodes, told):
        problems += [f"{node.name}: {line}" for line in check(node)]
        found = Counter(tuple(fact) for fact in shown(node))
        # Where somebody was about to say or delete something, either may have happened.
        unsure = set().union(*(other.open for other in told))
        for fact in expected.true - unsure - set(found):
            problems.append(f"{node.name}: {fact} is lost")
        problems += [f"{node.name}: {fact[1]!r} is there {count} times"
                     for fact, count in found.items() if fact[0] == "text" and count > 1]
        problems += [f"{node.name}: {fact} is there, and nobody said so" for fact in found
                     if not any(fact in other.ever for other in told)]
    return problems

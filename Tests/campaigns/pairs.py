"""A power cut of two homes at once, and their recovery.

Each home gets a torn image of its disk from the same moment. Then both start, connect, and must
get in sync: everything that either acknowledged is there once, and `check` finds nothing. A single
home cannot test this: a node must never send a peer something that it can still lose itself.
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
    """The disk and the expected state at a moment."""
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
    """All moments at which both are in the workspace and no removal is pending."""
    first, last = 0, min(r.entries[-1].at for r in records)
    for r in records:
        notes = [(e.at, journal.value(e)) for e in r.entries if e.op == "N"]
        first = max(first, next(when for when, said in notes if "shown" in said))
        removals = [when for when, said in notes if ["member", "Joon"] in said.get("may", [])]
        last = min([last, *(when for when in removals if when > first)])
    return [e.at for r in records for e in r.entries if first < e.at < last]


def play(records, seed):
    """Plays the power cut of a seed. Returns the problems."""
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
            return [f"the two differ after {seconds} s"]
        time.sleep(0.01)
    problems = []
    for node, expected in zip(nodes, told):
        problems += [f"{node.name}: {line}" for line in check(node)]
        found = Counter(tuple(fact) for fact in shown(node))
        # A step that was under way may or may not have happened.
        unsure = set().union(*(other.open for other in told))
        for fact in expected.true - unsure - set(found):
            problems.append(f"{node.name}: {fact} is lost")
        problems += [f"{node.name}: {fact[1]!r} is shown {count} times"
                     for fact, count in found.items() if fact[0] == "text" and count > 1]
        problems += [f"{node.name}: {fact} is shown, but nobody did it" for fact in found
                     if not any(fact in other.ever for other in told)]
    return problems

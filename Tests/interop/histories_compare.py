"""Compares this reader with the evaluator on random histories (make campaign-reader).

        histories_compare.py FOLDER [WORDS]     only histories whose names contain these words

Prints every disagreement: the history with its seed, the operation, and both verdicts with their
reasons. If both refuse an operation, the rules are not compared, because it may break several. If
only one history is compared, the whole of it is printed.
"""

import json
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from revocations import hits
from standings import Later, content_ends
from terms import GUEST, MEMBER
from told import ToldAuthority, read, story


class Comparison:
    """One history, judged by this reader."""

    def __init__(self, history):
        self.history, self.operations = history, read(history)
        self.judged = ToldAuthority(self.operations)
        self.number = {o.id: n for n, o in enumerate(self.operations)}
        self.found = []

    def say(self, what, here, there, why=""):
        self.found.append(f"{self.history['name']}: {what}: here {here}, there {there}{why}")

    def name(self, o):
        """Names an operation by its place in the history."""
        return f"#{self.number.get(o, '?')}"

    def verdict(self, o):
        """This reader's verdict, and the rule, or what makes it void."""
        a = self.judged
        if o.id in a.refused:
            return "fault", a.refused[o.id]
        if o.id in a.valid:
            return "valid", ""
        if o.id in a.waiting:
            return "waiting", ""
        if a.is_behind_feature(o):
            return "void", "4.0.5"
        by = [self.name(r.id) for r in a.in_force if hits(a, r, o)]
        return "void", f"hit by {' '.join(sorted(by))}" if by else "rests on a void operation"

    def compare_verdicts(self):
        for o in self.operations:
            here, why = self.verdict(o)
            if here != o.verdict:
                self.say(f"{self.name(o.id)} of type {o.type}", f"{here} ({why})",
                         f"{o.verdict} ({o.reason})")

    def compare_standings(self):
        """Compares V-2 to V-4: the role and member of every device."""
        for device, said in self.history["standings"].items():
            seat = self.judged.strongest(bytes.fromhex(device))
            here = seat and (seat.role, seat.member, seat.grant.id)
            there = said and (said["role"], bytes.fromhex(said["member"]),
                              bytes.fromhex(said["grant"]))
            if here != there:
                self.say(f"V-2 of device {device[:8]}", self.standing(here),
                         self.standing(there))
        roles = {member.hex(): role for member, role in self.judged.roles().items()}
        if roles != self.history["roles"]:
            self.say("the roles of members", roles, self.history["roles"])

    def standing(self, standing):
        if standing is None:
            return "out"
        role, member, grant = standing
        return f"role {role} of {member.hex()[:8]} by {self.name(grant)}"

    def compare_contents(self):
        """Compares V-5: what ends content."""
        for content in self.history["contents"]:
            grant, device = bytes.fromhex(content["grant"]), bytes.fromhex(content["device"])
            for least, kind in ((MEMBER, "members"), (GUEST, "guests")):
                here = content_ends(self.judged, Later(device, grant), least)
                here = here and sorted(r.id for r in here)
                there = content.get(kind)
                there = there and sorted(map(bytes.fromhex, there))
                if here != there:
                    self.say(f"V-5 of device {device.hex()[:8]} under {self.name(grant)} where "
                             f"{kind} write", self.names(here), self.names(there))

    def names(self, ends):
        return "nothing" if ends is None else [self.name(e) for e in ends]


def compared(path):
    """Compares one file. Returns the disagreements, its number of operations, and of valid ones."""
    with open(path, encoding="utf-8") as file:
        history = json.load(file)
    try:
        comparison = Comparison(history)
    except (KeyError, TypeError, AttributeError) as error:
        return [f"{history['name']}: the reader failed: {error!r}"], 0, 0
    comparison.compare_verdicts()
    comparison.compare_standings()
    comparison.compare_contents()
    return comparison.found, len(comparison.operations), len(comparison.judged.valid)


def main():
    paths = [p for p in sorted(Path(sys.argv[1]).glob("*.json"))
             if all(word in p.name for word in sys.argv[2:])]
    wrong = operations = valid = 0
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        for found, count, counted in pool.map(compared, paths, chunksize=8):
            operations, valid, wrong = operations + count, valid + counted, wrong + bool(found)
            for line in found:
                print(line, flush=True)
    if len(paths) == 1:
        print(*story(json.loads(paths[0].read_text())), sep="\n")
    print(f"histories_compare: {len(paths)} histories, {operations} operations, {valid} of them "
          f"valid; {wrong} histories in which the two disagree")
    sys.exit(1 if wrong or not paths else 0)


if __name__ == "__main__":
    main()

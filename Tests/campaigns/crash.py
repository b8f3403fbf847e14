"""Power cuts at every write: `make campaign-crash`.

Each life is played once on a recording disk (disk_shim.c). Then each home is reset to every point
of its journal and started: with the prefix of the writes up to that point, and with N images that
only a power cut can cause, in which writes since the last sync are missing, torn or reordered.

    crash.py [LIFE...]      the lives to play (default: all)
    N=2000                  number of torn images, over all lives
    PAIRS=200               number of power cuts of both homes of a life at once (pairs.py)
    EVERY=1                 a prefix image at every n-th write
    WSX_SEED=S              seed of the first torn image
    BASE=FOLDER             reuse the recorded lives that a failed run left behind; with
                            `WSX_SEED=S N=1 EVERY=0 PAIRS=0`, repeat one torn image
    POINT=LIFE/HOME/N       with BASE: repeat one prefix image
"""

import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

import journal
import lives
import pairs
from images import Disk, Stage
from judge import Expected, judge
from node import Node, end_in_order


class Record:
    """One home of a life, with the journal of its disk."""

    def __init__(self, root):
        self.title = f"{root.parent.name}/{root.name}"
        self.node = Node(root, root.name.capitalize())
        self.entries = journal.read(Path(f"{root}.journal"))
        # Includes the driver's notes: an answer is known there, and nothing was written since.
        self.points = [i for i, entry in enumerate(self.entries)
                       if not entry.path.endswith((".log", "lock"))]
        self.stage = Stage(root)

    def walk(self):
        """Yields (index, disk, expected state) after each entry."""
        disk, expected = Disk(self.node.root), Expected()
        for index, entry in enumerate(self.entries):
            if entry.op == "N":
                expected.step(entry)
            else:
                disk.step(entry)
            yield index, disk, expected

    def try_image(self, disk, image, expected):
        self.stage.show(disk.folders, image)
        return judge(self.node, expected)


def record(name, base):
    life = lives.Life(base)
    try:
        lives.ALL[name](life)
        life.end()
    finally:
        for node in life.nodes.values():
            if node.process:
                node.kill()


class Findings:
    def __init__(self):
        self.failed, self.tried = [], 0

    def take(self, case, problems, detail):
        self.tried += 1
        if not problems:
            return
        self.failed.append((case, problems))
        print(f"FAILED {case} ({detail})", flush=True)
        for problem in problems[:6]:
            print(f"    {problem}", flush=True)

    def end(self):
        print(f"{self.tried} images, {len(self.failed)} failed")
        if self.failed:
            case, problems = self.failed[0]
            print(f"first failure: {case}\n    {problems[0]}")
        return 1 if self.failed else 0


def prefixes(record, every, findings, only=None):
    """Tries the prefix images, one for each point of the journal."""
    wanted = {only} if only is not None else set(record.points[::every])
    for index, disk, expected in record.walk():
        if index in wanted:
            problems = record.try_image(disk, disk.prefix(), expected)
            findings.take(f"POINT={record.title}/{index}", problems, record.entries[index])


def cuts(record, seeds, findings):
    """Tries the torn images. Each seed chooses a point and the writes that survive there."""
    plan = {}
    for seed in seeds:
        chance = random.Random(seed)
        plan.setdefault(chance.choice(record.points), []).append((seed, chance))
    for index, disk, expected in record.walk():
        for seed, chance in plan.get(index, []):
            image = disk.torn(chance)
            if chance.random() < 0.3:
                image["home/node.db-shm"] = chance.randbytes(32768)
            problems = record.try_image(disk, image, expected)
            findings.take(f"WSX_SEED={seed} of {record.title}", problems,
                          f"at {index}: {record.entries[index]}")


def recorded(names, base):
    """The recorded lives in `base`. Plays and records the missing ones."""
    for name in names:
        if not (base / name).exists():
            record(name, base / name)
    return [Record(Path(str(path)[:-len(".journal")]))
            for name in names for path in sorted((base / name).glob("*.journal"))]


def run(names, base, count, first, point):
    findings, every = Findings(), int(os.environ.get("EVERY", 1))
    print(f"lives {', '.join(names)}; torn images WSX_SEED={first} to {first + count - 1}")
    records = recorded(names, base)
    for number, r in enumerate(records):
        print(f"{r.title}: {len(r.entries)} entries, {len(r.points)} points", flush=True)
        if point and point.startswith(r.title):
            prefixes(r, 1, findings, int(point.rsplit("/", 1)[1]))
        elif not point:
            if every:
                prefixes(r, every, findings)
            mine = [s for s in range(first, first + count) if s % len(records) == number]
            cuts(r, mine, findings)
            print(f"{r.title}: done, {findings.tried} images so far", flush=True)
    if not point:
        both(records, range(first, first + int(os.environ.get("PAIRS", 200))), findings)
    return findings


def both(records, seeds, findings):
    """Tries power cuts of two homes at once."""
    teams = {}
    for r in records:
        teams.setdefault(r.title.split("/")[0], []).append(r)
    teams = [team for team in teams.values() if len(team) == 2]
    for seed in seeds if teams else []:
        team = teams[seed % len(teams)]
        findings.take(f"PAIRS=1 WSX_SEED={seed} of {team[0].title.split('/')[0]}",
                      pairs.play(team, seed), "both at once")


def main():
    end_in_order()
    names = sys.argv[1:] or list(lives.ALL)
    count = int(os.environ.get("N", 2000))
    first = int(os.environ.get("WSX_SEED") or random.SystemRandom().randrange(10**9))
    point, kept = os.environ.get("POINT"), os.environ.get("BASE")
    folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    base = Path(kept or tempfile.mkdtemp(prefix="wsx-crash.", dir=folder))
    status = 2
    try:
        findings = run(names, base, count, first, point)
        status = findings.end()
        return status
    finally:
        if status and not kept:
            print(f"kept the recorded lives; to repeat, set BASE={base}")
        elif not kept:
            shutil.rmtree(base, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())

"""A failing disk under a running node: `make campaign-disk`.

For every case of disk_table.py: create a home, make the disk fail in one way, ask the node to do
what hits the fault, heal the disk, and restart the node. What must always hold:

    the process is not killed by a signal, does not exit with status 0, and does not crash on a
    page of the log
    every acknowledged change is there exactly once after the restart at the latest, and `check`
    is clean
    what the node shows is correct
    a refusal says why; if it says that the disk failed, every page says so
    after that, nothing is written to the store until the restart
    if the disk was only full, the node recovers by itself

    disk.py [GROUP...]   groups to run (default: all, plus N random cases and FLIPS flipped bits)
    N=300 WSX_SEED=S     number of random cases, and the first seed
    FLIPS=300            number of homes with one flipped bit or lost sector (rot.py)
    CASE=NUMBER GROUP    one case of a group; `WSX_SEED=S N=1 FLIPS=0 disk.py chance` repeats a
                         random one
"""

import os
import random
import shutil
import sys
import tempfile
from pathlib import Path

import disk_table
import rot
from bench import Bench
from node import end_in_order


def cases(groups, count, seed):
    """Yields (name, case)."""
    only = os.environ.get("CASE")
    for group in groups:
        if group in disk_table.GROUPS:
            for number, case in enumerate(disk_table.GROUPS[group]()):
                if only is None or int(only) == number:
                    yield f"CASE={number} {group}", case
    if "chance" in groups:
        for each in range(seed, seed + count):
            yield f"WSX_SEED={each}", disk_table.by_chance(each)


def main():
    end_in_order()
    groups = sys.argv[1:] or [*disk_table.GROUPS, "chance", "rot"]
    count, flips = int(os.environ.get("N", 300)), int(os.environ.get("FLIPS", 300))
    seed = int(os.environ.get("WSX_SEED") or random.SystemRandom().randrange(10**9))
    folder = "/dev/shm" if Path("/dev/shm").is_dir() else None
    base = Path(tempfile.mkdtemp(prefix="wsx-disk.", dir=folder))
    print(f"WSX_SEED={seed} N={count} FLIPS={flips}", flush=True)
    failed, tried, met, last = [], 0, 0, None
    try:
        for name, case in cases(groups, count, seed):
            if name.split()[-1] != last and not name.startswith("WSX_SEED"):
                last = name.split()[-1]
                print(f"{last}; so far {tried} tried, {met} hit the fault, {len(failed)} failed",
                      flush=True)
            problems, struck = Bench(base / "one").play(case)
            tried, met = tried + 1, met + bool(struck)
            if problems:
                failed.append((name, case, problems))
                print(f"FAILED {name} ({case}; hit {struck} times)",
                      *problems[:8], sep="\n    ", flush=True)
        print(f"{tried} cases, {met} hit the fault, {len(failed)} failed", flush=True)
        broken = rot.run(base, range(seed, seed + flips)) if "rot" in groups else []
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if failed:
        print(f"first failure: {failed[0][0]}: {failed[0][1]}: {failed[0][2][0]}")
    return 1 if failed or broken else 0


if __name__ == "__main__":
    sys.exit(main())

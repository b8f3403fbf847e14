"""A sick disk under a running node: `make campaign-disk`.

Every case of disk_table.py: a home is founded, the disk begins to fail in one way, the node is
asked to do what meets that, the disk is well again, and the node starts once more. Always holds

    the process does not end by a signal, nor with status 0, and not at all by a page of the log
    what was acknowledged is there, once, at the latest after that start; `check` is clean then
    what is shown is right, while it is shown
    a refusal says why; where it says that the disk failed, every page does
    after that nothing is written to the store until the start
    where only room was missing, it goes on by itself

    disk.py [GROUP...]   which groups; all without any, and N cases by chance and FLIPS flipped bits
    N=300 WSX_SEED=S     how many by chance, from which seed on
    FLIPS=300            how many homes with one flipped bit or lost sector (rot.py)
    CASE=NUMBER GROUP    one case alone; `WSX_SEED=S N=1 FLIPS=0 disk.py chance` one by chance
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
    """(name, case)"""
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
                print(f"{last}; before it {tried} tried, {met} met, {len(failed)} failed",
                      flush=True)
            problems, struck = Bench(base / "one").play(case)
            tried, met = tried + 1, met + bool(struck)
            if problems:
                failed.append((name, case, problems))
                print(f"FAILED {name} ({case}; met {struck} times)",
                      *problems[:8], sep="\n    ", flush=True)
        print(f"{tried} cases, {met} met their fault, {len(failed)} failed", flush=True)
        broken = rot.run(base, range(seed, seed + flips)) if "rot" in groups else []
    finally:
        shutil.rmtree(base, ignore_errors=True)
    if failed:
        print(f"the smallest: {failed[0][0]}: {failed[0][1]}: {failed[0][2][0]}")
    return 1 if failed or broken else 0


if __name__ == "__main__":
    sys.exit(main())

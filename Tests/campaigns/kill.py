"""Two homes under load, killed again and again: `make campaign-kill`.

Mina and Joon are real nodes on loopback that write at the same time. At random moments one or both
get SIGKILL, sometimes again during startup. Every acknowledged message must then be there exactly
once, on the node that acknowledged it, and soon on both. Unacknowledged messages are sent again
with the same key and must be there once. Deleted messages stay deleted, and `check` finds nothing.

    N=300        number of kills
    WSX_SEED=S   who is killed, and when; threads vary in speed, so a seed repeats the plan but not
                 the exact history
"""

import os
import random
import shutil
import sys
import tempfile
import time
from pathlib import Path

from lives import make_home
from load import Hand, Ledger, repeat
from node import Gone, Node, Refused, end_in_order

HANDS = 2
# A new channel starts after this many rounds, so that reading all of it stays fast.
SHIFT = 20


class Pair:
    def __init__(self, base):
        self.nodes = [Node(make_home(base / name.lower()), name) for name in ("Mina", "Joon")]
        mina, joon = (node.start() for node in self.nodes)
        mina.found()
        joon.call("identity.create", name="Joon")
        joon.call("workspace.join", link=mina.call("invite.create")["link"])
        self.kills, self.repeated, self.ledgers = 0, 0, []

    def begin(self, number):
        """Creates a channel with both in it."""
        channel = self.nodes[0].call("channel.create", name=f"shift-{number}")["id"]
        self.same()
        self.nodes[1].call("channel.join", channel=channel)
        self.ledgers.append(Ledger(channel))
        return self.ledgers[-1]

    def same(self, seconds=60):
        """Waits until both have the same state."""
        end = time.monotonic() + seconds
        while self.nodes[0].digest() != self.nodes[1].digest():
            if time.monotonic() > end:
                raise AssertionError(f"the two differ after {seconds} s")
            time.sleep(0.01)

    def round(self, ledger, chance):
        """Load, kills, restarts. Returns the problems."""
        hands = [Hand(node, number, ledger, chance.randrange(10**9))
                 for node in self.nodes for number in range(HANDS)]
        for hand in hands:
            hand.start()
        time.sleep(chance.uniform(0.005, 0.25))
        victims = chance.choice(([0], [1], [0, 1]))
        for victim in victims:
            self.nodes[victim].kill()
            self.kills += 1
        for hand in hands:
            hand.stops.set()
        for hand in hands:
            hand.join()
        problems = [line for hand in hands for line in hand.refusals]
        for victim in victims:
            self.start_again(self.nodes[victim], chance)
        return problems + self.look(ledger)

    def start_again(self, node, chance):
        """Starts a node; some are killed again during startup."""
        while chance.random() < 0.25:
            try:
                node.start(wait=chance.uniform(0.001, 0.06))
            except Gone:
                pass
            node.kill()
            self.kills += 1
        node.start()

    def look(self, ledger):
        problems = []
        for node in self.nodes:
            mine = Ledger(ledger.channel)
            mine.said = {t: i for t, i in ledger.said.items() if f" {node.name} " in t}
            mine.gone, mine.unsure, mine.open = ledger.gone, ledger.unsure, ledger.open
            texts = [t for t in node.texts_in(ledger.channel) if f" {node.name} " in t]
            problems += [f"{node.name}: {line}" for line in mine.broken(texts, True)]
        for node in self.nodes:
            self.repeated += repeat(ledger, node)
        self.same()
        for node in self.nodes:
            lines = ledger.broken(node.texts_in(ledger.channel), True)
            problems += [f"{node.name}, both linked: {line}" for line in lines]
        return problems

    def check(self):
        problems = []
        for node in self.nodes:
            found = node.call("node.check")
            problems += [f"{node.name}: check: {p}" for p in found["problems"]]
        return problems


def play(pair, kills, chance):
    """Runs rounds until `kills` kills or a problem. Findings of `check` do not stop it, so that one
    finding does not hide the next. Returns (problems, number of rounds)."""
    problems, found, rounds = [], [], 0
    while pair.kills < kills and not problems:
        if rounds % SHIFT == 0:
            ledger = pair.begin(rounds // SHIFT)
        problems = pair.round(ledger, chance)
        rounds += 1
        if rounds % SHIFT == 0:
            found += [line for line in pair.check() if line not in found]
            print(f"{pair.kills} kills, {sum(len(l.said) for l in pair.ledgers)} acknowledged, "
                  f"{len(found)} found by check", flush=True)
    for each in pair.ledgers:
        for node in pair.nodes:
            problems += [f"{node.name}, finally: {line}"
                         for line in each.broken(node.texts_in(each.channel), True)]
    return problems + found + [p for p in pair.check() if p not in found], rounds


def main():
    end_in_order()
    kills = int(os.environ.get("N", 300))
    seed = int(os.environ.get("WSX_SEED") or random.SystemRandom().randrange(10**9))
    base = Path(tempfile.mkdtemp(prefix="wsx-kill."))
    print(f"WSX_SEED={seed} N={kills}", flush=True)
    pair, problems = None, ["it did not start"]
    try:
        pair = Pair(base)
        problems, rounds = play(pair, kills, random.Random(seed))
        print(f"{pair.kills} kills in {rounds} rounds; "
              f"{sum(len(l.said) for l in pair.ledgers)} acknowledged, "
              f"{sum(len(l.gone) for l in pair.ledgers)} of them deleted, "
              f"{pair.repeated} sent again; {len(problems)} problems")
    except (AssertionError, Gone, Refused) as failure:
        problems = [f"after {pair.kills if pair else 0} kills: {failure}"]
    finally:
        for node in pair.nodes if pair else []:
            node.kill()
        if problems:
            print(f"FAILED: {problems[0]}", *problems[1:12], f"the homes are kept in {base}",
                  sep="\n    ")
        else:
            shutil.rmtree(base, ignore_errors=True)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())

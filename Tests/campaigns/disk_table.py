"""The table of `make campaign-disk`: what fails, when, and what the node is doing at the time.

when     run: while running; start: from before startup; closed start: the same, after a clean
         stop that emptied the log; close: during shutdown; found: while creating the home; large:
         while running, on a store that is mostly in the log and not in memory
does     what the node is asked to do meanwhile (bench.py)
expects  stops:    the store's disk failed: every page says that writing has stopped
         full:     refused with a clear error; recovers when there is room
         harmless: no acknowledged data is at risk; the node continues
         any:      only the invariants that always hold (disk.py)
"""

import random
from dataclasses import dataclass

from faults import END, FOR_EVER, PAGE, Rule, frame, framed


@dataclass(frozen=True)
class Case:
    when: str
    does: str
    expects: str
    rule: Rule
    also: tuple = ()

    def __str__(self):
        return f"{self.when}, {self.does}: {'; '.join(map(str, (self.rule, *self.also)))}"


def often(*words, **place):
    """Two rules: the fault happens once, and permanently."""
    return [Rule(*words, count=count, **place) for count in (1, FOR_EVER)]


ERRORS = ("EIO", "EROFS", "TORN_EIO", "ENOSPC", "EDQUOT", "TORN_FULL", "SHORT")


def expected(rule):
    """The expectation for a failing write to the store."""
    return "harmless" if rule.error == "SHORT" else "full" if rule.is_full else "stops"


def log_writes():
    """Writes to the write-ahead log: its header, a frame's header, a page, any of it; and syncs."""
    places = [{"low": 0, "high": 32}, {"low": 0, "high": END},
              dict(zip(("low", "high"), frame(75))), dict(zip(("low", "high"), framed(80)))]
    rules = [r for at in places for error in ERRORS
             for r in often("write", "node.db-wal", error, **at)]
    # The log header is only written when a new log starts.
    cases = [Case("run", "anew" if r.high == 32 else "send", expected(r), r) for r in rules]
    # After a failed sync it is unknown what reached the disk, whatever the error.
    for error in ("EIO", "ENOSPC", "EDQUOT"):
        cases += [Case("run", "send", "stops", r) for r in often("sync", "node.db-wal", error)]
        cases += [Case("run", "quiet", "any", r) for r in often("truncate", "node.db-wal", error)]
    return cases


def checkpoints():
    """Writes to the store itself at a checkpoint."""
    places = [{"low": 0, "high": 100}, {"low": 3 * PAGE, "high": 4 * PAGE}, {}]
    cases = [Case("run", "burst", "stops" if expected(r) == "stops" else "any", r) for at in places
             for error in ERRORS for r in often("write", "node.db", error, **at)]
    cases += [Case("run", "burst", "stops", r) for r in often("sync", "node.db", "EIO")]
    cases += [Case("run", "quiet", "stops", r) for r in often("write", "node.db", "EIO")]
    cases += [Case("run", "erase", "stops", r) for r in often("write", "node.db", "EIO")]
    return cases + [Case("close", "nothing", "any", r) for call in ("write", "sync", "truncate")
                    for error in ("EIO", "ENOSPC") for r in often(call, "node.db", error)]


def log_reads():
    """Single unreadable pages of the log, at startup and later. A fault that happens once is a
    transient error, a permanent one is a bad sector."""
    cases = []
    for number in range(16):
        low, high = framed(number)
        for rule in often("read", "node.db-wal", "EIO", low=low, high=high):
            cases += [Case("start", "send", "any", rule), Case("run", "cold", "any", rule)]
    for error in ("EIO", "SHORT", "FLIP"):
        for rule in often("read", "node.db-wal", error):
            cases += [Case("run", "cold", "any", rule), Case("start", "send", "any", rule)]
    return cases


def pages():
    """Single pages of a large store's log, read for the first time, or read again because a write
    failed before."""
    chance, cases = random.Random(16), []
    for number in sorted({*range(12), *(chance.randrange(1200) for _ in range(40))}):
        low, high = framed(number)
        for rule in often("read", "node.db-wal", "EIO", low=low, high=high):
            cases.append(Case("large", "look", "any", rule))
        if number < 24:
            failing = Rule("sync", "node.db-wal", "EIO", count=1)
            cases.append(Case("large", "send", "stops", failing, also=(rule,)))
    return cases


def store_reads():
    places = [{"low": 0, "high": 100}, {}] + [
        {"low": n * PAGE, "high": (n + 1) * PAGE} for n in range(1, 12)]
    return [Case(when, does, "any", r) for at in places for error in ("EIO", "SHORT", "FLIP")
            for r in often("read", "node.db", error, **at)
            for when, does in (("closed start", "send"), ("run", "cold"))]


def shared_memory():
    return [Case(when, "send", "any", r) for call in ("open", "mmap", "write", "truncate")
            for error in ("EIO", "ENOSPC", "ENOMEM") for r in often(call, "node.db-shm", error)
            for when in ("run", "start")]


def beside():
    """Files that can be rebuilt or are written only sometimes: no reason to stop writing."""
    cases = [Case("run", "search", "harmless", r) for name in ("search.db", "search.db-wal",
             "search.db-shm") for call in ("open", "read", "write", "sync", "mmap", "truncate")
             for error in ("EIO", "ENOSPC", "SHORT", "FLIP") for r in often(call, name, error)
             if call in ("read", "write") or r.error in ("EIO", "ENOSPC")
             if call == "read" or r.error != "FLIP"]
    cases += [Case("run", "send", "harmless", r) for call in ("open", "write")
              for error in ("EIO", "ENOSPC", "TORN_EIO") for r in often(call, "node.guard", error)
              if call == "write" or error != "TORN_EIO"]
    cases += [Case("run", "send", "harmless", r) for error in ("EIO", "ENOSPC", "SHORT")
              for r in often("write", "daemon.log", error)]
    cases += [Case("run", "backup", "harmless", r) for call in ("open", "write", "sync", "link",
              "rename") for error in ("EIO", "ENOSPC") for r in often(call, ".bak", error)]
    cases += [Case("run", "backup", "harmless", r) for call in ("open", "write", "sync", "link",
              "rename") for error in ("EIO", "ENOSPC") for r in often(call, ".bak.new", error)]
    return cases + [Case("run", "check", "any", r) for call in ("open", "write", "read")
                    for error in ("EIO", "ENOSPC") for r in often(call, ".db", error)]


def small_files():
    names = ("device.key", "device.key.new")
    cases = [Case("run", "passphrase", "harmless", r) for name in names
             for call in ("open", "write", "sync", "rename", "read")
             for error in ("EIO", "ENOSPC") for r in often(call, name, error)]
    return cases + [Case("start", "send", "any", r) for call in ("open", "read", "write")
                    for name in ("device.key", "lock", "listen", "listen.new", "node.guard",
                                 "node.db", "node.db-wal", "search.db")
                    for error in ("EIO", "EACCES", "ENOSPC", "EMFILE", "EROFS")
                    for r in often(call, name, error)
                    if call == "open" or error in ("EIO", "ENOSPC")]


def founding():
    """The writes, syncs and opens of a new home, failing one at a time."""
    return [Case("found", "nothing", "any", Rule(call, "", error, skip=skip, count=1))
            for call, steps in (("write", range(0, 200, 4)), ("sync", range(24)),
                                ("open", range(24)))
            for error in ("EIO", "ENOSPC") for skip in steps]


def by_chance(seed):
    """A random call on a random file fails, after a random number of calls."""
    chance = random.Random(seed)
    name = chance.choice(("node.db-wal", "node.db-wal", "node.db", "node.db-shm", "search.db",
                          "search.db-wal", "node.guard", ""))
    call = chance.choice(("write", "write", "sync", "read", "truncate", "open", "mmap", "unlink"))
    kinds = ("EIO", "ENOSPC", "EDQUOT", "EROFS", "SHORT", "TORN_EIO", "TORN_FULL")
    error = chance.choice(kinds if call == "write" else kinds[:5] if call == "read" else kinds[:4])
    rule = Rule(call, name, error, skip=chance.choice((0, 0, 1, 3, 7, 15, 30)),
                count=chance.choice((1, 1, 2, 5, FOR_EVER)))
    does = chance.choice(("send", "send", "burst", "search", "backup", "check", "cold"))
    return Case(chance.choice(("run", "run", "run", "start", "closed start", "close")), does, "any",
                rule)


GROUPS = {make.__name__: make for make in (
    log_writes, checkpoints, log_reads, pages, store_reads, shared_memory, beside, small_files,
    founding)}

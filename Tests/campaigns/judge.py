"""Checks a home after a crash. What must hold:

    the node starts, and `check` finds no problems
    what was acknowledged or shown before is there exactly once; what was deleted stays deleted
    nothing is there that nobody wrote
    new messages can be sent, and the search index catches up
    a completed backup is intact
"""

import time
from collections import Counter

import journal
from lives import shown
from node import Gone, Refused

# Every message that search has to find starts with this word.
COMMON = "zebra"


class Expected:
    """Replays a journal's notes: the facts that are certain, and those that may go either way."""

    def __init__(self):
        self.true, self.open, self.ever, self.deleted = set(), set(), set(), set()
        self.began = False

    def step(self, entry):
        said = journal.value(entry)
        for fact in map(tuple, said.get("may", [])):
            self.open.add(fact)
            self.ever.add(fact)
        for kind, what, is_true in said.get("did", []):
            self.settle((kind, what), is_true)
        if "shown" in said:
            self.began = True
            self.true = {tuple(fact) for fact in said["shown"]}
            self.ever |= self.true
            self.open.clear()

    def settle(self, fact, is_true):
        self.open.discard(fact)
        self.ever.add(fact)
        if is_true:
            self.true.add(fact)
        else:
            self.true.discard(fact)
            self.deleted.add(fact[1])


def judge(node, expected):
    """Starts `node` on its home, returns the problems, one line each, and kills the node."""
    try:
        node.start()
        return look(node, expected)
    except Gone as gone:
        return [str(gone)]
    except Refused as refused:
        return [f"refused: {refused}"]
    finally:
        node.kill()


def look(node, expected):
    if not expected.began:
        return begin_again(node)
    problems = check(node)
    found = [tuple(fact) for fact in shown(node)]
    for fact, count in Counter(found).items():
        if fact[0] == "text" and count > 1:
            problems.append(f"{fact[1]!r} is shown {count} times")
        if fact not in expected.ever:
            problems.append(f"{fact} is shown, but nobody caused it")
        elif fact not in expected.true and fact not in expected.open and fact[0] != "file":
            problems.append(f"{fact} is back")
    for fact in expected.true - expected.open - set(found):
        problems.append(f"{fact} is lost")
    return problems + backups(node, expected) + goes_on(node, expected)


def check(node):
    result = node.call("node.check")
    return [f"check: {problem}" for problem in result["problems"]] if not result["ok"] else []


def begin_again(node):
    """No workspace was acknowledged: whatever exists, setting up must work."""
    status = node.call("node.status")
    if not status["identity"]:
        node.call("identity.create", name=node.name)
    if node.name == "Mina" and not status["workspaces"]:
        node.call("workspace.create", name="acme")
    if node.name == "Mina":
        node.call("message.send", channel="general", text=f"{COMMON} after it")
    return check(node)


def backups(node, expected):
    """Acknowledged backups must be intact."""
    problems = []
    for kind, name in expected.true - expected.open:
        if kind == "file":
            try:
                node.call("backup.verify", path=str(node.root / name))
            except Refused as refused:
                problems.append(f"{name}: {refused}")
    return problems


def goes_on(node, expected):
    """New messages can be sent. Search finds every shown message, also in channels that the person
    was removed from, but nothing deleted."""
    if node.name == "Mina":
        node.call("message.send", channel="general", text=f"{COMMON} after it")
    wanted, end = {t for t in node.texts() if t.startswith(COMMON)}, time.monotonic() + 10
    while True:
        hits = node.call("search", query=COMMON, kinds=["message"], limit=100)["items"]
        found = [hit["message"]["text"] for hit in hits]
        if wanted <= set(found):
            break
        if time.monotonic() > end:
            return [f"search does not find {sorted(wanted - set(found))}"]
        time.sleep(0.01)
    again = [text for text, count in Counter(found).items() if count > 1]
    again += sorted(set(found) & expected.deleted)
    return [f"search finds duplicate or deleted messages: {again}"] if again else []

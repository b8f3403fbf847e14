"""Homes with one flipped bit or one lost sector, on a real disk: never silently wrong.

The home was killed while running, so part of its store is in the log. `make campaign-rot` damages
the pages of a store in memory; this damages any file of a home. A node that refuses to start must
say why. A node that starts must show everything, or report that something is wrong. SQLite ignores
the log from the first damaged frame on. The guard file knows that there was more, so the node
reports that its files are older than they should be.
"""

import random
from collections import Counter

from images import Disk, Stage, keep
from lives import make_home
from node import Gone, Node, Refused

SECTOR = 512


def prepare(root, is_young):
    """Returns a killed home and its texts. A young one has its whole store in the log."""
    node = Node(make_home(root), "Mina")
    node.start().found()
    said = [node.call("message.send", channel="general", text=f"zebra {n}")
            for n in range(8 if is_young else 40)]
    for message in said[:3]:
        node.call("message.delete", message=message["id"])
    for message in said[3:6]:
        node.call("message.edit", message=message["id"], text=message["text"] + " changed")
    if not is_young:
        node.stop()
        node.start()
    for number in range(2 if is_young else 30):
        node.call("message.send", channel="general", text=f"zebra late {number}")
    texts = node.texts()
    node.call("search", query="zebra")
    node.kill()
    keep(node.root)
    return node, texts


def damage(image, chance):
    """Damages a random file of the image. Returns a description."""
    names = sorted(n for n, c in image.items() if c and not n.endswith(("lock", ".log")))
    # On a slow machine, the log may have been emptied before the kill.
    store = [n for n in ("home/node.db", "home/node.db-wal") if n in names]
    name = chance.choice(names + store * 3)
    content = bytearray(image[name])
    if chance.random() < 0.8:
        at, bit = chance.randrange(len(content)), chance.randrange(8)
        content[at] ^= 1 << bit
        told = f"bit {bit} of byte {at} of {name}"
    else:
        at = chance.randrange(len(content)) // SECTOR * SECTOR
        end = min(len(content), at + SECTOR)
        content[at:end] = bytes(end - at)
        told = f"zeros from byte {at} on in {name}"
    image[name] = content
    return told


def look(node, texts):
    """Starts the node. Returns what is wrong without being reported."""
    try:
        node.start()
    except Gone as gone:
        status = node.process.poll()
        return [str(gone)] if status is None or status <= 0 or status >= 128 else []
    try:
        try:
            return compare(node, texts)
        except Refused as refused:
            if refused.kind != "busy":
                raise
            # The node found the damage and rebuilt its store.
            node.connect()
            return compare(node, texts)
    except Refused as refused:
        told = refused.kind == "store_failed" or tells(node)
        return [] if told else [f"{refused.kind}: {refused}"]
    except Gone as gone:
        return [str(gone)]


def compare(node, texts):
    found, told = Counter(node.texts()), tells(node)
    if found == Counter(texts):
        return []
    checked = node.call("node.check")
    if told or not checked["ok"]:
        return []
    # The node may have found and repaired the damage by now.
    found = Counter(node.texts())
    lost, new = Counter(texts) - found, found - Counter(texts)
    if not lost and not new:
        return []
    return [f"silently wrong: missing {sorted(lost)[:3]}, added {sorted(new)[:3]}"]


def tells(node):
    warnings = {w["kind"] for w in node.call("node.status")["warnings"]}
    failing = [f for f in node.call("node.doctor")["items"] if f["state"] == "fail"]
    return bool(failing) or bool(warnings)


def run(base, seeds):
    """Tries all seeds and returns the failures. Every fourth seed has a young home."""
    homes = [Home(base / "rot", False)] * 3 + [Home(base / "young", True)] if seeds else []
    broken, refused = [], 0
    for seed in seeds:
        home = homes[seed % 4]
        told, problems, status = home.play(random.Random(seed))
        refused += status is not None
        if problems:
            broken.append((seed, told, problems))
            print(f"FAILED WSX_SEED={seed} ({home.node.root.name}: {told})", *problems,
                  sep="\n    ", flush=True)
    print(f"{len(seeds)} damaged homes, {refused} refused to start, {len(broken)} failed")
    return broken


class Home:
    def __init__(self, root, is_young):
        self.node, self.texts = prepare(root, is_young)
        self.stage, self.disk = Stage(root), Disk(root)

    def play(self, chance):
        """Returns (the damage, what is silently wrong, exit status if it ended by itself)."""
        image = {name: bytes(content) for name, content in self.disk.prefix().items()}
        told = damage(image, chance)
        self.stage.show(self.disk.folders, image)
        try:
            return told, look(self.node, self.texts), self.node.process.poll()
        finally:
            self.node.kill()

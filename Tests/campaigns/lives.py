"""The lives: scripts that are played once, recorded, and then cut off at every point.

Before each step, the driver notes in every home's journal what the step may change. Afterwards it
notes in the journal of the home that answered what is true now. When all are in sync, it notes
what each home shows.
"""

import sqlite3
import time

import journal
from images import keep
from node import Node


class Life:
    """Mina creates the workspace; Joon joins in some lives. A fact is something a home can show: a
    kind ("text", "member", "channel", "file") and a name."""

    def __init__(self, base):
        self.base, self.nodes, self.count = base, {}, 0

    def begin(self, name):
        root = self.base / name.lower()
        make_home(root)
        self.nodes[name] = Node(root, name)
        return self.start(name)

    def begins_with(self, name, node):
        """Starts the life with an existing home in its current state."""
        self.nodes[name] = node
        keep(node.root)

    def journal(self, name):
        return self.base / f"{name.lower()}.journal"

    def start(self, name):
        return self.nodes[name].start(journal=self.journal(name))

    def note(self, name, **said):
        journal.note(self.journal(name), said)

    def step(self, name, method, changes=(), /, **parameters):
        """Makes one call. `changes`: facts, each with whether it is true afterwards."""
        for each in self.nodes:
            self.note(each, may=[[kind, what] for kind, what, _ in changes])
        answer = self.nodes[name].call(method, **parameters)
        self.note(name, did=[list(change) for change in changes])
        return answer

    def send(self, name, channel="general"):
        self.count += 1
        text = f"zebra {self.count} by {name}"
        return self.step(name, "message.send", [("text", text, True)], channel=channel, text=text)

    def delete(self, name, message):
        self.step(name, "message.delete", [("text", message["text"], False)],
                  message=message["id"])

    def edit(self, name, message, text):
        changes = [("text", message["text"], False), ("text", text, True)]
        self.step(name, "message.edit", changes, message=message["id"], text=text)

    def join(self, name):
        link = self.nodes["Mina"].call("invite.create", uses=100)["link"]
        node = self.begin(name)
        for each in self.nodes:
            self.note(each, may=[["member", name]])
        node.call("identity.create", name=name)
        node.call("workspace.join", link=link)
        self.settle()

    def settle(self, pause=0.0):
        """Waits until all nodes have the same state, and notes what they show."""
        nodes, end = list(self.nodes.values()), time.monotonic() + 30
        while len({str(node.digest()) for node in nodes}) > 1:
            assert time.monotonic() < end, "the nodes do not get in sync"
            time.sleep(0.01)
        time.sleep(pause)
        for name in self.nodes:
            self.note(name, shown=shown(self.nodes[name]))

    def found(self):
        mina = self.begin("Mina")
        mina.found()
        self.settle()

    def end(self):
        for name, node in self.nodes.items():
            if node.process.poll() is None:
                node.stop()
                self.note(name, stopped=True)


def make_home(root):
    (root / "home").mkdir(parents=True, exist_ok=True)
    (root / "home").chmod(0o700)
    return root


def shown(node):
    """The facts that a home shows."""
    texts = node.texts()
    facts = [["text", text] for text in texts]
    facts += [["member", m["name"]] for m in node.call("member.list")["items"]]
    facts += [["channel", c["name"]] for c in node.call("channel.list", scope="all")["items"]
              if c["kind"] == "channel"]
    facts += [["file", str(p.relative_to(node.root))] for p in node.root.glob("*.bak")]
    return facts


def backup(life, name, file):
    life.step(name, "backup.create", [("file", file, True)],
              path=str(life.nodes[name].root / file))


def words(life):
    """A single home: messages sent, edited and deleted, a backup, the log emptied, restarts."""
    life.found()
    said = [life.send("Mina") for _ in range(6)]
    life.edit("Mina", said[1], "zebra changed")
    life.delete("Mina", said[2])
    life.step("Mina", "message.react", message=said[0]["id"], emoji="👍")
    life.step("Mina", "message.pin", message=said[0]["id"])
    life.step("Mina", "channel.create", [("channel", "ideas", True)], name="ideas")
    life.send("Mina", "ideas")
    backup(life, "Mina", "one.bak")
    life.settle(pause=2.5)
    life.send("Mina")
    life.delete("Mina", said[3])
    life.nodes["Mina"].kill()
    life.start("Mina")
    life.send("Mina")
    life.settle()
    life.nodes["Mina"].stop()
    life.start("Mina")
    life.send("Mina")
    life.delete("Mina", said[4])
    life.step("Mina", "node.check")
    life.settle(pause=5.5)
    life.send("Mina")


def team(life):
    """Joon joins, both write and delete, the keys are rotated, and Joon is removed."""
    life.found()
    first = life.send("Mina")
    life.join("Joon")
    theirs = [life.send("Joon") for _ in range(4)]
    mine = [life.send("Mina") for _ in range(4)]
    life.settle()
    life.delete("Joon", theirs[0])
    life.delete("Mina", mine[0])
    life.delete("Mina", theirs[1])
    life.edit("Joon", theirs[2], "zebra of a new stripe")
    life.settle(pause=2.5)
    life.step("Mina", "workspace.rekey")
    life.send("Mina")
    life.send("Joon")
    life.settle()
    backup(life, "Joon", "two.bak")
    life.nodes["Joon"].stop()
    life.send("Mina")
    life.delete("Mina", first)
    life.start("Joon")
    life.settle(pause=2.5)
    life.step("Mina", "member.remove", [("member", "Joon", False)], member="Joon", force=True)
    life.send("Mina")
    life.note("Mina", shown=shown(life.nodes["Mina"]))
    life.nodes["Joon"].stop()
    life.send("Mina")


def private(life):
    """A private channel and a direct conversation: open, write, delete, remove a member."""
    life.found()
    life.join("Joon")
    life.step("Mina", "channel.create", [("channel", "den", True)], name="den", private=True,
              history="all")
    before = life.send("Mina", "den")
    life.step("Mina", "channel.add", [("text", before["text"], True)], channel="den",
              members=["Joon"])
    life.settle()
    mine = [life.send("Mina", "den") for _ in range(3)]
    theirs = [life.send("Joon", "den") for _ in range(3)]
    life.settle()
    life.delete("Joon", theirs[0])
    life.delete("Mina", mine[0])
    life.step("Mina", "dm.open", members=["Joon"])
    life.send("Mina", "@Joon")
    life.settle(pause=2.5)
    life.send("Joon", "@Mina")
    life.settle()
    changes = [("text", m["text"], True) for m in [before, *mine[1:], *theirs[1:]]]
    life.step("Mina", "channel.remove", [*changes, ("channel", "den", True)], channel="den",
              members=["Joon"])
    life.step("Mina", "channel.archive", channel="den")
    life.send("Mina")
    life.nodes["Joon"].kill()
    life.start("Joon")
    life.settle()


def upgrade(life):
    """Opens a store of schema 8, the oldest one that this program accepts. It refuses older ones
    without touching them, so a crash cannot harm those."""
    node = Node(make_home(life.base / "mina"), "Mina")
    node.start().found()
    for number in range(60):
        node.call("message.send", channel="general", text=f"zebra old {number}")
    comes_from(life, node, 8)


def upgrade_15(life):
    """Opens a store of schema 15, the last with a separate table of counters, with some of
    everything added since schema 8."""
    node = Node(make_home(life.base / "mina"), "Mina")
    node.start().found()
    said = [node.call("message.send", channel="general", text=f"zebra {number} of before")
            for number in range(20)]
    node.call("message.edit", message=said[1]["id"], text="zebra of another stripe")
    node.call("message.delete", message=said[2]["id"])
    node.call("message.react", message=said[0]["id"], emoji="👍")
    node.call("channel.create", name="den", private=True)
    node.call("message.send", channel="den", text="zebra in the den")
    node.call("channel.create", name="ideas")
    note = node.call("note.create", channel="ideas", title="zebra note", text="one\n")
    node.call("note.edit", note=note["id"], text="one\ntwo\n")
    comes_from(life, node, 15)
    life.delete("Mina", said[3])
    life.nodes["Mina"].kill()
    life.start("Mina")
    life.send("Mina")
    life.settle()


def comes_from(life, node, schema):
    """Downgrades the store to an older schema; the recorded life begins when it is opened."""
    texts = shown(node)
    node.stop()
    store = sqlite3.connect(node.home / "node.db", isolation_level=None)
    before_counting_logs(store)
    if schema == 8:
        before_citations(store)
    store.execute(f"PRAGMA user_version = {schema}")
    store.close()
    life.begins_with("Mina", node)
    life.note("Mina", shown=texts)
    life.start("Mina")
    life.send("Mina")
    life.settle()


def before_counting_logs(store):
    """Downgrades a store from schema 16 to 15."""
    for counter in ("arrival", "event", "commit"):
        store.execute(f"INSERT OR REPLACE INTO counter SELECT '{counter}', max(value) FROM "
                      f"(SELECT {counter}s AS value FROM log UNION ALL "
                      f"SELECT value FROM counter WHERE name = '{counter}')")
        store.execute(f"ALTER TABLE log DROP COLUMN {counter}s")
    store.execute("CREATE INDEX log_changed ON log(changed)")


def before_citations(store):
    """Downgrades a store from schema 15 to 8. The tables added in between must be empty."""
    for table in ("citation", "following", "following_past", "late_basis", "unheard", "setting",
                  "setting_past", "note_edit", "note_snapshot"):
        store.execute(f"DROP TABLE {table}")
    store.execute("DROP INDEX annotation_note")


ALL = {life.__name__: life for life in (words, team, private, upgrade, upgrade_15)}

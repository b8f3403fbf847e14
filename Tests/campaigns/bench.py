"""One case of a failing disk: from creating the home to a restart on a healthy disk."""

import shutil
import time
from collections import Counter
from pathlib import Path

import journal
import large
from faults import Page
from lives import make_home
from node import Gone, Node, Refused
from surfaces import Stream, silent, warned

STORE = ("node.db", "node.db-wal")
PASSPHRASE = "Zebra-stripes-12"


class Bench:
    def __init__(self, root):
        shutil.rmtree(root, ignore_errors=True)
        for beside in ("journal", "store"):
            Path(f"{root}.{beside}").unlink(missing_ok=True)
        self.node, self.journal = Node(make_home(root), "Mina"), Path(f"{root}.journal")
        self.page, self.problems, self.refusals = Page(Path(f"{root}.rules")), [], []
        self.said, self.gone, self.unsure, self.count = {}, set(), set(), 0
        self.met_before_listening = False

    def play(self, case):
        """Plays one case. Returns (problems, how often the disk failed)."""
        try:
            self.begin(case)
            # Listen first: the node may hit the fault on its own, and it warns only once.
            with Stream(self.node) as stream:
                self.page.set(case.rule, *case.also)
                getattr(self, "while_" + case.when.replace(" ", "_"))(case, stream)
            struck = self.page.clear()
            self.recover(case, struck)
        except (Gone, Refused, AssertionError, OSError) as failure:
            struck = self.page.clear()
            self.problems.append(f"{type(failure).__name__}: {failure}")
        finally:
            self.node.kill()
            self.page.close()
        return self.problems, struck

    def begin(self, case):
        if case.when == "found":
            return
        if case.when == "large":
            self.said = large.show(self.node)
            self.start()
            return
        self.start().found()
        for _ in range(8):
            self.send()
        self.delete()
        if case.when == "closed start":
            assert self.node.stop() == 0
        elif case.when == "start":
            self.node.kill()
        elif case.does == "cold":
            # A restarted node has no pages of the store in memory.
            self.node.kill()
            self.start()
        elif case.does == "anew":
            # A clean stop checkpoints the log, so the next commit starts a new one.
            assert self.node.stop() == 0
            self.start()

    def start(self, wait=20):
        return self.node.start(journal=self.journal, rules=self.page.path, wait=wait)

    # Requests

    def send(self):
        self.count += 1
        text = f"zebra {self.count} " + "x" * 200
        self.unsure.add(text)
        self.said[text] = self.node.call("message.send", channel="general", text=text)["id"]
        self.unsure.discard(text)

    def delete(self):
        text = next(t for t in self.said if t not in self.gone)
        self.unsure.add(text)
        self.node.call("message.delete", message=self.said[text])
        self.gone.add(text)
        self.unsure.discard(text)

    def try_to(self, action, *words, **parameters):
        """Returns whether it succeeded. Records a refusal, which must state a specific reason."""
        try:
            action(*words, **parameters)
            return True
        except Refused as refused:
            self.refusals.append(refused)
            if refused.kind in ("internal", "parse_error"):
                self.problems.append(f"refused with {refused.kind}: {refused}")
            return False

    def do(self, does):
        call, root = self.node.call, self.node.root
        for _ in range({"burst": 90, "nothing": 0}.get(does, 3)):
            if not self.try_to(self.send) and does == "burst":
                break
        if does in ("send", "cold", "erase", "anew"):
            self.try_to(self.delete)
            self.try_to(self.send)
        extra = {"search": lambda: call("search", query="zebra"),
                 "backup": lambda: call("backup.create", path=str(root / "one.bak")),
                 "look": self.look, "check": lambda: call("node.check"),
                 "cold": lambda: call("node.check"),
                 "passphrase": lambda: call("identity.passphrase.change", new=PASSPHRASE),
                 "quiet": lambda: time.sleep(5.4), "erase": lambda: time.sleep(2.6)}.get(does)
        if extra:
            self.try_to(extra)
        if does == "search":
            self.try_to(self.send)
            self.try_to(extra)

    def look(self):
        """Reads the whole store."""
        self.try_to(self.reads)
        self.try_to(self.node.call, "node.check")
        self.try_to(self.node.call, "member.list")
        self.try_to(self.send)

    # One method for each value of `when`

    def while_run(self, case, stream):
        self.do(case.does)
        self.alive(case)
        before = len(self.problems)
        self.reads()
        if case.rule.error == "FLIP" and self.node.call("node.status")["warnings"]:
            del self.problems[before:]
        self.judge(case, stream)

    def while_start(self, case, _):
        try:
            self.start(wait=10)
        except Gone:
            self.ended(case, "at startup")
            return
        with Stream(self.node) as stream:
            self.met_before_listening = bool(self.page.struck())
            self.while_run(case, stream)

    while_closed_start = while_start
    while_large = while_run

    def while_close(self, case, _):
        self.ended(case, "during shutdown", self.node.stop(), may_be_fine=True)

    def while_found(self, case, _):
        try:
            self.start(wait=10)
            self.try_to(self.node.found)
            self.alive(case)
        except Gone as gone:
            if self.node.process.poll() is None:
                self.problems.append(str(gone))
            else:
                self.ended(case, "while creating the home")

    # Expectations

    def alive(self, case):
        time.sleep(0.002)
        if self.node.process.poll() is not None:
            self.ended(case, "while running")
            if case.rule.path == "node.db-wal":
                self.problems.append(f"it crashed on a page of the log: {self.node.last_words()}")
            raise Gone("the rest was skipped")

    def ended(self, case, when, status=None, may_be_fine=False):
        status = self.node.process.wait(5) if status is None else status
        if status < 0 or status >= 128 or (status == 0 and not may_be_fine):
            self.problems.append(f"it ended {when} with status {status}: {self.node.last_words()}")
        elif status and not self.node.errors.read_text(errors="replace").strip() \
                and case.rule.path != "daemon.log":
            self.problems.append(f"it ended {when} with status {status} and no message")

    def reads(self):
        """What the node shows must be correct. While the disk fails, a refusal is fine too."""
        try:
            self.compare(self.node.texts(), "while the disk fails")
        except Refused as refused:
            self.refusals.append(refused)

    def compare(self, texts, when):
        found = Counter(texts)
        for text in set(self.said) - self.gone - self.unsure - set(found):
            self.problems.append(f"{when}: {text[:12]!r} is lost")
        for text, count in found.items():
            if count > 1 or text in self.gone or text not in self.said.keys() | self.unsure:
                self.problems.append(f"{when}: {text[:12]!r} is shown {count} times, "
                                     f"deleted: {text in self.gone}")

    def judge(self, case, stream):
        struck, kinds = self.page.struck(), {r.kind for r in self.refusals}
        stopped = any(r.reason == "store.io" for r in self.refusals)
        if stopped or (case.expects == "stops" and struck):
            self.problems += silent(self.node)
            # If it stopped before the stream was open, the event is missed; the pages still say so.
            if not self.met_before_listening and not warned(stream.events()):
                self.problems.append("no node.warning event says that writing has stopped")
            self.writes_nothing()
        if case.expects in ("full", "harmless") and struck:
            if stopped:
                self.problems.append("it says that the disk failed, which is wrong for this fault")
            allowed = {"storage_full"} if case.expects == "full" else {
                "storage_full", "store_failed", "bad_configuration", "busy"}
            if kinds - allowed:
                self.problems.append(f"refused with {kinds}: {self.refusals[0]}")

    def writes_nothing(self):
        """From now until the process ends, the store must not change."""
        self.stopped = len(journal.read(self.journal))

    def recover(self, case, struck):
        goes_on_now = case.expects in ("full", "harmless") and case.when == "run"
        if self.node.process.poll() is None:
            if goes_on_now and not self.try_to(self.send):
                self.problems.append(f"it does not recover by itself: {self.refusals[-1]}")
            if case.when not in ("close", "found") and self.node.link:
                self.ended(case, "when told to stop", self.node.stop(), may_be_fine=True)
            self.node.kill()
        if hasattr(self, "stopped"):
            later = journal.read(self.journal)[self.stopped:]
            written = [e for e in later if e.op in "WT" and e.path.endswith(STORE)]
            if written:
                self.problems.append(f"{len(written)} writes after writing has stopped, the first: "
                                     f"{written[0]}")
        self.node.start()
        self.well(case)

    def well(self, case):
        """On a healthy disk, everything is there and new messages can be sent."""
        status = self.node.call("node.status")
        if case.when == "found":
            self.found_again(status)
        elif status["locked"]:
            self.node.call("session.unlock", passphrase=PASSPHRASE)
        before = len(self.problems)
        found = self.node.call("node.check")
        self.problems += [f"check: {p}" for p in found["problems"]]
        try:
            self.compare(self.node.texts(), "after a restart")
            self.send()
            self.compare(self.node.texts(), "after a restart")
        except Refused as refused:
            self.problems.append(f"after a restart: {refused}")
        if case.rule.error == "FLIP" and (found["problems"] or status["warnings"]):
            # A flipped bit may have been written back, or may have hidden the end of the log.
            # That cannot be prevented, and here the node reported it.
            del self.problems[before:]

    def found_again(self, status):
        if not status["identity"]:
            self.node.call("identity.create", name="Mina")
        if not status["workspaces"]:
            self.node.call("workspace.create", name="acme")

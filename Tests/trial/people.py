"""The people of the trial: each has a home, a node, a command line, and terminals.

A node is started with `up` or `join`, as people do it, or as a child process (`daemon`) if the
scene runs it in a namespace or with a shifted clock.
"""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "campaigns"))
from node import PROGRAM, Gone, Link, Refused  # noqa: E402,F401
from terminal import Terminal  # noqa: E402

LOOPBACK = ("--listen", "127.0.0.1:0", "--announce", "off")


class Broken(Exception):
    """The scene cannot continue. Arguments: expected and actual result, unless already noted."""


class Skipped(Exception):
    """This machine lacks something that the scene needs."""


class Outcome:
    """A command's output and exit status."""

    def __init__(self, done):
        self.status, self.out, self.errors = done.returncode, done.stdout, done.stderr

    @property
    def said(self):
        return f"status {self.status}: {' '.join((self.out + self.errors).split())[:300]}"

    @property
    def error(self):
        """The `kind` of the error in --json output, or None."""
        try:
            return json.loads(self.errors.splitlines()[-1])["data"]["kind"]
        except (IndexError, KeyError, TypeError, ValueError):
            return None


class Person:
    """Someone with a home and a node. A `plain` person uses the default home; all others name
    theirs."""

    def __init__(self, stage, name, folder=None, plain=False):
        self.stage, self.name, self.child, self.place = stage, name, None, None
        self.folder = folder or stage.folder / name.lower()
        self.folder.mkdir(exist_ok=True)
        self.home = self.folder / (".local/share/wsx-node" if plain else "home")
        self.command = [PROGRAM] + ([] if plain else ["--home", str(self.home)])

    def environment(self, **extra):
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "HOME": str(self.folder),
                "LANG": "C.UTF-8", "NO_COLOR": "1"} | extra

    # Commands

    def run(self, *words, text=None, seconds=60):
        done = subprocess.run(
            [*self.command, *words], env=self.environment(), capture_output=True, text=True,
            timeout=seconds, **({"stdin": subprocess.DEVNULL} if text is None else {"input": text}))
        outcome = Outcome(done)
        self.stage.note(f"{self.name.lower()}$ wsx-node {' '.join(words)}\n{outcome.said}")
        return outcome

    def does(self, *words, **how):
        """Runs a command that must succeed, and returns its output."""
        outcome = self.run(*words, **how)
        if outcome.status != 0:
            raise Broken(f"'{' '.join(words)}' to work for {self.name}", outcome.said)
        return outcome.out

    def objects(self, *words):
        """The objects that the command prints with --json, one per line."""
        return [json.loads(line) for line in self.does(*words, "--json").splitlines()]

    def terminal(self, *words, rows=24, columns=80):
        terminal = Terminal([*self.command, *words], self.environment(), rows, columns)
        self.stage.terminals.append(terminal)
        self.stage.note(f"{self.name.lower()}$ wsx-node {' '.join(words)}   (on a terminal)")
        return terminal

    def socket(self):
        """The path of the control socket, as the program reports it."""
        if not self.place:
            self.place = self.does("socket").strip()
        return self.place

    def call(self, method, /, **given):
        link = Link(self.socket())
        try:
            return link.call(method, **given)
        finally:
            link.close()

    def listening(self, *types):
        return Listener(self, types)

    # The node

    def founds(self, workspace="acme"):
        self.does("up", "--name", self.name, "--workspace", workspace, *LOOPBACK)
        return self

    def invites(self, *words):
        return self.objects("invite", "create", *words)[0]["link"]

    def joins(self, other, *words):
        """Joins with an invite from someone else. Waits until both know each other."""
        self.does("join", other.invites(*words), "--name", self.name, *LOOPBACK)
        return self

    def daemon(self, before=(), extra=None, words=LOOPBACK, seconds=30):
        """Runs the node as a child process and waits until it answers. `before`: a command prefix,
        such as one that enters a namespace; `extra`: environment variables for this process."""
        with open(self.folder / "child.log", "ab") as log:
            self.child = subprocess.Popen(
                [*before, *self.command, "daemon", "run", *words],
                env=self.environment(**(extra or {})), stdin=subprocess.DEVNULL, stdout=log,
                stderr=log)

        def answers():
            if self.child.poll() is not None:
                raise Broken(f"the node of {self.name} to run",
                             f"exit status {self.child.returncode}")
            try:
                return self.call("node.version")
            except (OSError, Gone):
                return False

        self.stage.need(f"the node of {self.name} to answer", answers, seconds)
        return self

    def pid(self):
        """The process id of the running node, from its lock file, or None. A process that is not
        this program does not count."""
        try:
            number = int(re.sub(r"\D", "", (self.home / "lock").read_text()))
            words = Path(f"/proc/{number}/cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            return None
        # The kernel hides a node's executable from everyone but root.
        is_ours = os.path.basename(words[0]) == os.fsencode(os.path.basename(PROGRAM))
        return number if is_ours and b"daemon" in words else None

    def stop(self):
        """Stops the node cleanly, and kills it by process id if that fails."""
        try:
            if self.pid():
                self.run("down", seconds=30)
        except subprocess.TimeoutExpired:
            pass
        number = self.pid()
        if number:
            os.kill(number, signal.SIGKILL)
        if self.child:
            if self.child.poll() is None:
                self.child.send_signal(signal.SIGKILL)
            self.child.wait()
            self.child = None

    # What the person sees

    def texts(self, channel="general"):
        """The texts of all valid messages of a channel, oldest first. Reads pages from the end."""
        page, pages = self.call("message.history", channel=channel, limit=100), []
        while True:
            pages.insert(0, [m["text"] for m in page["items"] if m["state"] != "refused"])
            if not page["older"]:
                return [text for texts in pages for text in texts]
            page = self.call("message.history", channel=channel, limit=100, before=page["older"])

    def members(self):
        return [m["name"] for m in self.call("member.list")["items"]]

    def linked(self):
        """The number of peers that the node is connected to."""
        return sum(p["state"] == "connected" for p in self.call("peer.list")["items"])


class Listener:
    """A stream of events from now on, including transient ones."""

    def __init__(self, person, types):
        self.person, self.types = person, list(types)

    def __enter__(self):
        self.link = Link(self.person.socket())
        self.link.call("events.subscribe", since="latest", types=self.types, ephemeral=True)
        return self

    def hears(self, test, seconds=30):
        """Waits for an event for which `test` holds. Returns whether one came."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            self.link.socket.settimeout(left)
            try:
                said = json.loads(self.link.lines.readline() or "null")
            except OSError:
                return False
            if not said:
                return False
            if said.get("method") == "event" and test(said["params"]):
                return True
        return False

    def __exit__(self, *failure):
        self.link.close()

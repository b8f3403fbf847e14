"""One node of a campaign: its home, its process, and calls on its control socket.

The process is a child of this one (`daemon run`), so the campaign can kill it and wait for it.
`wait` and `kill` only affect that child.
"""

import http.client
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

PROGRAM = os.environ.get("WSX_NODE", ".build/release/wsx-node")
SHIM = Path(__file__).resolve().parents[2] / ".build/campaigns/disk_shim.so"


def end_in_order():
    """Makes SIGTERM exit normally, so that the campaign stops its nodes."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))


class Refused(Exception):
    """An error answer; `kind` is as in docs/OPERATIONS.md."""

    def __init__(self, error):
        super().__init__(error.get("message"))
        self.error = error
        data = error.get("data") or {}
        self.kind, self.reason = data.get("kind", str(error.get("code"))), data.get("reason")


class Gone(Exception):
    """The node's process has ended, or does not answer."""


class Link:
    """A connection to a control socket, for one thread."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.settimeout(60)
        try:
            self.socket.connect(str(path))
        except OSError:
            self.socket.close()
            raise
        self.lines, self.number = self.socket.makefile("rwb"), 0

    def call(self, method, /, **parameters):
        """Returns the result. Raises Refused, or Gone if there is no answer. Skips events."""
        self.number += 1
        request = {"jsonrpc": "2.0", "id": self.number, "method": method, "params": parameters}
        try:
            self.lines.write(json.dumps(request).encode() + b"\n")
            self.lines.flush()
            while line := self.lines.readline():
                answer = json.loads(line)
                if answer.get("id") == self.number:
                    break
        except (OSError, ValueError) as error:
            raise Gone(f"{method}: {error}") from None
        if not line:
            raise Gone(f"{method}: no answer")
        if "error" in answer:
            raise Refused(answer["error"])
        return answer["result"]

    def close(self):
        try:
            self.lines.close()
        except OSError:
            pass
        self.socket.close()


class Node:
    """`root` is a folder with `home` and everything else the node writes. `before`: a command
    prefix, such as one that enters a namespace."""

    def __init__(self, root, name, before=()):
        self.root, self.name, self.before = Path(root), name, list(before)
        self.home, self.process, self.link = self.root / "home", None, None
        self.errors = self.root / "daemon.log"

    # The process

    def environment(self, journal=None, rules=None):
        kept = {k: v for k, v in os.environ.items() if not k.startswith(("WSX_", "LD_"))}
        if journal or rules:
            kept |= {"LD_PRELOAD": str(SHIM), "WSX_SHIM_ROOT": str(self.root)}
        if journal:
            kept["WSX_SHIM_JOURNAL"] = str(journal)
        if rules:
            kept["WSX_SHIM_RULES"] = str(rules)
        return kept

    def start(self, journal=None, rules=None, listen="127.0.0.1:0", wait=20):
        """Starts the node and waits until it answers. Raises Gone if it ends or is too slow."""
        words = [*self.before, PROGRAM, "--home", str(self.home), "daemon", "run",
                 "--announce", "off", "--listen", listen]
        with open(self.errors, "ab") as errors:
            self.process = subprocess.Popen(
                words, env=self.environment(journal, rules), stdin=subprocess.DEVNULL,
                stdout=errors, stderr=errors)
        end = time.monotonic() + wait
        while True:
            try:
                self.connect()
                return self
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise Gone(f"{self.name} does not start: {self.last_words()}") from None
                time.sleep(0.002)

    def last_words(self):
        said = self.errors.read_text(errors="replace").splitlines() if self.errors.exists() else []
        ended = self.process and self.process.poll()
        return f"status {ended}; {said[-1] if said else 'nothing said'}"

    def connect(self):
        self.disconnect()
        self.link = Link(self.home / "control.sock")

    def disconnect(self):
        if self.link:
            self.link.close()
        self.link = None

    def kill(self):
        """Sends SIGKILL: for the process, the same as a power cut."""
        self.disconnect()
        if self.process and self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        return self.process.wait() if self.process else None

    def stop(self, wait=30):
        """Stops the node cleanly. Returns the exit status; raises Gone if it does not end."""
        self.disconnect()
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(wait)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Gone(f"{self.name} did not end within {wait} s of SIGTERM") from None

    # Requests

    def call(self, method, /, **parameters):
        try:
            return self.link.call(method, **parameters)
        except Gone as gone:
            raise Gone(f"{self.name}: {gone}; {self.last_words()}") from None

    def cli(self, *words, journal=None, rules=None):
        """Runs a command. Returns (exit status, output)."""
        done = subprocess.run([PROGRAM, "--home", str(self.home), *words], text=True,
                              env=self.environment(journal, rules), capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=120)
        return done.returncode, done.stdout + done.stderr

    def screen(self, *words):
        """Runs a command on a terminal. Returns its output with whitespace collapsed."""
        ours, theirs = pty.openpty()
        process = subprocess.Popen([PROGRAM, "--home", str(self.home), "--no-input", *words],
                                   env=self.environment() | {"NO_COLOR": "1", "TERM": "dumb"},
                                   stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        said = b""
        try:
            while piece := os.read(ours, 65536):
                said += piece
        except OSError:
            pass  # The other end was closed.
        process.wait()
        os.close(ours)
        return " ".join(said.decode(errors="replace").split())

    def http(self, path):
        """Sends a GET to the control socket. Returns (status, text)."""
        link = http.client.HTTPConnection("x", timeout=20)
        link.sock = socket.socket(socket.AF_UNIX)
        link.sock.settimeout(20)
        link.sock.connect(str(self.home / "control.sock"))
        link.request("GET", path)
        reply = link.getresponse()
        text = reply.read().decode(errors="replace")
        link.close()
        return reply.status, text

    # What its user sees

    def found(self):
        """Creates the identity and the workspace."""
        self.call("identity.create", name=self.name)
        self.call("workspace.create", name="acme")

    def texts(self):
        """The texts of all shown messages in this person's conversations."""
        mine = self.call("channel.list")["items"] + self.call("dm.list")["items"]
        return [text for channel in sorted({c["id"] for c in mine})
                for text in self.texts_in(channel)]

    def texts_in(self, channel):
        page, seen = self.call("message.history", channel=channel, limit=100), []
        while True:
            seen += [m["text"] for m in page["items"] if m["deleted"] is None]
            if not page["older"]:
                return seen
            page = self.call("message.history", channel=channel, limit=100, before=page["older"])

    def digest(self):
        return [w["digest"] for w in self.call("node.status")["workspaces"]]

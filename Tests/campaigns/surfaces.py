"""Every place where a node reports its state, and whether all of them report a failed disk."""

import json
import socket

from node import Gone, Link, Refused

WORDS = "writing has stopped: the disk failed"
NEVER = "the network is suspended"


def surfaces(node):
    """Maps each place to (its text, whether it reports a problem)."""
    status = node.call("node.status")
    checked, _ = node.cli("status", "--check")
    health, text = node.http("/healthz")
    metrics = node.http("/metrics")[1]
    warned = [w["message"] for w in status["warnings"] if w["kind"] == "store.stopped"]
    failing = [f for f in node.call("node.doctor")["items"] if f["state"] == "fail"]
    return {
        "status": (" ".join(warned), bool(warned)),
        "status, printed": (node.cli("status")[1], True),
        "home screen": (node.screen(), True),
        "doctor": (" ".join(f["message"] for f in failing), bool(failing)),
        "status --check": (WORDS, checked != 0),
        # /healthz reports the kind of a problem, not its words.
        "/healthz": (WORDS if "store.stopped" in text else text, health == 503),
        "metrics": (WORDS, "\nwsx_writing_stopped 1\n" in metrics),
        "net status": (str(node.call("net.status")["failure"]), True),
        "net status, printed": (node.cli("net", "status")[1], True),
    }


def silent(node):
    """Returns the places that do not say that writing has stopped, or say something else."""
    problems = []
    try:
        for name, (text, is_bad) in surfaces(node).items():
            if WORDS not in text or not is_bad:
                problems.append(f"{name} does not say that writing has stopped")
            if NEVER in text:
                problems.append(f"{name} says that {NEVER}")
    except (Gone, Refused, OSError) as failure:
        problems.append(f"it does not report its state: {failure}")
    return problems


def warned(events):
    """Whether one of the events says that writing has stopped."""
    return any(e["type"] == "node.warning" and WORDS in str(e["data"]) for e in events)


class Stream:
    """An open event stream."""

    def __init__(self, node):
        self.node = node

    def __enter__(self):
        try:
            self.link = Link(self.node.home / "control.sock")
            self.link.call("events.subscribe", since="latest")
        except (OSError, Gone, Refused):
            self.link = None
        return self

    def events(self):
        """The events so far, or up to the one that says that writing has stopped."""
        seen = []
        if not self.link:
            return seen
        self.link.socket.settimeout(5)
        try:
            while line := self.link.lines.readline():
                said = json.loads(line)
                seen.append(said["params"])
                if warned(seen[-1:]):
                    break
        except (OSError, socket.timeout):
            pass
        return seen

    def __exit__(self, *failure):
        if self.link:
            self.link.close()

"""Constant load from two people on their nodes, and a ledger of the acknowledgements.

Each hand is a thread with its own connection. It records an acknowledgement in the ledger before
it goes on. A message that the dying node did not acknowledge is sent again later with the same key.
"""

import random
import threading
from collections import Counter

from node import Gone, Link, Refused


class Ledger:
    """For one channel: what was acknowledged, and what was requested without an answer."""

    def __init__(self, channel):
        self.channel, self.lock = channel, threading.Lock()
        self.said, self.gone, self.unsure, self.open = {}, set(), set(), {}

    def broken(self, texts, is_complete):
        """Compares what a node shows with the ledger. `is_complete`: it must have everything."""
        found, problems = Counter(texts), []
        for text, count in found.items():
            if count > 1:
                problems.append(f"{text!r} is shown {count} times")
            if text in self.gone:
                problems.append(f"{text!r} was deleted but is shown")
            if text not in self.said and text not in self.unsure and text not in self.open:
                problems.append(f"{text!r} is shown, but nobody wrote it")
        if is_complete:
            kept = set(self.said) - self.gone - self.unsure
            problems += [f"{text!r} is lost" for text in sorted(kept - set(found))]
        return problems


class Hand(threading.Thread):
    """Writes to one node until told to stop, or until the node is gone."""

    def __init__(self, node, number, ledger, seed):
        super().__init__(daemon=True)
        self.node, self.ledger, self.stops = node, ledger, threading.Event()
        self.chance, self.name = random.Random(seed), f"{node.name} {number} {seed}"
        self.count, self.refusals = 0, []

    def run(self):
        try:
            link = Link(self.node.home / "control.sock")
        except OSError:
            return
        try:
            while not self.stops.is_set():
                self.act(link)
        except Gone:
            pass
        except Refused as refused:
            if refused.kind != "stopping":
                self.refusals.append(f"{self.name}: {refused}")
        finally:
            link.close()

    def act(self, link):
        if self.chance.random() < 0.06 and self.count > 3:
            return self.delete(link)
        self.count += 1
        text = f"zebra {self.name} {self.count}"
        with self.ledger.lock:
            self.ledger.open[text] = self.node
        said = link.call("message.send", channel=self.ledger.channel, text=text, key=text)
        self.told(text, said)

    def told(self, text, said):
        with self.ledger.lock:
            self.ledger.said[text] = said["id"]
            self.ledger.open.pop(text)

    def delete(self, link):
        mine = f"zebra {self.name} {self.chance.randint(1, self.count)}"
        with self.ledger.lock:
            if mine not in self.ledger.said or mine in self.ledger.gone:
                return
            self.ledger.unsure.add(mine)
        link.call("message.delete", message=self.ledger.said[mine])
        with self.ledger.lock:
            self.ledger.gone.add(mine)


def repeat(ledger, node):
    """Sends again what this node did not answer. Returns the number of messages."""
    mine = [text for text, asked in ledger.open.items() if asked is node]
    for text in mine:
        said = node.call("message.send", channel=ledger.channel, text=text, key=text)
        ledger.said[text] = said["id"]
        ledger.open.pop(text)
    return len(mine)

"""Scenes of `make campaign-files` in networks of their own: homes that cannot reach each other and
somebody who is always on, and sources whose links are limited alike. They need root and `ip`."""

import shutil
import subprocess
import sys
import time
from pathlib import Path

from file_team import (MIB, Failed, Team, finish, know, links, mib, network_bytes, random_file,
                       save, send_files, until)

sys.path.append(str(Path(__file__).resolve().parents[1] / "trial"))
from lab import Lab  # noqa: E402
from people import Skipped  # noqa: E402,F401

EVERYWHERE = "0.0.0.0:0"
# What each source may send in a second, in Mbit: so little that nothing else is the limit.
RATE = 100


class Undone:
    """What a lab puts itself onto, to be undone at the end."""

    def __init__(self):
        self.undone = []

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        for step in self.undone[::-1]:
            step()


def carrier(options, base):
    """Two homes behind a translation of addresses each, and a third node that both can reach. What
    they send each other lies there; for the second file they are never on together."""
    with Undone() as stage:
        lab = Lab(stage, ["hub", "mina", "joon"], networks=3)
        translation = separate(lab)
        before = {name: lab.inside(name.lower()) for name in ("Hub", "Mina", "Joon")}
        team = Team(base, ["Hub", "Mina", "Joon"], before, EVERYWHERE)
        try:
            hub, mina, joon = team.gather(linked=False)
            hub.call("media.policy", kind="all", policy="always")
            apart(mina, joon, hub)
            times = [hand_over(team, options, base, mina, joon, hub)]
            joon.stop()
            times.append(hand_over(team, options, base, mina, joon, hub, is_off=True))
            apart(joon, hub)
            carried = network_bytes(hub, "out")
        finally:
            team.end()
    problems = [] if carried >= 2 * options.carried else [f"the third sent {mib(carried)} MiB"]
    return (f"twice {mib(options.carried)} MiB by a third node that is always on: in "
            f"{times[0]:.1f} s with both on, in {times[1]:.1f} s from the other's start where they "
            f"never were; {translation}"), problems


def separate(lab):
    """Puts each home into a network of its own, and the third node into another one. In words, what
    keeps the homes apart."""
    router = lab.inside("router")
    for network, machine in ((3, "hub"), (2, "joon")):
        lab.move(machine, network)
    for one, other in ((1, 2), (2, 1)):
        lab.on("router", "rule", "add", "from", f"10.{one}.0.0/24", "to", f"10.{other}.0.0/24",
               "prohibit")
    if not translate(router):
        return "no nft and no iptables here: no translation, but no way between the two"
    # Who is behind it cannot be dialed, not even by the third node.
    lab.on("hub", "route", "del", "default")
    return "addresses translated"


def translate(router):
    """Has the router put its own address in place of all that go out to the third network."""
    tries = {
        "nft": [["nft", "add table ip t"],
                ["nft", "add chain ip t out { type nat hook postrouting priority 100 ; }"],
                ["nft", 'add rule ip t out oifname "br3" masquerade']],
        "iptables": [["iptables", "-t", "nat", "-A", "POSTROUTING", "-o", "br3", "-j",
                      "MASQUERADE"]]}
    for program, commands in tries.items():
        if shutil.which(program) and all(
                subprocess.run([*router, *words], capture_output=True).returncode == 0
                for words in commands):
            return True
    return False


def apart(one, *others):
    """All that a node is linked to is the third one."""
    hub = others[-1]
    until(f"that {one.name} is linked to {hub.name}", lambda: links(one) >= 1)
    names = {peer["name"] for peer in one.call("peer.list")["items"]
             if peer["state"] == "connected"}
    if names != {hub.name}:
        raise Failed(f"{one.name} is linked to {sorted(names)}, not to {hub.name} alone")


def hand_over(team, options, base, author, reader, hub, is_off=False):
    """A file from one to the other. With `is_off` the author leaves before the reader comes. The
    seconds until the reader has it."""
    source = random_file(base / f"carried-{is_off}.bin", options.carried)
    start = time.monotonic()
    [blob] = send_files(author, [source])
    if is_off:
        know(hub, blob)
        finish(hub, blob)
        author.stop()
        start = time.monotonic()
        team.start(reader)
    know(reader, blob)
    reader.call("blob.fetch", blob=blob)
    finish(reader, blob)
    taken = time.monotonic() - start
    save(reader, blob, source)
    return taken


def limited(options, base):
    """The same reader, once with a file that one device has, once with a file that three have, over
    links that are limited alike."""
    names = ["Zoe", "Mina", "Joon", "Wim"]
    with Undone() as stage:
        lab = Lab(stage, [name.lower() for name in names])
        team = Team(base, names, {name: lab.inside(name.lower()) for name in names}, EVERYWHERE)
        try:
            zoe, *three = team.gather()
            times = {}
            files = {count: random_file(base / f"by-{count}.bin", options.limited)
                     for count in (1, 3)}
            blobs = {count: send_files(three[0], [path])[0] for count, path in files.items()}
            for node in three[1:]:
                know(node, blobs[3])
                node.call("blob.fetch", blob=blobs[3])
            for node in three[1:]:
                finish(node, blobs[3])
            limit(lab, three)
            for count, blob in blobs.items():
                know(zoe, blob)
                start = time.monotonic()
                zoe.call("blob.fetch", blob=blob)
                finish(zoe, blob)
                times[count] = time.monotonic() - start
                save(zoe, blob, files[count])
        finally:
            team.end()
    ratio = times[1] / times[3]
    problems = [] if ratio >= 2.5 else [f"three are {ratio:.2f} times as fast as one, not 2.5"]
    return (f"{mib(options.limited)} MiB over links of {RATE} Mbit/s: {times[1]:.1f} s from one, "
            f"{times[3]:.1f} s from three, {ratio:.2f} times as fast"), problems


def limit(lab, nodes):
    for node in nodes:
        words = ["qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{RATE}mbit", "burst",
                 "256kb", "latency", "100ms"]
        done = subprocess.run(["tc", "-n", lab.name(node.name.lower()), *words],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(f"this machine limits no links: {done.stderr.strip()}")


def size(options):
    """What goes over slow and far links is not as large as all the rest."""
    options.carried = min(options.bytes, 256 * MIB)
    options.limited = min(options.bytes, 128 * MIB)

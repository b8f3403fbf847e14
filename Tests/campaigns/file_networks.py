"""Scenes of `make campaign-files` in private networks: two homes that can only reach a third node
that is always on, and sources whose links are rate-limited. They need root and `ip`."""

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
# Upload limit of each source in Mbit/s: low enough to be the only bottleneck.
RATE = 100


class Undone:
    """The clean-up steps of a lab, run at the end in reverse order."""

    def __init__(self):
        self.undone = []

    def __enter__(self):
        return self

    def __exit__(self, *failure):
        for step in self.undone[::-1]:
            step()


def carrier(options, base):
    """Two homes, each behind NAT, and a third node that both can reach, which relays their files.
    For the second file, the two are never online at the same time."""
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
    problems = [] if carried >= 2 * options.carried else [f"the hub only sent {mib(carried)} MiB"]
    return (f"twice {mib(options.carried)} MiB through a third node that is always on: "
            f"{times[0]:.1f} s with both online, {times[1]:.1f} s after the reader's start "
            f"otherwise; {translation}"), problems


def separate(lab):
    """Puts the two homes and the third node into separate networks. Returns a description of what
    keeps the homes apart."""
    router = lab.inside("router")
    for network, machine in ((3, "hub"), (2, "joon")):
        lab.move(machine, network)
    for one, other in ((1, 2), (2, 1)):
        lab.on("router", "rule", "add", "from", f"10.{one}.0.0/24", "to", f"10.{other}.0.0/24",
               "prohibit")
    if not translate(router):
        return "no NAT (neither nft nor iptables here), but no route between the two"
    # Nobody can dial a node behind NAT, not even the third node.
    lab.on("hub", "route", "del", "default")
    return "NAT"


def translate(router):
    """Makes the router masquerade what goes out to the third network. Returns whether it could."""
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
    """Expects that a node is linked to the third node only."""
    hub = others[-1]
    until(f"{one.name} to be linked to {hub.name}", lambda: links(one) >= 1)
    names = {peer["name"] for peer in one.call("peer.list")["items"]
             if peer["state"] == "connected"}
    if names != {hub.name}:
        raise Failed(f"{one.name} is linked to {sorted(names)}, not to {hub.name} alone")


def hand_over(team, options, base, author, reader, hub, is_off=False):
    """Sends a file from author to reader. With `is_off`, the author stops before the reader starts.
    Returns the seconds until the reader has it."""
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
    """One reader fetches a file that one device has and a file that three have, over links with the
    same limit."""
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
    problems = [] if ratio >= 2.5 else [f"three are only {ratio:.2f} times as fast as one, not 2.5"]
    return (f"{mib(options.limited)} MiB over links of {RATE} Mbit/s: {times[1]:.1f} s from one, "
            f"{times[3]:.1f} s from three, {ratio:.2f} times as fast"), problems


def limit(lab, nodes):
    for node in nodes:
        words = ["qdisc", "add", "dev", "eth0", "root", "tbf", "rate", f"{RATE}mbit", "burst",
                 "256kb", "latency", "100ms"]
        done = subprocess.run(["tc", "-n", lab.name(node.name.lower()), *words],
                              capture_output=True, text=True)
        if done.returncode != 0:
            raise Skipped(f"cannot limit links here: {done.stderr.strip()}")


def size(options):
    """Caps the size of the files that travel over the slow links."""
    options.carried = min(options.bytes, 256 * MIB)
    options.limited = min(options.bytes, 128 * MIB)

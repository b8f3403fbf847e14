"""The target of an attack: a running node with its home, invite links, and ways to inspect it.

The node is already running. WSX_NODE is the program for commands of a person at that node.
"""

import contextlib
import json
import os
import socket
import sqlite3
import struct
import subprocess
import time
from pathlib import Path

import writer
from authority import Authority
from bindings import FOR_JOINING, proof
from foreign import CLOSED, CODES, Copy, Visitor
from intruder import Attacker
from notation import VERSION, base32
from protocol import Invite


class Stage:
    """`links` maps names such as member, guest, many, look or approve. `home` is the node's."""

    def __init__(self, home, links, device_link=None, may_restart=False):
        self.home, self.links, self.device_link = home, links, device_link
        self.may_restart, self.found, self.lines = may_restart, [], []

    def note(self, line):
        self.lines.append(line)
        print(f"    {line}", flush=True)

    def broken(self, line):
        """Reports that the attacker reached something forbidden."""
        self.found.append(line)
        print(f"    REACHED: {line}", flush=True)

    def judge(self, reached, what, refused="refused"):
        if reached:
            self.broken(what)
        else:
            self.note(f"{what}: {refused}")

    # As a person at the node

    def cli(self, *words):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WSX_NODE_")}
        done = subprocess.run([os.environ["WSX_NODE"], "--home", self.home, *words, "--json"],
                              env=environment, text=True, capture_output=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"wsx-node {' '.join(words)}: {done.stderr.strip()}")
        return [json.loads(line) for line in done.stdout.splitlines() if line.strip()]

    def members(self):
        return {m["id"]: m for m in self.cli("member", "list")}

    def owner(self):
        return next((m for m in self.members().values() if m["role"] == "owner"), None)

    def devices_of(self, member):
        return {d["id"] for d in self.cli("device", "list", "--member", shown(member, "u_"))}

    def removes(self, attacker):
        """The owner removes the attacker, even if not all of its operations have arrived."""
        self.cli("member", "remove", shown(attacker.member, "u_"), "--force")

    # The node's store and resources

    def pid(self):
        with socket.socket(socket.AF_UNIX) as link:
            link.connect(str(Path(self.home) / "control.sock"))
            said = link.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        return struct.unpack("3i", said)[0]

    def usage(self):
        """Returns (resident KiB, KiB in the home, ms of CPU time).

        Ignores pages of the program file: about 5 MiB are mapped with the first operations, and the
        kernel can drop them at any time."""
        pid = self.pid()
        status = Path(f"/proc/{pid}/status").read_text()
        resident = sum(int(status.split(f"{part}:")[1].split()[0])
                       for part in ("RssAnon", "RssShmem"))
        times = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        disk = sum(f.stat().st_size for f in Path(self.home).rglob("*") if f.is_file())
        return resident, disk // 1024, (int(times[11]) + int(times[12])) * 10

    def call_ms(self):
        """The time of a local call in ms, including the start of the program."""
        start = time.monotonic()
        self.cli("status")
        return int((time.monotonic() - start) * 1000)

    # As a stranger

    def look(self):
        """The authority document, as a newcomer with a fresh device gets it."""
        invite = Invite.read(self.links["look"])
        try:
            visitor = Visitor(invite.hints[0], invite.psk, writer.Device(), Copy(), "127.0.0.9")
            code = visitor.knock(invite)
            visitor.close()
        except CLOSED:
            code = None
        assert code == 0, f"the node rejects a newcomer: {code and CODES[code]}"
        return visitor.copy

    def verdicts(self):
        return Authority(list(self.look().ops.values()))

    def join(self, link="member", device=None, recovery=None, source="127.0.0.2"):
        """Joins correctly as a new attacker."""
        attacker = Attacker(self.links[link], device, source)
        code = attacker.join(recovery)
        assert code == 1, f"not admitted by {link}: {code and CODES[code]}"
        attacker.visitor.settle(0.3)
        return attacker

    # As an attacker

    def joins(self, attacker, link, member, devices, end=None, device=None):
        """Sends join2 with any list over a new link. Returns the answer, or how the link ended.
        `devices` are entries, or devices that sign for this list."""
        for _ in range(6):
            said = self.joins_once(attacker, link, member, devices, end, device)
            if said != "busy":
                break
            time.sleep(1)
        return said

    def joins_once(self, attacker, link, member, devices, end, device):
        invite = Invite.read(self.links[link])
        visitor, code = attacker.visit(device or writer.Device(), invite)
        try:
            if code != 0:
                return code and CODES[code]
            on = attacker.on(invite)
            listed = signed_list(devices, visitor.workspace, on.id, visitor.answerer, member)
            proven = invite.key.sign(proof(visitor.workspace, on.id, member, listed))
            code = visitor.join2(on.id, member, listed, proven, end)
            return CODES[code] if code is not None else visitor.ended
        finally:
            visitor.close()

    def says(self, attacker, said, grant=None, device=None, after=..., deps=None, settle=0.3):
        """Writes and pushes an authority operation. Returns it, and how the link reacted."""
        device = device or attacker.device
        o = device.write(attacker.copy.root.id, *said, grant or attacker.grant,
                         deps if deps is not None else attacker.copy.heads(),
                         int(time.time() * 1000), after)
        return o, self.pushes(attacker, [o], settle)

    def pushes(self, attacker, operations, settle=0.3):
        v = attacker.visitor
        if v is None or v.ended:
            self.again(attacker)
            v = attacker.visitor
        v.push(operations)
        v.settle(settle)
        return v.ended or "no answer"

    def again(self, attacker):
        """Opens a new link for a current or former member."""
        for _ in range(15):
            try:
                attacker.enter()
                return
            except (EOFError, ConnectionError, socket.timeout):
                time.sleep(2)
        raise AssertionError("the node no longer answers this host")

    def judge_fault(self, o, what):
        """From version 2 on, no node stores an operation with a fault."""
        held = self.is_stored(o)
        if VERSION == 1:
            self.note(f"{what}: {'stored' if held else 'not stored'}")
        else:
            self.judge(held, f"{what} is stored", "not stored")

    def control(self, attacker):
        """Checks that a correct operation is accepted; otherwise no result here means anything."""
        new, root = writer.Device(), attacker.copy.root
        listed = writer.for_linking(new, root.id, attacker.device.id, attacker.member)
        o, way = self.says(attacker, writer.adddev(listed, root.map[4]), after=None)
        self.judge(not self.is_held(o), f"a correct adddev ({way}) is not accepted", "it is")

    def is_stored(self, o):
        """Whether the node's store has an operation, whether or not it shows it to others."""
        path = f"file:{Path(self.home) / 'node.db'}?mode=ro"
        with contextlib.closing(sqlite3.connect(path, uri=True)) as store:
            found = store.execute("SELECT 1 FROM operation WHERE id = ?", (o.id,)).fetchone()
        return found is not None

    def is_held(self, o):
        """Whether a newcomer gets an operation; None if a newcomer gets nothing."""
        try:
            return o.id in self.look().ops
        except AssertionError:
            return None

    def restart(self):
        """Restarts the node. Returns the ms until it serves again, or None if not allowed."""
        if not self.may_restart:
            return None
        self.cli("down")
        start = time.monotonic()
        self.cli("up", "--announce", "off")
        return int((time.monotonic() - start) * 1000)


def signed_list(devices, workspace, invite, answerer, member):
    """Signs a list: entries stay as they are, a Device signs for this list."""
    pairs = [[d.id, d.box] if isinstance(d, writer.Device) else d for d in devices]
    listed = []
    for d in devices:
        if not isinstance(d, writer.Device):
            listed.append(d)
        elif VERSION == 1:
            listed.append([d.id, d.box, d.key.sign(writer.old_signature(workspace, member, d.box))])
        else:
            text = writer.consent(FOR_JOINING, workspace, invite, answerer, member, pairs)
            listed.append([d.id, d.box, d.key.sign(text)])
    return listed


def shown(name, prefix):
    return prefix + base32(name[:16])


"""A private lab network: a namespace for each machine, and a router with local networks.

Needs root and the program `ip`; some containers do not allow it even then.
"""

import os
import shutil
import subprocess

from stage import Skipped


class Lab:
    """Machines that all start in the first network: the second at 10.1.0.3, and so on. `networks`
    is the number of networks."""

    def __init__(self, stage, machines, networks=2):
        if os.geteuid() != 0 or not shutil.which("ip"):
            raise Skipped("network namespaces need root and the program 'ip'")
        self.prefix, self.machines = f"wsxt{os.getpid()}", machines
        self.networks = range(1, networks + 1)
        stage.undone.append(self.tear_down)
        try:
            self.build()
        except subprocess.CalledProcessError as failure:
            raise Skipped(f"cannot create network namespaces here: "
                          f"{' '.join(failure.cmd)}: {failure.stderr.strip()}") from None

    def build(self):
        self.ip("netns", "add", self.name("router"))
        self.on("router", "link", "set", "lo", "up")
        for network in self.networks:
            self.on("router", "link", "add", f"br{network}", "type", "bridge")
            self.on("router", "link", "set", f"br{network}", "up")
            self.on("router", "addr", "add", f"10.{network}.0.1/24", "dev", f"br{network}")
        self.ip("netns", "exec", self.name("router"), "sysctl", "-qw", "net.ipv4.ip_forward=1")
        for number, machine in enumerate(self.machines):
            self.ip("netns", "add", self.name(machine))
            self.on(machine, "link", "set", "lo", "up")
            self.on("router", "link", "add", f"v{number}", "type", "veth", "peer", "name", "eth0",
                    "netns", self.name(machine))
            self.on("router", "link", "set", f"v{number}", "master", "br1", "up")
            self.on(machine, "link", "set", "eth0", "up")
            self.give(machine, number, 1)

    def tear_down(self):
        for machine in [*self.machines, "router"]:
            subprocess.run(["ip", "netns", "del", self.name(machine)], capture_output=True)

    def inside(self, machine):
        """The command prefix that runs a program on a machine."""
        return ["ip", "netns", "exec", self.name(machine)]

    def move(self, machine, network):
        """Moves the machine to another network, with an address and a default route there."""
        number = self.machines.index(machine)
        self.on("router", "link", "set", f"v{number}", "nomaster")
        self.on(machine, "addr", "flush", "dev", "eth0", "scope", "global")
        self.on("router", "link", "set", f"v{number}", "master", f"br{network}")
        self.give(machine, number, network)

    def give(self, machine, number, network):
        self.on(machine, "addr", "add", f"10.{network}.0.{number + 2}/24", "dev", "eth0")
        self.on(machine, "route", "add", "default", "via", f"10.{network}.0.1")

    def name(self, machine):
        return self.prefix + machine

    def on(self, machine, *words):
        self.ip("-n", self.name(machine), *words)

    @staticmethod
    def ip(*words):
        subprocess.run(["ip", *words], check=True, capture_output=True, text=True)

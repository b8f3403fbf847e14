"""Machines with a wrong clock, in a workspace with two that agree."""

import shutil
import subprocess
from pathlib import Path

from stage import Skipped

SHOWS = "wrong clocks: the machine with the wrong clock warns, and messages keep a sensible order"
HOURS = 3600


def play(stage):
    shim = build(stage)
    mina, sora = stage.person("Mina"), stage.person("Sora")
    mina.founds()
    sora.joins(mina)
    order = []
    for name, hours, side in (("Ahead", 5, "ahead of"), ("Behind", -50, "behind")):
        wrong(stage, shim, mina, sora, name, hours, side, order)


def build(stage):
    """Builds a library that shifts the clock of one process, as `faketime` does."""
    if not shutil.which("gcc"):
        raise Skipped("a wrong clock needs gcc")
    shim = stage.folder / "clock_shim.so"
    subprocess.run(["gcc", "-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-shared", "-fPIC",
                    "-o", str(shim), str(Path(__file__).with_name("clock_shim.c"))], check=True)
    return shim


def wrong(stage, shim, mina, sora, name, hours, side, order):
    link, person = mina.invites(), stage.person(name)
    person.daemon(extra={"LD_PRELOAD": str(shim), "WSX_CLOCK_SECONDS": str(hours * HOURS)})
    came = person.run("join", link, "--name", name, "--timeout", "60s")
    if not stage.expect(f"someone whose clock is {hours} h off to join", came.status == 0,
                        came.said):
        return
    stage.need(f"two links of {name}", lambda: person.linked() == 2)
    stage.until(f"the earlier messages at {name}'s, in the order they were written", person.texts,
                10, wanted=order)
    talk(stage, (mina, sora, person), order)
    warned(stage, mina, person, name, side)
    person.does("down")


def talk(stage, people, order):
    """People take turns, so each author has seen the previous messages. Only the end of the channel
    is compared: earlier messages were compared when the person joined."""
    mina, sora, person = people
    said = []
    for author in (mina, person, sora, person, mina):
        said.append(f"{len(order) + len(said)} by {author.name}")
        author.does("send", "general", said[-1])
        for reader in people:
            stage.until(f"the messages at {reader.name}'s, in the order they were written",
                        lambda: reader.texts()[-len(said):], 10, wanted=said)
    order += said


def warned(stage, mina, person, name, side):
    kinds = [w["kind"] for w in person.call("node.status")["warnings"]]
    stage.expect("the warning 'clock.wrong' on the machine with the wrong clock",
                 "clock.wrong" in kinds, kinds)
    home = person.terminal()
    stage.ends(home)
    stage.shows(home, "this clock is wrong: it shows")
    stage.shows(home, "next: set the clock: timedatectl set-ntp true")
    status = person.run("status").out
    stage.expect(f"'{side} 2 peers that agree' in 'status'",
                 f"{side} 2 peers that agree" in " ".join(status.split()), status)
    at_minas = [w["kind"] for w in mina.call("node.status")["warnings"]]
    stage.expect("no such warning on a machine with the right clock",
                 not [kind for kind in at_minas if kind.startswith("clock")], at_minas)
    found = [f["message"] for f in mina.call("node.doctor")["items"]
             if f["id"] == "clock" and f["state"] == "warn" and name in f["message"]]
    stage.expect(f"Mina's 'doctor' to name {name}", found, "no such finding")

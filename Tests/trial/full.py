"""A disk that fills up, and then has room again."""

import os
import shutil
import subprocess

from stage import Gone, Refused, Skipped

SHOWS = "a full disk: sending fails with the right error, and everything else keeps working"
READS = {"node.status": {}, "channel.list": {}, "message.history": {"channel": "general"},
         "search": {"query": "before"}}


def play(stage):
    disk = mount(stage)
    mina, joon = stage.person("Mina", disk / "mina"), stage.person("Joon")
    mina.founds()
    joon.joins(mina)
    mina.does("send", "general", "before")
    stage.need("the message to reach Joon", lambda: joon.texts() == ["before"])
    stage.need("the message in the index", lambda: mina.call("search", query="before")["items"])
    filler = fill(disk)
    refused(stage, mina)
    sent = reading(stage, mina, joon)
    filler.unlink()
    goes_on(stage, mina, joon, sent)


def mount(stage):
    """Mounts a small disk in memory, so that filling it harms nobody else."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        raise Skipped("a small disk needs root and the program 'mount'")
    disk = stage.folder / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", str(disk)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped(f"cannot mount a small disk here: {done.stderr.strip()}")
    stage.undone.append(lambda: subprocess.run(["umount", str(disk)], capture_output=True))
    return disk


def fill(disk):
    """Fills the disk to the last byte."""
    filler = disk / "filler"
    with open(filler, "wb", buffering=0) as file:
        for size in (1 << 16, 512, 1):
            try:
                while file.write(b"x" * size):
                    pass
            except OSError:
                continue
    return filler


def refused(stage, mina):
    for text in ("no room, " + "y" * 4000, "nor for this"):
        sent = mina.run("send", "general", text, "--json")
        stage.expect("sending to fail with 'storage_full'",
                     sent.status == 1 and sent.error == "storage_full", sent.said)
    sent = mina.run("send", "general", "nor for this")
    stage.expect("an error that says so, and what to do", "the disk is full" in sent.errors
                 and "free some space" in sent.errors, sent.said)
    stage.expect("the node to still run", mina.pid(), "no process")
    doctor = stage.until("a failed check in 'doctor'", lambda: [
        f["message"] for f in mina.call("node.doctor")["items"] if f["state"] == "fail"])
    stage.expect("that failed check to be about the full disk", "full" in str(doctor), doctor)


def reading(stage, mina, joon):
    """Reading causes no write errors, even while messages from others arrive."""
    came, sent = [], [f"meanwhile {number}" for number in range(40)]
    for text in sent:
        joon.does("send", "general", text)
        for method, given in READS.items():
            try:
                mina.call(method, **given)
            except Refused as error:
                came.append(f"{method}: {error.kind}")
            except (Gone, OSError) as error:
                came.append(f"{method}: {error}")
    counts = ", ".join(f"{came.count(each)} x {each}" for each in sorted(set(came)))
    stage.expect(f"an answer to each of 40 calls of {', '.join(READS)}", not came, counts)
    return sent


def goes_on(stage, mina, joon, sent):
    stage.until("sending to work again by itself once there is room",
                lambda: mina.run("send", "general", "after").status == 0)
    wanted = sorted(["before", "after", *sent])
    for person in (mina, joon):
        stage.until(f"all messages, and none of the refused ones, at {person.name}'s",
                    lambda: sorted(person.texts()), wanted=wanted)
    check = mina.run("check")
    stage.expect("an undamaged store", check.status == 0 and "0 problems" in check.out,
                 check.said)

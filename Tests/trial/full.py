"""A disk that is full, and has room again."""

import os
import shutil
import subprocess

from stage import Gone, Refused, Skipped

SHOWS = "a full disk: sends are refused with the right error, and everything else goes on"
READS = {"node.status": {}, "channel.list": {}, "message.history": {"channel": "general"},
         "search": {"query": "before"}}


def play(stage):
    disk = mount(stage)
    mina, joon = stage.person("Mina", disk / "mina"), stage.person("Joon")
    mina.founds()
    joon.joins(mina)
    mina.does("send", "general", "before")
    stage.need("the message at Joon's", lambda: joon.texts() == ["before"])
    stage.need("the message in the index", lambda: mina.call("search", query="before")["items"])
    filler = fill(disk)
    refused(stage, mina)
    sent = reading(stage, mina, joon)
    filler.unlink()
    goes_on(stage, mina, joon, sent)


def mount(stage):
    """A small disk in memory, which fills up without filling another's."""
    if os.geteuid() != 0 or not shutil.which("mount"):
        raise Skipped("a small disk needs root and the program 'mount'")
    disk = stage.folder / "disk"
    disk.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=48m", "none", str(disk)],
                          capture_output=True, text=True)
    if done.returncode != 0:
        raise Skipped(f"this machine mounts no small disk: {done.stderr.strip()}")
    stage.undone.append(lambda: subprocess.run(["umount", str(disk)], capture_output=True))
    return disk


def fill(disk):
    """Takes all the room that there is, to the last byte."""
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
        stage.expect("that a message is refused with 'storage_full'",
                     sent.status == 1 and sent.error == "storage_full", sent.said)
    sent = mina.run("send", "general", "nor for this")
    stage.expect("words that say so, and what to do", "the disk is full" in sent.errors
                 and "free some space" in sent.errors, sent.said)
    stage.expect("that the node still runs", mina.pid(), "no process")
    doctor = stage.until("a finding of 'doctor'", lambda: [
        f["message"] for f in mina.call("node.doctor")["items"] if f["state"] == "fail"])
    stage.expect("that the finding is the full disk", "full" in str(doctor), doctor)


def reading(stage, mina, joon):
    """Who only looks is not told that nothing can be written, though others write meanwhile."""
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
    stage.until("that a message is taken by itself once there is room",
                lambda: mina.run("send", "general", "after").status == 0)
    wanted = sorted(["before", "after", *sent])
    for person in (mina, joon):
        stage.until(f"all messages, and none that was refused, at {person.name}'s",
                    lambda: sorted(person.texts()), wanted=wanted)
    check = mina.run("check")
    stage.expect("a store without damage", check.status == 0 and "0 problems" in check.out,
                 check.said)

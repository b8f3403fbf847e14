"""Scenes of `make campaign-files` on loopback: two homes that are killed, sources that lie or
leave, and very many small files. Each is a function of the options and a folder, and returns a
line of results and a list of problems."""

import time

from file_team import (MEMORY_MAX, MIB, UNCLAIMED_MAX, Failed, Memory, Moved, Team, chunk_file,
                       finish, follow, know, mib, network_bytes, random_file, save, send_files,
                       until)
from node import Gone

KILLS = 5


def killed(options, base):
    """One large file, while reader and author are killed in turn. It is requested only once."""
    team = Team(base, ["Mina", "Joon"])
    try:
        mina, joon = team.gather()
        source = random_file(base / "large.bin", options.bytes)
        memory = Memory(team.nodes)
        [blob] = send_files(mina, [source])
        know(joon, blob)
        moved, start = Moved(mina, joon), time.monotonic()
        joon.call("blob.fetch", blob=blob)
        kills = 0
        for number in range(KILLS):
            # A killed reader loses the bytes not yet recorded as safe, and resumes from the rest.
            if follow(joon, blob, to=options.bytes * (number + 1) // (KILLS + 1))["complete"]:
                break
            victim = (joon, mina)[number % 2]
            victim.kill()
            moved.killed(victim)
            kills += 1
            team.start(victim)
        finish(joon, blob)
        taken = time.monotonic() - start
        moved.survived(joon)
        save(joon, blob, source)
        over = memory.end()
    finally:
        team.end()
    allowed = int(1.02 * options.bytes) + kills * UNCLAIMED_MAX
    problems = []
    if kills < KILLS:
        problems.append(f"complete after {kills} of {KILLS} kills: use a larger file")
    if moved.byte_count > allowed:
        problems.append(f"{mib(moved.byte_count)} MiB moved, more than {mib(allowed)}")
    if max(over) > MEMORY_MAX:
        problems.append(f"{mib(max(over))} MiB more memory than idle, above {mib(MEMORY_MAX)}")
    return (f"{mib(options.bytes)} MiB in {taken:.1f} s over {kills} kills, "
            f"{mib(moved.byte_count)} MiB moved (limit {mib(allowed)}), memory above idle "
            f"{mib(over[0])} and {mib(over[1])} MiB (limit {mib(MEMORY_MAX)})"), problems


def sources(options, base):
    """A file from three devices: one has flipped bits on its disk, and one leaves."""
    team = Team(base, ["Mina", "Joon", "Wim", "Zoe"])
    try:
        mina, joon, wim, zoe = team.gather()
        source = random_file(base / "large.bin", options.bytes)
        [blob] = send_files(mina, [source])
        for node in (joon, wim):
            know(node, blob)
            node.call("blob.fetch", blob=blob)
        for node in (joon, wim):
            finish(node, blob)
        know(zoe, blob)
        joon.stop()
        flipped = flip(chunk_file(joon, options.bytes), options.bytes)
        team.start(joon)
        until("Zoe to be linked to all three", lambda: len(linked_names(zoe)) == 3)
        before = {node: network_bytes(node, "out") for node in (mina, joon, wim)}
        start = time.monotonic()
        zoe.call("blob.fetch", blob=blob)
        half = follow(zoe, blob, to=options.bytes // 3)
        sent = {wim: network_bytes(wim, "out") - before[wim]}
        wim.kill()
        finish(zoe, blob)
        taken = time.monotonic() - start
        sent |= {node: network_bytes(node, "out") - before[node] for node in (mina, joon)}
        save(zoe, blob, source)
    finally:
        team.end()
    problems = []
    if half["complete"]:
        problems.append("complete before anyone left: use a larger file")
    for node, what in ((joon, "flips bits"), (wim, "leaves")):
        if sent[node] < MIB // 4:
            problems.append(f"nothing was requested from {node.name}, who {what}")
    return (f"{mib(options.bytes)} MiB in {taken:.1f} s: {mib(sent[joon])} MiB from the device "
            f"with {flipped} flipped bits, {mib(sent[wim])} from the one that left, "
            f"{mib(sent[mina])} from the third"), problems


def linked_names(node):
    return {peer["name"] for peer in node.call("peer.list")["items"]
            if peer["state"] == "connected"}


def flip(path, byte_count):
    """Flips a bit in every 256 KiB except the first eight, so that the device is trusted at first.
    Returns the number of flipped bits."""
    places = range(8 * (MIB // 4) + 77, byte_count, MIB // 4)
    with open(path, "r+b") as file:
        for place in places:
            file.seek(place)
            byte = file.read(1)
            file.seek(place)
            file.write(bytes([byte[0] ^ 1]))
    return len(places)


def many(options, base):
    """Many small files, five per message, to a node that fetches all files automatically."""
    team = Team(base, ["Mina", "Joon"])
    try:
        mina, joon = team.gather()
        joon.call("media.policy", kind="all", policy="always")
        folder = base / "small"
        folder.mkdir()
        size = options.file_kib * 1024
        paths = [random_file(folder / f"{number}.bin", size) for number in range(options.files)]
        memory, start, ids = Memory(team.nodes), time.monotonic(), []
        for first in range(0, len(paths), 5):
            ids += send_files(mina, paths[first:first + 5])
        put = time.monotonic() - start
        wait_for_all(joon, ids)
        taken = time.monotonic() - start
        over = memory.end()
        for blob, path in zip(ids, paths):
            save(joon, blob, path)
    finally:
        team.end()
    problems = []
    if max(over) > MEMORY_MAX:
        problems.append(f"{mib(max(over))} MiB more memory than idle, above {mib(MEMORY_MAX)}")
    return (f"{len(ids)} files of {options.file_kib} KiB, all intact: added and sent in "
            f"{put:.1f} s, all received after {taken:.1f} s, {len(ids) / taken:.0f} per second, "
            f"memory above idle {mib(over[0])} and {mib(over[1])} MiB"), problems


def wait_for_all(node, ids):
    """Waits for the files one by one; the time limit starts again with each."""
    for number, blob in enumerate(ids):
        def is_there():
            try:
                return know(node, blob)["complete"]
            except Gone as gone:
                raise Failed(str(gone)) from None
        until(f"file {number + 1} of {len(ids)} at {node.name}", is_there, 120)

#!/usr/bin/env python3
"""Plays common user scenarios once with the real program: `make trial`.

Each scene is a file in this folder with `SHOWS`, a line that says what it shows, and
`play(stage)`. Name scenes as arguments to play only those. `TRANSCRIPT=1` prints each command and
its output. A failure prints `FAILED: expected …; got …`, and the trial exits with status 1.
"""

import importlib
import os
import shutil
import signal
import sys
import tempfile
import time
import traceback
from pathlib import Path

from stage import PROGRAM, Broken, Skipped, Stage, say

SCENES = ("found", "invite", "chat", "partition", "roaming", "lost", "restore", "full", "clock",
          "many")


def play(name, folder):
    """Plays one scene. Returns "ok", "FAILED" or "SKIPPED"."""
    scene = importlib.import_module(name)
    say(f"{name}: {scene.SHOWS}")
    folder.mkdir()
    stage, start, verdict = Stage(folder), time.monotonic(), "ok"
    try:
        scene.play(stage)
    except Skipped as reason:
        verdict = "SKIPPED"
        say(f"  SKIPPED: {reason}")
    except Broken as broken:
        if broken.args:
            stage.fail(*broken.args)
    except Exception as failure:
        place = traceback.extract_tb(failure.__traceback__)[-1]
        stage.fail("no error in the scene",
                   f"{type(failure).__name__}: {failure} ({place.name}, line {place.lineno})")
    finally:
        stage.tear_down()
    verdict = "FAILED" if stage.failures else verdict
    say(f"  {verdict}  {time.monotonic() - start:.1f} s")
    return verdict


def main(wanted):
    for name in wanted:
        if name not in SCENES:
            sys.exit(f"trial: no scene '{name}'; the scenes are {', '.join(SCENES)}")
    if not os.access(PROGRAM, os.X_OK):
        sys.exit(f"trial: {PROGRAM} not found; run 'make build', or set WSX_NODE")
    # On SIGTERM, clean up too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    folder = Path(tempfile.mkdtemp(prefix="wsx-trial."))
    try:
        verdicts = {name: play(name, folder / name) for name in wanted or SCENES}
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    for verdict in ("SKIPPED", "FAILED"):
        names = [name for name, each in verdicts.items() if each == verdict]
        if names:
            say(f"trial: {verdict}: {', '.join(names)}")
    say(f"trial: {list(verdicts.values()).count('ok')} of {len(verdicts)} scenes are ok")
    return 1 if "FAILED" in verdicts.values() else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""The stage of a scene: its folder, its people, and its failed expectations.

At the end of a scene, every process that it started is ended by its process id.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

from people import LOOPBACK, PROGRAM, Broken, Gone, Person, Refused, Skipped  # noqa: F401


def say(line):
    """Prints a line. The reader may be gone; cleaning up must go on all the same."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class Stage:
    """One scene: its folder, its people, and its failures."""

    def __init__(self, folder):
        self.folder, self.failures = folder, []
        self.people, self.terminals, self.undone = [], [], []

    def note(self, text):
        """Adds a step to the transcript."""
        if os.environ.get("TRANSCRIPT"):
            say("    " + text.replace("\n", "\n    "))

    def person(self, name, folder=None, plain=False):
        self.people.append(Person(self, name, folder, plain))
        return self.people[-1]

    def fail(self, expected, came):
        self.failures.append(f"expected {expected}; got {came}")
        say(f"  FAILED: {self.failures[-1]}")

    def expect(self, expected, holds, came=""):
        """Records a failure if `holds` is false, and continues."""
        if not holds:
            self.fail(expected, came or "something else")
        return bool(holds)

    def until(self, expected, test, seconds=30, wanted=None):
        """Waits until `test()` returns `wanted` (default: anything true), and returns that value.
        On a timeout, records a failure with the last value and returns None."""
        end = time.monotonic() + seconds
        while True:
            try:
                found = test()
                if found if wanted is None else found == wanted:
                    return found
                came = repr(found)[-400:]
            except (OSError, Gone, Refused) as failure:
                came = str(failure)
            if time.monotonic() > end:
                self.fail(expected, f"{came} after {seconds} s")
                return None
            time.sleep(0.03)

    def need(self, expected, test, seconds=30):
        """Like `until`, but a timeout ends the scene."""
        found = self.until(expected, test, seconds)
        if not found:
            raise Broken
        return found

    def shows(self, terminal, text, why=None, seconds=30):
        """Expects that a terminal shows a text in time."""
        return self.expect(f"{why or ''} {text!r} on the terminal".strip(),
                           terminal.shows(text, seconds), repr(terminal.text[-900:]))

    def ends(self, terminal, status=0):
        """Expects that the program on a terminal ends with this status."""
        came = terminal.end()
        return self.expect(f"exit status {status}", came == status,
                           f"{came}: {terminal.text[-400:]!r}")

    def tear_down(self):
        """Ends every process by its id, and undoes what the scene set up."""
        steps = [terminal.close for terminal in self.terminals]
        steps += [person.stop for person in self.people] + self.undone[::-1]
        for step in steps:
            try:
                step()
            except (OSError, subprocess.SubprocessError) as failure:
                self.fail("a complete cleanup", failure)
        for number in self.left():
            self.fail("no process to be left", f"process {number}")
            os.kill(number, signal.SIGKILL)

    def left(self):
        """Processes that still name this scene's folder."""
        for entry in Path("/proc").iterdir():
            try:
                if os.fsencode(self.folder) + b"/" in (entry / "cmdline").read_bytes():
                    yield int(entry.name)
            except (OSError, ValueError):
                continue

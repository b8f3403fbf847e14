"""What a scene works with: its folder, its people, and what was expected and came.

When a scene is over, everything that it started is ended by its process id.
"""

import os
import signal
import subprocess
import time
from pathlib import Path

from people import LOOPBACK, PROGRAM, Broken, Gone, Person, Refused, Skipped  # noqa: F401


def say(line):
    """Prints it. Nobody may read on; what was started has to be ended all the same."""
    try:
        print(line, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


class Stage:
    """One scene: its folder, its people, and what came of it."""

    def __init__(self, folder):
        self.folder, self.failures = folder, []
        self.people, self.terminals, self.undone = [], [], []

    def note(self, text):
        """One step of the transcript."""
        if os.environ.get("TRANSCRIPT"):
            say("    " + text.replace("\n", "\n    "))

    def person(self, name, folder=None, plain=False):
        self.people.append(Person(self, name, folder, plain))
        return self.people[-1]

    def fail(self, expected, came):
        self.failures.append(f"expected {expected}; came {came}")
        say(f"  FAILED: {self.failures[-1]}")

    def expect(self, expected, holds, came=""):
        """Notes what is not as expected, and goes on."""
        if not holds:
            self.fail(expected, came or "something else")
        return bool(holds)

    def until(self, expected, test, seconds=30, wanted=None):
        """Waits until `test()` gives something true, or `wanted`, and is that. Notes where it does
        not, with what it gave last."""
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
        """The same; without it the scene is over."""
        found = self.until(expected, test, seconds)
        if not found:
            raise Broken
        return found

    def shows(self, terminal, text, why=None, seconds=30):
        """Waits until a terminal shows a text."""
        return self.expect(f"{why or ''} {text!r} on the terminal".strip(),
                           terminal.shows(text, seconds), repr(terminal.text[-900:]))

    def ends(self, terminal, status=0):
        """Waits until the program on a terminal has ended, with that status."""
        came = terminal.end()
        return self.expect(f"that it ends with {status}", came == status,
                           f"{came}: {terminal.text[-400:]!r}")

    def tear_down(self):
        """Ends all that was started, each by its number, and undoes what was made."""
        steps = [terminal.close for terminal in self.terminals]
        steps += [person.stop for person in self.people] + self.undone[::-1]
        for step in steps:
            try:
                step()
            except (OSError, subprocess.SubprocessError) as failure:
                self.fail("that all is put away", failure)
        for number in self.left():
            self.fail("that no process is left", f"process {number}")
            os.kill(number, signal.SIGKILL)

    def left(self):
        """Processes that still name this scene's folder."""
        for entry in Path("/proc").iterdir():
            try:
                if os.fsencode(self.folder) + b"/" in (entry / "cmdline").read_bytes():
                    yield int(entry.name)
            except (OSError, ValueError):
                continue

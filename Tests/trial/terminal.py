"""A program on a terminal of its own, as a person at a keyboard has it, and what its screen shows.

The program leads a session whose controlling terminal this is, so that it asks, draws and pages as
it does for people. It is ended by its process id when the scene is over.
"""

import fcntl
import os
import pty
import re
import select
import signal
import struct
import subprocess
import termios
import time
import unicodedata


class Screen:
    """Letters, line ends, and the few sequences that the program and a pager send. What scrolled
    away stays above, so that all that was ever final can be read."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.above, self.cells, self.ends = [], [[]], [True]
        self.row = self.column = 0
        self.rest = ""

    @property
    def text(self):
        """All rows. One that the terminal broke, since it was too long, is whole."""
        said = "".join(self.above)
        for cells, is_end in zip(self.cells, self.ends):
            said += ("".join(cells).rstrip() + "\n") if is_end else "".join(cells)
        return said.rstrip("\n")

    @property
    def wide(self):
        """Lines that the terminal had to break."""
        return [line for line in self.text.split("\n") if len(line) > self.columns]

    @property
    def shown(self):
        """The rows that can be seen now."""
        return ["".join(cells).rstrip() for cells in self.cells]

    @property
    def last(self):
        """The row that the cursor is in."""
        return "".join(self.cells[self.row]).rstrip()

    def take(self, text):
        text, self.rest = self.rest + text, ""
        at = 0
        while at < len(text):
            if text[at] != "\x1b":
                self.letter(text[at])
                at += 1
                continue
            found = re.compile(r"\x1b(?:\[([?>]?)([\d;]*)([@-~])|[^\[])").match(text, at)
            if not found:
                self.rest = text[at:]
                return
            self.obey(*found.groups())
            at = found.end()

    def letter(self, letter):
        if letter == "\n":
            self.feed(True)
        elif letter == "\r":
            self.column = 0
        elif letter == "\b":
            self.column = max(0, self.column - 1)
        elif letter >= " ":
            self.put(letter)

    def put(self, letter):
        cells = self.cells[self.row]
        if unicodedata.combining(letter):
            if cells:
                cells[min(self.column, len(cells)) - 1] += letter
            return
        width = 2 if unicodedata.east_asian_width(letter) in "WF" else 1
        if self.column + width > self.columns:
            self.column = 0
            self.feed(False)
            cells = self.cells[self.row]
        cells += [" "] * (self.column + width - len(cells))
        cells[self.column:self.column + width] = [letter] + [""] * (width - 1)
        self.column += width

    def feed(self, is_end):
        self.ends[self.row] = is_end
        self.row += 1
        if self.row == len(self.cells):
            self.cells.append([])
            self.ends.append(True)
        while len(self.cells) > self.rows:
            line, ends = "".join(self.cells.pop(0)), self.ends.pop(0)
            self.above.append(line.rstrip() + "\n" if ends else line)
            self.row -= 1

    def obey(self, private, numbers, command):
        count = int(numbers) if numbers and numbers.isdigit() else 1
        if private or command is None:
            return
        if command == "A":
            self.row = max(0, self.row - count)
        elif command == "C":
            self.column = min(self.columns - 1, self.column + count)
        elif command == "H":
            self.row = self.column = 0
        elif command == "K":
            del self.cells[self.row][self.column:]
        elif command == "J":
            if numbers == "2":
                self.above += [line + "\n" for line in self.shown if line]
                self.cells, self.ends = [[] for _ in self.cells], [True] * len(self.cells)
            del self.cells[self.row][self.column:]
            del self.cells[self.row + 1:], self.ends[self.row + 1:]


class Terminal:
    """`words`: the command. Its end is seen by `end`; `close` ends it whatever it does."""

    def __init__(self, words, environment, rows=24, columns=80):
        self.screen, self.undecoded = Screen(rows, columns), b""
        self.ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
        self.process = subprocess.Popen(
            words, env=environment | {"TERM": "xterm"}, stdin=theirs, stdout=theirs,
            stderr=theirs, start_new_session=True,
            preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
        os.close(theirs)

    @property
    def text(self):
        return self.screen.text

    def type(self, text):
        """Hits keys. "\\r" is the key that ends a line."""
        rest = text.encode()
        while rest:
            rest = rest[os.write(self.ours, rest):]

    def read(self, seconds):
        """Takes what comes. False where the program has closed its terminal."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.ours, 65536)
        except OSError:
            return False
        text = (self.undecoded + piece).decode(errors="surrogateescape")
        # A letter may have come in part.
        kept = len(text) - len(text.rstrip("".join(map(chr, range(0xDC80, 0xDD00)))))
        self.undecoded = text[len(text) - kept:].encode(errors="surrogateescape")
        self.screen.take(text[:len(text) - kept])
        return bool(piece)

    def wait(self, test, seconds=30):
        """Reads until `test()` holds. Whether it does."""
        end = time.monotonic() + seconds
        while not test():
            left = end - time.monotonic()
            if left <= 0 or not self.read(min(left, 0.2)):
                return bool(test())
        return True

    def shows(self, text, seconds=30):
        return self.wait(lambda: text in self.screen.text, seconds)

    @property
    def is_cooked(self):
        """Whether it echoes and edits lines itself, as it did before the program came."""
        wanted = termios.ECHO | termios.ICANON
        return termios.tcgetattr(self.ours)[3] & wanted == wanted

    def end(self, seconds=30):
        """Its exit status, once it has ended by itself; None where it does not."""
        self.wait(lambda: self.process.poll() is not None, seconds)
        try:
            return self.process.wait(max(0.1, seconds / 10))
        except subprocess.TimeoutExpired:
            return None

    def close(self):
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGKILL)
        self.process.wait()
        if self.ours >= 0:
            os.close(self.ours)
        self.ours = -1

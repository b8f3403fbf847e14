"""A program on its own pseudo-terminal, and what the screen shows.

The program leads a session with this as its controlling terminal, so it prompts, draws and pages
as it does for people. It is ended by its process id when the scene is over.
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
    """Emulates text, line ends, and the few escape sequences that the program and a pager send.
    Rows that scroll away are kept in `above`, so the whole output can be read."""

    def __init__(self, rows, columns):
        self.rows, self.columns = rows, columns
        self.above, self.cells, self.ends = [], [[]], [True]
        self.row = self.column = 0
        self.rest = ""

    @property
    def text(self):
        """All rows, with lines that the terminal wrapped joined again."""
        said = "".join(self.above)
        for cells, is_end in zip(self.cells, self.ends):
            said += ("".join(cells).rstrip() + "\n") if is_end else "".join(cells)
        return said.rstrip("\n")

    @property
    def wide(self):
        """Lines wider than the terminal."""
        return [line for line in self.text.split("\n") if len(line) > self.columns]

    @property
    def shown(self):
        """The rows that are visible now."""
        return ["".join(cells).rstrip() for cells in self.cells]

    @property
    def last(self):
        """The cursor's row."""
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
    """Runs the command `words`. `end` waits for it to exit; `close` kills it."""

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
        """Types keys. "\\r" is Enter."""
        rest = text.encode()
        while rest:
            rest = rest[os.write(self.ours, rest):]

    def read(self, seconds):
        """Reads available output. Returns False if the program closed the terminal."""
        if not select.select([self.ours], [], [], seconds)[0]:
            return True
        try:
            piece = os.read(self.ours, 65536)
        except OSError:
            return False
        text = (self.undecoded + piece).decode(errors="surrogateescape")
        # The last character may be incomplete.
        kept = len(text) - len(text.rstrip("".join(map(chr, range(0xDC80, 0xDD00)))))
        self.undecoded = text[len(text) - kept:].encode(errors="surrogateescape")
        self.screen.take(text[:len(text) - kept])
        return bool(piece)

    def wait(self, test, seconds=30):
        """Reads until `test()` holds. Returns whether it did in time."""
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
        """Whether the terminal echoes and edits lines itself, as before the program started."""
        wanted = termios.ECHO | termios.ICANON
        return termios.tcgetattr(self.ours)[3] & wanted == wanted

    def end(self, seconds=30):
        """Waits for the program to exit. Returns its status, or None on a timeout."""
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

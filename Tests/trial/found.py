"""A new user's first five minutes, with nothing but the program."""

import re

SHOWS = "the first five minutes from an empty folder, on a terminal of 24 rows and 80 columns"


def words_on(terminal):
    """The 24 recovery words on the terminal, in order; empty if there are not exactly 24."""
    found = {int(number): word for number, word in
             re.findall(r"\b(\d{1,2})\.\s+([a-z]+)", terminal.text)}
    return [found[number] for number in sorted(found)] if sorted(found) == [*range(1, 25)] else []


def play(stage):
    mina = stage.person("Mina", plain=True)
    start(stage, mina)
    speak(stage, mina)
    slip(stage, mina)
    come_back(stage, mina)


def start(stage, mina):
    first = mina.terminal()
    stage.ends(first)
    stage.shows(first, "wsx-node is not running")
    stage.shows(first, "next: wsx-node up --name NAME --workspace WORKSPACE")
    up = mina.terminal("up", "--workspace", "acme", "--listen", "127.0.0.1:0",
                       "--announce", "off")
    stage.shows(up, "Your name", "a prompt for the missing name:")
    up.type("Mina\r")
    stage.ends(up)
    for text in ("identity   Mina", "acme", "#general", "started, socket ready",
                 "shown only once: write it down", "next: wsx-node invite create"):
        stage.shows(up, text)
    stage.expect("24 numbered words", len(words_on(up)) == 24, repr(up.text))
    for terminal in (first, up):
        stage.expect("no line wider than the terminal", not terminal.screen.wide,
                     repr(terminal.screen.wide))
    mode = mina.home.stat().st_mode & 0o777
    stage.expect("a home that only its owner can open", mode == 0o700, oct(mode))
    again = mina.run("identity", "show", "--phrase")
    stage.expect("no second display of the words", again.status == 5, again.said)


def speak(stage, mina):
    home = mina.terminal()
    stage.ends(home)
    stage.shows(home, "acme  1 member")
    stage.shows(home, "nothing yet")
    stage.shows(home, "next: wsx-node invite create")
    send = mina.terminal("send", "general")
    stage.shows(send, "Message:", "a prompt for the missing text:")
    send.type("hello all\r")
    stage.ends(send)
    stage.shows(send, "saved")
    mina.does("send", "general", "without", "quotes")
    log = mina.terminal("log", "general")
    stage.ends(log)
    stage.shows(log, "Mina  hello all")
    stage.shows(log, "Mina  without quotes")


def slip(stage, mina):
    """A typo does nothing, and the error suggests the right word."""
    for line, hint in (("sned general hi", "send"), ("channel lst", "list"),
                       ("send genral hi", "general")):
        outcome = mina.run(*line.split())
        stage.expect(f"'{line}' to fail and suggest '{hint}'",
                     outcome.status != 0 and hint in outcome.errors, outcome.said)
    stage.expect("two messages", len(mina.texts()) == 2, repr(mina.texts()))


def come_back(stage, mina):
    mina.does("down")
    stage.expect("the node to have stopped", mina.pid() is None, f"process {mina.pid()}")
    refused = mina.run("send", "general", "to nobody")
    stage.expect("sending without a running node to fail and say what to do",
                 refused.status == 3 and "wsx-node up" in refused.errors, refused.said)
    up = mina.terminal("up")
    stage.ends(up)
    stage.shows(up, "identity   Mina")
    stage.expect("no prompt at a later start", "Your name" not in up.text, up.text)
    stage.until("both messages after the restart", mina.texts,
                wanted=["hello all", "without quotes"])

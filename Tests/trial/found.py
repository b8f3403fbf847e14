"""The first five minutes of a new user who has only the program."""

import re

SHOWS = "the first five minutes from an empty folder, on a terminal of 24 rows and 80 columns"


def words_on(terminal):
    """The 24 words that a terminal shows, in their order."""
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
    stage.shows(up, "Your name", "that the name is asked for where it is missing:")
    up.type("Mina\r")
    stage.ends(up)
    for text in ("identity   Mina", "acme", "#general", "started, socket ready",
                 "shown only once: write it down", "next: wsx-node invite create"):
        stage.shows(up, text)
    stage.expect("24 words, by number", len(words_on(up)) == 24, repr(up.text))
    for terminal in (first, up):
        stage.expect("no line that the terminal breaks", not terminal.screen.wide,
                     repr(terminal.screen.wide))
    mode = mina.home.stat().st_mode & 0o777
    stage.expect("a home that only its owner can open", mode == 0o700, oct(mode))
    again = mina.run("identity", "show", "--phrase")
    stage.expect("that the words are not shown a second time", again.status == 5, again.said)


def speak(stage, mina):
    home = mina.terminal()
    stage.ends(home)
    stage.shows(home, "acme  1 member")
    stage.shows(home, "nothing yet")
    stage.shows(home, "next: wsx-node invite create")
    send = mina.terminal("send", "general")
    stage.shows(send, "Message:", "that the text is asked for where it is missing:")
    send.type("hello all\r")
    stage.ends(send)
    stage.shows(send, "saved")
    mina.does("send", "general", "without", "quotes")
    log = mina.terminal("log", "general")
    stage.ends(log)
    stage.shows(log, "Mina  hello all")
    stage.shows(log, "Mina  without quotes")


def slip(stage, mina):
    """What is mistyped is told with what was meant, and does nothing."""
    for line, hint in (("sned general hi", "send"), ("channel lst", "list"),
                       ("send genral hi", "general")):
        outcome = mina.run(*line.split())
        stage.expect(f"that '{line}' fails and names '{hint}'",
                     outcome.status != 0 and hint in outcome.errors, outcome.said)
    stage.expect("two messages", len(mina.texts()) == 2, repr(mina.texts()))


def come_back(stage, mina):
    mina.does("down")
    stage.expect("that the node has ended", mina.pid() is None, f"process {mina.pid()}")
    refused = mina.run("send", "general", "to nobody")
    stage.expect("that a message to a node that is off is refused, with what to do",
                 refused.status == 3 and "wsx-node up" in refused.errors, refused.said)
    up = mina.terminal("up")
    stage.ends(up)
    stage.shows(up, "identity   Mina")
    stage.expect("that nothing is asked at a later start", "Your name" not in up.text, up.text)
    stage.until("both messages after the start", mina.texts,
                wanted=["hello all", "without quotes"])

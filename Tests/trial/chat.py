"""Two people who talk at two terminals, one of them narrow."""

SHOWS = "two 'chat's in two terminals: messages, ticks, typing, edits, and a node that goes away"


def play(stage):
    mina, joon = stage.person("Mina"), stage.person("Joon")
    mina.founds()
    joon.joins(mina)
    wide, narrow = mina.terminal("chat"), joon.terminal("chat", columns=40)
    for terminal in (wide, narrow):
        stage.shows(terminal, "#general>")
    talk(stage, mina, wide, narrow)
    changes(stage, wide, narrow)
    ticks(stage, joon, wide, narrow)
    away(stage, joon, wide, narrow)
    for terminal in (wide, narrow):
        terminal.type("\x04")
        stage.ends(terminal)
        stage.expect("the terminal as it was found", terminal.is_cooked, "raw")
        stage.expect("no line that the terminal breaks", not terminal.screen.wide,
                     repr(terminal.screen.wide))


def talk(stage, mina, wide, narrow):
    wide.type("is anybody there?\r")
    stage.shows(narrow, "Mina  is anybody there?")
    ticked(stage, wide, "is anybody there?")
    narrow.type("안녕하세요, 여기 있어요. The window here is as narrow as a phone's.\r")
    stage.shows(wide, "Joon  안녕하세요, 여기 있어요. The window here is as narrow as a phone's.")
    stage.expect("no row on a narrow terminal that it had to break",
                 narrow.wait(lambda: "phone's." in narrow.text) and not narrow.screen.wide,
                 repr(narrow.screen.wide))
    # New messages appear above the line that is being typed.
    with mina.listening("typing") as heard:
        narrow.type("half a sen")
        stage.expect("that a program hears who is typing",
                     heard.hears(lambda e: e["type"] == "typing"), "no event")
    stage.shows(narrow, "#general> half a sen")
    stage.expect("that Mina's chat shows that Joon is typing into his",
                 wide.shows("Joon is typing", 5), f"nothing: {wide.screen.shown[-3:]}")
    wide.type("come to lunch\r")
    stage.shows(narrow, "come to lunch")
    stage.expect("the unfinished line below", narrow.wait(
        lambda: narrow.screen.last == "#general> half a sen"), repr(narrow.screen.shown))
    narrow.type("tence\r")
    stage.shows(wide, "Joon  half a sentence")


def changes(stage, wide, narrow):
    wide.type("/react last 👍\r")
    stage.shows(narrow, "👍 Mina")
    wide.type("frist\r")
    stage.shows(narrow, "Mina  frist")
    wide.type("/edit first\r")
    stage.shows(narrow, "Mina edited: first")
    wide.type("/joim x\r")
    stage.shows(wide, "did you mean /join?")


def ticks(stage, joon, wide, narrow):
    """A message that nobody else has says so, until somebody has it."""
    joon.does("net", "suspend")
    wide.type("are you offline?\r")
    stage.shows(wide, "are you offline?  local")
    joon.does("net", "resume")
    stage.shows(narrow, "are you offline?")
    ticked(stage, wide, "are you offline?")


def ticked(stage, terminal, text):
    """Behind the message, or in a row of its own where something stands under it already."""
    stage.expect(f"a tick of the one other person for '{text}'", terminal.wait(lambda: any(
        text in row and "✓1/1" in row for row in terminal.text.split("\n"))), repr(terminal.text))


def away(stage, joon, wide, narrow):
    """The node below a terminal ends and comes back: what was written meanwhile is sent."""
    joon.does("down")
    stage.shows(narrow, "the daemon does not answer")
    narrow.type("kept for later\r")
    stage.shows(narrow, "(waits) kept for later")
    joon.does("up")
    stage.shows(narrow, "the daemon is back")
    stage.shows(wide, "Joon  kept for later")

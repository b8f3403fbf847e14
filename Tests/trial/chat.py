"""Two people chatting on two terminals, one of them narrow."""

SHOWS = "'chat' on two terminals: messages, ticks, typing, edits, and a node that goes away"


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
        stage.expect("the terminal back in its original mode", terminal.is_cooked, "raw")
        stage.expect("no line wider than the terminal", not terminal.screen.wide,
                     repr(terminal.screen.wide))


def talk(stage, mina, wide, narrow):
    wide.type("is anybody there?\r")
    stage.shows(narrow, "Mina  is anybody there?")
    ticked(stage, wide, "is anybody there?")
    narrow.type("안녕하세요, 여기 있어요. The window here is as narrow as a phone's.\r")
    stage.shows(wide, "Joon  안녕하세요, 여기 있어요. The window here is as narrow as a phone's.")
    stage.expect("no row wider than the narrow terminal",
                 narrow.wait(lambda: "phone's." in narrow.text) and not narrow.screen.wide,
                 repr(narrow.screen.wide))
    # New messages must appear above the line being typed.
    with mina.listening("typing") as heard:
        narrow.type("half a sen")
        stage.expect("an event that says who is typing",
                     heard.hears(lambda e: e["type"] == "typing"), "no event")
    stage.shows(narrow, "#general> half a sen")
    stage.expect("Mina's chat to show that Joon is typing",
                 wide.shows("Joon is typing", 5), f"nothing: {wide.screen.shown[-3:]}")
    wide.type("come to lunch\r")
    stage.shows(narrow, "come to lunch")
    stage.expect("the unfinished line below the new message", narrow.wait(
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
    """A message is marked saved until another device has it."""
    joon.does("net", "suspend")
    wide.type("are you offline?\r")
    stage.shows(wide, "are you offline?  saved")
    joon.does("net", "resume")
    stage.shows(narrow, "are you offline?")
    ticked(stage, wide, "are you offline?")


def ticked(stage, terminal, text):
    """The tick follows the message, or gets its own row if other output came after the message."""
    stage.expect(f"a tick by the one other person for '{text}'", terminal.wait(lambda: any(
        text in row and "✓1/1" in row for row in terminal.text.split("\n"))), repr(terminal.text))


def away(stage, joon, wide, narrow):
    """The chat's own node stops and restarts: what was typed meanwhile is sent."""
    joon.does("down")
    stage.shows(narrow, "the daemon does not answer")
    narrow.type("kept for later\r")
    stage.shows(narrow, "(waits) kept for later")
    joon.does("up")
    stage.shows(narrow, "the daemon is back")
    stage.shows(wide, "Joon  kept for later")

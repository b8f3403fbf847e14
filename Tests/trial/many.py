"""A channel with 5,000 messages, and a newcomer who joins afterwards."""

SHOWS = "5,000 messages: a newcomer gets all, search finds one, and 'log' opens at the newest"
COUNT = 5000


def play(stage):
    mina, joon = stage.person("Mina"), stage.person("Joon")
    mina.founds()
    wanted = [f"message {number}" for number in range(1, COUNT + 1)]
    piped = mina.run("chat", "general", text="".join(f"{text}\n" for text in wanted), seconds=300)
    stage.expect("5,000 lines of a pipe to be sent, one message each",
                 piped.status == 0 and mina.texts() == wanted, piped.said)
    stage.expect("'chat' in a pipe not to print what it sent itself", not piped.out,
                 f"{len(piped.out.splitlines())} lines")
    joon.joins(mina)
    stage.until("all 5,000 to reach the newcomer, in order", lambda: joon.texts() == wanted, 120)
    find(stage, joon)
    for rows in (24, 40):
        opens(stage, joon, rows)
    chat = joon.terminal("chat")
    stage.shows(chat, f"message {COUNT}")
    chat.type("/older\r")
    stage.shows(chat, "end of older messages; /older shows more")
    chat.type("\x04")
    stage.ends(chat)


def find(stage, joon):
    # The node updates the search index while it is idle.
    stage.until("one hit for '4321'", lambda: [
        hit["message"]["text"] for hit in joon.call("search", query="4321")["items"]],
        wanted=["message 4321"], seconds=120)
    shown = joon.terminal("search", "4321")
    stage.ends(shown)
    stage.shows(shown, "Mina  message 4321")
    around = joon.call("search", query="4321")["items"][0]["id"]
    page = joon.does("log", "general", "--around", around, "-n", "5")
    stage.expect("the messages around it",
                 all(f"message {n}" in page for n in (4320, 4321, 4322)), page)


def opens(stage, joon, rows):
    """The first screen shows the newest message, with and without a pager."""
    log = joon.terminal("log", "general", rows=rows)
    # A pager waits for keys, but exits if everything fits on the screen.
    log.wait(lambda: log.screen.last in (":", "(END)") or log.process.poll() is not None)
    stage.expect(f"the newest message on the first screen of 'log' at {rows} rows",
                 any(row.endswith(f"message {COUNT}") for row in log.screen.shown),
                 f"{log.screen.shown[1:3]} to {log.screen.shown[-2:]}")
    log.type("q")
    stage.ends(log)

"""A laptop that moves to another network and back while everything runs."""

from lab import Lab

SHOWS = "roaming: from one subnet to another and back, with each message delivered within 3 s"
# Seconds allowed for a message after a move. Nothing else is timed.
PATIENCE = 3


def play(stage):
    lab = Lab(stage, ["desk", "laptop"])
    mina, joon = stage.person("Mina"), stage.person("Joon")
    for person, machine in ((mina, "desk"), (joon, "laptop")):
        person.daemon(before=lab.inside(machine), words=("--announce", "on"))
    mina.does("up", "--name", "Mina", "--workspace", "acme")
    joon.does("join", mina.invites(), "--name", "Joon", "--timeout", "60s")
    stage.need("the two to be linked", lambda: mina.linked() == 1 and joon.linked() == 1)
    for place, network in (("in the other network", 2), ("back again", 1)):
        lab.move("laptop", network)
        for author, reader in ((joon, mina), (mina, joon)):
            text = f"{place}, by {author.name}"
            author.does("send", "general", text)
            stage.until(f"'{text}' at {reader.name}'s", lambda: text in reader.texts(), PATIENCE)
        # In the first network they are neighbours, and may connect over IPv6 link-local addresses.
        if network == 2:
            stage.until("Mina's node to know Joon's address in the other network", lambda: [
                p for p in mina.call("peer.list")["items"]
                if p["state"] == "connected" and "10.2.0." in str(p["address"])])
    stage.until("the same four messages at both", lambda: mina.texts() == joon.texts()
                and len(mina.texts()) == 4)

"""A laptop that is carried to another network and back, while everything runs."""

from lab import Lab

SHOWS = "roaming: from one subnet to another and back, and each message is there within 3 s"
# How long the trial waits for a message after a move. Nothing else is timed.
PATIENCE = 3


def play(stage):
    lab = Lab(stage, ["desk", "laptop"])
    mina, joon = stage.person("Mina"), stage.person("Joon")
    for person, machine in ((mina, "desk"), (joon, "laptop")):
        person.daemon(before=lab.inside(machine), words=("--announce", "on"))
    mina.does("up", "--name", "Mina", "--workspace", "acme")
    joon.does("join", mina.invites(), "--name", "Joon", "--timeout", "60s")
    stage.need("that the two are linked", lambda: mina.linked() == 1 and joon.linked() == 1)
    for place, network in (("in the other network", 2), ("back again", 1)):
        lab.move("laptop", network)
        for author, reader in ((joon, mina), (mina, joon)):
            text = f"{place}, by {author.name}"
            author.does("send", "general", text)
            stage.until(f"'{text}' at {reader.name}'s", lambda: text in reader.texts(), PATIENCE)
        # In the first network they are neighbours, and may meet by what IPv6 gives each interface.
        if network == 2:
            stage.until("an address of the other network for Joon, at Mina's", lambda: [
                p for p in mina.call("peer.list")["items"]
                if p["state"] == "connected" and "10.2.0." in str(p["address"])])
    stage.until("the same four messages at both", lambda: mina.texts() == joon.texts()
                and len(mina.texts()) == 4)

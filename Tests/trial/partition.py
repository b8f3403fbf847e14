"""A member is removed while cut off, and keeps writing."""

from stage import LOOPBACK

SHOWS = "a partition, and a removal on its other side: what was written afterwards is rejected"


def play(stage):
    mina, joon, wim = (stage.person(name) for name in ("Mina", "Joon", "Wim"))
    mina.founds()
    joon.joins(mina)
    wim.joins(mina)
    joon.does("send", "general", "known to all")
    for person in (mina, wim):
        stage.need(f"Joon's message at {person.name}'s", lambda: "known to all" in person.texts())
    part(stage, mina, joon, wim)
    remove(stage, mina, joon, wim)
    heal(stage, mina, joon, wim)


def part(stage, mina, joon, wim):
    """All three write while disconnected. Wim reconnects to Mina, Joon does not."""
    for person in (joon, wim):
        person.does("net", "suspend")
    stage.until("Mina's node to have no links", lambda: mina.linked() == 0)
    for person in (mina, joon, wim):
        person.does("send", "general", f"apart, by {person.name}")
    wim.does("net", "resume")
    both = ["apart, by Mina", "apart, by Wim", "known to all"]
    for person in (mina, wim):
        stage.until(f"both sides' messages at {person.name}'s", lambda: sorted(person.texts()),
                    wanted=both)


def remove(stage, mina, joon, wim):
    removing = mina.terminal("member", "remove", "@Joon")
    stage.shows(removing, "Joon")
    if removing.wait(lambda: "[y/N]" in removing.text, 5):
        removing.type("y\r")
    stage.ends(removing)
    stage.shows(removing, "Joon was removed.")
    stage.until("the removal to reach Wim", wim.members, wanted=["Mina", "Wim"])
    late = joon.run("send", "general", "late")
    stage.expect("Joon, who does not know about it, to keep writing", late.status == 0, late.said)


def heal(stage, mina, joon, wim):
    at_joons = joon.terminal("chat")
    stage.shows(at_joons, "#general>")
    joon.does("net", "resume")
    stage.shows(at_joons, "you are no longer in this workspace")
    for text in ("apart, by Joon (refused)", "late (refused)"):
        stage.until(f"'{text}' in Joon's log", lambda: text in joon.run("log", "general").out)
    told = joon.run("send", "general", "more", "--json")
    stage.expect("Joon's messages to be refused because he was removed",
                 told.status == 4 and '"removed"' in told.errors, told.said)
    for person in (mina, wim):
        person.does("send", "general", f"among us, by {person.name}")
    kept = ["among us, by Mina", "among us, by Wim", "apart, by Mina", "apart, by Wim",
            "known to all"]
    for person in (mina, wim):
        stage.until(f"only the valid messages at {person.name}'s",
                    lambda: sorted(person.texts()), wanted=kept)
    stage.until("the same state on both nodes", lambda: len(
        {w["digest"] for p in (mina, wim) for w in p.call("node.status")["workspaces"]}) == 1)
    zoe = stage.person("Zoe")
    zoe.does("join", mina.invites(), "--name", "Zoe", *LOOPBACK)
    stage.until("the same at someone who joins later", lambda: sorted(zoe.texts()), wanted=kept)

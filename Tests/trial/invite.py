"""Joining by a link, while the inviter watches and while the inviter is off."""

import re

from stage import LOOPBACK

SHOWS = "an invite, and joining while the inviter is off: the request is kept, and goes on later"


def play(stage):
    mina, sora = stage.person("Mina"), stage.person("Sora")
    mina.founds()
    watched(stage, mina, sora)
    plain, asking = mina.invites(), mina.invites("--approve")
    stage.need("that Sora's node has the invites",
               lambda: len(sora.call("invite.list")["items"]) == 3)
    mina.does("down")
    by_another(stage, plain)
    kai = asked(stage, asking)
    goes_on(stage, mina, kai)
    nobody(stage, mina, sora, kai)


def watched(stage, mina, sora):
    inviting = mina.terminal("invite", "create", columns=200)
    stage.shows(inviting, "waiting for them to join")
    link = re.search(r"wsx://join/\w+", inviting.text)
    joining = sora.terminal("join", link.group() if link else "", *LOOPBACK)
    stage.shows(joining, "Your name")
    joining.type("Sora\r")
    stage.ends(joining)
    stage.shows(joining, "joined     acme  role member")
    stage.shows(inviting, "Sora joined as member")
    stage.ends(inviting)


def by_another(stage, link):
    """The inviter is off; another member's node lets in whom she invited."""
    joon = stage.person("Joon")
    came = joon.run("join", link, "--name", "Joon", *LOOPBACK)
    stage.expect("that Joon is let in by Sora's node", came.status == 0
                 and "found      Sora" in came.out, came.said)
    stage.until("Joon at his own node", joon.members, wanted=["Mina", "Sora", "Joon"])


def asked(stage, link):
    """An admin has to approve, and none is on."""
    kai = stage.person("Kai")
    asking = kai.terminal("join", link, "--name", "Kai", *LOOPBACK)
    stage.ends(asking, 7)
    stage.shows(asking, "waiting for an admin to approve")
    kai.does("down")
    kai.does("up")
    stage.until("that the request is kept over a restart", lambda: kai.call("node.status")
                ["warnings"][0]["kind"], wanted="join.pending")
    return kai


def goes_on(stage, mina, kai):
    mina.does("up")
    stage.need("the request at Mina's node",
               lambda: [r for r in mina.call("join.requests")["items"] if r["name"] == "Kai"])
    home = mina.terminal()
    stage.ends(home)
    stage.shows(home, "1 person is asking to join")
    stage.shows(home, "request list")
    mina.does("request", "approve", "@Kai")
    stage.until("that Kai is let in by himself", lambda: sorted(kai.members()),
                wanted=["Joon", "Kai", "Mina", "Sora"])
    kai.does("send", "general", "here I am")
    stage.until("Kai's first message at Mina's", mina.texts, wanted=["here I am"])


def nobody(stage, mina, sora, kai):
    """No member at all is on: it is told so, and the same line works later."""
    link = mina.invites()
    for person in stage.people:
        person.does("down")
    lea = stage.person("Lea")
    missed = lea.run("join", link, "--name", "Lea", "--timeout", "2s", *LOOPBACK)
    stage.expect("that a join with nobody online fails with 7 and says what to do",
                 missed.status == 7 and "is the inviter's node running?" in missed.errors,
                 missed.said)
    mina.does("up")
    came = lea.run("join", link, *LOOPBACK)
    stage.expect("that the same link works when Mina is back", came.status == 0, came.said)
    stage.until("Kai's message at Lea's", lea.texts, wanted=["here I am"])

"""Joining with an invite link, while the inviter is online and while the inviter is offline."""

import re

from stage import LOOPBACK

SHOWS = "an invite, and joining while the inviter is offline: the request waits and completes later"


def play(stage):
    mina, sora = stage.person("Mina"), stage.person("Sora")
    mina.founds()
    watched(stage, mina, sora)
    plain, asking = mina.invites(), mina.invites("--approve")
    stage.need("the invites to reach Sora's node",
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
    """The inviter is offline; another member's node admits the newcomer."""
    joon = stage.person("Joon")
    came = joon.run("join", link, "--name", "Joon", *LOOPBACK)
    stage.expect("Sora's node to admit Joon", came.status == 0
                 and "found      Sora" in came.out, came.said)
    stage.until("Joon to see all members", joon.members, wanted=["Mina", "Sora", "Joon"])


def asked(stage, link):
    """An admin has to approve, and none is online."""
    kai = stage.person("Kai")
    asking = kai.terminal("join", link, "--name", "Kai", *LOOPBACK)
    stage.ends(asking, 7)
    stage.shows(asking, "waiting for an admin to approve")
    kai.does("down")
    kai.does("up")
    stage.until("the request to survive a restart", lambda: kai.call("node.status")
                ["warnings"][0]["kind"], wanted="join.pending")
    return kai


def goes_on(stage, mina, kai):
    mina.does("up")
    stage.need("the request to reach Mina's node",
               lambda: [r for r in mina.call("join.requests")["items"] if r["name"] == "Kai"])
    home = mina.terminal()
    stage.ends(home)
    stage.shows(home, "1 person is asking to join")
    stage.shows(home, "request list")
    mina.does("request", "approve", "@Kai")
    stage.until("Kai to be admitted without doing anything more", lambda: sorted(kai.members()),
                wanted=["Joon", "Kai", "Mina", "Sora"])
    kai.does("send", "general", "here I am")
    stage.until("Kai's first message to reach Mina", mina.texts, wanted=["here I am"])


def nobody(stage, mina, sora, kai):
    """No member is online: the error says so, and the same command works later."""
    link = mina.invites()
    for person in stage.people:
        person.does("down")
    lea = stage.person("Lea")
    missed = lea.run("join", link, "--name", "Lea", "--timeout", "2s", *LOOPBACK)
    stage.expect("joining with nobody online to fail with status 7 and say what to do",
                 missed.status == 7 and "is the inviter's node running?" in missed.errors,
                 missed.said)
    mina.does("up")
    came = lea.run("join", link, *LOOPBACK)
    stage.expect("the same link to work when Mina is back", came.status == 0, came.said)
    stage.until("Kai's message to reach Lea", lea.texts, wanted=["here I am"])

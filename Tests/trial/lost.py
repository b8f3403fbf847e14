"""A lost laptop, revoked from the phone with the recovery words."""

import re

from found import words_on
from stage import LOOPBACK

SHOWS = "a lost laptop: 'device lost' with the 24 words on a terminal revokes it"


def play(stage):
    laptop, phone, joon = (stage.person(name) for name in ("Laptop", "Phone", "Joon"))
    founding = laptop.terminal("up", "--name", "Mina", "--workspace", "acme", *LOOPBACK)
    stage.ends(founding)
    words = words_on(founding)
    stage.expect("24 words", len(words) == 24, repr(founding.text))
    joon.joins(laptop)
    link(stage, laptop, phone)
    laptop.does("send", "general", "from the laptop")
    stage.until("a message from the laptop to reach Joon", joon.texts, wanted=["from the laptop"])
    stage.until("the same message to reach the phone", phone.texts, wanted=["from the laptop"])
    end(stage, laptop, phone, words)
    out(stage, laptop, phone, joon)


def link(stage, laptop, phone):
    linking = laptop.terminal("device", "link", columns=200)
    stage.shows(linking, "wsx://device/")
    stage.shows(linking, "waiting for the other device")
    code = re.search(r"wsx://device/\w+", linking.text)
    there = phone.terminal("device", "link", code.group() if code else "", "--name", "phone",
                           *LOOPBACK)
    stage.ends(there)
    stage.shows(there, "linked to Mina")
    stage.shows(linking, "linked: phone")
    stage.ends(linking)
    devices = [d for d in phone.call("device.list")["items"] if not d["recovery"]]
    stage.expect("two devices", len(devices) == 2, repr(devices))


def end(stage, laptop, phone, words):
    """The laptop is the older device, so revoking it needs the recovery words."""
    plain = phone.run("device", "revoke", laptop.call("node.status")["identity"]["id"],
                      "--yes", "--no-input")
    stage.expect("the newer device to be unable to revoke the older one, and to mention the words",
                 plain.status == 4 and "phrase" in plain.errors, plain.said)
    losing = phone.terminal("device", "lost")
    stage.shows(losing, "Which one is lost?")
    losing.type("1\r")
    stage.shows(losing, "Your 24 words:")
    wrong = phone.terminal("device", "lost")
    stage.shows(wrong, "Which one is lost?")
    wrong.type("1\r")
    stage.shows(wrong, "Your 24 words:")
    wrong.type(" ".join(reversed(words)) + "\r")
    stage.expect("wrong words to be refused", wrong.end() not in (0, None), wrong.text)
    losing.type(" ".join(words) + "\r")
    if losing.wait(lambda: "[y/N]" in losing.text, 5):
        losing.type("y\r")
    stage.ends(losing)
    stage.shows(losing, "Nothing written from now on can be read with it.")


def out(stage, laptop, phone, joon):
    stage.until("the laptop to learn that it is revoked", lambda: laptop.run(
        "send", "general", "by the finder", "--json").error, wanted="device_revoked")
    phone.does("send", "general", "from the phone")
    kept = ["from the laptop", "from the phone"]
    for person in (joon, phone):
        stage.until(f"only the valid messages at {person.name}'s", person.texts, wanted=kept)
    stage.expect("no later message on the laptop",
                 "from the phone" not in laptop.run("log", "general").out,
                 laptop.run("log", "general").said)
    home = laptop.terminal()
    stage.ends(home)
    stage.shows(home, "revoked")
    stage.expect("Mina listed once at Joon's", joon.members() == ["Mina", "Joon"], joon.members())

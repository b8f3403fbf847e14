"""A dead disk: restored from a backup, and recovered from the recovery words alone."""

import shutil

from found import words_on
from stage import LOOPBACK

SHOWS = "a lost home: restored from a backup, and 'identity recover' with the 24 words"


def play(stage):
    mina, joon = stage.person("Mina"), stage.person("Joon")
    founding = mina.terminal("up", "--name", "Mina", "--workspace", "acme", *LOOPBACK)
    stage.ends(founding)
    words = words_on(founding)
    joon.joins(mina)
    # The invite then holds Joon's address as well as hers.
    stage.need("the link between the two", lambda: mina.linked() == 1)
    link = mina.invites()
    mina.does("send", "general", "before the backup")
    backup = back_up(stage, mina)
    mina.does("send", "general", "after the backup")
    stage.need("both messages to reach Joon", lambda: len(joon.texts()) == 2)
    # The disk dies.
    mina.stop()
    shutil.rmtree(mina.home)
    restored = restore(stage, mina, joon, backup)
    restored.stop()
    shutil.rmtree(restored.home)
    recover(stage, joon, words, link)


def back_up(stage, mina):
    secret, path = mina.folder / "secret", mina.folder / "acme.bak"
    secret.write_text("correct horse battery staple\n")
    secret.chmod(0o600)
    flag = ("--passphrase-file", str(secret))
    mina.does("backup", "create", "-o", str(path), *flag)
    mina.does("backup", "verify", str(path), *flag)
    wrong = mina.folder / "wrong"
    wrong.write_text("another horse battery staple\n")
    wrong.chmod(0o600)
    refused = mina.run("backup", "verify", str(path), "--passphrase-file", str(wrong))
    stage.expect("a wrong passphrase to be refused", refused.status == 4, refused.said)
    return (str(path), *flag)


def restore(stage, mina, joon, backup):
    back = stage.person("Mina-again")
    back.does("backup", "restore", *backup)
    up = back.terminal("up", *LOOPBACK)
    stage.ends(up)
    stage.shows(up, "identity   Mina")
    stage.until("the messages from before the backup, and the later ones that only Joon has",
                back.texts, wanted=["before the backup", "after the backup"])
    back.does("send", "general", "after the restore")
    stage.until("a message from the restored home to reach Joon", joon.texts,
                wanted=["before the backup", "after the backup", "after the restore"])
    stage.until("no device to be accused of a fork", lambda: [
        f["message"] for f in joon.call("node.doctor")["items"]
        if "no device has forked" in f["message"]])
    return back


def recover(stage, joon, words, link):
    """Everything is lost except the words and an invite that was kept elsewhere."""
    fresh = stage.person("Mina-new")
    coming = fresh.terminal("identity", "recover", link, *LOOPBACK)
    stage.shows(coming, "The 24 words:")
    coming.type(" ".join(words) + "\r")
    stage.ends(coming)
    stage.shows(coming, "welcome back")
    stage.shows(coming, "this is now a device of yours in acme")
    stage.shows(coming, "next: wsx-node")
    wanted = ["before the backup", "after the backup", "after the restore"]
    stage.until("everything that Joon has", fresh.texts, wanted=wanted)
    fresh.does("send", "general", "it is me")
    stage.until("her message to reach Joon", joon.texts, wanted=[*wanted, "it is me"])
    role = [m["role"] for m in joon.call("member.list")["items"] if m["name"] == "Mina"]
    stage.expect("Mina listed once, and still the owner", role == ["owner"], role)

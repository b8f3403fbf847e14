"""A running node against a peer that shares no code with it, in both roles.

Node as responder:  the peer takes the psk from an invite link of the node.
Node as initiator:  the peer makes an invite link with its own address as the hint, and a second
                    home joins with it. The node dials to join; the peer answers, and finally says
                    that the invite is void.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

from notation import base32_decoded
from protocol import H, Identity, Invite, answer, base32, dial

PROGRAM = os.environ["WSX_NODE"]
HANDSHAKES = int(os.environ.get("WSX_HANDSHAKES", "50"))


class Home:
    """A home in a temporary folder; its node listens on 127.0.0.1 only."""

    def __init__(self, *words):
        self.folder = tempfile.mkdtemp(prefix="wsx-interop.")
        self.run("up", "--listen", "127.0.0.1:0", "--announce", "off", *words)

    def run(self, *words):
        done = self.start(*words)
        out, err = done.communicate(timeout=60)
        if done.returncode != 0:
            raise AssertionError(f"wsx-node {' '.join(words)}: {done.returncode}: {err}")
        return out

    def start(self, *words):
        environment = {k: v for k, v in os.environ.items() if not k.startswith("WSX_NODE_")}
        return subprocess.Popen(
            [PROGRAM, "--home", self.folder, *words], env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def close(self):
        self.run("down")
        shutil.rmtree(self.folder)


class DialledNode(unittest.TestCase):
    """The node is the responder."""

    @classmethod
    def setUpClass(cls):
        cls.home = Home("--name", "Mina", "--workspace", "acme")
        made = json.loads(cls.home.run("invite", "create", "--json"))
        cls.invite = Invite.read(made["link"])
        status = json.loads(cls.home.run("status", "--json"))
        cls.device, cls.workspace = status["device"], status["workspaces"][0]["id"]
        cls.address = cls.invite.hints[0]

    @classmethod
    def tearDownClass(cls):
        cls.home.close()

    def test_link_reads_and_writes_the_same(self):
        made = json.loads(self.home.run("invite", "create", "--json"))
        read = Invite.read(made["link"])
        self.assertEqual(read.link, made["link"])
        self.assertEqual(base32_decoded(made["id"][len("i_") :])[:8], read.invite)

    def test_handshake_certificate_and_ping(self):
        peer = dial(self.address, self.invite.psk, Identity())
        self.assertEqual(public_id("d_", peer.payload[1]), self.device)
        self.assertEqual(peer.ping(7), [])
        self.assertEqual(peer.ping(2**40), [])
        peer.socket.close()

    def test_join1_opens_the_workspace_of_the_link(self):
        peer = dial(self.address, self.invite.psk, Identity())
        peer.send(0x03, self.invite.hello(peer.handshake_hash))
        kind, result = peer.receive()
        self.assertEqual((kind, result[1]), (0x05, 0))
        self.assertEqual(result[2][:16], self.invite.workspace)
        self.assertEqual(public_id("w_", result[2]), self.workspace)
        self.assertTrue(result[3], "the tips of the authority document")
        peer.socket.close()

    def test_join1_of_another_session_is_void(self):
        peer = dial(self.address, self.invite.psk, Identity())
        peer.send(0x03, self.invite.hello(bytes(64)))
        self.assertEqual(peer.receive(), (0x05, {1: 3}))
        peer.socket.close()

    def test_stranger_hears_nothing(self):
        with self.assertRaises((EOFError, ConnectionResetError)):
            dial(self.address, os.urandom(32), Identity())

    def test_right_hint_with_wrong_secret_hears_nothing(self):
        with self.assertRaises((EOFError, ConnectionResetError)):
            dial(self.address, os.urandom(32), Identity(), hint_psk=self.invite.psk)

    def test_certificate_for_another_key_ends_the_link(self):
        peer = dial(self.address, self.invite.psk, Identity(), certified_static=os.urandom(32))
        with self.assertRaises((EOFError, ConnectionResetError, BrokenPipeError)):
            peer.ping(1)

    def test_many_handshakes(self):
        for number in range(HANDSHAKES):
            peer = dial(self.address, self.invite.psk, Identity())
            self.assertEqual(peer.ping(number), [])
            peer.socket.close()


class DiallingNode(unittest.TestCase):
    """The node is the initiator."""

    def test_handshake_certificate_and_ping(self):
        home = Home("--name", "Joon")
        self.addCleanup(home.close)
        device = json.loads(home.run("status", "--json"))["device"]
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        listener.settimeout(20)
        identity = Identity()
        invite = Invite(
            os.urandom(16), os.urandom(16), identity.device[:8], [listener.getsockname()])

        joining = home.start("--json", "join", invite.link, "--timeout", "20s")
        connection, _ = listener.accept()
        peer = answer(connection, invite.psk, identity)
        self.assertEqual(public_id("d_", peer.payload[1]), device)

        messages = peer.ping(11)
        if not messages:
            messages = [peer.receive()]
        kind, hello = messages[0]
        self.assertEqual(kind, 0x03)
        self.assertEqual(hello[1], H(b"wsx-door1", invite.public + invite.workspace)[:16])
        Ed25519PublicKey.from_public_bytes(invite.public).verify(
            hello[2], b"wsx-join1" + peer.handshake_hash)

        peer.send(0x05, {1: 3})
        out, err = joining.communicate(timeout=30)
        self.assertEqual((joining.returncode, out), (1, ""))
        self.assertRegex(err, re.compile('"kind":"invite_invalid"'))
        connection.close()


def public_id(prefix, name):
    return prefix + base32(name[:16])


if __name__ == "__main__":
    unittest.main(verbosity=2)

"""A foreign peer that joins a workspace by a link with its own keys."""

import writer
from foreign import LINK_OFFER, LINK_REQUEST, LINK_RESULT, ZEROS, Copy, Visitor
from notation import VERSION, Hk, base32_decoded
from protocol import Invite
from salsa import seal_opened
from terms import ADDDEV, ADMIT, REKEY


def secrets_of(device, copy):
    """Yields (K, disc) from each box that a device can open; K is empty for a guest."""
    for o in copy.of(ADMIT, ADDDEV, REKEY):
        for name, box in o.map[{ADMIT: 6, ADDDEV: 3, REKEY: 2}[o.type]]:
            if name == device.id[:8]:
                text = seal_opened(device.secret.private_bytes_raw(), box)
                if text:
                    yield text[:-32], text[-32:]


def psk_of(disc):
    return Hk(disc, b"psk")


class Attacker:
    """An admitted member or guest, with a copy of the authority document."""

    def __init__(self, link, device=None, source="127.0.0.2"):
        """`source`: the local address to dial from. The node delays each address separately."""
        self.source = source
        self.invite = Invite.read(link)
        self.address = self.invite.hints[0]
        self.device, self.copy = device or writer.Device(), Copy()
        self.visitor, self.member, self.grant, self.disc = None, None, None, None

    def visit(self, device=None, invite=None):
        """Opens a link with an invite's psk, and updates the copy of the document."""
        visitor = Visitor(self.address, (invite or self.invite).psk, device or self.device,
                          self.copy, self.source)
        return visitor, visitor.knock(invite or self.invite)

    def enter(self):
        """Opens a member's link, with the newest discovery secret it was given."""
        if self.disc is None:
            self.visitor, _ = self.visit()
            return
        v = Visitor(self.address, psk_of(self.disc), self.device, self.copy, self.source)
        v.workspace = self.copy.root.id
        v.open()
        v.settle(0.2)
        self.visitor = v

    def link(self, code):
        """Becomes another device of the person who made a device link (5.8). Returns the code."""
        data = base32_decoded(code[len("wsx://device/") :])
        psk = Hk(data[1:17], b"psk")
        v = Visitor(self.address, psk, self.device, self.copy, self.source)
        offer = v.until(LINK_OFFER)
        if not offer:
            return None
        workspace, *salt, member = offer[1][2][0]
        text = (writer.old_signature(salt[0], member, self.device.box) if VERSION == 1 else
                writer.consent(writer.FOR_LINKING, workspace, ZEROS, v.answerer, member,
                               [[self.device.id, self.device.box]]))
        v.send(LINK_REQUEST, {1: [[workspace, self.device.box, self.device.key.sign(text)]]})
        result = v.until(LINK_RESULT)
        v.close()
        if not result or result[1][1] != 0:
            return result and result[1][1]
        self.member, self.grant = member, result[1][2][0][1]
        self.visit()[0].close()
        self.disc = next((disc for _, disc in secrets_of(self.device, self.copy)), None)
        return 0

    def join(self, recovery=None):
        """Joins correctly. Returns the code of the answer."""
        visitor, code = self.visit()
        if code != 0:
            return code
        on = self.on(self.invite)
        member, listed = writer.for_joining([self.device], visitor.workspace, on.id,
                                            visitor.answerer, recovery)
        proven = self.invite.key.sign(
            writer.proof(visitor.workspace, on.id, member, listed))
        code = visitor.join2(on.id, member, listed, proven)
        own = [o for o in self.copy.of(ADMIT) if o.map[2] == member]
        self.visitor, self.member = visitor, member
        self.grant = own[0].id if own else None
        self.disc = next((disc for _, disc in secrets_of(self.device, self.copy)), None)
        return code

    def on(self, invite):
        """The operation that created an invite."""
        return next(o for o in self.copy.of(2) if o.map[4] == invite.public)


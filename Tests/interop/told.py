"""Reads the histories that the program describes in JSON (make campaign-reader), as operations of
section 4.

They have no names, boxes or signatures, and only say whether the rules about signatures hold. So
only the rest of section 4 is judged here. The ids come from a seed.
"""

from dataclasses import dataclass, field

from authority import Authority
from operation import AUTHORITY
from terms import (ADDDEV, ADMIT, CONFIRM, CREATE, CUTPART, DOCCREATE, DOCDEL, DOCSET, FEATURE,
                   GRANT, INVITE, LEAVE, RECUT, REKEY, REMOVE, REQUEST, RMDEV, RVINV, WSDEL, WSSET)

FIELD = [bytes(16), bytes(24), b""]
# An invite without an expiry has the largest number.
NEVER = (1 << 64) - 1
# A feature that this reader knows, and one that it does not.
KNOWN, UNKNOWN = 1, 2


@dataclass(frozen=True, eq=False)
class Told:
    """The parts of an operation that section 4 needs."""

    id: bytes
    device: bytes
    inc: int
    seq: int
    previous: bytes
    deps: list
    ms: int
    grant: bytes
    type: int
    map: dict
    is_well_bound: bool
    verdict: str
    reason: str
    kind: int = field(default=AUTHORITY)
    is_again: bool = False
    # The listed device for which it acts there, and how many phrases it is behind it (V-12).
    behind: tuple = None


class ToldAuthority(Authority):
    """The verdicts on such a history."""

    known_features = frozenset({KNOWN})

    def binding_fault(self, o):
        return None if o.is_well_bound else "A-1 to A-4"


def unhex(value):
    """Decodes hexadecimal; None gives no bytes."""
    return bytes.fromhex(value) if value is not None else b""


def with_optional(said, key, value):
    """The map, with one more key if there is a value."""
    return said if value is None else {**said, key: unhex(value)}


def listed(action):
    """Devices as in 3.1, with unused box keys and signatures."""
    return [[unhex(d), bytes(32), bytes(64)] for d in action["devices"]]


def rekey(name):
    return None if name is None else [unhex(name), [], []]


def payload(o):
    """The type and map of 3.1 for a described operation."""
    a, get = o["action"], o["action"].get
    new, given = o.get("introduces"), unhex(o.get("names"))
    if a["kind"] == "create":
        return CREATE, {1: bytes(16), 2: unhex(a["member"]), 3: listed(a), 4: unhex(new), 5: [],
                        6: FIELD, 7: bytes(16)}
    if a["kind"] == "invite":
        said = {1: a["role"], 2: a["uses"], 3: get("expires", NEVER), 4: bytes(32),
                5: a["approve"], 6: [], 7: FIELD}
        return INVITE, with_optional(said, 8, get("named"))
    if a["kind"] == "request":
        said = {1: unhex(a["named"]), 2: unhex(a["member"]), 3: listed(a), 4: bytes(64), 5: FIELD}
        return REQUEST, with_optional(said, 6, get("answered"))
    if a["kind"] == "admit":
        said = {1: unhex(a["named"]), 2: unhex(a["member"]), 3: listed(a), 4: bytes(64),
                5: given or bytes(16), 6: [], 7: FIELD}
        return ADMIT, with_optional(said, 8, get("answered"))
    if a["kind"] == "grant":
        drops = None if get("drops") is None else [unhex(d) for d in a["drops"]]
        return GRANT, {1: unhex(a["member"]), 2: [unhex(d) for d in a["devices"]], 3: a["role"],
                       4: a["replaces"], 5: drops, 6: []}
    plain = {
        "addDevices": lambda: (ADDDEV, {1: listed(a), 2: given or bytes(16), 3: [],
                                        **({4: True} if o.get("takesPlace") else {})}),
        "remove": lambda: (REMOVE, {1: unhex(a["member"]), 2: [], 3: rekey(new), 4: [], 5: 0,
                                    6: b""}),
        "removeDevice": lambda: (RMDEV, {1: unhex(a["device"]), 2: [], 3: rekey(new)}),
        "revokeInvite": lambda: (RVINV, {1: unhex(a["named"])}),
        "leave": lambda: (LEAVE, {1: []}),
        "recut": lambda: (RECUT, {1: unhex(a["named"]), 2: []}),
        "cutPart": lambda: (CUTPART, {1: []}),
        "createDocument": lambda: (DOCCREATE, {1: 1, 2: bytes(16)}),
        "setDocument": lambda: (DOCSET, {1: bytes(32)}),
        "deleteDocument": lambda: (DOCDEL, {1: bytes(32), 2: bytes(32)}),
        "setWorkspace": lambda: (WSSET, {4: a["right"]} if "right" in a else {}),
        "deleteWorkspace": lambda: (WSDEL, {}),
        "rekey": lambda: (REKEY, {1: unhex(new), 2: [], 3: []}),
        "feature": lambda: (FEATURE, {1: KNOWN if a["isKnown"] else UNKNOWN}),
        "confirm": lambda: (CONFIRM, {1: [unhex(n) for n in a["confirmed"]]}),
        "unknown": lambda: (99, {}),
    }
    return plain[a["kind"]]()


def read(history):
    """The operations of a history, in order."""
    refs = {o["id"]: [unhex(o["device"]), o["incarnation"], o["sequence"], unhex(o["id"])]
            for o in history["operations"]}
    return [Told(unhex(o["id"]), unhex(o["device"]), o["incarnation"], o["sequence"],
                 unhex(o.get("previous")), [refs[d] for d in o["dependencies"]], o["time"],
                 unhex(o.get("grant")) or bytes(32), *payload(o), o["isWellBound"], o["verdict"],
                 o["reason"])
            for o in history["operations"]]


def story(history):
    """A line for each operation, with the first digits of people and devices."""
    number = {o["id"]: f"#{n}" for n, o in enumerate(history["operations"])}

    def short(value):
        if isinstance(value, list):
            return [short(v) for v in value]
        return number.get(value, value[:6]) if isinstance(value, str) else value

    for o in history["operations"]:
        said = {key: short(value) for key, value in o["action"].items() if key != "kind"}
        cited = short(([o["previous"]] if o.get("previous") else []) + o["dependencies"])
        yield (f"{number[o['id']]} {o['device'][:6]} under {short(o.get('grant'))} after "
               f"{' '.join(cited)}: {o['action']['kind']} {said}: {o['verdict']}")

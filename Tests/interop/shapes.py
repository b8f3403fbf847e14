"""Section 3.1 of docs/PROTOCOL.md: which payloads of authority operations are well formed.

Does not check the list limits of appendix A.
"""

from terms import (ADDDEV, ADMIT, CONFIRM, CREATE, CUTPART, DOCCREATE, DOCDEL, DOCSET, FEATURE,
                   GRANT, INVITE, LEAVE, RECUT, REKEY, REMOVE, REQUEST, RMDEV, RVINV, WSDEL, WSSET)


def uint(value):
    return type(value) is int


def boolean(value):
    return type(value) is bool


def size(count):
    return lambda value: type(value) is bytes and len(value) == count


def some_bytes(value):
    return type(value) is bytes


def null_or(shape):
    return lambda value: value is None or shape(value)


def array(*shapes):
    return lambda value: (type(value) is list and len(value) == len(shapes)
                          and all(shape(v) for shape, v in zip(shapes, value, strict=True)))


def many(shape):
    return lambda value: type(value) is list and all(shape(v) for v in value)


def role(value):
    return uint(value) and value <= 3


def empty_or(count):
    return lambda value: type(value) is bytes and len(value) in (0, count)


def wraps(value):
    if not many(array(size(8), some_bytes))(value):
        return False
    # 32 bytes for a guest's device, 64 for others, plus 48 bytes of box overhead.
    names = [name for name, _ in value]
    return names == sorted(names) and all(len(box) in (80, 112) for _, box in value)


id_, key16, member = size(32), size(16), size(16)
device_list = many(array(id_, id_, size(64)))
field = array(key16, size(24), some_bytes)


def cuts(value):
    """Positions by device and incarnation, each once, in ascending order (3.1)."""
    places = many(array(id_, uint, key16))
    if not many(array(id_, uint, places))(value) or not all(found for _, _, found in value):
        return False
    stores = [(device, inc) for device, inc, _ in value]
    return ascending(stores) and all(ascending([*map(tuple, found)]) for _, _, found in value)


def ascending(values):
    return all(one < other for one, other in zip(values, values[1:]))


older = many(array(key16, some_bytes))
rekey = null_or(array(key16, wraps, older))

# Map keys with their shapes; the second map has the optional keys.
SHAPES = {
    CREATE: ({1: key16, 2: member, 3: device_list, 4: key16, 5: wraps, 6: field, 7: key16}, {}),
    INVITE: ({1: role, 2: uint, 3: uint, 4: id_, 5: boolean, 6: many(id_), 7: field}, {8: id_}),
    REQUEST: ({1: id_, 2: member, 3: device_list, 4: size(64), 5: field}, {6: id_}),
    ADMIT: ({1: id_, 2: member, 3: device_list, 4: size(64), 5: key16, 6: wraps, 7: field},
            {8: id_}),
    ADDDEV: ({1: device_list, 2: key16, 3: wraps}, {4: lambda v: v is True}),
    GRANT: ({1: member, 2: many(id_), 3: role, 4: boolean, 5: null_or(many(id_)), 6: cuts}, {}),
    REMOVE: ({1: member, 2: cuts, 3: rekey, 4: many(id_), 5: uint, 6: empty_or(32)}, {}),
    RMDEV: ({1: id_, 2: cuts, 3: rekey}, {}),
    RVINV: ({1: id_}, {}),
    LEAVE: ({1: cuts}, {}),
    RECUT: ({1: id_, 2: cuts}, {}),
    CUTPART: ({1: cuts}, {}),
    CONFIRM: ({1: many(id_)}, {}),
    DOCCREATE: ({1: lambda v: uint(v) and v == 1, 2: key16}, {}),
    DOCSET: ({1: id_}, {2: id_, 3: member, 4: many(array(member, role)), 5: field, 6: field,
                        7: field, 8: lambda v: uint(v) and v <= 1, 9: boolean,
                        10: cuts}),
    DOCDEL: ({1: id_, 2: id_}, {}),
    WSSET: ({}, {1: field, 2: field, 3: field, 4: lambda v: uint(v) and v <= 2,
                 5: lambda v: uint(v) and v <= 2, 6: empty_or(16)}),
    WSDEL: ({}, {}),
    REKEY: ({1: key16, 2: wraps, 3: older}, {4: key16, 5: older, 6: many(id_)}),
    FEATURE: ({1: uint}, {}),
}


def is_well_formed(o):
    """Whether the payload of a known type has exactly the keys and shapes of the table."""
    if o.type not in SHAPES or type(o.map) is not dict:
        return False
    needed, optional = SHAPES[o.type]
    shapes = {**needed, **optional}
    return (set(needed) <= set(o.map) <= set(shapes)
            and all(shapes[key](value) for key, value in o.map.items()))

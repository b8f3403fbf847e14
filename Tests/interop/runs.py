"""Runs of operations in `ops` messages: section 5.3 of docs/PROTOCOL.md."""

from notation import LINK, VERSION, H, enc
from operation import AUTHORITY, Operation

ZEROS = bytes(32)


def spread(column):
    """Expands [[count, value] ...] to a list of values."""
    return [value for count, value in column for _ in range(count)]


def packed(values):
    """The reverse of `spread`."""
    column = []
    for value in values:
        if column and column[-1][1] == value:
            column[-1][0] += 1
        else:
            column.append([1, value])
    return column


def read_run(run, before):
    """Reads the operations of a run. A run names its predecessor; for older programs that do not,
    `before(device, inc, seq)` returns the ids held at that position."""
    document, device, inc, first = run[:4]
    columns = run[-1]
    kinds, hlcs, grants, keys, deps, lengths, payloads, signatures = columns[:8]
    kinds, grants, keys, lengths = map(spread, (kinds, grants, keys, lengths))
    assert len(columns) == 8, "all payloads must be present"
    deps, at, hlc, operations = dict(deps), 0, 0, []
    candidates = before(device, inc, first - 1) if first else [b""]
    if LINK > 2:
        assert len(run) == 6 and len(run[4]) == (32 if first else 0), "the predecessor of a run"
        candidates = [run[4]]
    for place, kind in enumerate(kinds):
        hlc += hlcs[place]
        payload = payloads[at : at + lengths[place]]
        at += lengths[place]
        signature = signatures[64 * place : 64 * place + 64]
        # The document of a root is its own id; the field is zeros.
        said = ZEROS if first + place == 0 and kind == AUTHORITY and not any(
            grants[place]) else document
        for previous in candidates:
            header = enc([VERSION, kind, said, device, inc, first + place, previous, hlc,
                          grants[place], keys[place], deps.get(place, []), len(payload),
                          H(b"wsx-payload1", payload)])
            o = Operation.read(header, payload, signature)
            if kind != AUTHORITY or o.is_signed:
                break
        operations.append(o)
        candidates = [o.id]
    return operations


def write_run(document, operations):
    """Writes consecutive operations of one log as a run."""
    first = operations[0]
    hlcs = [first.hlc] + [b.hlc - a.hlc for a, b in zip(operations, operations[1:])]
    deps = [[place, o.deps] for place, o in enumerate(operations) if o.deps]
    behind = [first.previous] if LINK > 2 else []
    return [document, first.device, first.inc, first.seq, *behind, [
        packed(o.kind for o in operations), hlcs, packed(o.grant for o in operations),
        packed(o.keyid for o in operations), deps, packed(len(o.payload) for o in operations),
        b"".join(o.payload for o in operations), b"".join(o.signature for o in operations)]]

"""Replays an editing history with yrs (Python binding), to compare it with `wsx-bench text`.

    yrs_text.py write TRACE FILE    type the history and save the document to FILE; prints
                                    {"updates_bytes", "saved_bytes"}, or {"missing"} without pycrdt
    yrs_text.py read FILE           load the document in a new process; prints
                                    {"whole_ms", "heap_bytes"}

Times are CPU times. Heap bytes are those allocated and not freed, without the interpreter's own.
"""

import ctypes
import gc
import gzip
import json
import sys
import time

try:
    import pycrdt
except ImportError:
    pycrdt = None

FIELDS = "arena ordblks smblks hblks hblkhd usmblks fsmblks uordblks fordblks keepcost"


class Heap(ctypes.Structure):
    """The result of mallinfo2(3)."""

    _fields_ = [(name, ctypes.c_size_t) for name in FIELDS.split()]


def heap_bytes():
    library = ctypes.CDLL(None)
    library.mallinfo2.restype = Heap
    heap = library.mallinfo2()
    return heap.uordblks + heap.hblkhd


def document(client):
    made = pycrdt.Doc(client_id=client)
    made["t"] = text = pycrdt.Text()
    return made, text


def write(trace, path):
    """Types the history of one writer, with a transaction for each change of the editor."""
    with gzip.open(trace) as file:
        history = json.load(file)
    made, text = document(1)
    sizes = []
    made.observe(lambda event: sizes.append(len(event.update)))
    for step in history["txns"]:
        with made.transaction():
            for at, deleted, inserted in step["patches"]:
                if deleted:
                    del text[at : at + deleted]
                if inserted:
                    text.insert(at, inserted)
    if str(text) != history["endContent"]:
        sys.exit("the resulting text differs from the history's")
    saved = made.get_update()
    with open(path, "wb") as file:
        file.write(saved)
    return {"updates_bytes": sum(sizes), "saved_bytes": len(saved)}


def read(path):
    with open(path, "rb") as file:
        saved = file.read()
    # Load a small document first, so that one-time allocations of the library do not count.
    document(8)[0].apply_update(document(7)[0].get_update())
    gc.collect()
    gc.disable()
    before = heap_bytes()
    made, text = document(9)
    start = time.process_time()
    made.apply_update(saved)
    took = time.process_time() - start
    heap = heap_bytes() - before
    if not len(text):
        sys.exit("nothing was read")
    return {"whole_ms": took * 1e3, "heap_bytes": heap}


def main():
    if pycrdt is None:
        print(json.dumps({"missing": "pycrdt"}))
    elif len(sys.argv) == 4 and sys.argv[1] == "write":
        print(json.dumps(write(sys.argv[2], sys.argv[3])))
    elif len(sys.argv) == 3 and sys.argv[1] == "read":
        print(json.dumps(read(sys.argv[2])))
    else:
        sys.exit(__doc__)


main()

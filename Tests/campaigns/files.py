"""Large and many files, with the real program: `make campaign-files`.

    SIZE=1024     MiB of the large file
    COUNT=10000   small files
    KIB=100       KiB of each
    SCENE=NAME    only one scene

killed    one large file between two homes that are killed in turn, five times: the copy equals its
          source, at most 2 % plus 64 MiB per kill is sent twice, and no process uses more than
          32 MiB above its idle memory
sources   one large file from three devices: one has flipped bits on its disk, and one leaves
many      small files, fetched automatically with their messages
carrier   between homes that cannot reach each other, through a third node that is always on (root)
limited   from one source and from three, over links with the same limit (root)

Each scene prints a line of results. The campaign exits with status 1 if a scene failed.
"""

import os
import shutil
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

import file_networks
import file_scenes
from file_networks import Skipped
from file_team import MIB, Failed
from node import Gone, Refused, end_in_order

SCENES = {"killed": file_scenes.killed, "sources": file_scenes.sources, "many": file_scenes.many,
          "carrier": file_networks.carrier, "limited": file_networks.limited}


def play(name, options):
    """Plays a scene and prints the result. Returns "PASS", "FAIL" or "SKIP"."""
    base, verdict, said, problems = Path(tempfile.mkdtemp(prefix="wsx-files.")), "PASS", "", []
    try:
        said, problems = SCENES[name](options, base)
    except Skipped as reason:
        verdict, said = "SKIP", str(reason)
    except (Failed, Gone, Refused, OSError) as failure:
        problems = [f"{type(failure).__name__}: {failure}"]
    except BaseException:
        shutil.rmtree(base, ignore_errors=True)
        raise
    if problems:
        verdict = "FAIL"
        problems.append(f"the logs of the nodes are in {base}")
        for pattern in ("*.bin", "small", "*/saved", "*/home/blobs"):
            for heavy in base.glob(pattern):
                shutil.rmtree(heavy) if heavy.is_dir() else heavy.unlink()
    else:
        shutil.rmtree(base, ignore_errors=True)
    print("\n    ".join([f"{name:9} {verdict}  {said}", *problems]), flush=True)
    return verdict


def main():
    end_in_order()
    options = SimpleNamespace(bytes=int(os.environ.get("SIZE") or 1024) * MIB,
                              files=int(os.environ.get("COUNT") or 10_000),
                              file_kib=int(os.environ.get("KIB") or 100))
    file_networks.size(options)
    wanted = [os.environ["SCENE"]] if os.environ.get("SCENE") else list(SCENES)
    if not set(wanted) <= set(SCENES):
        sys.exit(f"files: no scene {wanted[0]!r}; the scenes are {', '.join(SCENES)}")
    verdicts = [play(name, options) for name in wanted]
    return 1 if "FAIL" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())

"""Files at their size, with the real program: `make campaign-files`.

    SIZE=1024     MiB of the large file
    COUNT=10000   small files
    KIB=100       KiB of each
    SCENE=NAME    one scene alone

killed    one large file between two homes, of which one after the other is killed, five times: the
          copy equals its source, no more than 2 % and 64 MiB a kill moved beside it, and no process
          takes more than 32 MiB over what it has at rest
sources   from three devices, one of which has flipped bits on its disk, and one of which leaves
many      small files, which come with their messages
carrier   between homes that cannot reach each other, by a third node that is always on (root)
limited   from one source and from three, over links that are limited alike (root)

Each scene prints a line with its figures. The campaign ends with 1 if one of them failed.
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
    """Plays a scene and prints what came of it: "PASS", "FAIL" or "SKIP"."""
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
        problems.append(f"what the nodes said is in {base}")
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
        sys.exit(f"files: there is no scene {wanted[0]!r}; there are {', '.join(SCENES)}")
    verdicts = [play(name, options) for name in wanted]
    return 1 if "FAIL" in verdicts else 0


if __name__ == "__main__":
    sys.exit(main())

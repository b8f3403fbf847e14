"""Runs the second reader on handwritten histories.

        selftest.py [WORDS]     only histories whose names contain these words
"""

import sys

# Each registers its histories in this order.
import histories
import invites
import transfers
import endings
import confirmations
import open_ends
import successions
import final_ends
import along
import late_admits
import apart
import listed_phrases
import worked

MODULES = (histories, invites, transfers, endings, confirmations, open_ends, successions,
           final_ends, along, late_admits, apart, listed_phrases, worked)


def main():
    failed, run = 0, 0
    for history in histories.ALL:
        name = history.__name__.replace("_", " ")
        if not all(word in name for word in sys.argv[1:]):
            continue
        world, run = history(), run + 1
        found = world.disagreements()
        failed += bool(found)
        print(f"selftest: {name}: {len(world.expected)} verdicts"
              + "".join(f"\n    WRONG: {line}" for line in found))
    print(f"selftest: {run} histories, {failed} wrong")
    sys.exit(1 if failed or not run else 0)


if __name__ == "__main__":
    main()

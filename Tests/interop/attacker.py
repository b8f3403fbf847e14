"""A foreign peer that is admitted and then attacks the workspace.

    attacker.py --home FOLDER --link NAME=LINK... [--device-link CODE] CASE...

WSX_NODE is the program, used for what a person at the node would do. The node must be running;
with --may-restart, A15 restarts it. Each case prints what happened. `REACHED` marks something that
no attacker may reach, and makes the exit status 1. WSX_PROTO=1 attacks older programs, from before
the rules of section 4 were numbered. Links that the cases use, all created by the owner:

    member, many, look   role member, 50 uses     few   role member, 3 uses
    guest                role guest, 50 uses      used  role member, 1 use
    approve              role member, needs approval
"""

import argparse
import sys
import traceback

import attacks_join
import attacks_load
import attacks_mix
import attacks_private
import attacks_return
import attacks_rules
import attacks_share
import attacks_uses
from stage import Stage

CASES = {**attacks_join.CASES, **attacks_return.CASES, **attacks_rules.CASES, **attacks_uses.CASES,
         **attacks_mix.CASES, **attacks_load.CASES, **attacks_share.CASES,
         **attacks_private.CASES}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--home")
    parser.add_argument("--link", action="append", default=[], metavar="NAME=LINK")
    parser.add_argument("--device-link", metavar="CODE")
    parser.add_argument("--may-restart", action="store_true", help="let cases restart the node")
    parser.add_argument("--list", action="store_true", help="only list the cases")
    parser.add_argument("cases", nargs="*", metavar="CASE")
    asked = parser.parse_args()
    if asked.list:
        for name, case in CASES.items():
            print(f"{name}\t{case.__doc__.splitlines()[0]}")
        return
    links = dict(link.split("=", 1) for link in asked.link)
    reached = 0
    for name in asked.cases:
        print(f"{name}: {CASES[name].__doc__.splitlines()[0]}", flush=True)
        stage = Stage(asked.home, links, asked.device_link, asked.may_restart)
        try:
            CASES[name](stage)
        except AssertionError as error:
            stage.broken(f"{error}")
        except Exception:
            traceback.print_exc()
            stage.broken("the attack failed with an error; see above")
        reached += bool(stage.found)
        print(f"{name}: {'REACHED' if stage.found else 'held'}", flush=True)
    sys.exit(1 if reached else 0)


if __name__ == "__main__":
    main()

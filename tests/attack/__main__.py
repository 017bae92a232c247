"""python -m tests.attack --minutes 20: everything at once against two instances, and every history compared.

field.py    the server, two instances with two daemons each, what was sent and what was received
actors.py   senders, readers, kills, crashes, rotation, definitions, dumps, pinned snapshots: who they are and
            what they do

Prints what happened and what was wrong, one JSON object. Exit status 1 when anything was.
"""

from __future__ import annotations

import argparse
import json
import sys
import time

from .actors import ACTORS, Attack
from .field import Field


def main() -> int:
    parser = argparse.ArgumentParser(
        prog="python -m tests.attack",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--postgres", default="18")
    parser.add_argument("--without", action="append", default=[], choices=list(ACTORS), metavar="ACTOR")
    chosen = parser.parse_args()
    began = time.monotonic()
    with Field(chosen.postgres) as ground:
        Attack(ground, chosen.seed).run(chosen.minutes * 60, tuple(chosen.without))
    report = {
        "postgres": chosen.postgres,
        "seed": chosen.seed,
        "seconds": round(time.monotonic() - began),
        "wrong": ground.wrong,
        "done": dict(sorted(ground.done.items())),
    }
    print(json.dumps(report, indent=1, ensure_ascii=False))
    return int(bool(ground.wrong))


if __name__ == "__main__":
    sys.exit(main())

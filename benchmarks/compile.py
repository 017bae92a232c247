"""Lines per second of `check` and `compile`, beside sqlglot parsing the same text; memory by script length.

    python benchmarks/compile.py [--lines 5000] [--rounds 3]

The text is the examples' scripts, repeated. sqlglot's T-SQL reader does not know Service
Broker: it is given the same text and told to go on at what it cannot read, so its figure is
that of a general SQL parser on a text of this length, not of a compiler.
"""

import argparse
import json
import logging
import statistics
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from pathlib import Path

EXAMPLES = Path(__file__).parents[1] / "examples"
NOT_T_SQL = frozenset({"outbox"})
"""Examples whose scripts are PostgreSQL's SQL."""


def script(lines: int) -> str:
    """The examples one after the other, as often as it takes."""
    paths = [path for path in sorted(EXAMPLES.glob("*/*.sql")) if path.parent.name not in NOT_T_SQL]
    texts = [path.read_text(encoding="utf-8") for path in paths]
    whole = "\nGO\n".join(texts).splitlines()
    repeated: list[str] = []
    while len(repeated) < lines:
        repeated += [*whole, "GO"]
    # Cut at the end of a batch, not inside one.
    end = max(number for number, line in enumerate(repeated[:lines]) if line.strip().upper() == "GO")
    return "\n".join(repeated[: end + 1]) + "\n"


def check(text: str) -> None:
    """What `pgsb check` does."""
    from pgsb.compiler.pipeline import check_scripts
    from pgsb.grammar.source import Source

    check_scripts([Source("bench.sql", text)]).raise_if_any()


def compile_(text: str) -> None:
    """What `pgsb compile` does."""
    from pgsb.compiler.pipeline import CompileOptions, compile_script
    from pgsb.grammar.source import Source

    compiled = compile_script(Source("bench.sql", text), CompileOptions())
    compiled.problems.raise_if_any()
    assert compiled.text()


def sqlglot_parse(text: str) -> None:
    """sqlglot's T-SQL reader on the batches."""
    import re

    import sqlglot

    for batch in re.split(r"^GO\s*$", text, flags=re.MULTILINE | re.IGNORECASE):
        sqlglot.parse(batch, read="tsql", error_level=sqlglot.ErrorLevel.IGNORE)


RUNS: dict[str, Callable[[str], None]] = {"check": check, "compile": compile_, "sqlglot": sqlglot_parse}


def measure(name: str, lines: int) -> None:
    """One measurement in a process of its own: prints seconds, lines and peak memory."""
    import resource

    logging.disable(logging.WARNING)
    warnings.simplefilter("ignore")
    RUNS[name](script(200))  # imports and tables of the parser are not what is measured
    text = script(lines)
    before = time.perf_counter()
    RUNS[name](text)
    seconds = time.perf_counter() - before
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "lines": text.count("\n"), "peak_mib": peak}))


def in_process(name: str, lines: int) -> dict[str, float]:
    """Measure in a fresh interpreter, so that peaks of memory do not mix."""
    command = [sys.executable, __file__, "--measure", name, "--lines", str(lines)]
    shown = subprocess.run(command, capture_output=True, text=True, check=True)
    measured: dict[str, float] = json.loads(shown.stdout)
    return measured


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--lines", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", choices=RUNS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.measure, arguments.lines)
        return
    rates: dict[str, float] = {}
    print(f"{'':10}{'lines':>8}{'lines/s (median)':>18}{'min':>9}{'max':>9}{'peak MiB':>10}")
    for name in RUNS:
        for lines in (arguments.lines // 5, arguments.lines, arguments.lines * 4):
            rounds = [in_process(name, lines) for _ in range(arguments.rounds)]
            speeds = [one["lines"] / one["seconds"] for one in rounds]
            if lines == arguments.lines:
                rates[name] = statistics.median(speeds)
            print(
                f"{name:10}{rounds[0]['lines']:>8.0f}{statistics.median(speeds):>18.0f}"
                f"{min(speeds):>9.0f}{max(speeds):>9.0f}{max(one['peak_mib'] for one in rounds):>10.0f}"
            )
    for name in ("check", "compile"):
        ratio = rates["sqlglot"] / rates[name]
        print(f"{name} takes {ratio:.2f} times the time of sqlglot at {arguments.lines} lines")


if __name__ == "__main__":
    main()

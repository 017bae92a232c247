"""`python -m benchmarks.queues [--quick]`: our queue beside its peers."""

import sys
from pathlib import Path

import click

from . import report
from .peers import PEERS
from .run import Outcome, contenders, run
from .scenarios import scenarios
from .server import machine, running
from .special import SPECIAL
from .verify import verify


@click.command()
@click.option("--quick", is_flag=True, help="Few rounds and messages: minutes instead of an hour.")
@click.option("--postgres", help="Major version or bin directory; default: the best for the peers.")
@click.option(
    "--only",
    multiple=True,
    help="Scenarios whose name contains this text; see also benchmarks/queues/special.py.",
)
@click.option("--peer", "names", multiple=True, help="Compare with these queues only.")
@click.option("--async-commit", is_flag=True, help="synchronous_commit = off")
@click.option("--profile", is_flag=True, help="Also where the time goes: processor time, waits, WAL.")
@click.option("-o", "--output", type=click.Path(path_type=Path), default=Path("build/benchmarks"))
def main(
    quick: bool,
    postgres: str | None,
    only: tuple[str, ...],
    names: tuple[str, ...],
    async_commit: bool,
    profile: bool,
    output: Path,
) -> None:
    """Measure, print ratios with min / median / max as they come, and write JSON and a plot."""

    def say(line: str) -> None:
        click.echo(line, err=True)

    peers = [peer for peer in PEERS if not names or peer.name in names or peer.name == report.OURS]
    wanted = [
        one for one in scenarios(0.2 if quick else 1.0) if not only or any(text in one.name for text in only)
    ]
    special = [work for name, work in SPECIAL.items() if not only or any(text in name for text in only)]
    conditions = machine()
    with running(postgres) as server:
        conditions |= {"postgres": server.version, "synchronous_commit": not async_commit}
        say(f"PostgreSQL {server.version}, {conditions['cores']} cores, load {conditions['load']}")
        say(f"verified: {verify(server, 4000 if quick else 100_000)} messages once and in order")
        ready = contenders(server, peers, say) if wanted else []
        outcomes: list[Outcome] = []

        def measured(new: list[Outcome]) -> None:
            outcomes.extend(new)
            click.echo(report.table(new))

        for scenario in wanted:
            outcome = run(
                scenario,
                ready,
                rounds=3 if quick else 7,
                seconds=2 if quick else 8,
                synchronous_commit=not async_commit,
                profile=profile,
                say=say,
            )
            measured([outcome])
        for work in special:
            measured(work(server, quick, not async_commit, say))
    output.mkdir(parents=True, exist_ok=True)
    report.write_json(output / "queues.json", outcomes, conditions)
    try:
        report.plot(output / "queues.png", outcomes)
    except ImportError:
        say("no plot: pip install matplotlib")
    say(f"written: {output}/queues.json")


if __name__ == "__main__":
    sys.exit(main())

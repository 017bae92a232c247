"""End of day, in one command: ``python examples/end_of_day/run.py [--accounts 20] [--trades 1000]``.

Sets the services up, makes a day of trades, books them with Spark, and shows the
positions. Uses the private server unless --dsn names another. What Spark needs is
installed into the virtual environment where it is missing, but for Java.
"""

import importlib.metadata
import importlib.util
import random
import subprocess
import sys
from pathlib import Path

import click
import psycopg

from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.problems import BulkError
from pgsb.bulk.session import PACKAGE, jdbc_jar, require_java
from pgsb.server.connect import find_target
from pgsb.server.embedded import PrivateServer

HERE = Path(__file__).parent
SYMBOLS = {"ACME": 12000, "BOLT": 455, "CRUX": 9990, "DUNE": 3125}


def make_day(
    connection: psycopg.Connection[tuple[object, ...]], accounts: int, trades: int, seed: int
) -> int:
    """One dialog for each account, its trades in order; the same trades for the same seed."""
    chance = random.Random(seed)
    for account in range(1, accounts + 1):
        bodies = []
        for _ in range(trades // accounts):
            symbol = chance.choice(list(SYMBOLS))
            cents = SYMBOLS[symbol] + chance.randint(-50, 50)
            quantity = chance.choice((100, -100, 50, 300))
            price = f"{cents // 100}.{cents % 100:02}"
            bodies.append(
                f'{{"account":"A{account:03}","symbol":"{symbol}","quantity":{quantity},"price":{price}}}'
            )
        connection.execute(
            """WITH dialog (handle) AS (
                   SELECT ssb.begin_dialog('//EndOfDay/Desk', '//EndOfDay/BackOffice', '//EndOfDay/Book'))
               SELECT ssb.send_batch(array_agg(handle), array_agg('//EndOfDay/Trade'::text),
                                     array_agg(convert_to(body, 'UTF8') ORDER BY place))
                 FROM dialog, unnest(%s::text[]) WITH ORDINALITY AS b (body, place)""",
            (bodies,),
        )
    return accounts * (trades // accounts)


def install_spark() -> None:
    """Spark and what goes with it, as the extra ``spark`` names it. Raises ClickException outside a venv."""
    if importlib.util.find_spec("pyspark") is not None:
        return
    wanted = [
        one.partition(";")[0].strip()
        for one in importlib.metadata.requires("pg-service-broker") or ()
        if one.partition(";")[2].strip().replace('"', "'") == "extra == 'spark'"
    ]
    command = [sys.executable, "-m", "pip", "install", *wanted]
    if sys.prefix == sys.base_prefix:
        raise click.ClickException(f"Spark is missing, and this Python is no virtual environment: {wanted}")
    click.echo(f"installing {', '.join(wanted)}")
    subprocess.run(command, check=True)


def spark_settings() -> dict[str, str]:
    """The JDBC driver: of this machine, else fetched by Spark."""
    try:
        jdbc_jar()
    except BulkError:
        return {"spark.jars.packages": PACKAGE}
    return {}


def picture(connection: psycopg.Connection[tuple[object, ...]]) -> list[str]:
    """A row for each symbol: what all accounts have of it together, and a bar for its value."""
    rows = connection.execute(
        """SELECT symbol, count(*), sum(quantity), sum(value), abs(sum(value)) / max(abs(sum(value))) OVER ()
             FROM dbo.positions GROUP BY symbol ORDER BY sum(value) DESC"""
    ).fetchall()
    lines = ["symbol  accounts  quantity           value"]
    for symbol, accounts, quantity, value, share in rows:
        # ▏ to █: eighths of a character.
        eighths = round(float(str(share or 0)) * 30 * 8)
        bar = "█" * (eighths // 8) + " ▏▎▍▌▋▊▉"[eighths % 8].strip()
        lines.append(f"{symbol:6}  {accounts:>8}  {quantity:>8,}  {value:>14,}  {bar}")
    return lines


@click.command()
@click.option("--dsn", help="PostgreSQL to use; default: the private server.")
@click.option("--accounts", type=click.IntRange(1), default=20, show_default=True)
@click.option("--trades", type=click.IntRange(1), default=1000, show_default=True)
@click.option("--seed", default=1, show_default=True)
def main(dsn: str | None, accounts: int, trades: int, seed: int) -> None:
    """Run the example."""
    try:
        install_spark()
        require_java()
    except BulkError as error:
        raise click.ClickException(f"{error}\nhint: {error.hint}") from error
    target = find_target(dsn)
    address = PrivateServer().loopback_dsn() if target.private else target.dsn
    with psycopg.connect(address, autocommit=True) as connection:
        row = connection.execute("SELECT to_regclass('dbo.positions')").fetchone()
        if row == (None,):
            command = [
                sys.executable,
                "-c",
                "from pgsb.cli.main import main; main()",
                "run",
                "--on-error",
                "stop",
            ]
            subprocess.run([*command, *(["--dsn", dsn] if dsn else []), str(HERE / "setup.sql")], check=True)
        sent = make_day(connection, accounts, trades, seed)
        click.echo(f"the desk has sent {sent:,} trades of {accounts} accounts")
        sys.path.insert(0, str(HERE))
        from positions import book

        done = run_job(address, "dbo.backofficequeue", book, JobOptions(settings=spark_settings()))
        click.echo(
            f"booked {done.completed:,} trades into {done.written:,} positions, {done.replied:,} replies"
        )
        row = connection.execute(
            "SELECT count(*) FROM dbo.deskqueue WHERE message_type_name LIKE %s", ("%Position",)
        ).fetchone()
        click.echo(f"replies in the desk's queue: {row[0] if row else 0}")
        click.echo()
        for line in picture(connection):
            click.echo(line)


if __name__ == "__main__":
    main()

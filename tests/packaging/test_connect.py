"""What is said of a server names no secret of its DSN."""

import psycopg
import pytest

from pgsb.server.connect import CONNECT_SECONDS, Target, connect, describe, read_dsn
from pgsb.server.problems import ServerError, Unreachable
from support import Database


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:hidden@db.example/shop?sslpassword=hidden",
        "host=db.example dbname=shop user=ann password='hidden' sslpassword=hidden",
    ],
)
def test_a_server_in_words(dsn: str) -> None:
    said = describe(Target(dsn, False, "--dsn"))
    assert "hidden" not in said
    assert "db.example" in said and "shop" in said and "ann" in said


def test_a_wrong_dsn_is_not_repeated() -> None:
    target = Target("host=db.example password=half hidden", False, "--dsn")
    with pytest.raises(ServerError) as caught:
        connect(target)
    assert "hidden" not in str(caught.value)


@pytest.mark.parametrize(
    "dsn, variable, seconds, said",
    [
        ("dbname=shop", None, None, CONNECT_SECONDS),
        ("dbname=shop connect_timeout=5", None, None, None),
        ("dbname=shop", "7", None, None),
        ("dbname=shop", None, 3.5, 4),
        ("dbname=shop connect_timeout=0", None, 60.0, CONNECT_SECONDS),
        ("dbname=shop connect_timeout=5", None, 0.1, 2),
        ("dbname=shop", "7", 60.0, 7),
    ],
)
def test_a_server_that_hangs_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch, dsn: str, variable: str | None, seconds: float | None, said: int | None
) -> None:
    seen: dict[str, object] = {}

    def refuse(_: str, **options: object) -> None:
        seen.update(options)
        raise psycopg.errors.ConnectionTimeout("connection timeout expired")

    monkeypatch.setattr(psycopg, "connect", refuse)
    if variable is not None:
        monkeypatch.setenv("PGCONNECT_TIMEOUT", variable)
    with pytest.raises(Unreachable, match=r"cannot connect to .*shop.*: connection timeout expired"):
        connect(Target(dsn, False, "--dsn"), seconds)
    assert seen.get("connect_timeout") == said


def test_what_libpq_was_told_twice_is_said_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """It asks with TLS and without, where the DSN says nothing of it."""
    refused = 'connection to server at "::1", port 5432 failed: FATAL:  password authentication failed'

    def refuse(_: str, **_options: object) -> None:
        raise psycopg.OperationalError(f"connection failed: {refused}\n{refused}\n")

    monkeypatch.setattr(psycopg, "connect", refuse)
    with pytest.raises(Unreachable) as caught:
        connect(Target("dbname=shop", False, "--dsn"))
    assert str(caught.value) == f"cannot connect to dbname=shop: {refused.replace('  ', ' ')}"


@pytest.mark.parametrize("host", ["a..b", "x" * 100, "one,a..b"])
def test_a_host_whose_name_can_be_none_is_a_wrong_dsn(host: str) -> None:
    dsn = f"host={host} password=hidden"
    for read in (lambda: connect(Target(dsn, False, "--dsn")), lambda: read_dsn(dsn, "--dsn")):
        with pytest.raises(ServerError, match="cannot read the connection string of --dsn"):
            read()


@pytest.mark.parametrize(
    "host", ["db.example.", "my_host", "::1", "/run/sockets", "münchen.example", "@abstract", ""]
)
def test_a_name_that_a_host_may_have(host: str) -> None:
    assert read_dsn(f"host='{host}' dbname=shop", "--dsn")["dbname"] == "shop"


def test_literals_mean_what_is_compiled_whatever_the_database_says(
    database: Database,
) -> None:
    with psycopg.connect(database.dsn, autocommit=True) as owner:
        for setting in (
            "standard_conforming_strings = off",
            "bytea_output = 'escape'",
            "extra_float_digits = -5",
            "DateStyle = 'German, DMY'",
            "transform_null_equals = on",
            "array_nulls = off",
            "quote_all_identifiers = on",
            "plpgsql.extra_errors = 'all'",
            "plpgsql.variable_conflict = 'use_variable'",
            "default_transaction_isolation = 'serializable'",
        ):
            owner.execute(f"ALTER DATABASE {database.name} SET {setting}")
    with connect(Target(database.dsn, False, "--dsn")) as connection:
        row = connection.execute(
            r"SELECT length('\n'), '\x00'::bytea::text, (1 / 3e0::float8)::text, NULL = NULL,"
            " ('{NULL}'::text[])[1], current_setting('plpgsql.extra_errors'),"
            " current_setting('transaction_isolation'), '3.2.2030'::date::text"
        )
        assert row.fetchone() == (
            *(2, "\\x00", "0.3333333333333333", None, None, "none", "read committed"),
            "2030-02-03",
        )
        connection.execute("SELECT ssb.create_queue('dbo.orders')")
        # As sessions without that setting look for it.
        assert connection.execute("SELECT name FROM ssb.queue").fetchall() == [("dbo.orders",)]

"""No session of Spark's comes to a function or operator that somebody made in a schema of the search_path."""

import uuid
from collections.abc import Callable
from typing import Any

import needs_spark  # noqa: F401
import psycopg
import pytest
from bulk_desk import Desk
from psycopg import sql

from pgsb.bulk.claim import abandon, claim
from pgsb.bulk.complete import _TABLE
from pgsb.bulk.connections import Server, reached
from pgsb.bulk.looking import QueueReader
from pgsb.bulk.read import _ranges
from pgsb.bulk.source_options import read_options
from pgsb.bulk.streaming import QueueStreamReader
from pgsb.bulk.writing import MessageWriter
from support import Connection

pytestmark = pytest.mark.one_postgres

pyarrow = pytest.importorskip("pyarrow")
pyspark_types = pytest.importorskip("pyspark.sql.types")

# By closer types than PostgreSQL's own, which come first; the last two stand in their way where public does.
_RAISES = "LANGUAGE plpgsql AS $$BEGIN RAISE 'shadow'; END$$"
_SHADOWS = f"""
CREATE FUNCTION public.shadow(text, text) RETURNS text {_RAISES};
CREATE FUNCTION public.shadow(text, uuid) RETURNS text {_RAISES};
CREATE FUNCTION public.shadow(float8, smallint) RETURNS float8 {_RAISES};
CREATE FUNCTION public.shadow(bigint, bigint) RETURNS boolean {_RAISES};
CREATE FUNCTION public.format(text, name, name) RETURNS text {_RAISES};
CREATE AGGREGATE public.array_agg(text) (SFUNC = public.shadow, STYPE = text);
CREATE AGGREGATE public.count(uuid) (SFUNC = public.shadow, STYPE = text);
CREATE OPERATOR public./ (FUNCTION = public.shadow, LEFTARG = float8, RIGHTARG = smallint);
CREATE FUNCTION public.generate_series(int, int) RETURNS SETOF int {_RAISES};
CREATE OPERATOR public.>= (FUNCTION = public.shadow, LEFTARG = bigint, RIGHTARG = bigint);
"""


@pytest.mark.parametrize("path", ['"$user", public', "public, pg_catalog"])
def test_what_stands_in_public_is_in_nobodys_way(
    desk: Desk, connect: Callable[..., Connection], path: str
) -> None:
    desk.send(2, 3)
    desk.connection.execute(_SHADOWS.encode())
    desk.connection.execute(
        sql.SQL("ALTER DATABASE {} SET search_path = {}").format(
            sql.Identifier(desk.database.name), sql.SQL(path)
        )
    )
    dsn = desk.database.dsn
    with connect(dsn) as shadowed, pytest.raises(psycopg.errors.RaiseException, match="shadow"):
        shadowed.execute("SELECT format('%s %s', nspname, nspname) FROM pg_catalog.pg_namespace")

    options = {"dsn": dsn, "queue": "dbo.target"}
    look = QueueReader(read_options(options))
    assert sum(batch.num_rows for part in look.partitions() for batch in look.read(part)) == 6
    view = QueueReader(read_options({"dsn": dsn, "view": "sys.conversation_endpoints"}))
    assert sum(batch.num_rows for part in view.partitions() for batch in view.read(part)) == 4

    with connect(dsn) as session:
        found = session.execute(_TABLE, ("dbo.total",)).fetchone()
        assert found is not None and found[3] == "dbo.total"
        held = claim(session, "dbo.target")
        assert held is not None and len(_ranges(held, 3)) == 3
        abandon(held)
        server = reached(session)

    stream = QueueStreamReader(read_options(options))
    start = stream.initialOffset()
    end = stream.latestOffset(start)
    assert sum(batch.num_rows for part in stream.partitions(start, end) for batch in stream.read(part)) == 6
    stream.commit(end)
    stream.stop()
    assert desk.waiting() == 0

    _send(server, recycle=False)
    _send(server, recycle=True)
    assert desk.waiting() == 4


def _send(server: Server, *, recycle: bool) -> None:
    columns: list[Any] = [pyarrow.array(["a", "b"]), pyarrow.array([b"1", b"2"])]
    schema = pyspark_types.StructType(
        [
            pyspark_types.StructField("key", pyspark_types.StringType()),
            pyspark_types.StructField("message_body", pyspark_types.BinaryType()),
        ]
    )
    given = {"dsn": server.dsn, "fromService": "source", "toService": "target", "contract": "trades"}
    given |= {"messageType": "trade", "recycle": str(recycle)}
    writer = MessageWriter(read_options(given, to_write=True), schema, False)
    batch = pyarrow.RecordBatch.from_arrays(columns, names=["key", "message_body"])
    assert writer._send(iter([batch]), uuid.uuid4(), 0).messages == 2


def test_java_reads_a_claim_by_no_path_of_its_role(desk: Desk, connect: Callable[..., Connection]) -> None:
    """What its sessions say first; a view that a program reads beside is found by the role's own path."""
    options = Server("host=127.0.0.1 port=5432 dbname=shop user=ann", "here")
    with connect(desk.database.dsn) as session, session.transaction():
        session.execute("SET search_path = public")
        session.execute(options.jdbc_of_claims["sessionInitStatement"].encode())
        assert session.execute("SHOW search_path").fetchone() == ("pg_catalog, pg_temp",)
    assert "sessionInitStatement" not in options.jdbc

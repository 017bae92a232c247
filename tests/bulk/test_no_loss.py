"""What a user's program may do, and no message is lost by it: each of these once lost some."""

import asyncio
import datetime
import decimal
import secrets
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from bulk_desk import Desk
from pooler import Pooler
from psycopg.conninfo import conninfo_to_dict, make_conninfo

import pgsb.bulk.complete as complete_module
from pgsb.bulk import BulkError, Outputs, claim
from pgsb.bulk.complete import complete
from pgsb.bulk.connections import Server, reached
from pgsb.bulk.connections import connect as connect_to
from pgsb.bulk.job import run_job
from pgsb.bulk.options import JobOptions
from pgsb.bulk.program import Context, run_program
from pgsb.bulk.read import read
from pgsb.bulk.session import require_java_passes
from pgsb.bulk.staging import Staged, stage
from support import Connection, Database, rest_is_long

pytestmark = pytest.mark.one_postgres

Connect = Callable[..., Connection]
Tcp = Callable[[Database], str]


# Where the readers go


def test_readers_go_where_a_service_file_led_the_claim(
    spark: Any, desk: Desk, tcp: Tcp, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = conninfo_to_dict(tcp(desk.database))
    passwords = tmp_path / "passwords"
    passwords.write_text(f"*:*:*:*:{parts['password']}\n")
    passwords.chmod(0o600)
    services = tmp_path / "services"
    services.write_text(
        f"[shop]\nhost={parts['host']}\nport={parts['port']}\ndbname={parts['dbname']}\nuser={parts['user']}\n"
        f"passfile={passwords}\n"
    )
    monkeypatch.setenv("PGSERVICEFILE", str(services))
    # What a reader that looks for itself would take.
    monkeypatch.setenv("PGDATABASE", "postgres")
    desk.send(2, 3)
    counted: list[int] = []

    def program(messages: Any) -> Outputs:
        counted.append(messages.count())
        return Outputs()

    done = run_job("service=shop", "dbo.target", program)
    assert (counted, done.completed, desk.waiting()) == ([6], 6, 0)


def test_of_several_hosts_readers_go_to_the_one_that_answered(desk: Desk, tcp: Tcp) -> None:
    parts = conninfo_to_dict(tcp(desk.database))
    port = str(parts["port"])
    dsn = make_conninfo(
        **{**parts, "host": "127.0.0.1,127.0.0.1", "port": f"1,{port}"}, target_session_attrs="read-write"
    )
    with connect_to(dsn, "test") as connection:
        server = reached(connection)
    assert server.jdbc["url"].startswith(f"jdbc:postgresql://127.0.0.1:{port}/{parts['dbname']}?")
    assert server.jdbc["password"] == parts["password"]
    with connect_to(
        make_conninfo(**{**parts, "host": "db.invalid"}, hostaddr="127.0.0.1"), "test"
    ) as connection:
        assert "//127.0.0.1:" in reached(connection).jdbc["url"]


def test_an_ipv6_address_and_tls_reach_java() -> None:
    from pgsb.bulk.connections import Server

    dsn = "host=::1 port=5433 dbname=a/b user=u sslmode=verify-full sslrootcert=system sslcert=c sslkey=k"
    options = Server(dsn, "").jdbc
    assert options["url"] == "jdbc:postgresql://[::1]:5433/a%2Fb?ApplicationName=pgsb-spark&tcpKeepAlive=true"
    assert (options["sslmode"], options["sslcert"], options["sslkey"]) == ("verify-full", "c", "k")
    assert (
        options["sslfactory"] == "org.postgresql.ssl.DefaultJavaSSLFactory" and "sslrootcert" not in options
    )
    with pytest.raises(BulkError, match="JDBC cannot use the unix socket in /run/pg") as refused:
        _ = Server("host=/run/pg port=5432 dbname=d user=u", "").jdbc
    assert "TCP" in str(refused.value.hint)


def test_a_reader_in_another_database_fails_and_nothing_is_completed(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, new_database: Callable[[], Database]
) -> None:
    desk.send(1, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    elsewhere = tcp(new_database())
    with pytest.raises(BulkError, match="in another database"):
        read(spark, held, elsewhere)
    # A name that leads here and there, once it has been asked:
    frame = read(spark, held, tcp(desk.database))
    parts = conninfo_to_dict(elsewhere)
    assert frame.count() == 3
    with (
        psycopg.connect(make_conninfo(**parts), autocommit=True) as other,
        pytest.raises(psycopg.errors.ObjectInUse, match="made in another database"),
    ):
        other.execute(
            "SELECT * FROM ssb_internal.end_of_reading(%s, %s, 1, 0)",
            (held.claim_id, desk.value("SELECT ssb_internal.database_identity()")),
        )


def test_a_claim_of_which_a_part_was_not_read_is_not_completed(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect
) -> None:
    desk.send(4, 5)
    held = claim(connect(), "dbo.target", partitions=2)
    assert held is not None
    dsn = tcp(desk.database)
    with pytest.raises(BulkError, match=r"of the 20 messages of claim .* none was read"):
        complete(held, Outputs(), dsn)
    frame = read(spark, held, dsn)
    frame.where("conversation_handle IS NOT NULL").limit(1).collect()
    for _ in range(2):
        frame.first()
    with pytest.raises(BulkError, match="read: the rest would be deleted unseen"):
        complete(held, Outputs(), dsn)
    assert complete(held, Outputs(unread="complete"), dsn).deleted == 20


def test_a_reader_of_a_claim_that_has_ended_fails(spark: Any, desk: Desk, tcp: Tcp, connect: Connect) -> None:
    desk.send(1, 3)
    owner = connect()
    held = claim(owner, "dbo.target")
    assert held is not None
    frame = read(spark, held, tcp(desk.database))
    owner.execute("SELECT ssb_internal.abandon_claim(%s)", (held.claim_id,))
    with pytest.raises(Exception, match="there is no claim"):
        frame.count()


# Types


@pytest.mark.long
def test_values_arrive_as_what_they_are(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute(
        "CREATE TABLE dbo.kinds (document jsonb, map jsonb, numbers int[], names text[], yes boolean,"
        " flag sys.bit,"
        " bits bit(1), at timestamptz, local timestamp, day date, amount numeric(20, 4),"
        " handle uuid,"
        " raw bytea, text varchar(20), small smallint, ratio real, blobs bytea[], nothing int, variant jsonb)"
    )
    desk.send(1, 1)

    def program(messages: Any) -> Outputs:
        row = messages.selectExpr(
            "named_struct('a', CAST(1.50 AS decimal(10,2)), 't', TIMESTAMP '2026-01-02 03:04:05.123456')"
            " AS document",
            "map('x', 1, 'y', 2) AS map",
            "array(1, NULL, 3) AS numbers",
            "array('ä\"', NULL) AS names",
            "true AS yes",
            "true AS flag",
            "false AS bits",
            "TIMESTAMP '2026-01-02 03:04:05.123456' AS at",
            "TIMESTAMP_NTZ '2026-01-02 03:04:05.123456' AS local",
            "DATE '1999-12-31' AS day",
            "CAST(-12345678901234.5678 AS decimal(20,4)) AS amount",
            "'6F9619FF-8B86-D011-B42D-00C04FC964FF' AS handle",
            "X'00FF' AS raw",
            "'ß' AS text",
            "-7 AS small",
            "CAST(0.25 AS float) AS ratio",
            "array(X'00FF', X'') AS blobs",
            "NULL AS nothing",
            "parse_json('{\"d\": 1.25}') AS variant",
        )
        return Outputs(tables={"dbo.kinds": row})

    run_job(tcp(desk.database), "dbo.target", program)
    desk.connection.execute("SET timezone = 'UTC'")
    row = desk.connection.execute("SELECT * FROM dbo.kinds").fetchone()
    assert row is not None
    moment = datetime.datetime(2026, 1, 2, 3, 4, 5, 123456)
    assert row[0] == {"a": 1.5, "t": "2026-01-02T03:04:05.123456Z"}
    assert row[1:4] == ({"x": 1, "y": 2}, [1, None, 3], ['ä"', None])
    assert row[4:7] == (True, 1, "0")
    assert row[7] == moment.replace(tzinfo=datetime.UTC) and row[8] == moment
    assert row[9:11] == (datetime.date(1999, 12, 31), decimal.Decimal("-12345678901234.5678"))
    assert str(row[11]) == "6f9619ff-8b86-d011-b42d-00c04fc964ff"
    assert row[12:16] == (b"\x00\xff", "ß", -7, 0.25)
    assert row[16:] == ([b"\x00\xff", b""], None, {"d": 1.25})


_KINDS_OF_TABLES = {
    "plain": ("packed", "CREATE TABLE dbo.out (sum int, body text CHECK (body <> 'x') DEFAULT 'y')"),
    "partitions": (
        "packed",
        "CREATE TABLE dbo.out (sum int, body text) PARTITION BY LIST (sum);"
        "CREATE TABLE dbo.out_1 PARTITION OF dbo.out FOR VALUES IN (1);"
        "CREATE TABLE dbo.out_2 PARTITION OF dbo.out DEFAULT",
    ),
    "a reference": (
        "packed",
        "CREATE TABLE dbo.known (sum int PRIMARY KEY); INSERT INTO dbo.known VALUES (1), (2);"
        "CREATE TABLE dbo.out (sum int REFERENCES dbo.known, body text)",
    ),
    # COPY would fire it too, but the trigger may ask which statement it was.
    "a trigger": (
        "table",
        "CREATE TABLE dbo.out (sum int, body text);"
        "CREATE FUNCTION dbo.told() RETURNS trigger LANGUAGE plpgsql AS"
        " 'BEGIN NEW.body := lower(split_part(current_query(), '' '', 1)); RETURN NEW; END';"
        "CREATE TRIGGER t BEFORE INSERT ON dbo.out FOR EACH ROW EXECUTE FUNCTION dbo.told()",
    ),
    # COPY would pass the rule over.
    "a rule": (
        "table",
        "CREATE TABLE dbo.out (sum int, body text);CREATE RULE r AS ON INSERT TO dbo.out DO ALSO NOTIFY told",
    ),
    # COPY would refuse it, to others than its owner.
    "policies": (
        "table",
        "CREATE TABLE dbo.out (sum int, body text); ALTER TABLE dbo.out ENABLE ROW LEVEL SECURITY",
    ),
    "another type": ("table", "CREATE TABLE dbo.out (sum numeric(9, 2), body text)"),
    "a view": (
        "table",
        "CREATE TABLE dbo.under (sum int, body text); CREATE VIEW dbo.out AS SELECT * FROM dbo.under",
    ),
}


@pytest.mark.parametrize("kind", rest_is_long(_KINDS_OF_TABLES, *list(_KINDS_OF_TABLES)[:2], "a view"))
def test_rows_come_by_copy_where_that_does_what_insert_does(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    way, made = _KINDS_OF_TABLES[kind]
    desk.connection.execute(made.encode())
    desk.send(2, 2)
    ways = []

    def staged(*arguments: Any) -> Staged:
        ways.append(arguments[2])
        return stage(*arguments)

    monkeypatch.setattr(complete_module, "stage", staged)

    def program(messages: Any) -> Outputs:
        body = "CAST(message_body AS STRING)"
        rows = messages.selectExpr(f"CAST({body} AS INT) AS sum", f"{body} AS body")
        return Outputs(tables={"dbo.out": rows})

    done = run_job(tcp(desk.database), "dbo.target", program)
    assert (done.completed, done.written, ways) == (4, 4, [way])
    rows = desk.connection.execute("SELECT sum::int, body FROM dbo.out ORDER BY sum").fetchall()
    text = ("insert", "insert") if kind == "a trigger" else ("1", "2")
    assert rows == [(1, text[0])] * 2 + [(2, text[1])] * 2


@pytest.mark.long
@pytest.mark.parametrize(
    ("where", "in_files"), [("this machine", True), ("a cluster", False), ("an encrypting session", False)]
)
def test_rows_pass_the_server_once_where_tasks_run_on_this_machine(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch, where: str, in_files: bool
) -> None:
    desk.connection.execute("CREATE TABLE dbo.out (sum int, body text)")
    desk.send(20, 30)
    from pyspark import SparkFiles

    temporary = Path(SparkFiles.getRootDirectory())
    # Errors that tests before this one have caught may hold theirs.
    others = set(temporary.glob("pgsb-rows-*"))
    seen: list[tuple[bool, int]] = []

    def staged(*arguments: Any) -> Staged:
        made = stage(*arguments)
        number = sum(len(list(one.iterdir())) for one in set(temporary.glob("pgsb-rows-*")) - others)
        is_there = bool(made.staging) and desk.value(f"SELECT count(*) FROM {made.staging}") > 0
        seen.append((is_there, number))
        return made

    monkeypatch.setattr(complete_module, "stage", staged)
    if where == "a cluster":
        monkeypatch.setattr(spark.sparkContext, "master", "spark://127.0.0.1:7077")
    elif where == "an encrypting session":
        monkeypatch.setattr(spark.sparkContext, "_conf", {"spark.io.encryption.enabled": "true"})

    def program(messages: Any) -> Outputs:
        number = "CAST(CAST(message_body AS STRING) AS INT)"
        rows = messages.selectExpr(f"{number} AS sum", "repeat('x', 3000) AS body")
        # Of five parts three at least are empty, and write no file.
        return Outputs(tables={"dbo.out": rows.repartition(5, (rows["sum"] % 2).alias("odd"))})

    done = run_job(tcp(desk.database), "dbo.target", program)
    assert (done.completed, done.written) == (600, 600)
    ((in_table, number),) = seen
    assert in_table is not in_files and number in ((1, 2) if in_files else (0,))
    (row,) = desk.rows("SELECT count(*), sum(sum), min(body) = repeat('x', 3000) FROM dbo.out")
    assert row == (600, 20 * 465, True)
    # They go when it has completed.
    assert set(temporary.glob("pgsb-rows-*")) <= others


@pytest.mark.parametrize(
    ("column", "said"),
    [
        ("map(1, 2) AS sum", "the column 'sum' is map<int,int>, which does not fit bigint in dbo.total"),
        ("1.5D AS sum", "the column 'sum' is double, which does not fit bigint"),
        ("INTERVAL '1' DAY AS sum", "the column 'sum' is interval day, which does not fit"),
        ("CAST(1 AS decimal(10,2)) AS sum", r"the column 'sum' is decimal\(10,2\), which does not fit"),
    ],
)
def test_what_does_not_fit_is_refused_before_a_task_runs(
    spark: Any, desk: Desk, tcp: Tcp, connect: Connect, column: str, said: str
) -> None:
    desk.send(1, 1)
    held = claim(connect(), "dbo.target")
    assert held is not None
    dsn = tcp(desk.database)
    frame = read(spark, held, dsn)
    with pytest.raises(BulkError, match=said):
        complete(held, Outputs(tables={"dbo.total": frame.selectExpr(column)}), dsn)
    assert desk.value("SELECT count(*) FROM ssb.claim_reading") == 0


# One message that fails


def _notes(desk: Desk) -> None:
    desk.connection.execute(
        "CREATE TABLE dbo.notes (note varchar(5) CHECK (note <> 'bad'), number int UNIQUE)"
    )
    for body in (b"fine", b"too long", b"bad", b"n\x00l", b"good"):
        desk.send(1, 1, body=body)
    desk.send(1, 2, body=b"two")


def _write_notes(messages: Any) -> Outputs:
    rows = messages.selectExpr(
        "CAST(message_body AS STRING) AS note",
        "queuing_order AS number",
        "conversation_handle",
        "queuing_order",
    )
    return Outputs(tables={"dbo.notes": rows}, failures="quarantine", end_all=True)


def test_messages_whose_results_are_refused_are_set_aside_and_the_others_complete(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    _notes(desk)
    done = run_job(tcp(desk.database), "dbo.target", _write_notes, JobOptions(mode="once"))
    assert (done.completed, done.written, done.failed) == (4, 4, 3)
    assert desk.connection.execute("SELECT note FROM dbo.notes ORDER BY number").fetchall() == [
        ("fine",),
        ("good",),
        ("two",),
        ("two",),
    ]
    errors = desk.connection.execute(
        "SELECT message_body, error FROM ssb.quarantine ORDER BY queuing_order"
    ).fetchall()
    assert [body for body, _ in errors] == [b"too long", b"bad", b"n\x00l"]
    assert "too long for type character varying(5)" in errors[0][1]
    assert 'check constraint "notes_note_check"' in errors[1][1]
    assert "0x00" in errors[2][1]


def test_a_row_that_a_trigger_or_an_index_refuses_is_one_of_a_message(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    """They are of no class of PostgreSQL's for values, and failed the claim without naming its message."""
    large = secrets.token_hex(9000).encode()
    desk.connection.execute("""
        CREATE TABLE dbo.notes (note text, number int);
        CREATE INDEX ON dbo.notes (note);
        CREATE FUNCTION dbo.look() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            IF NEW.note = 'raised' THEN
                RAISE EXCEPTION 'nobody wants %', NEW.note;
            ELSIF NEW.note = 'thrown' THEN
                PERFORM ssb_internal.raise_error(50001, 'thrown away');
            END IF;
            RETURN NEW;
        END $$;
        CREATE VIEW dbo.short AS SELECT * FROM dbo.notes WHERE note <> 'outside' WITH CHECK OPTION;
        CREATE TRIGGER look BEFORE INSERT ON dbo.notes FOR EACH ROW EXECUTE FUNCTION dbo.look()""")
    for body in (b"fine", b"raised", b"thrown", b"outside", large, b"good"):
        desk.send(1, 1, body=body)

    def program(messages: Any) -> Outputs:
        return Outputs(
            tables={"dbo.short": _write_notes(messages).tables["dbo.notes"]}, failures="quarantine"
        )

    done = run_job(tcp(desk.database), "dbo.target", program, JobOptions(mode="once"))
    assert (done.completed, done.written, done.failed) == (2, 2, 4)
    errors = desk.connection.execute("SELECT error FROM ssb.quarantine ORDER BY queuing_order").fetchall()
    assert [error for (error,) in errors[:2]] == ["nobody wants raised", "thrown away"]
    assert "violates check option" in errors[2][0] and errors[3][0].startswith("index row")


def test_what_every_row_would_meet_sets_no_message_aside(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute("""
        CREATE TABLE dbo.notes (note text, number int);
        CREATE FUNCTION dbo.look() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN INSERT INTO dbo.nowhere VALUES (1); RETURN NEW; END $$;
        CREATE TRIGGER look BEFORE INSERT ON dbo.notes FOR EACH ROW EXECUTE FUNCTION dbo.look()""")
    desk.send(2, 1)
    with pytest.raises(BulkError, match=r'relation "dbo\.nowhere" does not exist'):
        run_job(tcp(desk.database), "dbo.target", _write_notes, JobOptions(mode="once"))
    assert desk.waiting() == 2
    assert desk.value("SELECT count(*) FROM ssb.quarantine") == 0


def test_without_quarantine_the_error_names_conversation_and_message(
    spark: Any, desk: Desk, tcp: Tcp
) -> None:
    _notes(desk)

    def program(messages: Any) -> Outputs:
        return Outputs(tables=_write_notes(messages).tables)

    handle, order = desk.connection.execute(
        "SELECT conversation_handle, queuing_order FROM dbo.target WHERE message_body = 'too long'"
    ).fetchone() or (None, None)
    with pytest.raises(
        BulkError, match=f"a row for dbo.notes from message {order} of conversation {handle}: value"
    ):
        run_job(tcp(desk.database), "dbo.target", program)
    assert desk.waiting() == 7
    assert desk.value("SELECT count(*) FROM dbo.notes") == 0


@pytest.mark.long
def test_a_key_that_is_there_twice_fails_the_second_message_only(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute("CREATE TABLE dbo.once (body text PRIMARY KEY)")
    for body in (b"a", b"b", b"a"):
        desk.send(1, 1, body=body)

    def program(messages: Any) -> Outputs:
        rows = messages.coalesce(1).selectExpr(
            "CAST(message_body AS STRING) AS body", "conversation_handle", "queuing_order"
        )
        return Outputs(tables={"dbo.once": rows}, failures="quarantine")

    done = run_job(tcp(desk.database), "dbo.target", program, JobOptions(mode="once", partitions=1))
    assert (done.completed, done.failed) == (2, 1)
    assert desk.value("SELECT count(*) FROM ssb.quarantine") == 1


@pytest.mark.long
def test_claims_that_fail_count_as_rollbacks(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(1, 1)

    def program(messages: Any) -> Outputs:
        raise ValueError("no")

    for _ in range(5):
        with pytest.raises(BulkError, match="ValueError: no"):
            run_job(tcp(desk.database), "dbo.target", program)
    # As after five rollbacks of a T-SQL reader.
    with pytest.raises(psycopg.Error, match="is currently disabled"):
        desk.connection.execute("SELECT FROM ssb.receive('dbo.target')")


# What is the user's


def test_what_the_user_has_cached_and_named_stays(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.send(1, 1)
    own = spark.range(3).persist()
    own.count()
    cached: list[Any] = []

    def program(messages: Any) -> Outputs:
        cached.append(messages.persist())
        messages.count()
        return Outputs()

    spark.sparkContext.setJobGroup("mine", "my own work", interruptOnCancel=True)
    run_job(tcp(desk.database), "dbo.target", program)
    assert own.storageLevel.useMemory and not cached[0].storageLevel.useMemory
    own.unpersist()
    names = ("jobGroup.id", "job.description", "job.interruptOnCancel")
    kept = [spark.sparkContext.getLocalProperty(f"spark.{name}") for name in names]
    spark.sparkContext.setJobGroup(None, None)
    assert kept == ["mine", "my own work", "true"]


def test_settings_of_a_session_that_runs_are_not_ignored(spark: Any, desk: Desk, tcp: Tcp) -> None:
    options = JobOptions(master="spark://elsewhere:7077", settings={"spark.executor.memory": "9g"})
    with pytest.raises(BulkError, match=r"memory is not set, not 9g; spark\.master is local"):
        run_job(tcp(desk.database), "dbo.target", lambda messages: Outputs(), options)


@pytest.mark.long
def test_a_module_that_executors_lack_is_named_before_the_first_claim(
    spark: Any, desk: Desk, tcp: Tcp, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Executors with this process's own Python are not asked.
    monkeypatch.setenv("PYSPARK_PYTHON", "/elsewhere/python")
    desk.send(1, 1)
    options = JobOptions(modules=("no_such_module",))
    with pytest.raises(BulkError, match=r"cannot import no_such_module: No module named .* \(on ") as refused:
        run_job(tcp(desk.database), "dbo.target", lambda messages: Outputs(unread="complete"), options)
    assert "--archives" in str(refused.value.hint)
    assert desk.value("SELECT count(*) FROM ssb.claims") == 0 and desk.waiting() == 1


@pytest.mark.long
def test_a_pooler_that_java_cannot_pass_is_named_before_the_first_claim(spark: Any, desk: Desk) -> None:
    """Claims that nobody can read would count as rollbacks, and five of them stop the queue."""
    desk.send(1, 1)
    with Pooler(desk.database.dsn, "session") as pooler:
        with pytest.raises(BulkError, match=r"Java is not let through .* extra_float_digits"):
            run_job(pooler.dsn, "dbo.target", lambda messages: Outputs())
        assert desk.value("SELECT is_called FROM ssb.claim_id") is False
    with (
        Pooler(desk.database.dsn, "session", ignored="extra_float_digits") as pooler,
        connect_to(pooler.dsn, "test") as session,
    ):
        require_java_passes(spark, reached(session))


@pytest.mark.long
def test_a_program_gets_its_context(spark: Any, desk: Desk, tcp: Tcp) -> None:
    desk.connection.execute("CREATE TABLE dbo.price (body text, price int)")
    desk.connection.execute("INSERT INTO dbo.price VALUES ('1', 10), ('2', 20)")
    desk.send(1, 2)
    desk.send(2, 1)

    def program(messages: Any, context: Context) -> Outputs:
        prices = context.table("dbo.price")
        rows = messages.selectExpr("CAST(message_body AS STRING) AS body").join(prices, "body")
        assert context.queue == "dbo.target" and context.claim_id > 0
        replies = context.conversations.selectExpr(
            "conversation_handle", "'note' AS message_type_name", "messages || service_name AS message_body"
        )
        return Outputs({"dbo.total": rows.selectExpr("CAST(price AS LONG) AS sum")}, replies, end_all=True)

    run_job(tcp(desk.database), "dbo.target", program)
    sums = desk.connection.execute("SELECT sum FROM dbo.total ORDER BY 1").fetchall()
    assert sums == [(10,), (10,), (10,), (20,)]
    replies = sorted(body for kind, body in desk.replies() if kind == "note" and body is not None)
    assert replies == ["1target", "1target", "2target"]


def test_who_asks_for_the_context_gets_it_and_a_default_stays() -> None:
    pytest.importorskip("pyspark")
    context = Context(None, Server("", ""), "dbo.target", 7, 1)  # type: ignore[arg-type]
    got: list[object] = []

    def second(messages: Any, anything: Context) -> Outputs:
        return got.append(anything) or Outputs()  # type: ignore[func-returns-value]

    def named(messages: Any, scale: int = 2, *, context: Context | None = None) -> Outputs:
        return got.append((scale, context)) or Outputs()  # type: ignore[func-returns-value]

    def own(messages: Any, scale: int = 2, *more: Any) -> Outputs:
        return got.append(scale) or Outputs()  # type: ignore[func-returns-value]

    for program in (second, named, own):
        run_program(program, None, context)  # type: ignore[arg-type]
    assert got == [context, (2, context), 2]


@pytest.mark.parametrize(
    ("outputs", "said"),
    [
        ({"tables": {"dbo.total": [1]}}, "^the output dbo.total is a list, not a DataFrame of Spark's"),
        ({"replies": datetime.date(2026, 1, 1)}, "^the output replies is a datetime.date, not a DataFrame"),
        ({"tables": [1]}, r"^Outputs\(tables=…\) is a list"),
        ({"failures": "requeued"}, "^failures is requeue or drop or quarantine, not requeued$"),
        ({"unread": "ignore"}, "^unread is refuse or complete, not ignore$"),
    ],
)
def test_an_output_that_is_none_is_told_by_its_name(outputs: dict[str, Any], said: str) -> None:
    pytest.importorskip("pyspark")
    context = Context(None, Server("", ""), "dbo.target", 7, 1)  # type: ignore[arg-type]
    with pytest.raises(BulkError, match=said):
        run_program(lambda messages: Outputs(**outputs), None, context)  # type: ignore[arg-type]


@pytest.mark.parametrize(("status", "said"), [(3, "3"), (0, "0"), (None, ""), ("no", "'no'")])
def test_a_program_that_calls_exit_does_not_end_the_job_in_silence(
    status: int | str | None, said: str
) -> None:
    """With 0 the command said that all was well."""
    context = Context(None, Server("", ""), "dbo.target", 7, 1)  # type: ignore[arg-type]
    with pytest.raises(BulkError, match=rf"^the program calls sys\.exit\({said}\), and returns no Outputs"):
        run_program(lambda messages: sys.exit(status), None, context)  # type: ignore[arg-type]


def test_a_program_that_is_cancelled_is_told() -> None:
    """A stream's query waited for ever, since py4j passes on what is an Exception only."""

    async def is_cancelled() -> Outputs:
        task = asyncio.current_task()
        assert task is not None
        task.cancel()
        await asyncio.sleep(0)
        return Outputs()

    context = Context(None, Server("", ""), "dbo.target", 7, 1)  # type: ignore[arg-type]
    with pytest.raises(BulkError, match=r"^the program lets asyncio\.CancelledError out"):
        run_program(lambda messages: asyncio.run(is_cancelled()), None, context)  # type: ignore[arg-type]


def test_claims_are_shown(desk: Desk, connect: Connect) -> None:
    desk.send(2, 3)
    held = claim(connect(), "dbo.target")
    assert held is not None
    row = desk.connection.execute(
        "SELECT queue, conversations, messages, state, pid FROM ssb.claims"
    ).fetchone()
    assert row == ("dbo.target", 2, 6, "held", held.connection.info.backend_pid)

"""pgsb.client: messages, group locks and the application's SQL in one transaction."""

import math
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from client_slips import SLIPS
from psycopg.rows import dict_row

from activation import until
from pgsb import client
from support import Database


@pytest.fixture
def session(database: Database) -> Iterator[client.Session]:
    with client.connect(database.dsn) as session:
        session.sql.execute(
            """
            SELECT ssb.create_queue('dbo.from_queue'), ssb.create_queue('dbo.to_queue');
            SELECT ssb.create_service('//From', 'dbo.from_queue');
            SELECT ssb.create_service('//To', 'dbo.to_queue', '{DEFAULT}');
            CREATE TABLE dbo.orders (body text);
            """
        )
        yield session


def test_a_dialog_from_beginning_to_end(session: client.Session) -> None:
    encrypted = "SELECT is_encrypted FROM ssb.conversation_endpoint WHERE conversation_handle = %s"
    dialog = session.begin_dialog("//From", "//To", encryption=False)
    assert session.sql.execute(encrypted, [dialog]).fetchone() == (False,)
    session.end(dialog)
    dialog = session.begin_dialog("//From", "//To")
    assert session.sql.execute(encrypted, [dialog]).fetchone() == (True,)
    session.send(dialog, body="grün")
    session.send(dialog, body=b"\x00\xff")
    first, second = session.receive("dbo.to_queue")
    assert (first.text, second.body) == ("grün", b"\x00\xff")
    assert (first.type, first.service, first.contract) == ("DEFAULT", "//To", "DEFAULT")
    assert [first.sequence_number, second.sequence_number] == [0, 1]
    assert (first.priority, first.validation) == (5, "N")
    session.reply(first, body="answer")
    session.end(first)
    answer, goodbye = session.receive("dbo.from_queue")
    assert answer.text == "answer"
    assert goodbye.is_end and goodbye.type == client.END_DIALOG and goodbye.body is None
    session.end(goodbye)
    assert session.receive("dbo.from_queue") == []


def test_an_error_arrives_with_code_and_description(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    session.send(dialog, body="a")
    session.end(session.receive("dbo.to_queue")[0], error=42, description="no <tea>")
    (error,) = session.receive("dbo.from_queue")
    assert error.is_end and error.error == (42, "no <tea>")


def test_messages_and_sql_roll_back_together(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    session.send(dialog, body="a")
    with pytest.raises(ZeroDivisionError), session.transaction():
        (message,) = session.receive("dbo.to_queue")
        session.sql.execute("INSERT INTO dbo.orders VALUES (%s)", [message.text])
        session.reply(message, body="never")
        raise ZeroDivisionError
    assert session.sql.execute("SELECT count(*) FROM dbo.orders").fetchone() == (0,)
    assert session.receive("dbo.from_queue") == []
    assert [message.text for message in session.receive("dbo.to_queue")] == ["a"]


def test_the_group_is_locked_to_the_end_of_the_transaction(
    session: client.Session, database: Database
) -> None:
    session.send(session.begin_dialog("//From", "//To"), body="a")
    session.send(session.begin_dialog("//From", "//To"), body="b")
    with client.connect(database.dsn) as other, session.transaction(), other.transaction():
        assert [message.text for message in session.receive("dbo.to_queue")] == ["a"]
        assert [message.text for message in other.receive("dbo.to_queue")] == ["b"]


def test_receive_waits_and_can_be_restricted(session: client.Session) -> None:
    assert session.receive("dbo.to_queue", wait=0.01) == []
    one, two = session.begin_dialog("//From", "//To"), session.begin_dialog("//From", "//To")
    session.send(one, body="a")
    session.send(two, body="b")
    session.send(two, body="c")
    (found,) = session.receive("dbo.to_queue", 1, wait=5)
    assert found.text == "a"
    rest = session.receive("dbo.to_queue", 1)
    assert [message.text for message in rest] == ["b"]
    assert [m.text for m in session.receive("dbo.to_queue", conversation=rest[0].conversation)] == ["c"]


def test_a_wait_may_have_no_end_but_not_be_no_time(session: client.Session) -> None:
    session.sql.execute("SET statement_timeout = '300ms'")
    with pytest.raises(psycopg.errors.QueryCanceled):
        session.receive("dbo.to_queue", wait=math.inf)
    with pytest.raises(ValueError, match="no time to wait"):
        session.receive("dbo.to_queue", wait=math.nan)


def test_a_session_begins_at_read_committed_whatever_the_role_says(
    session: client.Session, database: Database
) -> None:
    session.sql.execute(
        f"ALTER DATABASE {database.name} SET default_transaction_isolation = 'repeatable read'"
    )
    with client.connect(database.dsn) as other:
        assert other.sql.execute("SHOW transaction_isolation").fetchone() == ("read committed",)


def test_a_session_that_cannot_begin_leaves_no_connection(
    session: client.Session, database: Database
) -> None:
    with pytest.raises(client.NotFound) as caught:
        client.connect(database.dsn, database="nowhere")
    # The traceback holds all that the failed call had.
    assert caught.value.number == 911
    others = "SELECT pid FROM pg_stat_activity WHERE application_name = 'pgsb client' AND datname = %s"
    until(lambda: len(session.sql.execute(others, [database.name]).fetchall()) == 1, 10)


def test_an_error_has_the_servers_hint(session: client.Session) -> None:
    session.sql.execute("SELECT ssb.create_database('Sales'), ssb.create_queue('sales_dbo.orders')")
    session.use("Sales")
    with pytest.raises(client.NotFound, match="Msg 208") as caught:
        session.receive("dbo.orders")
    assert caught.value.hint is not None and "'sales_dbo.orders'" in caught.value.hint
    assert caught.value.__notes__ == [caught.value.hint]


def test_a_timer_needs_an_open_conversation(session: client.Session) -> None:
    with pytest.raises(client.BrokerError) as error:
        session.set_timer(uuid4(), 1)
    assert error.value.number == 8426


def test_cleanup_takes_no_error(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    with pytest.raises(ValueError, match="cleanup"):
        session.end(dialog, error=1, description="no", cleanup=True)
    session.end(dialog, cleanup=True)


def test_errors_have_numbers(session: client.Session) -> None:
    with pytest.raises(client.BrokerError, match="Msg 8426") as error:
        session.send(UUID(int=1), body="a")
    assert error.value.number == 8426
    with pytest.raises(client.BrokerError) as error:
        session.use("Nowhere")
    assert error.value.number == 911


def test_a_service_program_runs_until_the_queue_is_empty(session: client.Session) -> None:
    seen = []

    @client.service_program(patience=0.05)
    def program(session: client.Session, message: client.Message) -> None:
        seen.append(message.text)
        session.reply(message, body="re " + message.text)

    dialog = session.begin_dialog("//From", "//To")
    session.send(dialog, body="a")
    session.send(dialog, body="b")
    assert program.run(session, "dbo.to_queue") == 2
    assert seen == ["a", "b"]
    session.end(dialog)
    assert program.run(session, "dbo.to_queue") == 1
    assert seen == ["a", "b"]


def test_a_failing_handler_leaves_the_message(session: client.Session) -> None:
    @client.service_program
    def program(session: client.Session, message: client.Message) -> None:
        raise ValueError(message.text)

    session.send(session.begin_dialog("//From", "//To"), body="a")
    with pytest.raises(ValueError, match="a"):
        program.run(session, "dbo.to_queue")
    assert [message.text for message in session.receive("dbo.to_queue")] == ["a"]


def test_a_handler_that_calling_would_not_run_is_refused() -> None:
    async def coroutine(session: client.Session, message: client.Message) -> None: ...

    with pytest.raises(TypeError, match="is a coroutine"):
        client.ServiceProgram(coroutine)  # type: ignore[arg-type]  # those without mypy get a TypeError

    def generator(session: client.Session, message: client.Message) -> Iterator[None]:
        yield

    async def generator_too(session: client.AsyncSession, message: client.Message) -> AsyncIterator[None]:
        yield

    for handler in (generator, generator_too):
        with pytest.raises(TypeError, match="must be a plain function or coroutine"):
            client.service_program(handler)  # type: ignore[call-overload]  # those without mypy get a TypeError


def test_a_batch_of_none_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        client.service_program(batch=0)(lambda session, message: None)


@pytest.mark.parametrize(("call", "given", "named", "kind", "said"), SLIPS)
def test_a_slip_is_told_by_the_parameters_name(
    session: client.Session,
    call: str,
    given: tuple[Any, ...],
    named: dict[str, Any],
    kind: type[Exception],
    said: str,
) -> None:
    """Not that there is no function for double precision. And nothing is sent: a transaction goes on."""
    with session.transaction():
        with pytest.raises(kind, match=said):
            getattr(session, call)(*given, **named)
        assert session.receive("dbo.to_queue", wait=Decimal("0.001")) == []


def test_handles_and_numbers_may_come_in_other_forms(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    session.send(f"{{{str(dialog).upper()}}}", body="one")  # type: ignore[arg-type]  # a text from a log
    session.send(dialog, body="two")
    (message,) = session.receive("dbo.to_queue", True)
    session.end(str(message.conversation))  # type: ignore[arg-type]  # the same
    assert session.receive("dbo.from_queue")[0].is_end


def test_a_body_is_bytes_or_text(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    with pytest.raises(TypeError, match="not int"):
        session.send(dialog, body=42)  # type: ignore[arg-type]  # those without mypy get a TypeError
    for body in (None, b"", bytearray(b"a"), memoryview(b"b"), memoryview(b"a-b-")[::2], b"c" * 5_000_000):
        session.send(dialog, body=body)
    assert [message.body for message in session.receive("dbo.to_queue")] == [
        None,
        b"",
        b"a",
        b"b",
        b"ab",
        b"c" * 5_000_000,
    ]


def test_a_transaction_within_a_transaction_survives_an_error(session: client.Session) -> None:
    dialog = session.begin_dialog("//From", "//To")
    with session.transaction():
        with pytest.raises(client.BrokerError, match="8426"), session.transaction():
            session.send(uuid4(), body="lost")
        session.send(dialog, body="kept")
    assert [message.text for message in session.receive("dbo.to_queue")] == ["kept"]


def test_calls_in_a_pipeline(session: client.Session) -> None:
    """What returns something waits for it; an error of what does not comes later, with its number."""
    with session.transaction(), session.pipeline():
        handle = session.begin_dialog("//From", "//To")
        for number in range(3):
            session.send(handle, body=str(number))
    with session.transaction(), session.pipeline():
        received = session.receive("dbo.to_queue")
        session.end(received[0])
        assert session.receive("dbo.from_queue", wait=0.1)[0].is_end
    assert [message.text for message in received] == ["0", "1", "2"]
    with pytest.raises(client.ConversationNotFound), session.pipeline():
        session.send(uuid4(), body="x")
    assert session.receive("dbo.to_queue") == []


def test_a_database_without_the_runtime_is_told_how_to_get_it(empty_database: Database) -> None:
    with (
        client.connect(empty_database.dsn) as session,
        pytest.raises(psycopg.errors.InvalidSchemaName) as caught,
    ):
        session.begin_dialog("//From", "//To")
    assert caught.value.__notes__ == ["This database has no Service Broker yet: pgsb install --dsn ..."]


SLEEPING = "SELECT pid FROM pg_stat_activity WHERE datname = %s AND wait_event = 'PgSleep'"


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    "code",
    [
        "from pgsb import client; import sys; s = client.connect(sys.argv[1]); s.wait('dbo.to_queue', 86400)",
        "from pgsb import client; import sys; s = client.connect(sys.argv[1])\n"
        "with s.transaction(): s.wait('dbo.to_queue', 86400)",
        "import sys; from pgsb.cli.main import main; from io import *\n"
        "sys.stdin = TextIOWrapper(BytesIO(b'WAITFOR (RECEIVE * FROM to_queue);'))\n"
        "sys.argv = ['pgsb', 'run', '--dsn', sys.argv[1], '-']; main()",
    ],
    ids=["between transactions", "in a transaction", "the command"],
)
def test_the_server_ends_the_wait_of_a_client_that_was_killed(
    session: client.Session, database: Database, code: str
) -> None:
    process = subprocess.Popen([sys.executable, "-c", code, database.dsn])
    (pid,) = until(lambda: session.sql.execute(SLEEPING, [database.name]).fetchone())
    process.kill()
    process.wait()
    until(lambda: not session.sql.execute("SELECT FROM pg_stat_activity WHERE pid = %s", [pid]).fetchone())


def test_names_are_text_whatever_the_environment_says(
    session: client.Session, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    session.send(session.begin_dialog("//From", "//To"), body="grün")
    monkeypatch.setenv("PGCLIENTENCODING", "SQL_ASCII")
    monkeypatch.setenv("PGAPPNAME", "the shop")
    with client.connect(database.dsn) as other:
        (message,) = other.receive("dbo.to_queue")
        assert (message.type, message.text) == ("DEFAULT", "grün")
        assert other.sql.execute("SHOW application_name").fetchone() == ("the shop",)


def test_the_connection_keeps_the_applications_factories(session: client.Session) -> None:
    session.sql.row_factory = dict_row
    session.sql.cursor_factory = psycopg.ClientCursor
    session.send(session.begin_dialog("//From", "//To"), body=b"\x00%s")
    (message,) = session.receive("dbo.to_queue", 1)
    assert (message.type, message.body) == ("DEFAULT", b"\x00%s")
    assert session.sql.execute("SELECT 1 AS one").fetchone() == {"one": 1}


class _Overtaken(client.Session):
    """Another reader is quicker: what a wait has seen is gone each time but the last."""

    waits = 0

    def wait(self, queue: str, seconds: float, **choice: UUID | None) -> None:
        self.waits += 1
        if self.waits < 3:
            return
        assert 0 < seconds <= 30
        self.send(self.begin_dialog("//From", "//To"), body="ours")


def test_a_message_that_another_reader_took_does_not_end_the_wait(session: client.Session) -> None:
    slow = _Overtaken(session.sql)
    (message,) = slow.receive("dbo.to_queue", wait=30)
    assert (message.text, slow.waits) == ("ours", 3)


def test_nor_does_it_end_a_program(session: client.Session) -> None:
    slow, seen = _Overtaken(session.sql), []

    def take(session: client.Session, message: client.Message) -> None:
        seen.append(message.text)
        raise InterruptedError

    with pytest.raises(InterruptedError):
        client.ServiceProgram(take, patience=30).run(slow, "dbo.to_queue")
    assert (seen, slow.waits) == (["ours"], 3)


def test_short_dialogs_take_one_statement_each(session: client.Session) -> None:
    dialogs = [session.send_new("//From", "//To", body=f"job {i}") for i in range(5)]
    assert len(set(dialogs)) == 5
    with session.transaction():
        assert [m.text for m in session.receive_and_end("dbo.to_queue", groups=3)] == [
            "job 0",
            "job 1",
            "job 2",
        ]
    assert [m.text for m in session.receive_and_end("dbo.to_queue", groups=10)] == ["job 3", "job 4"]
    assert session.receive_and_end("dbo.to_queue", groups=10) == []
    assert session.end_finished("dbo.from_queue", 2) == 2
    assert session.end_finished("dbo.from_queue") == 3
    assert session.end_finished("dbo.from_queue") == 0
    assert session.receive("dbo.from_queue") == []
    with pytest.raises(client.BrokerError) as caught:
        session.send_new("//From", "//To", "no such contract")
    assert caught.value.number == 8425

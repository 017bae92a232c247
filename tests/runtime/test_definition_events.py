"""Events of ordinary definitions: who may listen, and what no one but PostgreSQL may report."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import errors
from runtime.broker import Session, refused

from pgsb.runtime_sql import installer
from support import Database

NOTE = """
CREATE FUNCTION public.note() RETURNS void LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO public.heard VALUES (current_user, sys.eventdata()::text); END $$
"""


@pytest.fixture
def listener(database: Database) -> Iterator[Session]:
    """The runtime's owner, whose trigger on CREATE_TABLE writes down what it hears, and as whom."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.heard (who text, data text)")
        connection.execute("GRANT ALL ON public.heard TO PUBLIC")
        connection.execute(NOTE)
        session = Session(connection)
        session.do("SELECT ssb_internal.prepare_ddl_trigger('CREATE', 'note', 'DATABASE')")
        session.do(
            "SELECT ssb_internal.create_ddl_trigger('note', 'DATABASE', ARRAY['CREATE_TABLE'], 'public.note')"
        )
        yield session


@pytest.fixture
def clerk(database: Database, listener: Session) -> Iterator[Session]:
    """An ordinary role that may define tables in the schema dbo."""
    listener.do("CREATE ROLE definition_clerk LOGIN; GRANT ALL ON SCHEMA dbo TO definition_clerk")
    with psycopg.connect(database.dsn, autocommit=True, user="definition_clerk") as connection:
        yield Session(connection)
    listener.do("DROP OWNED BY definition_clerk CASCADE; DROP ROLE definition_clerk")


def test_a_trigger_runs_as_whoever_defines_something(listener: Session, clerk: Session) -> None:
    clerk.do("CREATE TABLE dbo.t (a integer)")
    ((who, data),) = listener.rows("SELECT who, data FROM public.heard")
    assert who == "definition_clerk"
    assert "<EventType>CREATE_TABLE</EventType>" in data
    assert "<CommandText>CREATE TABLE dbo.t (a integer)</CommandText>" in data


def test_what_lies_outside_of_the_databases_is_nobody_s_business(listener: Session) -> None:
    listener.do("CREATE TABLE public.t (a integer); DROP TABLE public.t")
    listener.do("CREATE TEMPORARY TABLE u (a integer)")
    assert listener.rows("SELECT * FROM public.heard") == []


def test_only_the_runtime_s_owner_may_make_one(clerk: Session) -> None:
    with refused(1088):
        clerk.do("SELECT ssb_internal.prepare_ddl_trigger('CREATE', 'mine', 'DATABASE')")
    with refused(1088):
        clerk.do(
            "SELECT ssb_internal.create_ddl_trigger('mine', 'DATABASE', ARRAY['CREATE_TABLE'], 'public.note')"
        )
    with refused(1088):
        clerk.do("SELECT ssb_internal.drop_ddl_trigger('note', 'DATABASE')")
    with refused(1088):
        clerk.do("SELECT ssb_internal.enable_ddl_trigger('DATABASE', '{}', false)")


def test_a_function_in_the_place_of_the_trigger_s_is_left_out(listener: Session, clerk: Session) -> None:
    listener.do("DROP FUNCTION public.note(); GRANT CREATE ON SCHEMA public TO definition_clerk")
    clerk.do(NOTE)
    listener.do("CREATE TABLE dbo.t (a integer)")
    assert listener.rows("SELECT * FROM public.heard") == []


def test_nobody_can_report_an_event_that_did_not_happen(clerk: Session) -> None:
    with pytest.raises(errors.Error, match="event trigger"):
        clerk.do("SELECT ssb_internal.announce_definitions('ddl_command_end', 'CREATE TABLE', '')")
    with pytest.raises(errors.InsufficientPrivilege):
        clerk.do("SELECT ssb_internal.tell_definition(ARRAY['CREATE_TABLE'], 5, '<x/>')")


def test_an_owner_who_may_not_make_event_triggers_is_told(new_database: Callable[[], Database]) -> None:
    database = new_database()
    with psycopg.connect(database.dsn, autocommit=True) as owner:
        owner.execute("CREATE ROLE plain_listener; GRANT ALL ON SCHEMA ssb TO plain_listener")
        owner.execute("ALTER FUNCTION ssb_internal.watch_definitions(text, text[]) OWNER TO plain_listener")
        notices: list[str] = []
        owner.add_notice_handler(lambda notice: notices.append(notice.message_primary or ""))
        asked = "SELECT ssb_internal.watch_definitions('it', ARRAY['CREATE_TABLE', 'CREATE_QUEUE'])"
        told = owner.execute(asked).fetchone()
        assert told == (False,)
        (notice,) = notices
        assert "CREATE_TABLE" in notice
        assert "no superuser" in notice
        owner.execute("DROP OWNED BY plain_listener; DROP ROLE plain_listener")


def test_the_runtime_goes_with_its_event_triggers(listener: Session) -> None:
    installer.install(listener.connection)
    assert listener.value("SELECT count(*) FROM pg_event_trigger") == 2
    listener.do("DROP FUNCTION public.note()")
    installer.uninstall(listener.connection)
    assert listener.value("SELECT count(*) FROM pg_event_trigger") == 0

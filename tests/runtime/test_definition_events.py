"""Events of ordinary definitions: who may listen, and what no one but PostgreSQL may report."""

from collections.abc import Callable, Iterator

import psycopg
import pytest
from psycopg import errors
from runtime.broker import Session, refused

from pgsb.runtime_sql import installer, removal
from support import Database

NOTE = """
CREATE FUNCTION public.note() RETURNS trigger LANGUAGE plpgsql AS
$$ BEGIN INSERT INTO public.heard VALUES (current_user, NEW.event_data); RETURN NEW; END $$
"""


@pytest.fixture(scope="module")
def listening(new_database: Callable[..., Database]) -> Database:
    made = new_database()
    with psycopg.connect(made.dsn, autocommit=True) as connection:
        connection.execute("CREATE TABLE public.heard (who text, data text)")
        connection.execute("GRANT ALL ON public.heard TO PUBLIC")
        connection.execute(NOTE)
        session = Session(connection)
        session.do("SELECT ssb_internal.prepare_ddl_trigger('CREATE', 'note', 'DATABASE')")
        session.do(
            "SELECT ssb_internal.create_ddl_trigger('note', 'DATABASE', ARRAY['CREATE_TABLE',"
            " 'DDL_SSB_EVENTS', 'DENY_DATABASE',"
            " 'DDL_EVENT_NOTIFICATION_EVENTS', 'DDL_SCHEMA_EVENTS'], 'public.note');"
            " REVOKE EXECUTE ON FUNCTION public.note() FROM PUBLIC"
        )
    return made


@pytest.fixture
def cloned(request: pytest.FixtureRequest) -> Database | None:
    found: Database | None = (
        request.getfixturevalue("listening") if "listener" in request.fixturenames else None
    )
    return found


@pytest.fixture
def listener(database: Database) -> Iterator[Session]:
    """The runtime's owner, whose trigger on CREATE_TABLE writes down what it hears, and as whom."""
    with psycopg.connect(database.dsn, autocommit=True) as connection:
        yield Session(connection)


@pytest.fixture
def clerk(database: Database, listener: Session) -> Iterator[Session]:
    """An ordinary role that may define what it likes in the schemas dbo and mine, and owns nothing else."""
    listener.do(
        "CREATE ROLE definition_clerk LOGIN; SELECT ssb.create_principal('definition_clerk', 'USER');"
        " SELECT ssb.create_schema('mine'); GRANT ALL ON SCHEMA dbo, mine TO definition_clerk;"
        " SELECT ssb.add_member('db_ddladmin', 'definition_clerk'); DELETE FROM public.heard"
    )
    with psycopg.connect(database.dsn, autocommit=True, user="definition_clerk") as connection:
        yield Session(connection)
    listener.do("DROP OWNED BY definition_clerk CASCADE; DROP ROLE definition_clerk")


def test_a_trigger_runs_as_whoever_defines_something(listener: Session, clerk: Session) -> None:
    clerk.do("CREATE TABLE dbo.t (a integer)")
    ((who, data),) = listener.rows("SELECT who, data FROM public.heard")
    assert who == "definition_clerk"
    assert "<EventType>CREATE_TABLE</EventType>" in data
    assert "<CommandText>CREATE TABLE dbo.t (a integer)</CommandText>" in data
    assert "<LoginName>definition_clerk</LoginName><UserName>definition_clerk</UserName>" in data


def test_a_denial_is_told_as_whoever_denies(listener: Session, clerk: Session) -> None:
    clerk.do("CREATE TABLE mine.t (a integer)")
    listener.do("DELETE FROM public.heard")
    clerk.do("SELECT ssb.deny_permission('{SELECT}', 'OBJECT', 'mine.t', '{public}')")
    ((who, data),) = listener.rows("SELECT who, data FROM public.heard")
    assert who == "definition_clerk"
    assert "<SchemaName>mine</SchemaName><ObjectName>t</ObjectName><ObjectType>TABLE</ObjectType>" in data
    assert "<Grantor>definition_clerk</Grantor><Permissions><Permission>select</Permission>" in data
    assert "<Grantees><Grantee>public</Grantee></Grantees>" in data


@pytest.mark.long(on="older")
@pytest.mark.parametrize("verb", ["GRANT", "DENY", "REVOKE"])
@pytest.mark.parametrize("kind, name", [("OBJECT", "dbo.t"), ("OBJECT", "dbo.absent"), ("SCHEMA", "dbo")])
def test_nothing_is_told_of_what_the_caller_may_not_grant(
    listener: Session, clerk: Session, verb: str, kind: str, name: str
) -> None:
    """PostgreSQL, whose right it is, would only warn where the caller has none to give."""
    listener.do("CREATE TABLE dbo.t (a integer); GRANT SELECT ON dbo.t TO definition_clerk")
    with refused(15151):
        clerk.do(
            "SELECT ssb_internal.change_permission(%s, '{SELECT}', %s, %s, '{public}', false, NULL, NULL)",
            verb,
            kind,
            name,
        )
    listener.do("GRANT SELECT ON dbo.t TO definition_clerk WITH GRANT OPTION")
    clerk.do("SELECT ssb.grant_permission('{SELECT}', 'OBJECT', 'dbo.t', '{public}')")
    assert listener.value("SELECT has_table_privilege('pg_monitor', 'dbo.t', 'SELECT')")


def test_the_owner_s_event_tells_its_user_as_dbo(listener: Session) -> None:
    listener.do("CREATE TABLE dbo.t (a integer)")
    ((who, data),) = listener.rows("SELECT who, data FROM public.heard")
    assert f"<LoginName>{who}</LoginName><UserName>dbo</UserName>" in data


# Each defines, alters and drops something: what DDL_SSB_EVENTS and the like tell of.
STATEMENTS = """
    SELECT ssb.create_message_type('//M'); SELECT ssb.alter_message_type('//M', 'EMPTY');
    SELECT ssb.create_contract('//C', '{//M}', '{ANY}');
    SELECT ssb.create_queue('mine.q'); SELECT ssb.alter_queue('mine.q', retention => true);
    SELECT ssb.create_service('//S', 'mine.q', '{//C}');
    SELECT ssb.create_queue('mine.other'); SELECT ssb.alter_service('//S', queue => 'mine.other');
    SELECT ssb.create_route('r', 'LOCAL', '//S'); SELECT ssb.alter_route('r', service_name => '//T');
    SELECT ssb.create_remote_service_binding('b', '//S', 'definition_clerk');
    SELECT ssb.alter_remote_service_binding('b', anonymous => true);
    SELECT ssb.create_broker_priority('p'); SELECT ssb.alter_broker_priority('p', priority_level => 3);
    SELECT ssb.create_event_notification('n', '{QUEUE_ACTIVATION}', 'QUEUE', '//S', 'current database',
        queue => 'mine.q');
    SELECT ssb.drop_event_notification('n', 'QUEUE', queue => 'mine.q');
    SELECT ssb.create_schema('more'); SELECT ssb.drop_schema('more');
    SELECT ssb.drop_broker_priority('p'); SELECT ssb.drop_remote_service_binding('b');
    SELECT ssb.drop_route('r');
    SELECT ssb.drop_service('//S');
    SELECT ssb.drop_queue('mine.q'); SELECT ssb.drop_queue('mine.other');
    SELECT ssb.drop_contract('//C'); SELECT ssb.drop_message_type('//M');
"""


def test_triggers_on_service_broker_s_objects_run_as_whoever_defines_them(
    listener: Session, clerk: Session
) -> None:
    statements = [statement for statement in STATEMENTS.split(";") if statement.strip()]
    for statement in statements:
        clerk.do(statement)
    heard = listener.rows("SELECT who, substring(data FROM '<EventType>(.*)</EventType>') FROM public.heard")
    assert [event for who, event in heard if who != "definition_clerk"] == []
    kinds = "MESSAGE_TYPE QUEUE SERVICE ROUTE REMOTE_SERVICE_BINDING BROKER_PRIORITY".split()
    expected = {f"{verb}_{kind}" for kind in kinds for verb in ("CREATE", "ALTER", "DROP")}
    expected |= {
        f"{verb}_{kind}"
        for kind in ("CONTRACT", "EVENT_NOTIFICATION", "SCHEMA")
        for verb in ("CREATE", "DROP")
    }
    assert {event for _, event in heard} == expected
    assert listener.value("SELECT count(*) FROM ssb.definition_event") == 0


def test_a_trigger_s_error_undoes_the_definition(listener: Session, clerk: Session) -> None:
    listener.do("REVOKE ALL ON public.heard FROM PUBLIC")
    with pytest.raises(errors.InsufficientPrivilege):
        clerk.do("SELECT ssb.create_queue('mine.q')")
    assert listener.value("SELECT count(*) FROM ssb.queue WHERE name = 'mine.q'") == 0


def test_nobody_does_without_the_triggers(listener: Session, clerk: Session) -> None:
    """Whoever calls the inner function, and sees the trigger fail or does not fire it, cannot commit."""
    listener.do("REVOKE ALL ON public.heard FROM PUBLIC")
    with refused(50000):
        clerk.do("SELECT ssb_internal.create_queue('mine.q')")
    with refused(50000):
        clerk.do("SET CONSTRAINTS ALL IMMEDIATE; SELECT ssb_internal.create_queue('mine.q')")
    with refused(50000):
        clerk.do(
            "DO $$ BEGIN PERFORM ssb_internal.create_queue('mine.q');"
            " BEGIN PERFORM ssb_internal.fire_ddl_triggers(); EXCEPTION WHEN OTHERS THEN NULL; END; END $$"
        )
    for statement in (
        "DELETE FROM ssb.definition_event",
        "INSERT INTO ssb.definition_event (ddl_triggers, event_data) VALUES ('{}', 'x')",
        "INSERT INTO ssb.ddl_trigger_firing (event_id, event_data) VALUES (1, 'forged')",
        "CREATE TABLE dbo.own (event_data text);"
        " CREATE TRIGGER t BEFORE INSERT ON dbo.own FOR EACH ROW EXECUTE FUNCTION public.note()",
    ):
        with pytest.raises(errors.InsufficientPrivilege):
            clerk.do(statement)
    assert listener.value("SELECT count(*) FROM ssb.queue WHERE name = 'mine.q'") == 0


def test_nobody_fires_an_event_twice(listener: Session, clerk: Session) -> None:
    with clerk.connection.transaction():
        clerk.do("SELECT ssb.create_queue('mine.q')")
        clerk.do("INSERT INTO ssb.ddl_trigger_firing (event_id) SELECT generate_series(1, 100)")
        clerk.do("SELECT ssb_internal.fire_ddl_triggers()")
    assert listener.value("SELECT count(*) FROM public.heard") == 1


def test_the_owner_s_own_writing_to_the_definitions_fires_too(listener: Session) -> None:
    listener.do("INSERT INTO ssb.broker_priority (database_id, name, priority) VALUES (5, 'p', 5)")
    assert listener.value("SELECT count(*) FROM public.heard WHERE data LIKE '%CREATE_BROKER_PRIORITY%'") == 1


@pytest.mark.long(on="older")
@pytest.mark.parametrize(
    "words", ["ssb_internal.create_queue(", "ssb_internal.prepare_module(", "ssb_internal.rename_object("]
)
def test_words_in_a_statement_do_not_hide_it(listener: Session, clerk: Session, words: str) -> None:
    clerk.do(f"DO $$ BEGIN EXECUTE 'CREATE TABLE dbo.hidden (a integer) /* {words}) */'; END $$")
    assert listener.value("SELECT count(*) FROM public.heard WHERE data LIKE '%CREATE_TABLE%'") == 1


def test_a_dialog_that_ends_takes_its_notification_and_fires_nothing(
    listener: Session, clerk: Session
) -> None:
    """END CONVERSATION is no DDL: before, it fired DDL triggers as the runtime's owner."""
    listener.do(
        "SELECT ssb.create_queue('dbo.q'); SELECT ssb.create_service('//S', 'dbo.q',"
        " '{http://schemas.microsoft.com/SQL/Notifications/PostEventNotification}');"
        " SELECT ssb.create_event_notification('n', '{CREATE_ROUTE}', 'DATABASE', '//S', 'current database');"
        " SELECT ssb.create_route('r', 'LOCAL', '//X'); DELETE FROM public.heard"
    )
    handle = listener.value("SELECT conversation_handle FROM dbo.q LIMIT 1")
    listener.do("SELECT ssb.grant_permission('{RECEIVE}', 'OBJECT', 'dbo.q', '{definition_clerk}')")
    clerk.do(f"SELECT ssb.end_conversation('{handle}')")
    assert listener.value("SELECT count(*) FROM ssb.event_notification") == 0
    assert listener.rows("SELECT * FROM public.heard") == []


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
    listener.do("DROP FUNCTION public.note() CASCADE; GRANT CREATE ON SCHEMA public TO definition_clerk")
    clerk.do(NOTE)
    listener.do("CREATE TABLE dbo.t (a integer)")
    assert listener.rows("SELECT * FROM public.heard") == []


def test_nobody_can_report_an_event_that_did_not_happen(clerk: Session) -> None:
    with pytest.raises(errors.Error, match="event trigger"):
        clerk.do("SELECT ssb_internal.announce_definitions('ddl_command_end', 'CREATE TABLE', '')")
    with pytest.raises(errors.InsufficientPrivilege):
        clerk.do("SELECT ssb_internal.tell_definition(ARRAY['CREATE_TABLE'], 5, '<x/>')")


def test_what_is_made_is_told_as_made_whatever_its_maker_says(listener: Session, clerk: Session) -> None:
    """Neither a setting, nor words in a statement, nor what was altered before makes another event of it."""
    listener.do(
        "SELECT ssb_internal.prepare_ddl_trigger('CREATE', 'all', 'DATABASE');"
        " SELECT ssb_internal.create_ddl_trigger('all', 'DATABASE', ARRAY['DDL_DATABASE_LEVEL_EVENTS'],"
        " 'public.note')"
    )
    listener.do("DELETE FROM public.heard")

    def events() -> list[str]:
        heard = listener.column(
            "SELECT substring(data FROM '<EventType>(.*)</EventType>') || ' '"
            " || substring(data FROM '<ObjectName>(.*)</ObjectName>') FROM public.heard"
        )
        listener.do("DELETE FROM public.heard")
        return sorted(set(heard))

    view = "CREATE VIEW dbo.v AS SELECT 1 AS a"
    clerk.do(f"SET pgsb.altered = 'dbo.v'; SELECT ssb_internal.note_alteration('dbo.v', true); {view}")
    assert events() == ["CREATE_VIEW v"]
    clerk.do(f"SELECT ssb_internal.prepare_view('ALTER', 'dbo.v'); {view}")
    assert events() == ["ALTER_VIEW v"]
    clerk.do(f"SELECT ssb_internal.prepare_view('ALTER', 'dbo.v'); {view}; DROP VIEW dbo.v; {view}")
    assert events() == ["ALTER_VIEW v", "CREATE_VIEW v", "DROP_VIEW v"]
    clerk.do("SELECT ssb_internal.prepare_view('ALTER', 'dbo.v')")
    clerk.do(view)
    assert events() == ["ALTER_VIEW v"]
    clerk.do("SELECT ssb_internal.note_alteration('dbo.v', true); DROP VIEW dbo.v")
    clerk.do(view)
    assert events() == ["CREATE_VIEW v", "DROP_VIEW v"]
    clerk.do(
        "DO $$ BEGIN EXECUTE 'CREATE VIEW dbo.w AS SELECT 1 AS \"ssb_internal.create_synonym(\"'; END $$"
    )
    clerk.do("DO $$ BEGIN /* ssb_internal.prepare_view( */ DROP VIEW dbo.w; END $$")
    assert events() == ["CREATE_VIEW w", "DROP_VIEW w"]
    clerk.do("CREATE TABLE mine.t (a integer, CONSTRAINT ck_old CHECK (a > 0))")
    clerk.do("SELECT ssb_internal.rename_object('mine.ck_old', 'CK_New')")
    clerk.do("SELECT ssb_internal.transfer_object('dbo', 'mine.t')")
    assert events() == ["ALTER_SCHEMA t", "CREATE_TABLE t", "RENAME ck_old"]
    # What is renamed has its old name, and a column's table.
    clerk.do("CREATE INDEX t__i ON dbo.t (a)")
    clerk.do("SELECT ssb_internal.rename_object('dbo.t.a', 'a TO b', 'COLUMN')")
    clerk.do("SELECT ssb_internal.rename_object('dbo.t.i', 'j', 'INDEX')")
    clerk.do("SELECT ssb_internal.rename_object('dbo.t', 'u')")
    renamed = "SELECT substring(data FROM '<ObjectName>(.*)</NewObjectName>') FROM public.heard"
    assert [text for text in listener.column(renamed) if text] == [
        "a</ObjectName><ObjectType>COLUMN</ObjectType><TargetObjectName>t</TargetObjectName>"
        "<TargetObjectType>TABLE</TargetObjectType><NewObjectName>a to b",
        "i</ObjectName><ObjectType>INDEX</ObjectType><TargetObjectName>t</TargetObjectName>"
        "<TargetObjectType>TABLE</TargetObjectType><NewObjectName>j",
        "t</ObjectName><ObjectType>TABLE</ObjectType><NewObjectName>u",
    ]
    # Who owns nothing there says nothing of it.
    listener.do("CREATE VIEW dbo.of_owner AS SELECT 1 AS a")
    clerk.do("SELECT ssb_internal.note_alteration('dbo.of_owner', true)")
    assert listener.value("SELECT count(*) FROM ssb.altered_module") == 0


# Lines that look like those of the runtime's functions, in the name of one's own and in a statement's text.
FRAME = "PL/pgSQL function ssb_internal.{}() line 1 at EXECUTE"
HIDING = {
    "prepare_view": "DROP VIEW dbo.v",
    "prepare_module": "DROP FUNCTION dbo.f()",
    "drop_trigger_functions": "DROP FUNCTION dbo.f()",
    "enable_trigger": "ALTER TABLE dbo.t DISABLE TRIGGER ALL, ADD COLUMN b integer",
    "check_identity": "ALTER SEQUENCE dbo.s MINVALUE 0",
    "rename_object": "ALTER TABLE dbo.t ADD COLUMN b integer",
    "transfer_object": "ALTER TABLE dbo.t ADD COLUMN b integer",
    "create_synonym": "CREATE VIEW dbo.w AS SELECT * FROM dbo.t",
}


@pytest.mark.one_postgres
@pytest.mark.parametrize("function", HIDING)
def test_no_line_of_the_stack_hides_a_definition(listener: Session, clerk: Session, function: str) -> None:
    statement = HIDING[function]
    clerk.do(
        "CREATE TABLE dbo.t (a integer); CREATE VIEW dbo.v AS SELECT 1 AS a; CREATE SEQUENCE dbo.s;"
        " CREATE FUNCTION dbo.f() RETURNS integer LANGUAGE sql AS 'SELECT 1'"
    )
    listener.do(
        "SELECT ssb_internal.prepare_ddl_trigger('CREATE', 'all', 'DATABASE');"
        " SELECT ssb_internal.create_ddl_trigger('all', 'DATABASE', ARRAY['DDL_DATABASE_LEVEL_EVENTS'],"
        " 'public.note')"
    )
    frame = FRAME.format(function)
    expected = f"{statement.split()[0]}_{statement.split()[1]}"
    for text in (
        statement,
        f'{statement} -- ;"\n--{frame}\n',
        f'{statement} /* ;"\n{frame}\nSQL statement "*/',
        f'{statement} ;/*"\n{frame}\n*/',
    ):
        listener.do("DELETE FROM public.heard")
        clerk.do("DROP FUNCTION IF EXISTS mine.hider(text)")
        name = f'mine."hider\n{frame}"'
        clerk.do(
            f"CREATE OR REPLACE FUNCTION {name}(text) RETURNS void LANGUAGE plpgsql AS"
            " $$ BEGIN EXECUTE $1; RAISE EXCEPTION USING ERRCODE = 'ZZ001',"
            " MESSAGE = (SELECT string_agg(data, '') FROM public.heard); END $$"
        )
        with pytest.raises(errors.Error) as told:
            clerk.do(f"SELECT {name}(%s)", text)
        assert f"<EventType>{expected}</EventType>" in str(told.value), text


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
    listener.do("DROP FUNCTION public.note() CASCADE")
    removal.uninstall(listener.connection)
    assert listener.value("SELECT count(*) FROM pg_event_trigger") == 0

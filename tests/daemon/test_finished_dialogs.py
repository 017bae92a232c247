"""A queue of one-way senders needs no program: ssb.end_finished_dialogs ends what far sides have ended."""

from collections.abc import Callable

from activation import Daemon, until
from support import Connection, Database

Start = Callable[..., Daemon]

OPEN = "SELECT count(*) FROM ssb.conversation_endpoint WHERE is_initiator"


def test_the_senders_sides_are_ended_and_errors_stay(sql: Connection, daemon: Start) -> None:
    sql.execute(
        "SELECT ssb.alter_queue('dbo.from_queue', activation_status => true,"
        " activation_procedure => 'ssb.end_finished_dialogs', max_queue_readers => 1)"
    )
    daemon()
    for number in range(20):
        sql.execute("SELECT ssb.send_new('//From', '//To', 'DEFAULT', 'DEFAULT', %s::text)", [str(number)])
    (failed,) = sql.execute("SELECT conversation_handle FROM ssb.receive('dbo.to_queue')").fetchall()
    sql.execute("SELECT ssb.end_conversation(%s, 50001, 'no')", failed)
    received = sql.execute("SELECT FROM ssb.receive_and_end('dbo.to_queue', groups => 100)").fetchall()
    assert len(received) == 19
    until(lambda: sql.execute(OPEN).fetchone() == (1,))
    assert sql.execute("SELECT message_type_name FROM ssb.receive('dbo.from_queue')").fetchall() == [
        ("http://schemas.microsoft.com/SQL/ServiceBroker/Error",)
    ]


def test_the_runtimes_own_programs_run_as_a_role_that_may_only_receive(
    sql: Connection, daemon: Start, database: Database
) -> None:
    """They find their queue by themselves; the tables that say which it is are the owner's."""
    role = f"ender_{database.name}"
    sql.execute(f"CREATE ROLE {role}")
    try:
        sql.execute(f"SELECT ssb.grant_permission('{{RECEIVE}}', 'OBJECT', 'dbo.from_queue', '{{{role}}}')")
        for program in ("end_finished_dialogs", "end_recycled_dialogs"):
            sql.execute(
                "SELECT ssb.alter_queue('dbo.from_queue', activation_status => true,"
                " activation_procedure => %s, max_queue_readers => 1, execute_as => %s)",
                [f"ssb.{program}", f"'{role}'"],
            )
            sql.execute("SELECT ssb.send_new('//From', '//To', 'DEFAULT', 'DEFAULT', 'x'::text)")
            assert len(sql.execute("SELECT FROM ssb.receive_and_end('dbo.to_queue')").fetchall()) == 1
            running = daemon()
            until(lambda: sql.execute(OPEN).fetchone() == (0,), 10)
            running.broker.stop()
    finally:
        sql.execute(f"DROP OWNED BY {role}; DROP ROLE {role}")

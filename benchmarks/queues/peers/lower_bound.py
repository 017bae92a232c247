"""The lower bound in SQL and PL/pgSQL, step by step.

Each step does what the one before it does and one thing more, from a row in a table to the lower bound that
keeps a conversation in order. The lower bound knows no rights, no states, no errors and no second queue; it
is not right when readers roll back; and dead rows slow it down. Two more steps do what ours does besides.
"""

from ..peer import BODY, Peer
from ..server import BenchServer, Connection
from .ours import OWN_DIALOG

# Our columns and our indexes.
MESSAGES = """
CREATE TABLE message (endpoint_id bigint NOT NULL, queuing_order bigint NOT NULL,
                      message_sequence_number bigint NOT NULL, enqueued_at timestamptz NOT NULL,
                      queue_id integer NOT NULL, message_type_id integer NOT NULL, priority smallint NOT NULL,
                      validation char(2) NOT NULL, body bytea);
CREATE INDEX ON message (queue_id, priority DESC, queuing_order);
CREATE INDEX ON message (endpoint_id, queuing_order);
"""
# Beside them conversations: the receivers' sides, with the senders' handles.
_TABLES = f"""
{MESSAGES}
CREATE SEQUENCE message_order;
CREATE SEQUENCE near_order;
CREATE SEQUENCE near_state;
CREATE SEQUENCE far_state;
CREATE SEQUENCE tables;
CREATE TABLE conversation (endpoint_id bigint PRIMARY KEY, handle uuid NOT NULL, sent_count bigint NOT NULL,
                           far_order regclass NOT NULL DEFAULT 'message_order',
                           near_order regclass NOT NULL DEFAULT 'near_order',
                           near_state regclass NOT NULL DEFAULT 'near_state',
                           far_state regclass NOT NULL DEFAULT 'far_state');
CREATE UNIQUE INDEX ON conversation (handle);
INSERT INTO conversation SELECT i, gen_random_uuid(), 16 FROM generate_series(1, 20000) AS i;
CREATE TABLE bench_dialog AS SELECT endpoint_id AS number, handle FROM conversation;
"""
_INTO = (
    "INSERT INTO message (queue_id, endpoint_id, queuing_order, message_sequence_number, enqueued_at,"
    " message_type_id, priority, validation, body)"
)
_PINNED = "SECURITY DEFINER SET search_path = pg_catalog, public, pg_temp"


def function(signature: str, declared: str, body: str, is_pinned: bool = True) -> str:
    """CREATE FUNCTION in PL/pgSQL; pinned: with its owner's rights, its search_path set."""
    return (
        f"CREATE FUNCTION {signature} LANGUAGE plpgsql {_PINNED if is_pinned else ''}"
        f" AS $$ DECLARE {declared} BEGIN {body} END $$;\n"
    )


def walk_indexes(connection: Connection) -> None:
    """Have the database's plans walk indexes: tables that are empty at first would be scanned whole.

    Set here it costs nothing later.
    """
    name = connection.info.dbname
    for setting in ("enable_seqscan", "enable_bitmapscan", "enable_sort", "jit"):
        connection.execute(f'ALTER DATABASE "{name}" SET {setting} = off; SET {setting} = off'.encode())


class _Step(Peer):
    """A step of ours: `functions` over `_TABLES`."""

    functions = ""

    def install(self, server: BenchServer, connection: Connection) -> None:
        walk_indexes(connection)
        connection.execute(f"{_TABLES}{self.functions}".encode())
        connection.execute("ANALYZE")

    def fill(self, connection: Connection, messages: int, groups: int, batch: int) -> None:
        connection.execute(
            f"{_INTO} SELECT 1, 1 + (i / {batch}) %% {groups}, nextval('message_order'), i,"
            f" clock_timestamp(), 1, 5, 'N', %s FROM generate_series(0, {messages - 1}) AS i".encode(),
            (BODY.encode(),),
        )

    def left(self, connection: Connection) -> int:
        row = connection.execute("SELECT count(*) FROM message").fetchone()
        assert row is not None
        return int(row[0])

    def clear(self, connection: Connection) -> None:
        connection.execute("TRUNCATE message")


class _Sender(_Step):
    """A step of SEND."""

    def dequeue(self, batch: int) -> list[str] | None:
        return None


class _Reader(_Step):
    """A step of RECEIVE."""

    def enqueue(self, batch: int) -> list[str] | None:
        return None


class RowAlone(_Sender):
    """The floor: one row, no index."""

    name = "a row, no index"
    functions = (
        "DROP INDEX message_queue_id_priority_queuing_order_idx, message_endpoint_id_queuing_order_idx"
    )

    def enqueue(self, batch: int) -> list[str] | None:
        row = f"1, 1, 1, 16, clock_timestamp(), 1, 5, 'N', '{BODY}'::bytea"
        if batch == 1:
            return [f"{_INTO} VALUES ({row});\n"]
        return [f"{_INTO} SELECT {row} FROM generate_series(1, {batch});\n"]


class StatementSends(_Sender):
    """One INSERT; the order is drawn in it."""

    name = "two indexes, order"

    def enqueue(self, batch: int) -> list[str] | None:
        own = OWN_DIALOG.replace("SELECT handle", "SELECT number AS handle")
        if batch == 1:
            row = f":handle, nextval('message_order'), 16, clock_timestamp(), 1, 5, 'N', '{BODY}'::bytea"
            return [f"{own}{_INTO} VALUES (1, {row});\n"]
        row = f":handle, nextval('message_order'), i, clock_timestamp(), 1, 5, 'N', '{BODY}'::bytea"
        return [f"{own}{_INTO} SELECT 1, {row} FROM generate_series(1, {batch}) AS i;\n"]


def _plain_send(is_pinned: bool) -> str:
    row = "clock_timestamp(), 1, 5::smallint, 'N'"
    return function(
        "send(receiver bigint, body bytea) RETURNS void",
        "",
        f"{_INTO} VALUES (1, receiver, nextval('message_order'), 16, {row}, body);",
        is_pinned,
    ) + function(
        "send(receiver bigint, bodies bytea[]) RETURNS void",
        "",
        f"{_INTO} SELECT 1, receiver, nextval('message_order'), b.place, {row}, b.body"
        " FROM (SELECT generate_series(1, cardinality(bodies)) AS place, unnest(bodies) AS body) AS b;",
        is_pinned,
    )


class FunctionSends(_Sender):
    """The same INSERT in a function."""

    name = "+ function"
    functions = _plain_send(False)
    key = "number AS handle"

    def enqueue(self, batch: int) -> list[str] | None:
        own = OWN_DIALOG.replace("SELECT handle", f"SELECT {self.key}")
        body = f"'{BODY}'::bytea"
        if batch > 1:
            body = f"array_fill({body}, ARRAY[{batch}])"
        return [f"{own}SELECT send(:handle, {body});\n"]


class PinnedSends(FunctionSends):
    """The function runs with its owner's rights, its search_path set."""

    name = "+ owner's rights"
    functions = _plain_send(True)


def _locked_send(qualified: str, then: str) -> str:
    """The functions of a SEND that locks its conversation; ``qualified``, ``then``: what else it asks."""
    declared = "v_endpoint_id bigint; v_order regclass; v_count bigint; v_table bigint;"
    lock = (
        "SELECT c.endpoint_id, c.far_order, c.sent_count INTO v_endpoint_id, v_order, v_count"
        f" FROM conversation AS c WHERE c.handle = sender {qualified} FOR NO KEY UPDATE; {then}"
    )
    row = "clock_timestamp(), 1, 5::smallint, 'N'"
    return function(
        "send(sender uuid, body bytea) RETURNS void",
        declared,
        f"{lock} {_INTO} VALUES (1, v_endpoint_id, nextval(v_order), v_count, {row}, body);",
        True,
    ) + function(
        "send(sender uuid, bodies bytea[]) RETURNS void",
        declared,
        f"{lock} {_INTO} SELECT 1, v_endpoint_id, nextval(v_order), v_count, {row}, b.body"
        " FROM (SELECT unnest(bodies) AS body) AS b;",
        True,
    )


class LowerBoundSends(FunctionSends):
    """The conversation's row is found by its handle and locked; then the order is drawn."""

    name = "the lower bound"
    key = "handle"
    functions = _locked_send("", "")


_GRANT = "GRANT ALL ON ALL SEQUENCES IN SCHEMA public TO PUBLIC;\n"
# As ssb.send asks it (conversations/send.sql): of both queues' sequences.
_RIGHTS = (
    "AND has_sequence_privilege('public', c.near_state, 'SELECT')"
    " AND has_sequence_privilege('public', c.far_state, 'SELECT')"
    " AND coalesce(pg_sequence_last_value(c.far_state), 0) = 0"
    " AND has_sequence_privilege(coalesce(nullif(current_setting('role'), 'none')::name, session_user),"
    " c.near_order, 'USAGE')"
)


class RightfulSends(LowerBoundSends):
    """May the caller send, do both queues take messages, does nobody wait to be told."""

    name = "+ rights, states"
    functions = _GRANT + _locked_send(_RIGHTS, "")


class OpenSends(LowerBoundSends):
    """The far side has not ended the conversation; which table takes new messages; the lock for who waits."""

    name = "+ far side"
    functions = _GRANT + _locked_send(
        _RIGHTS,
        "SELECT coalesce(pg_sequence_last_value('tables'), 0) INTO v_table FROM conversation AS f"
        " WHERE f.endpoint_id = v_endpoint_id AND f.sent_count > 0"
        " AND pg_try_advisory_xact_lock(1, v_order::oid::integer) IS NOT NULL;",
    )


# What of a queue comes first.
FIRST = "FROM message AS m WHERE m.queue_id = {queue} AND m.priority = 5 ORDER BY m.queuing_order"


class StatementReceives(_Reader):
    """One DELETE of the first message that nobody else deletes."""

    name = "two indexes"

    def dequeue(self, batch: int) -> list[str] | None:
        chosen = f"SELECT m.ctid {FIRST.format(queue=1)} LIMIT {batch} FOR UPDATE SKIP LOCKED"
        which = f"= ({chosen})" if batch == 1 else f"= ANY (ARRAY({chosen}))"
        returned = "endpoint_id, message_type_id, body"
        return [f"DELETE FROM message WHERE ctid {which} RETURNING {returned};\n"]


def _plain_receive(is_pinned: bool) -> str:
    chosen = f"SELECT m.ctid {FIRST.format(queue=1)} LIMIT {{}} FOR UPDATE SKIP LOCKED"
    result = "RETURNS TABLE (sender bigint, type_id integer, body bytea)"
    returned = "d.endpoint_id, d.message_type_id, d.body"
    return function(
        f"receive() {result}",
        "",
        f"DELETE FROM message AS d WHERE d.ctid = ({chosen.format(1)}) RETURNING {returned}"
        " INTO sender, type_id, body; IF FOUND THEN RETURN NEXT; END IF;",
        is_pinned,
    ) + function(
        f"receive(top bigint) {result}",
        "",
        f"RETURN QUERY DELETE FROM message AS d WHERE d.ctid = ANY (ARRAY({chosen.format('top')}))"
        f" RETURNING {returned};",
        is_pinned,
    )


def _receive_call(batch: int) -> str:
    return f"SELECT * FROM receive({batch if batch > 1 else ''});\n"


class FunctionReceives(_Reader):
    """The same DELETE in a function that returns the row."""

    name = "+ function"
    functions = _plain_receive(False)

    def dequeue(self, batch: int) -> list[str] | None:
        return [_receive_call(batch)]


class PinnedReceives(FunctionReceives):
    """The function runs with its owner's rights, its search_path set."""

    name = "+ owner's rights"
    functions = _plain_receive(True)


def first_of_group(rows: str = "conversation", queue: str = "1") -> str:
    """The first message of the queue whose group nobody holds, and its lock: that of a row of ``rows``."""
    return (
        "SELECT m.endpoint_id, c.handle INTO v_endpoint_id, sender"
        f" FROM (SELECT m.endpoint_id {FIRST.format(queue=queue)} OFFSET 0) AS m"
        f" CROSS JOIN LATERAL (SELECT c.handle FROM {rows} AS c WHERE c.endpoint_id = m.endpoint_id"
        " FOR NO KEY UPDATE SKIP LOCKED) AS c LIMIT 1"
    )


_ADVISORY = (
    f"SELECT m.endpoint_id, m.endpoint_id INTO v_endpoint_id, sender"
    f" FROM (SELECT m.endpoint_id {FIRST.format(queue=1)} OFFSET 0) AS m"
    " WHERE pg_try_advisory_xact_lock(m.endpoint_id) LIMIT 1"
)
# The group's messages are read when its lock is held: what was seen before that may have been received
# by now, and then a later message of the group would come before an earlier one.
_OF_GROUP = "SELECT m.ctid FROM message AS m WHERE m.endpoint_id = v_endpoint_id ORDER BY m.queuing_order"


def receive_one(first: str, arguments: str = "", sender: str = "uuid", asked: str = "") -> str:
    """The function of a RECEIVE TOP(1) that locks the group that ``first`` finds. ``asked``: before that."""
    return function(
        f"receive({arguments}) RETURNS TABLE (sender {sender}, type_id integer, body bytea)",
        "v_endpoint_id bigint; v_last bigint; v_mark text;",
        f"{asked} LOOP {first}; EXIT WHEN NOT FOUND;"
        f" DELETE FROM message AS d WHERE d.ctid = ({_OF_GROUP} LIMIT 1)"
        " RETURNING d.message_type_id, d.body INTO type_id, body;"
        " IF FOUND THEN RETURN NEXT; EXIT; END IF; END LOOP;",
    )


def _receive_some(first: str, sender: str = "uuid") -> str:
    return function(
        f"receive(top bigint) RETURNS TABLE (sender {sender}, type_id integer, body bytea)",
        "v_endpoint_id bigint;",
        f"LOOP {first}; EXIT WHEN NOT FOUND; RETURN QUERY DELETE FROM message AS d"
        f" WHERE d.ctid = ANY (ARRAY({_OF_GROUP} LIMIT top))"
        " RETURNING sender, d.message_type_id, d.body; EXIT WHEN FOUND; END LOOP;",
    )


class LowerBoundReceives(FunctionReceives):
    """The conversation of the message is locked first. A message that went meanwhile costs another look."""

    name = "the lower bound"
    keeps_groups = True
    functions = receive_one(first_of_group()) + _receive_some(first_of_group())

    def grouped(self) -> list[str] | None:
        return self.dequeue(1)


class AdvisoryReceives(LowerBoundReceives):
    """An advisory lock instead of the row's. Tells the conversation's number, not its handle."""

    name = "the lower bound, advisory"
    functions = receive_one(_ADVISORY, sender="bigint") + _receive_some(_ADVISORY, "bigint")


class LowerBoundQueue(LowerBoundSends):
    """Both at once: SEND and RECEIVE lock rows of their own side, so that neither waits for the other."""

    functions = (
        "CREATE TABLE receiver (endpoint_id bigint PRIMARY KEY, handle uuid NOT NULL);"
        " INSERT INTO receiver SELECT c.endpoint_id, gen_random_uuid() FROM conversation AS c;\n"
        + LowerBoundSends.functions
        + receive_one(first_of_group("receiver"))
        + _receive_some(first_of_group("receiver"))
    )

    def dequeue(self, batch: int) -> list[str] | None:
        return [_receive_call(batch)]

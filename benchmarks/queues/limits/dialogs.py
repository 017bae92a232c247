"""A new dialog for each message: plain statements, the lower bound in functions, and ours.

All do it in four transactions with the same number of statements: a row for the initiator's side, one for
the target's with the first message, that message received and the target's side closed with a message to
the initiator, that one received and the initiator's row deleted (the target's stays, as ours does). The plain
statements lock nobody's dialog. The lower bound locks it, in functions with their owner's rights and a pinned
search_path. Neither knows names, contracts, rights, states of queues, groups, lifetimes, errors.
"""

from collections.abc import Sequence

from ..dialogs import Place, measure_dialogs, ours
from ..peer import BODY
from ..peers.lower_bound import FIRST, MESSAGES, first_of_group, function, receive_one, walk_indexes
from ..run import Outcome, Say
from ..scenarios import Scenario
from ..server import BenchServer
from .slices import Caller, calls_of, take_turns

# Queue 1 is the initiators', 2 the targets'. An initiator's side has an even number, its target's the next.
_TABLES = f"""
{MESSAGES}
CREATE SEQUENCE message_order;
CREATE SEQUENCE dialog_number;
CREATE TABLE endpoint (endpoint_id bigint PRIMARY KEY, far_id bigint NOT NULL, handle uuid NOT NULL,
                       queue_id integer NOT NULL, closed_at timestamptz);
CREATE UNIQUE INDEX ON endpoint (handle);
"""
_ENDED = """
SELECT (SELECT count(*) FROM endpoint WHERE closed_at IS NOT NULL),
       (SELECT count(*) FROM endpoint WHERE closed_at IS NULL), (SELECT count(*) FROM message)
"""
_INTO = (
    "INSERT INTO message (endpoint_id, queuing_order, message_sequence_number, enqueued_at, queue_id,"
    " message_type_id, priority, validation, body)"
)
_ROW = "nextval('message_order'), 0, clock_timestamp()"

_BEGIN = (
    "INSERT INTO endpoint (endpoint_id, far_id, handle, queue_id)"
    " SELECT n, n + 1, gen_random_uuid(), 1 FROM (SELECT 2 * nextval('dialog_number') AS n) AS d"
    " RETURNING handle"
)
_PLAIN = f"""{_BEGIN} AS h \\gset
BEGIN;
WITH near AS (SELECT far_id, endpoint_id FROM endpoint WHERE handle = :h AND closed_at IS NULL),
  far AS (INSERT INTO endpoint (endpoint_id, far_id, handle, queue_id)
          SELECT far_id, endpoint_id, gen_random_uuid(), 2 FROM near)
{_INTO} SELECT far_id, {_ROW}, 2, 1, 5, 'N', '{BODY}'::bytea FROM near;
COMMIT;
BEGIN;
WITH gone AS (DELETE FROM message
               WHERE ctid = (SELECT m.ctid {FIRST.format(queue=2)} LIMIT 1 FOR UPDATE SKIP LOCKED)
              RETURNING endpoint_id, message_type_id, body)
SELECT e.handle AS r, g.message_type_id, g.body FROM gone AS g JOIN endpoint AS e USING (endpoint_id) \\gset
WITH near AS (UPDATE endpoint SET closed_at = clock_timestamp() WHERE handle = :r RETURNING far_id)
{_INTO} SELECT far_id, {_ROW}, 1, 2, 5, 'E', NULL FROM near;
COMMIT;
BEGIN;
WITH gone AS (DELETE FROM message
               WHERE ctid = (SELECT m.ctid {FIRST.format(queue=1)} LIMIT 1 FOR UPDATE SKIP LOCKED)
              RETURNING endpoint_id, message_type_id, body)
SELECT e.handle AS r, g.message_type_id, g.body FROM gone AS g JOIN endpoint AS e USING (endpoint_id) \\gset
DELETE FROM endpoint WHERE handle = :r;
COMMIT;
"""

_FUNCTIONS = (
    function("begin_dialog() RETURNS uuid", "v_handle uuid;", f"{_BEGIN} INTO v_handle; RETURN v_handle;")
    + function(
        "send(sender uuid, body bytea) RETURNS void",
        "v_near bigint; v_far bigint;",
        "SELECT e.endpoint_id, e.far_id INTO v_near, v_far FROM endpoint AS e"
        " WHERE e.handle = sender AND e.closed_at IS NULL FOR NO KEY UPDATE;"
        " INSERT INTO endpoint (endpoint_id, far_id, handle, queue_id)"
        " VALUES (v_far, v_near, gen_random_uuid(), 2) ON CONFLICT DO NOTHING;"
        f" {_INTO} VALUES (v_far, {_ROW}, 2, 1, 5::smallint, 'N', body);",
    )
    + receive_one(first_of_group("endpoint", "receive.queue"), "queue integer")
    + function(
        "end_conversation(handle uuid) RETURNS void",
        "v_near bigint; v_far bigint; v_queue integer;",
        "SELECT e.endpoint_id, e.far_id, e.queue_id INTO v_near, v_far, v_queue"
        " FROM endpoint AS e WHERE e.handle = end_conversation.handle FOR NO KEY UPDATE;"
        " IF EXISTS (SELECT FROM endpoint AS f WHERE f.endpoint_id = v_far AND f.closed_at IS NULL) THEN"
        " UPDATE endpoint AS e SET closed_at = clock_timestamp() WHERE e.endpoint_id = v_near;"
        f" {_INTO} VALUES (v_far, {_ROW}, 3 - v_queue, 2, 5::smallint, 'E', NULL);"
        " ELSE DELETE FROM endpoint AS e WHERE e.endpoint_id = v_near; END IF;",
    )
)
_LOWER_BOUND = f"""SELECT begin_dialog() AS h \\gset
BEGIN;
SELECT send(:h, '{BODY}'::bytea);
COMMIT;
BEGIN;
SELECT sender AS r, type_id, body FROM receive(2) \\gset
SELECT end_conversation(:r);
COMMIT;
BEGIN;
SELECT sender AS r, type_id, body FROM receive(1) \\gset
SELECT end_conversation(:r);
COMMIT;
"""


# The same without a client, whose round trips cost the server more than plain statements do.
_ALONE = """CREATE OR REPLACE PROCEDURE public.some_dialogs() LANGUAGE plpgsql AS $$
DECLARE h uuid; r uuid;
BEGIN
    FOR i IN 1..{dialogs} LOOP
        h := {begin}; COMMIT;
        PERFORM {send}; COMMIT;
        SELECT {receiver} INTO STRICT r FROM {receive_far}; PERFORM {end}; COMMIT;
        SELECT {receiver} INTO STRICT r FROM {receive_near}; PERFORM {end}; COMMIT;
    END LOOP;
END $$"""
_DIALOGS = 20
_LOWER_BOUND_ALONE = _ALONE.format(
    dialogs=_DIALOGS,
    begin="begin_dialog()",
    send=f"send(h, '{BODY}'::bytea)",
    receiver="sender",
    receive_far="receive(2)",
    receive_near="receive(1)",
    end="end_conversation(r)",
)
_OURS_ALONE = _ALONE.format(
    dialogs=_DIALOGS,
    begin="ssb.begin_dialog('source', 'target', 'c')",
    send=f"ssb.send(h, 'm', '{BODY}'::bytea)",
    receiver="conversation_handle",
    receive_far="ssb.receive('dbo.target', 1)",
    receive_near="ssb.receive('dbo.source', 1)",
    end="ssb.end_conversation(r)",
)


def dialogs(server: BenchServer, quick: bool, synchronous_commit: bool, say: Say) -> list[Outcome]:
    """Complete dialogs per second of one client, and of a core; without the flush too."""
    places = [
        _place(server, "plain statements", _PLAIN),
        _place(server, "the lower bound", _LOWER_BOUND),
        ours(server, BODY),
    ]
    outcomes = [_alone(places[1:], setting, quick) for setting in ("off", "on")]
    for is_synchronous in (False, True) if synchronous_commit else (False,):
        setting = f"synchronous_commit {'on' if is_synchronous else 'off'}"
        name = f"Limits: a new dialog for each message, {setting}"
        outcomes += measure_dialogs(places, name, quick, is_synchronous, say)
    for place in places:
        place.connection.close()
    return outcomes


def _alone(places: Sequence[Place], setting: str, quick: bool) -> Outcome:
    """Processor time of a dialog whose statements a procedure executes, one after the other."""
    name = (
        f"Limits: a new dialog for each message, in a procedure, processor time, synchronous_commit {setting}"
    )
    outcome = Outcome(Scenario(f"{name} (target: 333)", "special", _DIALOGS, 1, unit="us a dialog"))
    for place, text in zip(places, (_LOWER_BOUND_ALONE, _OURS_ALONE), strict=True):
        place.connection.execute(text.encode())
        place.connection.execute(f"SET synchronous_commit = {setting}".encode())
    before = [place.count() for place in places]
    slices, calls = 20 if quick else 60, 2
    callers = [Caller(place.name, place.connection, "CALL public.some_dialogs()") for place in places]
    take_turns(outcome, callers, slices, calls)
    ended = calls_of(slices, calls) * _DIALOGS
    for place, (already, *rest) in zip(places, before, strict=True):
        assert place.count() == (already + ended, *rest), place.name
    return outcome


def _place(server: BenchServer, name: str, script: str) -> Place:
    own = server.database("bench_dialogs_" + name.replace(" ", "_"))
    connection = own.connect()
    walk_indexes(connection)
    connection.execute(f"{_TABLES}{_FUNCTIONS}".encode())
    return Place(name, own, connection, script, _ENDED)

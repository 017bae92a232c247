"""The options of ``format("pgsb")``: which there are, what they mean, and what is wrong with one."""

import difflib
import fnmatch
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast, get_args

import psycopg
from psycopg.conninfo import make_conninfo
from psycopg.pq import TransactionStatus

from ..server.connect import SEARCH_PATH
from .claim import explained
from .connections import Connection, acting_as, readable
from .problems import MOST_INTEGER, MOST_LONG, MOST_PARTITIONS, BulkError, first_line, require_choice
from .program import Unread

_COMMON = ("dsn", "url", "user", "password", "role", "sessionInitStatement")
_READ = ("queue", "view")
_TASKS = ("numPartitions", "fetchsize")
_STREAM = (
    "maxMessagesPerTrigger",
    "maxBytesPerTrigger",
    "maxMessages",
    "maxBytes",
    "partitions",
    "failOnDataLoss",
    "streamName",
    "claimTimeout",
    "endConversations",
    "unread",
)
_WRITE = ("fromService", "toService", "contract", "messageType", "lifetime", "recycle", "maxAge", "sendId")
# Spark's own, which come along: of load() the one argument, or the several as JSON.
_SPARKS = ("path", "paths", "checkpointLocation")
_MOST_NAMES = 20
"""Queues that a hint lists."""
# What CREATE TABLE adds to a table's options.
_OF_A_TABLE = ("option.", "provider")
# The words of Spark's JDBC, Kafka and Delta sources, in lower case, and what is to be done instead.
_QUEUE = 'option("queue", …) says what is read; fromService and toService say where messages are sent'
_PARTS = "numPartitions says how many tasks read a batch of a stream"
_BEGIN = "leave it away: a stream begins with what waits in the queue, and then goes on from its checkpoint"
_NAMED = 'option("streamName", …) is what names a stream'
_PACKS = "leave it away: each task sends its rows in packs, and in one transaction"
_TYPED = "leave it away: columns have the types that the documentation tells; cast them in the program"
_ELSEWHERE = {
    **dict.fromkeys(("dbtable", "table", "subscribe", "subscribepattern", "assign", "topic"), _QUEUE),
    "query": f"{_QUEUE}; where(…) and select(…) of the frame choose",
    "kafka.bootstrap.servers": "did you mean url?",
    **dict.fromkeys(("kafka.group.id", "groupid", "groupidprefix"), _NAMED),
    **dict.fromkeys(("maxoffsetspertrigger", "maxfilespertrigger"), "did you mean maxMessagesPerTrigger?"),
    **dict.fromkeys(("minpartitions", "partitioncolumn", "lowerbound", "upperbound"), _PARTS),
    **dict.fromkeys(("startingoffsets", "startingtimestamp", "startingversion"), _BEGIN),
    **dict.fromkeys(("endingoffsets", "endingtimestamp", "endingversion"), _BEGIN),
    **dict.fromkeys(("batchsize", "isolationlevel", "truncate"), _PACKS),
    "customschema": _TYPED,
    "driver": "leave it away: the source needs no JDBC driver",
    "querytimeout": """option("sessionInitStatement", "SET statement_timeout = '60s'")""",
}
_ALL = (*_COMMON, *_READ, *_TASKS, *_STREAM, *_WRITE)
_SYNONYMS = (
    ("dsn", "url"),
    ("numPartitions", "partitions"),
    ("maxMessagesPerTrigger", "maxMessages"),
    ("maxBytesPerTrigger", "maxBytes"),
)
# What means the same when it is empty and when it is left away. Anything else that is empty is a variable
# that nobody has set: without its sendId a send that runs again is sent twice, without its role a session
# has more rights.
_MAY_BE_EMPTY = frozenset({"user", "password", "sessioninitstatement"})
# Of options for reading that are given to a writer, what was meant.
_OTHERWISE = {
    "queue": "messages are sent to a service: fromService and toService; or a column conversation_handle",
    "numPartitions": "as many tasks send as the frame has partitions: repartition(…), coalesce(…)",
}

# As Spark writes sizes.
_SIZES = "(?:[kmgt]b?|b)?"
_SHIFTS = {"": 0, "b": 0, "k": 10, "m": 20, "g": 30, "t": 40}

_TO_WRITE = (
    'frame.write.format("pgsb") and writeStream send messages, and nothing in SQL, whose INSERT INTO is for '
    'tables: spark.sql("SELECT …").write'
)

# Names between commas; those within quotes are part of a name.
_NAME = re.compile(r'(?:[^,"]|"(?:[^"]|"")*"?)+')

MOST_MESSAGES = 1_000_000
"""maxMessagesPerTrigger, unless it is told."""
WAIT = 7 * 24 * 3600
"""claimTimeout, unless it is told: seconds that a stopped stream's claim waits for it."""


@dataclass(frozen=True)
class SourceOptions:
    """What `docs/spark.md` describes, read and checked."""

    dsn: str
    path: str | None
    """What load() or save() was given."""
    queue: str | None
    view: str | None
    init: str | None
    partitions: int
    fetch_size: int | None
    max_messages: int
    max_bytes: int | None
    fail_on_data_loss: bool
    stream: str | None
    wait: int
    end_conversations: bool
    unread: Unread
    from_service: str | None
    to_service: str | None
    contract: str
    message_type: str
    lifetime: int | None
    recycle: bool
    max_age: str
    send_id: str | None

    def start(self, connection: Connection | psycopg.Connection[tuple[object, ...]]) -> None:
        """What each session runs first (sessionInitStatement), and that its times are UTC's.

        A queue's documented message_enqueue_time has no time zone: it is in that of the session. What comes
        behind it finds PostgreSQL's functions and operators, whatever stands in a schema of the search_path.
        """
        if self.init:
            try:
                connection.execute(self.init.encode())
            except psycopg.Error as error:
                raise BulkError(f"sessionInitStatement fails: {first_line(error)}") from error
            if connection.autocommit and connection.info.transaction_status != TransactionStatus.IDLE:
                # Nobody would see what the session claims.
                raise BulkError(
                    "sessionInitStatement begins a transaction", "leave BEGIN away, or add COMMIT"
                )
        connection.execute(f"SET TIME ZONE 'UTC'; {SEARCH_PATH}")

    def queues(self, connection: Connection) -> list[str]:
        """The queues that ``queue`` names: one, several by commas, patterns (``dbo.day*``).

        Each by the name under which the server knows it: ``dbo.QA`` is ``dbo.qa``. Raises BulkError.
        """
        if not self.queue:
            raise BulkError(
                'the option "queue" is missing', 'option("queue", "dbo.daysales"), as PostgreSQL spells it'
            )
        found: list[str] = []
        there: list[tuple[str, str]] | None = None
        for part in filter(None, (one.strip() for one in _NAME.findall(self.queue))):
            if '"' in part or not any(char in part for char in "*?["):
                found.append(normal_name(connection, part))
                continue
            if there is None:
                rows = connection.execute("SELECT shown, name FROM ssb_internal.queues_to_choose()")
                there = [(str(shown).lower(), str(name)) for shown, name in rows.fetchall()]
            matching = [name for shown, name in there if fnmatch.fnmatchcase(shown, part.lower())]
            if not matching:
                names = ", ".join(name for _, name in there[:_MOST_NAMES])
                if len(there) > _MOST_NAMES:
                    names += f" and {len(there) - _MOST_NAMES} more"
                raise BulkError(
                    f"no queue matches {part!r}",
                    f"there are {names or 'none'}; *, ? and [ab] are patterns, names are PostgreSQL's",
                )
            found += matching
        if not found:
            raise BulkError(f'the option "queue" is {self.queue!r}, which names none')
        return list(dict.fromkeys(found))


def normal_name(connection: Connection | psycopg.Connection[tuple[object, ...]], queue: str) -> str:
    """The queue's name as the server keeps it, whether there is such a queue or not. Raises BulkError."""
    with explained(queue):
        row = connection.execute("SELECT ssb_internal.normal_name(%s)", (queue,)).fetchone()
    assert row is not None
    return str(row[0])


def read_options(given: Mapping[str, str], *, to_write: bool = False) -> SourceOptions:
    """The options, whatever their case.

    Raises BulkError for one that is unknown, no number, or of the other direction.
    """
    values = {key.lower(): value for key, value in given.items()}
    if any(key.startswith(_OF_A_TABLE) for key in values):
        raise BulkError(
            "a table USING pgsb would not keep its options: Spark does not give them to a source in Python",
            "CREATE TEMPORARY VIEW … USING pgsb OPTIONS (…)",
        )
    known = {name.lower(): name for name in (*_ALL, *_SPARKS)}
    for key in values:
        if key not in known and not key.startswith("__"):
            raise BulkError(f'format("pgsb") has no option {key!r}', _instead(key, known))
    for name in (*_READ, *_STREAM, *_TASKS) if to_write else _WRITE:
        if name.lower() in values:
            raise BulkError(
                f'the option "{name}" is for {"reading" if to_write else "writing"}',
                _OTHERWISE.get(name) if to_write else _TO_WRITE,
            )
    for name in _ALL:
        if not values.get(name.lower(), "set").strip() and name.lower() not in _MAY_BE_EMPTY:
            raise BulkError(f'the option "{name}" is empty', "leave it away where it is not meant")
        if "\0" in values.get(name.lower(), ""):
            raise BulkError(f'the option "{name}" has a NUL (U+0000) in it')

    for same in _SYNONYMS:
        if len({values[name.lower()] for name in same if name.lower() in values}) > 1:
            raise BulkError(
                f'the options "{same[0]}" and "{same[1]}" mean the same, and differ', "leave one of them away"
            )

    def number(*names: str, unit: str = "", most: int = MOST_INTEGER) -> int | None:
        for name in names:
            text = values.get(name.lower())
            if text is None:
                continue
            found = re.fullmatch(rf"0*([1-9][0-9]{{0,17}})({unit})", text.strip().lower())
            if found is None:
                raise BulkError(f'the option "{name}" is {text[:100]!r}, and must be a number from 1 on')
            value = int(found[1]) << _SHIFTS[found[2][:1]]
            if value > most:
                raise BulkError(f'the option "{name}" is {text[:100]!r}, and at most {most:,}')
            return value
        return None

    def switch(name: str, default: bool) -> bool:
        text = values.get(name.lower())
        if text is not None and text.lower() not in ("true", "false"):
            raise BulkError(f'the option "{name}" is {text!r}, and must be true or false')
        return default if text is None else text.lower() == "true"

    unread = cast(Unread, values.get("unread", "refuse"))
    require_choice('the option "unread"', unread, get_args(Unread))
    if "maxage" in values and not switch("recycle", False):
        raise BulkError('the option "maxAge" is for dialogs that are kept', 'option("recycle", "true")')
    return SourceOptions(
        dsn=_address(values),
        path=", ".join(json.loads(values["paths"])) if "paths" in values else values.get("path"),
        queue=values.get("queue"),
        view=values.get("view"),
        init=values.get("sessioninitstatement"),
        partitions=number(*_SYNONYMS[1], most=MOST_PARTITIONS) or 2,
        fetch_size=number("fetchsize"),
        max_messages=number(*_SYNONYMS[2], most=MOST_LONG) or MOST_MESSAGES,
        max_bytes=number(*_SYNONYMS[3], unit=_SIZES, most=MOST_LONG),
        fail_on_data_loss=switch("failOnDataLoss", True),
        stream=values.get("streamname"),
        wait=number("claimTimeout") or WAIT,
        end_conversations=switch("endConversations", True),
        unread=unread,
        from_service=values.get("fromservice"),
        to_service=values.get("toservice"),
        contract=values.get("contract", "DEFAULT"),
        message_type=values.get("messagetype", "DEFAULT"),
        lifetime=number("lifetime"),
        recycle=switch("recycle", False),
        max_age=values.get("maxage", "1 hour"),
        send_id=values.get("sendid"),
    )


def _instead(key: str, known: Mapping[str, str]) -> str:
    """What to do instead of giving an option that is unknown."""
    if key in _ELSEWHERE:
        return _ELSEWHERE[key]
    if key.startswith("kafka."):
        return "leave it away: it is for Kafka's client"
    near = difflib.get_close_matches(key, known, 1, 0.7)
    return f"did you mean {known[near[0]]}?" if near else f"the options are {', '.join(_ALL)}"


def _address(values: Mapping[str, str]) -> str:
    dsn = values.get("dsn") or values.get("url") or os.environ.get("DATABASE_URL")
    if not dsn:
        raise BulkError(
            'the option "dsn" is missing',
            'option("dsn", "host=db dbname=shop user=ann"), or "url" with a PostgreSQL or JDBC URL',
        )
    own = {key: values[key] for key in ("user", "password") if values.get(key)}
    dsn = make_conninfo(readable(dsn), **own)
    role = values.get("role")
    return dsn if role is None else acting_as(dsn, role)

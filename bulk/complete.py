"""Completing a claim: everything or nothing, in one PostgreSQL transaction."""

import contextlib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import psycopg
from psycopg import sql
from psycopg.rows import class_row

from .binary_copy import UUID_OR_TEXT, fields
from .claim import Claim
from .columns import BODY, body_of
from .connections import Server, open_session, same_place
from .copying_ahead import CopyAhead
from .local_rows import computed_rows
from .packed_rows import Files
from .problems import BulkError, ClaimLost, first_line, has_ended, hint_of, told
from .program import Outputs
from .progress import logger
from .read import COLUMNS
from .session import require_classic
from .staging import Staged, files_of, stage, stage_rows, unmeasured
from .tables import MOST_FAILURES, PackedTable, RowFailure, StagedTable, find_failures, is_of_a_row
from .transport import TABLE_COLUMNS, TableColumn, Travel, plan
from .watching import step

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

# The columns of an output that is no table, the types in which they travel, and what stands in for one
# that is absent.
_OTHERS: dict[str, dict[str, tuple[str, str, str | None]]] = {
    "replies": {
        "conversation_handle": ("uuid", "STRING", None),
        "message_type_name": ("text", "STRING", "'DEFAULT'"),
        "message_body": ("bytea", "BINARY", "NULL"),
    },
    "errors": {
        "conversation_handle": ("uuid", "STRING", None),
        "queuing_order": ("int8", "BIGINT", "NULL"),
        "error": ("text", "STRING", None),
    },
    "ends": {
        "conversation_handle": ("uuid", "STRING", None),
        "error_code": ("int4", "INT", "NULL"),
        "error_text": ("text", "STRING", "NULL"),
    },
}
# What Spark's jobs for them are called, to people.
_STEPS = {"replies": "replies", "errors": "messages that failed", "ends": "ends of conversations"}
# Whether a table or view takes rows (8: INSERT); whether COPY of a table does what INSERT would: without
# rules and policies, and without triggers, which may tell one from the other, also of partitions; its name,
# quoted where needed.
_TABLE = """
SELECT c.oid IS NOT NULL,
       pg_catalog.pg_relation_is_updatable(c.oid, true) & 8 <> 0,
       c.relkind IN ('r', 'p') AND NOT c.relhasrules AND NOT c.relrowsecurity
       AND NOT EXISTS (
           SELECT FROM pg_catalog.pg_trigger AS t
            WHERE NOT t.tgisinternal AND (t.tgrelid = c.oid
                  OR t.tgrelid IN (SELECT p.relid FROM pg_catalog.pg_partition_tree(c.oid) AS p))),
       CASE WHEN c.oid IS NOT NULL THEN pg_catalog.format('%%I.%%I', n.nspname, c.relname) END
  FROM (VALUES (pg_catalog.to_regclass(%s))) AS named (oid)
  LEFT JOIN pg_catalog.pg_class AS c ON c.oid = named.oid
  LEFT JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
"""
_SPELLED = "name it as PostgreSQL spells it, such as dbo.takings"
_NO_NAME = (
    psycopg.errors.InvalidName,
    psycopg.errors.SyntaxError,
    psycopg.NotSupportedError,
    psycopg.DataError,
)
"""Too many parts or none, another database's, a NUL."""
# Where a row of a table's output came from: written nowhere, but it names the message when the row fails.
_ORIGIN = {"conversation_handle": ("bytea", "BINARY"), "queuing_order": ("int8", "BIGINT")}


@dataclass(frozen=True)
class Completed:
    """Of a completed claim: messages deleted, rows written to tables, replies, conversations failed."""

    deleted: int
    written: int
    replied: int
    failed: int


@dataclass(frozen=True)
class _Prepared:
    """A table's output before it runs: its rows, as they travel, and where to."""

    name: str
    frame: "DataFrame"
    columns: tuple[Travel, ...]
    names: tuple[str, ...]
    types: tuple[str, ...]
    in_packs: bool
    kind: str
    staging: str
    files: Files | None


@dataclass(frozen=True)
class Computed:
    """What a program's outputs are, in staging tables: nothing of it counts before `complete`."""

    held: Claim
    outputs: Outputs
    tables: Sequence[StagedTable | PackedTable]
    others: list[Staged]
    dsn: str
    first_error: str | None = None
    """Of the messages that the program says have failed, the first."""
    ahead: CopyAhead | None = None
    """The rows of the first table, which are there, in a transaction of the claim's session."""

    def complete(self) -> Completed:
        """The one transaction that makes all of it true, in the claim's session. See `complete`."""
        try:
            with _explained(self.held), self.ahead or contextlib.nullcontext():
                done = _finish(self.held, self.outputs, self.tables, self.others, self.dsn, self.ahead)
        finally:
            for table in self.tables:
                if table.staged.files is not None:
                    table.staged.files.remove()
        if self.first_error is not None:
            # Of what goes back to the queue nothing else would tell why.
            logger.warning("claim %s: %s", self.held.claim_id, self.first_error)
        return done


def complete(held: Claim, outputs: Outputs, dsn: str | None = None) -> Completed:
    """Run the program's DataFrames, then make all of it true at once.

    First the executors compute and write to staging tables (any number of times);
    then one transaction in the claim's session inserts the results into their
    tables with the job's own rights, sends the replies, ends conversations, and
    deletes the messages. Its commit is the one moment at which anything counts.
    ``dsn`` is another way to the claim's database, see `read.read`.

    Every part of the claim must have been read to its end, unless ``outputs.unread`` is
    ``complete``. A row that PostgreSQL refuses (a NUL in a text, a value too long, a failed
    check) is found by halves: with ``failures="quarantine"`` its conversation is set aside with
    the error and the others complete, else the error names conversation and message.

    Raises ClaimLost when the session ended before (nothing was done), BulkError for
    what PostgreSQL refuses (nothing was done, the claim is still held), and, before
    anything runs, for a column that does not fit its table.
    """
    return compute(held, outputs, dsn).complete()


def compute(
    held: Claim,
    outputs: Outputs,
    dsn: str | None = None,
    *,
    copies_ahead: bool = True,
    address: str | None = None,
) -> Computed:
    """The first half of `complete`: the executors compute and write to staging tables.

    ``copies_ahead``: rows of the first table may go to it meanwhile, in a transaction of the claim's session
    (`copying_ahead`), which then waits for nothing but `Computed.complete`. ``address``: where to ask
    whether a commit counts whose answer was lost; it may lead to the server that has taken over since.
    """
    frames = (*outputs.tables.values(), outputs.errors, outputs.replies, outputs.ends)
    for frame in frames:
        if frame is not None:
            require_classic(frame.sparkSession)
    with _explained(held), contextlib.ExitStack() as stack:
        server = same_place(held.connection, dsn)
        # All of them are planned before one runs.
        plans = {name: _plan_table(held, frame, name) for name, frame in outputs.tables.items()}
        kinds = {
            kind: _plan_other(frame, kind, server.nvarchar)
            for kind, frame in (
                ("errors", outputs.errors),
                ("replies", outputs.replies),
                ("ends", outputs.ends),
            )
            if frame is not None
        }
        prepared = [_prepare_table(held, outputs.tables[name], *one) for name, one in plans.items()]
        stagings = {kind: _create(held, kind) for kind in kinds}
        others = [_stage_other(held, frame, server, kind, stagings[kind]) for kind, frame in kinds.items()]
        first_error = _first_error(held, others)
        tables = [_stage_table(held, one, server) for one in prepared[1:]]
        ahead: CopyAhead | None = None
        if prepared:
            first = prepared[0]
            # Of the first table: what refers to another one's rows comes behind those. And as the last step,
            # so that the transaction waits for nothing but these rows.
            if copies_ahead and first.files is not None:
                ahead = stack.enter_context(
                    CopyAhead(held.connection, first.name, first.columns, first.files)
                )
            tables.insert(0, _stage_table(held, first, server))
            if ahead is not None and not ahead.join(tables[0].staged):
                ahead = None
        computed = Computed(held, outputs, tables, others, address or server.dsn, first_error, ahead)
        stack.pop_all()
        return computed


@contextlib.contextmanager
def _explained(held: Claim) -> Iterator[None]:
    try:
        yield
    except psycopg.errors.ObjectInUse as error:
        raise ClaimLost(f"claim {held.claim_id} has ended", hint_of(error)) from error
    except psycopg.OperationalError as error:
        claim = f"claim {held.claim_id}"
        raise told(error, f"{claim} ended with its connection", f"{claim} cannot be completed") from error
    except psycopg.Error as error:
        raise BulkError(
            f"claim {held.claim_id} cannot be completed: {first_line(error)}", hint_of(error)
        ) from error


def _plan_table(
    held: Claim, frame: "DataFrame", name: str
) -> tuple[str, tuple[Travel, ...], tuple[str, ...], bool]:
    """The table's name as the server spells it, the columns' ways into it, which of the origin's go beside
    them, and whether all go in packs.

    Columns are matched as Spark resolves them: whatever their case, unless the session says otherwise.
    """
    try:
        found = held.connection.execute(_TABLE, (name,)).fetchone()
    except _NO_NAME as error:
        raise BulkError(f"{name!r} is no table's name: {first_line(error)}", _SPELLED) from error
    if found is None or not found[0]:
        raise BulkError(f"there is no table {name or repr(name)}", _SPELLED)
    _, takes_rows, is_copied, quoted = found
    if not takes_rows:
        raise BulkError(f"{name} takes no rows", "an output is for a table, or a view that takes INSERT")
    with held.connection.cursor(row_factory=class_row(TableColumn)) as cursor:
        there = {one.name: one for one in cursor.execute(TABLE_COLUMNS, (name,))}
    is_sensitive = frame.sparkSession.conf.get("spark.sql.caseSensitive") == "true"
    folded = {} if is_sensitive else {one.lower(): column for one, column in there.items()}
    columns = []
    origin = []
    _require_distinct(frame.columns, f"the output for {name}", is_sensitive=is_sensitive)
    for field in frame.schema.fields:
        target = there.get(field.name) or folded.get(field.name.lower())
        if target is not None:
            columns.append(plan(target.name, field.dataType, target, name))
        elif field.name in _ORIGIN:
            origin.append(field.name)
        else:
            raise BulkError(f"the table {name} has no column {field.name!r}", _names(there))
    if not columns:
        raise BulkError(f"the output for {name} has no column of that table", _names(there))
    in_packs = bool(is_copied) and all(one.is_plain for one in columns)
    return str(quoted), tuple(columns), tuple(origin), in_packs


def _require_distinct(columns: Sequence[str], what: str, *, is_sensitive: bool = False) -> None:
    """Raise BulkError where Spark would not know which of two columns is meant."""
    met: dict[str, str] = {}
    for name in columns:
        key = name if is_sensitive else name.lower()
        if (before := met.get(key)) is None:
            met[key] = name
        else:
            both = f"{before!r} and {name!r}" if before != name else repr(name)
            raise BulkError(
                f"{what} has two columns {both}", "behind a join drop(…) one of them, or give it another name"
            )


def _names(columns: Iterable[str]) -> str:
    return f"its columns are {', '.join(columns)}"


def _prepare_table(
    held: Claim,
    frame: "DataFrame",
    name: str,
    columns: tuple[Travel, ...],
    origin: tuple[str, ...],
    in_packs: bool,
) -> _Prepared:
    extra = {one: _ORIGIN[one] for one in origin}
    names = [one.name for one in columns] + list(extra)
    types = tuple([one.type for one in columns] + [type_ for type_, _ in extra.values()])
    expressions = [f"{one.expression} AS `{one.name.replace('`', '``')}`" for one in columns]
    expressions += [f"CAST({one} AS {kind}) AS {one}" for one, (_, kind) in extra.items()]
    files = files_of(frame.sparkSession) if in_packs else None
    placed = [one for pair in zip(names, types, strict=True) for one in fields(*pair)]
    kind = "packed" if in_packs else "table"
    row = held.connection.execute(
        "SELECT ssb_internal.create_staging(%s, %s, %s, %s, %s)",
        (
            held.claim_id,
            kind if files is None else "in_files",
            name,
            [one for one, _ in placed],
            [type_ for _, type_ in placed],
        ),
    ).fetchone()
    assert row is not None
    rows = frame.selectExpr(*expressions)
    return _Prepared(name, rows, columns, tuple(names), types, in_packs, kind, str(row[0] or ""), files)


def _stage_table(held: Claim, one: _Prepared, server: Server) -> StagedTable | PackedTable:
    with step(one.frame.sparkSession, f"rows for {one.name}"), unmeasured(one.frame, held.largest):
        own = len(one.columns) if one.in_packs else None
        staged = stage(one.frame, server.dsn, one.kind, one.staging, one.types, own, one.files)
    known = dict(zip(one.names, one.types, strict=True))
    told = tuple(name for name in _ORIGIN if known.get(name) in (_ORIGIN[name][0], UUID_OR_TEXT))
    has_uuids = known.get("conversation_handle") == UUID_OR_TEXT
    if one.in_packs:
        return PackedTable(one.name, staged, one.columns, told, has_uuids, one.names, one.types, server.dsn)
    return StagedTable(one.name, staged, one.columns, told, has_uuids)


def _plan_other(frame: "DataFrame", kind: str, nvarchar: str) -> "DataFrame":
    # As Spark finds columns: whatever their case.
    _require_distinct(
        [name for name in frame.columns if name.lower() in _OTHERS[kind]], f"the output {kind!r}"
    )
    present = {name.lower() for name in frame.columns}
    absent = [name for name in _OTHERS[kind] if name not in present]
    strange = [name for name in frame.columns if name.lower() not in (*_OTHERS[kind], *COLUMNS)]
    if absent and strange:
        raise BulkError(
            f"the output {kind!r} has no column {absent[0]}, but one that it does not know: {strange[0]!r}",
            f"its columns are {', '.join(_OTHERS[kind])}",
        )
    wanted = []
    for name, (_, spark_type, instead) in _OTHERS[kind].items():
        if name in present:
            value = body_of(frame, lambda: nvarchar) if name == BODY else f"CAST({name} AS {spark_type})"
        elif instead is not None:
            value = f"CAST({instead} AS {spark_type})"
        else:
            raise BulkError(f"the output {kind!r} has no column {name}")
        # PostgreSQL's text has no NUL, and an error's text must not be what fails.
        if name in ("error", "error_text"):
            value = f"translate({value}, '\\0', '\\uFFFD')"
        wanted.append(f"{value} AS {name}")
    return frame.selectExpr(*wanted)


def _stage_other(held: Claim, frame: "DataFrame", server: Server, kind: str, staging: str) -> Staged:
    types = tuple(one[0] for one in _OTHERS[kind].values())
    rows = computed_rows(frame, types)
    if rows is not None:
        return stage_rows(rows, held.connection, kind, staging, types)
    with step(frame.sparkSession, _STEPS[kind]):
        return stage(frame, server.dsn, kind, staging, types)


def _first_error(held: Claim, others: Sequence[Staged]) -> str | None:
    """What the output ``errors`` says of the first message, in one line; None where it has no row."""
    for errors in (one for one in others if one.kind == "errors" and one.rows):
        query = sql.SQL(
            "SELECT conversation_handle::text, queuing_order, error FROM {} WHERE attempt_id = ANY(%s)"
            " ORDER BY queuing_order NULLS FIRST LIMIT 1"
        ).format(sql.Identifier(*errors.staging.split(".", 1)))
        row = held.connection.execute(query, (list(errors.attempts),)).fetchone()
        assert row is not None
        handle, order, error = row
        message = (
            f"message {order} of conversation {handle}" if order is not None else f"conversation {handle}"
        )
        more = f" ({errors.rows:,} in all)" if errors.rows > 1 else ""
        return f"{message} failed: {' '.join(str(error).split())}{more}"
    return None


def _create(held: Claim, kind: str) -> str:
    row = held.connection.execute(
        "SELECT ssb_internal.create_staging(%s, %s)", (held.claim_id, kind)
    ).fetchone()
    assert row is not None
    return str(row[0])


def _finish(
    held: Claim,
    outputs: Outputs,
    tables: Sequence[StagedTable | PackedTable],
    others: list[Staged],
    dsn: str,
    ahead: CopyAhead | None = None,
) -> Completed:
    if outputs.unread != "complete":
        _require_read(held)
    # Where an output does not tell of which message a row is, a conversation fails as a whole.
    has_order = outputs.replies is None and all("queuing_order" in one.origin for one in tables)
    failed: list[RowFailure] = []
    if ahead is not None and not all(one.staged.is_plain for one in tables if isinstance(one, PackedTable)):
        # What is unpacked must outlive a transaction that is rolled back.
        ahead.give_up()
    rows = _unpacked(held, tables, only_others=True)
    while True:
        try:
            completed = _try(held, outputs, rows, others, failed, dsn, ahead)
            break
        except psycopg.Error as error:
            if not is_of_a_row(error):
                raise
            staged = [one for one in rows if isinstance(one, StagedTable)]
            if len(staged) < len(rows):
                rows = _unpacked(held, rows)
                continue
            found = find_failures(held.connection, staged, failed, has_order=has_order)
            if not found:
                raise
            found.sort(key=lambda one: (one.queuing_order is None, one.queuing_order))
            if outputs.failures == "requeue" or any(one.conversation_handle is None for one in found):
                raise BulkError(
                    f"claim {held.claim_id} cannot be completed: {found[0].sentence()}", hint_of(error)
                ) from error
            failed += found
            if len(failed) > MOST_FAILURES:
                raise BulkError(
                    f"claim {held.claim_id} cannot be completed: more than {MOST_FAILURES} rows fail, "
                    f"the first: {failed[0].sentence()}"
                ) from error
    # A session that has ended holds no lock.
    with contextlib.suppress(psycopg.OperationalError):
        held.connection.execute("SELECT ssb_internal.unlock_claim(%s)", (held.claim_id,))
    return completed


def _unpacked(
    held: Claim, tables: Sequence[StagedTable | PackedTable], *, only_others: bool = False
) -> list[StagedTable | PackedTable]:
    """The tables' rows in usual staging tables; ``only_others``: those that COPY does not take."""
    return [
        one.unpacked(held.connection, held.claim_id)
        if isinstance(one, PackedTable) and not (only_others and one.staged.is_plain)
        else one
        for one in tables
    ]


def _require_read(held: Claim) -> None:
    try:
        held.connection.execute("SELECT ssb_internal.require_read(%s)", (held.claim_id,))
    except psycopg.errors.ObjectNotInPrerequisiteState as error:
        raise BulkError(first_line(error), hint_of(error)) from error


def _try(
    held: Claim,
    outputs: Outputs,
    tables: Sequence[StagedTable | PackedTable],
    others: list[Staged],
    failed: Sequence[RowFailure],
    dsn: str,
    ahead: CopyAhead | None,
) -> Completed:
    connection = held.connection
    is_begun = ahead is not None and ahead.is_open
    written = 0
    try:
        with ahead.transaction() if ahead is not None and is_begun else connection.transaction():
            # Found here, and not by the commit, which could not say which row it was.
            connection.execute("SET CONSTRAINTS ALL IMMEDIATE")
            if ahead is not None and is_begun:
                written += ahead.rows
            for table in tables[1:] if is_begun else tables:
                if isinstance(table, PackedTable):
                    written += table.insert(connection)
                else:
                    written += table.insert(connection, failed)
            if failed:
                connection.execute(
                    "SELECT ssb_internal.fail_conversations(%s, %s, %s, %s)",
                    (
                        held.claim_id,
                        [one.conversation_handle for one in failed],
                        [one.queuing_order for one in failed],
                        [one.error for one in failed],
                    ),
                )
            row = connection.execute(
                "SELECT deleted, replied, failed FROM ssb_internal.complete_claim(%s, %s, %s, %s)",
                (
                    held.claim_id,
                    json.dumps([one.as_json() for one in others]),
                    outputs.failures,
                    outputs.end_all,
                ),
            ).fetchone()
            assert row is not None
    except psycopg.OperationalError as error:
        if not has_ended(error):
            raise
        # Was it the commit whose answer got lost? The table of completed claims knows.
        row = _result(held, dsn)
        if row is None:
            raise
    deleted, replied, count = (int(str(value)) for value in row)
    return Completed(deleted, written, replied, count)


def _result(held: Claim, dsn: str) -> tuple[object, ...] | None:
    """What the completion answered: deleted, replied, failed; None when there was none."""
    try:
        with open_session(dsn, "pgsb bulk claim") as other:
            return other.execute(
                "SELECT deleted, replied, failed FROM ssb_internal.claim_result(%s, %s)",
                (held.claim_id, held.claimed_at),
            ).fetchone()
    except psycopg.OperationalError as error:
        raise ClaimLost(
            f"the connection was lost while claim {held.claim_id} was completed, and cannot be made again; "
            f"SELECT ssb_internal.claim_was_completed({held.claim_id}, '{held.claimed_at.isoformat()}') tells"
        ) from error

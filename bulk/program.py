"""Service programs for Spark.

A program is a function from the DataFrame of a claim's messages to `Outputs`.
It may be run more than once on the same messages (a retried task, a driver that
died before it completed): what counts happens once, in `complete`.
"""

import asyncio
import importlib
import inspect
import sys
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, cast, get_args

from .columns import reading
from .connections import UNHURRIED
from .local_rows import CONVERSATION_COLUMNS, MOST_LOCAL, claimed_conversations, frame_of
from .options import require_files
from .problems import BulkError, require_choice

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

    from .claim import Claim
    from .connections import Server

# What Python imports from as it is.
_PACKED = (".zip", ".egg", ".jar")
Failures = Literal["requeue", "drop", "quarantine"]
Unread = Literal["refuse", "complete"]


@dataclass(frozen=True)
class Outputs:
    """What a program made of a claim's messages. Every part may be left out.

    tables   table name (as PostgreSQL spells it) → DataFrame; columns are matched by name
    replies  conversation_handle, message_body (binary or string; may be absent), message_type_name
             (absent: DEFAULT): messages sent back on the claimed conversations, or on others of
             queues from which the job's role may receive. Replies of one
             conversation keep their order when they are in one partition, as after a
             groupBy or `each`.
    errors   conversation_handle, queuing_order (or null: the conversation as a whole), error: messages
             that could not be processed
    ends     conversation_handle, error_code, error_text (both null or absent: without error):
             conversations to end, of the claim or as for replies
    end_all  end every claimed conversation of which nothing failed and nothing waits
    failures what becomes of a failed message and those after it in its conversation: ``requeue``
             leaves them in the queue, ``quarantine`` sets them aside with the error text,
             ``drop`` counts them as processed
    unread   what becomes of a claim of which not every part was read to its end: ``refuse``, or
             ``complete`` where the program means to leave messages unread, which are deleted

    The columns conversation_handle and queuing_order of a table's rows tell which message a row comes
    from; where the table does not have them they are not written. A row that PostgreSQL refuses is then
    a message that failed.
    """

    tables: Mapping[str, "DataFrame"] = field(default_factory=dict)
    replies: "DataFrame | None" = None
    errors: "DataFrame | None" = None
    ends: "DataFrame | None" = None
    end_all: bool = False
    failures: Failures = "requeue"
    unread: Unread = "refuse"


@dataclass(frozen=True)
class Context:
    """What a program may know beside the messages: ``def book(messages, context)``.

    ``spark`` the session, ``server`` where the claim is (``server.dsn``), ``queue`` its name,
    ``claim_id`` the claim's number and ``partitions`` those in which it is read; ``held`` the claim itself,
    where its session can be asked.
    """

    spark: "SparkSession"
    server: "Server"
    queue: str
    claim_id: int
    partitions: int
    held: "Claim | None" = None

    @property
    def conversations(self) -> "DataFrame":
        """The claimed conversations, a row each; no message is read for it.

        conversation_handle, conversation_group_id, service_name, service_contract_name (string), priority
        (smallint), and of what is claimed: messages, bytes (bigint). As for a reply to each, and an end.
        """
        if self.held is not None and self.held.conversations <= MOST_LOCAL:
            # Not to be read by tasks and connections of their own, which take longer than so few rows.
            return frame_of(self.spark, claimed_conversations(self.held, self.server.identity))
        relation = (
            f"(SELECT {CONVERSATION_COLUMNS}, claim_partition"
            f" FROM ssb_internal.conversation_in_claim WHERE claim_id = {self.claim_id:d}"
            # Where the claim is not there are none: nobody would be answered, and its messages deleted.
            " UNION ALL SELECT c.conversation_handle::text, c.conversation_group_id::text, c.service_name,"
            " c.service_contract_name, c.priority, c.messages, c.bytes, p.part"
            f" FROM pg_catalog.generate_series(0, {self.partitions - 1:d}) AS p (part) CROSS JOIN LATERAL"
            f" ssb_internal.end_of_conversations({self.claim_id:d}, '{self.server.identity}') AS c) AS c"
        )
        options = self.server.jdbc_of_claims
        url = options.pop("url")
        parts = [f"claim_partition = {number}" for number in range(self.partitions)]
        frame = self.spark.read.jdbc(
            url, relation, predicates=parts, properties={**options, "fetchsize": "10000"}
        )
        return frame.drop("claim_partition")

    def table(self, name: str, **options: str) -> "DataFrame":
        """A table or view of the claim's database, to join with (``context.table("dbo.customers")``).

        ``options`` are those of Spark's JDBC source, such as ``partitionColumn``.
        """
        read = self.spark.read.format("jdbc").option("sessionInitStatement", UNHURRIED).options(**options)
        return read.options(**self.server.jdbc, dbtable=name).load()


Program = Callable[["DataFrame"], Outputs] | Callable[["DataFrame", Context], Outputs]


_NAMED = (Parameter.POSITIONAL_OR_KEYWORD, Parameter.KEYWORD_ONLY)
_PLACED = (Parameter.POSITIONAL_ONLY, Parameter.POSITIONAL_OR_KEYWORD)
# What stands beside the columns of a row that `each` was asked for.
_OF_EACH = ("conversation_handle", "queuing_order", "_error")
# What pyarrow raises for a value that is not of its column's type: its own errors are among these.
_NOT_OF_ITS_TYPE = (TypeError, ValueError, ArithmeticError)


def run_program(program: Program, messages: "DataFrame", context: Context) -> Outputs:
    """Call the program, with the context where it asks for one. Its columns read text as the server keeps it.

    It asks by a parameter ``context``, or by a second one without a default; one with a default is its own.

    Raises BulkError unless it returns Outputs, also where it calls sys.exit: the job would end in silence.
    """
    call = cast(Callable[..., object], program)
    try:
        behind = list(inspect.signature(call).parameters.values())[1:]
    except (TypeError, ValueError):
        behind = []
    by_name = any(one.name == "context" and one.kind in _NAMED for one in behind)
    asks = any(one.kind in _PLACED and one.default is Parameter.empty for one in behind[:1])
    try:
        with reading(context.server.nvarchar):
            if by_name:
                outputs = call(messages, context=context)
            else:
                outputs = call(messages, context) if asks else call(messages)
    except SystemExit as ended:
        raise BulkError(
            f"the program calls sys.exit({_status(ended)}), and returns no Outputs",
            "return Outputs() where nothing is to be written; raise an exception to give the messages back",
        ) from ended
    except asyncio.CancelledError as ended:
        # No Exception of Python's: py4j would answer Spark nothing, and a stream's query wait for ever.
        raise BulkError(
            "the program lets asyncio.CancelledError out, and returns no Outputs",
            "a task that it awaits was cancelled; catch that where it is awaited",
        ) from ended
    if not isinstance(outputs, Outputs):
        raise BulkError(f"the program returned {type(outputs).__name__}, not pgsb.bulk.Outputs")
    _require_frames(outputs)
    require_choice("failures", outputs.failures, get_args(Failures))
    require_choice("unread", outputs.unread, get_args(Unread))
    return outputs


def _require_frames(outputs: Outputs) -> None:
    """Raise BulkError where an output is something else than a DataFrame of Spark's."""
    from pyspark.sql import DataFrame

    if not isinstance(outputs.tables, Mapping):
        raise BulkError(
            f"Outputs(tables=…) is a {type(outputs.tables).__name__}",
            'write it as {"dbo.takings": frame}',
        )
    others = {"replies": outputs.replies, "errors": outputs.errors, "ends": outputs.ends}
    given: Mapping[str, object] = {**outputs.tables, **{k: v for k, v in others.items() if v is not None}}
    for name, frame in given.items():
        if not isinstance(frame, DataFrame):
            kind = f"{type(frame).__module__.partition('.')[0]}.{type(frame).__name__}"
            raise BulkError(
                f"the output {name} is a {kind.removeprefix('builtins.')}, not a DataFrame of Spark's",
                "context.spark.createDataFrame(…) makes one of rows, and of a DataFrame of pandas",
            )


def load_program(name: str, py_files: Sequence[str] = ()) -> Program:
    """The function that ``package.module:function`` names; its modules may be in ``py_files``.

    Those are files of modules, and zips. Raises BulkError.
    """
    require_files(py_files)
    for path in (Path(one) for one in py_files if "://" not in one):
        place = str((path if path.suffix in _PACKED else path.parent).absolute())
        if place not in sys.path:
            sys.path.append(place)
    module_name, colon, function_name = name.partition(":")
    if not colon or not module_name or not function_name:
        raise BulkError(f"{name!r} names no program", "write it as package.module:function")
    try:
        module = importlib.import_module(module_name)
    except ImportError as error:
        raise BulkError(
            f"the program's module {module_name} cannot be imported: {error}",
            f"that is a file's name: {Path(module_name).stem}:{function_name}, from its directory"
            " or with --py-files"
            if module_name.endswith(".py")
            else "is it on PYTHONPATH, and are its packages installed?",
        ) from error
    except SystemExit as ended:
        raise BulkError(
            f"the program's module {module_name} calls sys.exit({_status(ended)}) when it is imported",
            'what it does as a script belongs behind if __name__ == "__main__":',
        ) from ended
    except Exception as error:  # the module's own code: whatever it raises
        last = traceback.extract_tb(error.__traceback__)[-1]
        where = "" if isinstance(error, SyntaxError) else f" ({last.filename}, line {last.lineno})"
        raise BulkError(
            f"the program's module {module_name} cannot be imported: {type(error).__name__}: {error}{where}"
        ) from error
    program: object = getattr(module, function_name, None)
    if not callable(program):
        raise BulkError(f"{module_name} has no function {function_name}")
    return cast(Program, program)


def _status(ended: SystemExit) -> str:
    """What sys.exit was called with, as it is written there."""
    return "" if ended.code is None else repr(ended.code)


def each(
    messages: "DataFrame", function: Callable[[Mapping[str, Any]], Mapping[str, Any] | None], schema: str
) -> tuple["DataFrame", "DataFrame"]:
    """Apply a Python function to every message, in order within each conversation.

    ``function`` takes a message as a mapping of the queue's columns and returns a
    row of ``schema`` (a DDL string such as ``"total long, note string"``), as a mapping, or None
    for no row. The first DataFrame has those rows behind the message's
    conversation_handle and queuing_order; the second is fit for `Outputs.errors`:
    a message for which the function raised, or returned a value that is not of its column's type, with
    the exception's text. After it the rest of its conversation is not processed.
    """
    full = f"conversation_handle string, queuing_order long, {schema}, _error string"

    def apply(batches: Iterator[Any]) -> Iterator[Any]:
        failed: set[str] = set()
        for batch in batches:
            rows: list[dict[str, Any]] = []
            for message in batch.to_pylist():
                handle = message["conversation_handle"]
                if handle in failed:
                    continue
                place = {"conversation_handle": handle, "queuing_order": message["queuing_order"]}
                try:
                    returned = function(message)
                    row = None if returned is None else dict(returned)
                except (
                    Exception
                ) as error:  # the program's own code: whatever it raises is the message's error
                    failed.add(handle)
                    where = traceback.extract_tb(error.__traceback__)[-1]
                    text = f"{type(error).__name__}: {error} ({where.name}, line {where.lineno})"
                    rows.append(place | {"_error": text})
                    continue
                if row is not None:
                    rows.append(place | {name: row.get(name) for name in wanted} | {"_error": None})
            if rows:
                yield converted(rows, failed)

    def converted(rows: list[dict[str, Any]], failed: set[str]) -> Any:
        import pyarrow

        try:
            return pyarrow.RecordBatch.from_pylist(rows, schema=arrow_schema)
        except _NOT_OF_ITS_TYPE:
            pass
        # One by one, to find whose value it is; what follows it in its conversation is not processed.
        fit: list[dict[str, Any]] = []
        behind: set[str] = set()
        for row in (one for one in rows if one["conversation_handle"] not in behind):
            said = misfit(row)
            fit.append(row if said is None else {name: row[name] for name in _OF_EACH} | {"_error": said})
            if said is not None:
                behind.add(row["conversation_handle"])
        failed |= behind
        return pyarrow.RecordBatch.from_pylist(fit, schema=arrow_schema)

    def misfit(row: Mapping[str, Any]) -> str | None:
        import pyarrow

        for name in wanted:
            try:
                pyarrow.array([row.get(name)], arrow_schema.field(name).type)
            except _NOT_OF_ITS_TYPE as error:
                return f"{name}: {error}"
        return None

    from pyspark.sql.pandas.types import to_arrow_schema
    from pyspark.sql.types import StructType

    structure = StructType.fromDDL(full)
    arrow_schema = to_arrow_schema(structure)
    wanted = [name for name in structure.fieldNames() if name not in _OF_EACH]
    applied = messages.mapInArrow(apply, structure).persist()
    good = applied.where("_error IS NULL").drop("_error")
    bad = applied.where("_error IS NOT NULL").selectExpr(
        "conversation_handle", "queuing_order", "_error AS error"
    )
    return good, bad

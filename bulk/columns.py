"""Columns of message bodies: text, JSON and XML, ready for programs.

Each function makes a Spark column from ``message_body`` (or another binary
column). What cannot be read as it was asked for is NULL, never an error in the
middle of a job: a message whose column is NULL though its body is not goes to
`Outputs.errors`, which `by_type` arranges.

Bodies that the runtime stored as text are UTF-8, or UTF-16 in an instance that was
installed so: a job knows, other programs say it (`reading`). A byte order mark in
front (UTF-8, UTF-16) is obeyed.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from json import loads
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

import psycopg

from .connections import connect
from .problems import BulkError, first_line, hint_of
from .session import require_classic

if TYPE_CHECKING:
    from pyspark.sql import Column, DataFrame, SparkSession
    from pyspark.sql.types import StructType

BODY = "message_body"
_NVARCHAR: ContextVar[str] = ContextVar("nvarchar", default="utf8")
_CORRUPT = "_pgsb_unreadable"
# What the broker itself sends, which has no schema of the program's.
_SYSTEM = "http://schemas.microsoft.com/SQL/ServiceBroker/"
# The first half of a surrogate pair without the second, or the other way round: (high) byte, (low) byte.
_LONE_SURROGATE = {
    "LE": r"(?s)^(?:..)*?(?:.[\xD8-\xDB](?!.[\xDC-\xDF])|(?<![\xD8-\xDB]).[\xDC-\xDF])",
    "BE": r"(?s)^(?:..)*?(?:[\xD8-\xDB].(?![\xDC-\xDF].)|(?<![\xD8-\xDB].)[\xDC-\xDF].)",
}
_UTF16_STARTS = frozenset((b"\xff\xfe", *(f"{letter}\0".encode() for letter in "< \t\r\n")))
_SINGLETON = re.compile(r"\((.*)\)\s*\[1\]", re.DOTALL)
_ATTRIBUTE = re.compile(r"@[\w.:-]+")


@contextmanager
def reading(nvarchar: str) -> Iterator[None]:
    """Columns that are made inside read text without a mark so: ``utf8``, the default, or ``utf16``.

    ``SELECT ssb.nvarchar_encoding()`` tells it. In a program of a job it is what the instance has.
    """
    before = _NVARCHAR.set(nvarchar)
    try:
        yield
    finally:
        _NVARCHAR.reset(before)


def text(body: "str | Column" = BODY) -> "Column":
    """The body as a string, by its mark or as the instance keeps text. NULL for bytes that are none."""
    from pyspark.sql import functions as f

    raw = _column(body)
    mark = f.hex(f.substring(raw, 1, 2))
    rest = f.substring(raw, 3, 2147483647)

    def utf16(end: str, units: "Column") -> "Column":
        # decode fails the task where a surrogate has no other half. One character a byte for looking.
        is_broken = f.decode(units, "ISO-8859-1").rlike(_LONE_SURROGATE[end])
        return f.when((f.length(raw) % 2 == 0) & ~is_broken, f.decode(units, f"UTF-16{end}"))

    has_mark = f.hex(f.substring(raw, 1, 3)) == "EFBBBF"
    plain = f.when(has_mark, f.substring(raw, 4, 2147483647)).otherwise(raw)
    marked = f.when(mark == "FFFE", utf16("LE", rest)).when(mark == "FEFF", utf16("BE", rest))
    if _NVARCHAR.get() == "utf16":
        marked = marked.when(~has_mark, utf16("LE", raw))
    return marked.when(f.is_valid_utf8(plain.cast("string")), plain.cast("string")).alias("text")


def make_text(kind: str) -> str:
    """What a person does with a column of a type (Spark's word for it) that is to be a text."""
    # Cast to a string a struct is no JSON.
    is_nested = kind.startswith(("struct", "map", "array", "variant"))
    return f"make it that in the program: {'f.to_json(…)' if is_nested else 'f.col(…).cast(…)'}"


def body_of(frame: "DataFrame", nvarchar: Callable[[], str]) -> str:
    """The frame's ``message_body`` in bytes, as an expression of Spark's: text as the instance keeps it.

    Which way that is, is asked where there is text. Raises BulkError where it is neither text nor bytes.
    """
    kind = {name.lower(): kind for name, kind in frame.dtypes}[BODY]
    # Without ANSI mode Spark would make four or eight bytes of a number, which nobody means.
    if not kind.startswith(("string", "binary", "void", "char", "varchar")):
        raise BulkError(f"the column {BODY!r} is {kind}, not string or binary", make_text(kind))
    if kind != "binary" and nvarchar() == "utf16":
        return f"encode({BODY}, 'UTF-16LE')"
    return f"CAST({BODY} AS BINARY)"


def json(schema: "str | StructType", body: "str | Column" = BODY) -> "Column":
    """A JSON body as a struct of ``schema`` (a DDL string such as ``"amount decimal(10,2), day date"``).

    Members that are absent are NULL; the struct is NULL where the body is no JSON
    object or a member is of another type.
    """
    from pyspark.sql import functions as f

    options = {"columnNameOfCorruptRecord": _CORRUPT}
    return _readable(f.from_json(text(body), _with_corrupt(schema), options)).alias("json")


def json_value(path: str, kind: str = "string", body: "str | Column" = BODY) -> "Column":
    """One value of a JSON body by its path (``"$.order.id"``), as a Spark type; NULL when absent or other."""
    from pyspark.sql import functions as f

    return f.get_json_object(text(body), path).try_cast(kind).alias("value")


def xml(schema: "str | StructType", body: "str | Column" = BODY) -> "Column":
    """An XML body as a struct of ``schema``: the members of its root element, whatever that is called.

    Spark's rules: an attribute is a member with ``_`` before its name, a repeated
    element an array, the text beside attributes ``_VALUE``; prefixes do not count.
    The struct is NULL where the body is not well-formed or a member is of another type.
    """
    from pyspark.sql import functions as f

    options = {"columnNameOfCorruptRecord": _CORRUPT, "ignoreNamespace": "true"}
    return _readable(f.from_xml(text(body), _with_corrupt(schema), options)).alias("xml")


def xml_value(
    path: str,
    kind: str = "string",
    body: "str | Column" = BODY,
    *,
    namespaces: Mapping[str, str] | None = None,
) -> "Column":
    """One value of an XML body by its path; see `xml_row`, which reads several at the price of one."""
    return xml_row({"value": (path, kind)}, body, namespaces=namespaces).getField("value").alias("value")


def xml_row(
    fields: Mapping[str, tuple[str, str]],
    body: "str | Column" = BODY,
    *,
    namespaces: Mapping[str, str] | None = None,
) -> "Column":
    """A struct of values of an XML body: name → (path, Spark type).

    A path is what Python's ElementTree understands, from the document
    (``/Order/Item``, ``//Item[@kind='a']``) or from its root element (``Item/Price``);
    it may end in ``/@name`` or ``/text()``, and T-SQL's ``(…)[1]`` around it is
    ignored: the first match counts. All matches make an ``array<…>`` type.
    ``namespaces`` are prefix → URI; the prefix ``""`` is for names without one.

    A value is NULL when it is absent or no such type; the struct is NULL where the
    body is not well-formed or has a DOCTYPE. Documents of several roots are read.
    """
    from pyspark.sql import functions as f
    from pyspark.sql.types import ArrayType, StringType, StructField, StructType

    paths = {name: _Path(path, dict(namespaces or {})) for name, (path, _) in fields.items()}

    def values(document: bytes | None) -> dict[str, list[str]] | None:
        top = None if document is None else parse_xml(bytes(document))
        return None if top is None else {name: path.values(top) for name, path in paths.items()}

    raw = StructType([StructField(name, ArrayType(StringType())) for name in fields])
    found = f.udf(values, raw, useArrow=True)(_column(body))
    members = []
    for name, (_, kind) in fields.items():
        all_values = found.getField(name)
        one = all_values if kind.strip().lower().startswith("array") else f.get(all_values, f.lit(0))
        members.append(one.try_cast(kind).alias(name))
    return f.when(found.isNotNull(), f.struct(*members)).alias("xml")


def by_type(
    messages: "DataFrame", bodies: "Mapping[str, Column]"
) -> "tuple[dict[str, DataFrame], DataFrame]":
    """Read each message type by the schema that is declared for it.

    ``bodies`` maps a message type's name to a column of this module. The first
    result has a DataFrame for each of them: the queue's columns with ``body`` in the
    place of ``message_body``. The second is fit for `Outputs.errors`: messages whose
    body cannot be read so, and messages of a type that is not declared and not one
    of the broker's own (EndDialog, Error, DialogTimer). What follows such a message
    in its conversation is in neither: it must not overtake it.
    """
    from pyspark.sql import functions as f

    names = list(bodies)
    kind, raw = f.col("message_type_name"), f.col(BODY)
    columns = [f.when(kind == name, bodies[name]).alias(f"_body_{n}") for n, name in enumerate(names)]
    is_system = kind.startswith(_SYSTEM)
    reason = f.when(
        ~kind.isin(names) & ~is_system, f.concat(f.lit("no schema is declared for message type "), kind)
    )
    others = [name for name in messages.columns if name != BODY]
    read = messages.select(*others, *columns, reason.alias("_reason"), raw.isNotNull().alias("_has_body"))
    for n, name in enumerate(names):
        is_unreadable = (kind == name) & f.col("_has_body") & f.col(f"_body_{n}").isNull()
        said = f.lit(f"the body does not fit the schema of message type {name}")
        read = read.withColumn("_reason", f.when(is_unreadable, said).otherwise(f.col("_reason")))
    read = read.persist()
    failed = read.where("_reason IS NOT NULL")
    first = failed.groupBy("conversation_handle").agg(f.min("queuing_order").alias("_first_failed"))
    good = read.join(f.broadcast(first), "conversation_handle", "left").where(
        "_first_failed IS NULL OR queuing_order < _first_failed"
    )
    frames = {
        name: good.where(kind == name).select(*others, f.col(f"_body_{n}").alias("body"))
        for n, name in enumerate(names)
    }
    return frames, failed.selectExpr("conversation_handle", "queuing_order", "_reason AS error")


def declared_schema(spark: "SparkSession", dsn: str, queue: str, message_type: str) -> "StructType":
    """The schema for `xml` that a message type of the queue's database declares.

    It is that of VALIDATION = VALID_XML WITH SCHEMA COLLECTION, as Spark reads it.

    Raises BulkError for a type without one, or with several root elements.
    """
    from pyspark.sql.types import StructType

    require_classic(spark)
    try:
        with connect(dsn, "pgsb spark") as connection:
            row = connection.execute(
                "SELECT ssb_internal.message_type_schema(%s, %s)", (queue, message_type)
            ).fetchone()
    except psycopg.Error as error:
        raise BulkError(f"the schema cannot be read: {first_line(error)}", hint_of(error)) from error
    if row is None or row[0] is None:
        raise BulkError(
            f"the message type {message_type!r} declares no schema",
            "CREATE MESSAGE TYPE … VALIDATION = VALID_XML WITH SCHEMA COLLECTION …",
        )
    reader: Any = spark._jvm
    for part in "org.apache.spark.sql.execution.datasources.xml.XSDToSchema".split("."):
        reader = getattr(reader, part)
    try:
        made = reader.read(row[0]).json()
    except Exception as error:  # whatever the JVM says about the schema document
        raise BulkError(f"Spark cannot read the schema of {message_type!r}: {error}") from error
    roots = StructType.fromJson(loads(made))
    if len(roots) != 1 or not isinstance(roots[0].dataType, StructType):
        raise BulkError(
            f"the schema of {message_type!r} has {len(roots)} root elements, not one with members"
        )
    return roots[0].dataType


def parse_xml(document: bytes) -> ElementTree.Element | None:
    """A nameless element that holds the document's roots; None when it is not well-formed."""
    top = ElementTree.Element("")
    try:
        written = _characters(document)
        top.append(_parsed(written))
        return top
    except (ElementTree.ParseError, ValueError, LookupError):
        pass
    # Several roots, or text beside them, are legal in a body; a declaration is then not.
    try:
        written = _characters(document)
        return _parsed(f"<_>{written}</_>" if isinstance(written, str) else b"<_>" + written + b"</_>")
    except (ElementTree.ParseError, ValueError, LookupError):
        return None


def _characters(document: bytes) -> str | bytes:
    """UTF-16, by its mark or a first letter of two bytes, as text: for that a declaration does not count.

    Other bytes as they are. Raises UnicodeDecodeError, a ValueError.
    """
    if document[:2] in _UTF16_STARTS:
        return document.decode("utf-16-le").removeprefix("\ufeff")
    return document


class _NoDoctype(ElementTree.TreeBuilder):
    """Documents that declare entities are refused: a short one can expand to gigabytes."""

    def doctype(self, name: str, pubid: str, system: str) -> None:
        raise ValueError("DOCTYPE is not allowed")


def _parsed(document: str | bytes) -> ElementTree.Element:
    return ElementTree.fromstring(document, parser=ElementTree.XMLParser(target=_NoDoctype()))


class _Path:
    """A path, split into what ElementTree finds and what is taken of it."""

    def __init__(self, path: str, namespaces: dict[str, str]) -> None:
        inner = _SINGLETON.fullmatch(path.strip())
        steps = (inner[1] if inner else path).strip()
        self._attribute: str | None = None
        self._is_text = False
        self._namespaces = namespaces
        head, _, last = steps.rpartition("/")
        if _ATTRIBUTE.fullmatch(last):  # and not the end of a predicate's string
            self._attribute = self._qualified(last[1:])
            steps = head or ("/" if steps.startswith("/") else ".")
        elif last == "text()":
            self._is_text = True
            steps = head or "."
        self._from_document = steps.startswith("/")
        self._steps = f".{steps}" if self._from_document else steps
        # Said now and not by an executor: a path that ElementTree does not know.
        try:
            ElementTree.Element("").findall(self._steps, namespaces)
        except (SyntaxError, KeyError, TypeError) as error:
            raise BulkError(
                f"{path!r} is no path: {error}", "see Python's xml.etree, XPath support"
            ) from error

    def _qualified(self, name: str) -> str:
        prefix, colon, local = name.partition(":")
        if not colon:
            return name
        if prefix not in self._namespaces:
            raise BulkError(f"the namespace prefix {prefix!r} is not among namespaces")
        return f"{{{self._namespaces[prefix]}}}{local}"

    def values(self, top: ElementTree.Element) -> list[str]:
        starts = [top] if self._from_document else list(top)
        found = [one for start in starts for one in start.findall(self._steps, self._namespaces)]
        if self._attribute is not None:
            return [one.attrib[self._attribute] for one in found if self._attribute in one.attrib]
        if self._is_text:
            return [one.text for one in found if one.text]
        return ["".join(one.itertext()) for one in found]


def _column(body: "str | Column") -> "Column":
    from pyspark.sql import functions as f

    return f.col(body) if isinstance(body, str) else body


def _with_corrupt(schema: "str | StructType") -> "StructType":
    from pyspark.sql.types import StringType, StructField, StructType

    structure = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    return StructType([*structure.fields, StructField(_CORRUPT, StringType())])


def _readable(struct: "Column") -> "Column":
    """The struct without its mark, NULL where the mark is set."""
    from pyspark.sql import functions as f

    return f.when(struct.getField(_CORRUPT).isNull(), struct.dropFields(_CORRUPT))

"""T-SQL's built-in functions → PostgreSQL's own or those of schema ``sys``.

One table: name, arity, kinds of the parameters, result type, and where PostgreSQL's own
function means the same, how to write that.  The contract with the runtime stands in
runtime_sql/functions/README.md.

Kinds of parameter: ``a`` any type, ``t`` text, ``i`` integer, ``b`` bigint, ``f`` float, ``n`` any number,
``d`` a date or time, ``x`` binary or text, ``y`` binary, ``u`` a uniqueidentifier.  ``?`` marks the first
one that may be left out, ``*`` repeats the last one.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import field

from ....grammar.problems import did_you_mean
from ....grammar.records import dataclass, replace
from ...catalog import types as tm
from ...catalog.names import AGGREGATES
from ...catalog.types import SqlType
from ...target import nodes as n
from .. import operand_types
from .. import values as v
from ..constant_texts import is_iso_date
from ..conversions import as_text, convert
from ..values import Value
from . import bits
from . import builders as b
from .builders import Builder
from .builders import Surroundings as Surroundings
from .builders import Wrong as Wrong

DATE_PARTS: dict[str, str] = {
    short: full
    for full, shorts in {
        "year": "year yy yyyy",
        "quarter": "quarter qq q",
        "month": "month mm m",
        "dayofyear": "dayofyear dy y",
        "day": "day dd d",
        "week": "week wk ww",
        "weekday": "weekday dw w",
        "hour": "hour hh",
        "minute": "minute mi n",
        "second": "second ss s",
        "millisecond": "millisecond ms",
        "microsecond": "microsecond mcs",
        "nanosecond": "nanosecond ns",
        "tzoffset": "tzoffset tz",
        "iso_week": "iso_week isowk isoww",
    }.items()
    for short in shorts.split()
}

DATE_PART_FUNCTIONS = frozenset(
    {"DATEADD", "DATEDIFF", "DATEDIFF_BIG", "DATEPART", "DATENAME", "DATETRUNC", "DATE_BUCKET"}
)

WINDOW_FUNCTIONS = frozenset(
    "ROW_NUMBER RANK DENSE_RANK NTILE PERCENT_RANK CUME_DIST LAG LEAD FIRST_VALUE LAST_VALUE".split()
)
"""Functions that only OVER gives a meaning."""

_CRYPTOGRAPHIC = """
ENCRYPTBYKEY DECRYPTBYKEY ENCRYPTBYPASSPHRASE DECRYPTBYPASSPHRASE ENCRYPTBYASYMKEY DECRYPTBYASYMKEY
ENCRYPTBYCERT DECRYPTBYCERT DECRYPTBYKEYAUTOCERT DECRYPTBYKEYAUTOASYMKEY SIGNBYCERT VERIFYSIGNEDBYCERT
SIGNBYASYMKEY VERIFYSIGNEDBYASYMKEY KEY_ID KEY_GUID KEY_NAME SYMKEYPROPERTY ASYMKEY_ID ASYMKEYPROPERTY
IS_OBJECTSIGNED PWDENCRYPT PWDCOMPARE
"""
_OF_2025 = """
REGEXP_LIKE REGEXP_REPLACE REGEXP_SUBSTR REGEXP_COUNT REGEXP_INSTR REGEXP_MATCHES REGEXP_SPLIT_TO_TABLE
EDIT_DISTANCE EDIT_DISTANCE_SIMILARITY JARO_WINKLER_DISTANCE JARO_WINKLER_SIMILARITY UNISTR BASE64_ENCODE
BASE64_DECODE PRODUCT JSON_CONTAINS VECTOR_DISTANCE VECTOR_NORM VECTOR_NORMALIZE VECTORPROPERTY VECTOR_SEARCH
AI_GENERATE_EMBEDDINGS AI_GENERATE_CHUNKS
"""
_ELSEWHERE = """
ASSEMBLYPROPERTY FULLTEXTCATALOGPROPERTY GET_FILESTREAM_TRANSACTION_CONTEXT GETFILENAMESPACEPATH
FILETABLEROOTPATH GETPATHLOCATOR PUBLISHINGSERVERNAME NODE_ID_FROM_PARTS EDGE_ID_FROM_PARTS
GRAPH_ID_FROM_NODE_ID GRAPH_ID_FROM_EDGE_ID OBJECT_ID_FROM_NODE_ID OBJECT_ID_FROM_EDGE_ID TERTIARY_WEIGHTS
CHANGE_TRACKING_CURRENT_VERSION CHANGE_TRACKING_MIN_VALID_VERSION CHANGE_TRACKING_IS_COLUMN_IN_MASK
FN_CDC_GET_MAX_LSN FN_CDC_GET_MIN_LSN FN_CDC_MAP_TIME_TO_LSN FN_CDC_MAP_LSN_TO_TIME PREDICT SHORTEST_PATH
"""
REFUSED: dict[str, str] = {
    "COMPRESS": "GZIP is not in a plain PostgreSQL server",
    "DECOMPRESS": "GZIP is not in a plain PostgreSQL server",
    "OPENROWSET": "reading other data sources is not supported",
    "OPENQUERY": "linked servers are not supported",
    "OPENDATASOURCE": "linked servers are not supported",
    "CONTAINS": "full-text search is not supported",
    "FREETEXT": "full-text search is not supported",
    "CONTAINSTABLE": "full-text search is not supported",
    "FREETEXTTABLE": "full-text search is not supported",
    **dict.fromkeys(
        "SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYTABLE SEMANTICSIMILARITYDETAILSTABLE".split(),
        "full-text search is not supported",
    ),
    "CHANGETABLE": "change tracking is not supported",
    "UPDATE": "UPDATE(column) has a meaning in triggers only",
    **dict.fromkeys(_CRYPTOGRAPHIC.split(), "SQL Server's keys and signatures do not exist here"),
    **dict.fromkeys(_OF_2025.split(), "it came with SQL Server 2025"),
    **dict.fromkeys(_ELSEWHERE.split(), "what it asks for does not exist here"),
    "MIN_ACTIVE_ROWVERSION": "open transactions' row versions are not known",
    "FN_DBLOG": "SQL Server's transaction log does not exist here",
    "PERMISSIONS": "use has_perms_by_name",
    "TEXTPTR": "text pointers do not exist here",
    "TEXTVALID": "text pointers do not exist here",
    "XACT_STATE": "a function, view or constraint does not know its caller's transaction",
    **dict.fromkeys(
        "ERROR_NUMBER ERROR_MESSAGE ERROR_SEVERITY ERROR_STATE ERROR_LINE ERROR_PROCEDURE".split(),
        "a function, view or constraint does not know its caller's error; pass it as a parameter",
    ),
    "CURSOR_STATUS": "cursor states are not kept; test @@FETCH_STATUS",
}


ResultType = SqlType | None | Callable[[list[Value]], SqlType | None]


@dataclass(frozen=True)
class Function:
    """How one T-SQL function is written."""

    kinds: str
    result: ResultType
    target: str | None = None
    build: Builder | None = None
    nullable: bool = True
    with_database: int | None = None
    """The position (from 0) at which the current database is passed when it is not the default one."""
    minimum: int = field(init=False)
    maximum: int | None = field(init=False)
    parameters: str = field(init=False)

    def __post_init__(self) -> None:
        """Work out the arity from ``kinds``."""
        required = self.kinds.partition("?")[0].rstrip("*")
        plain = self.kinds.replace("?", "").replace("*", "")
        object.__setattr__(self, "minimum", len(required))
        object.__setattr__(self, "maximum", None if self.kinds.endswith("*") else len(plain))
        object.__setattr__(self, "parameters", plain)

    def kind(self, position: int) -> str:
        """The kind of the parameter at ``position``."""
        return self.parameters[min(position, len(self.parameters) - 1)] if self.parameters else "a"


_WANTED = {"y": SqlType("varbinary", length=8000), "u": tm.UNIQUEIDENTIFIER}
"""Kinds to which an argument is converted as an assignment would: 257 and 206 where none does."""


def _prepare(kind: str, value: Value) -> Value:
    """An argument in the type that the runtime function declares."""
    if kind in _WANTED:
        return convert(value, _WANTED[kind]) if value.type is not None else value
    if kind == "d" and value.family == "binary":
        return convert(value, tm.DATETIME)
    if kind == "t":
        return as_text(value) if value.type is not None and not value.is_string else value
    if kind == "i":
        if value.type is not None and value.type.name not in ("int", "smallint", "tinyint", "bit"):
            return convert(value, tm.INT)
        return v.cast(value, "integer", tm.INT) if value.pg in ("bigint", "numeric") else value
    if kind == "b":
        if value.type is not None and value.type.family not in ("integer", "bit"):
            return convert(value, tm.BIGINT)
        return value
    if kind == "f":
        if value.type is not None and value.type.family != "float":
            return convert(value, tm.FLOAT)
        return v.cast(value, "double precision", tm.FLOAT) if value.type is None else value
    if kind == "n":
        return convert(value, tm.FLOAT) if value.is_string or value.family == "variant" else value
    if kind == "d" and isinstance(value.constant, str) and is_iso_date(value.constant):
        return Value(n.Typed("timestamp", value.code), tm.DATETIME, nullable=False)
    if (
        kind == "x"
        and value.type is not None
        and (value.type.is_unicode or value.type.family not in ("string", "binary"))
    ):
        return convert(value, tm.VARBINARY_MAX)
    if kind == "x":
        return v.kept_blanks(value)
    if kind == "a" and value.pg is not None and value.type is not None and value.type.name == "int":
        return v.cast(value, "integer", tm.INT)
    return value


_OF_TEXT = frozenset(
    """
    CHARINDEX LEFT LEN LOWER LTRIM PATINDEX REPLACE REPLICATE REVERSE RIGHT RTRIM STUFF UNICODE UPPER
    """.split()
)


_SHOWN_BY_TYPE = ("time", "datetime2", "datetimeoffset", "money", "smallmoney")


def _shown(value: Value) -> Value:
    """The text of a value whose type says how many decimals are shown."""
    if value.type is None or value.type.name not in _SHOWN_BY_TYPE:
        return value
    return convert(value, tm.varchar(40))


def translate(name: str, arguments: list[Value], surroundings: Surroundings) -> Value | None:
    """Write the call of built-in ``name`` (any case); None when there is no such built-in.

    Raises Wrong for a wrong number of arguments and for a function that is refused.
    """
    upper = name.upper()
    function = FUNCTIONS.get(upper)
    if function is None:
        if upper in REFUSED:
            raise Wrong(f"{upper} is not supported: {REFUSED[upper]}")
        return None
    count = len(arguments)
    if count < function.minimum or (function.maximum is not None and count > function.maximum):
        raise wrong_arity(name, function.minimum, function.maximum)
    _check_types(upper, arguments)
    if upper in _BYTE_BY_BYTE and (arguments[0].family == "binary" or arguments[0].raw is not None):
        return _of_bytes(upper, arguments, surroundings)
    prepared = [_prepare(function.kind(i), argument) for i, argument in enumerate(arguments)]
    if upper in _OF_TEXT:
        prepared = [_shown(argument) for argument in prepared]
    if upper == "CHARINDEX" and arguments[0].family == arguments[1].family == "binary":
        # Text cannot hold every byte that is looked for.
        prepared[0] = convert(arguments[0], tm.VARBINARY_MAX)
    if upper in _READ_THE_CLOCK:
        prepared = [v.at_clock(argument) for argument in prepared]
    if function.build is not None:
        value = function.build(prepared, surroundings)
    else:
        codes: list[n.Node] = [argument.code for argument in prepared]
        if function.with_database is not None and surroundings.database and count <= function.with_database:
            codes += [n.NULL] * (function.with_database - count)
            codes.append(n.Text(surroundings.database))
        value = v.call(function.target or f"sys.{upper.lower()}", *codes, nullable=function.nullable)
    if value.type is None and function.result is not None:
        result = function.result(arguments) if callable(function.result) else function.result
        value = replace(value, type=result)
    if upper == "DATEADD" and prepared[2].clock is not None:
        moved = translate(name, [*prepared[:2], v.at_clock(prepared[2])], surroundings)
        value = replace(value, clock=moved.code if moved is not None else None)
    return value


_SCALED = {
    "DATETIME2FROMPARTS": "datetime2",
    "DATETIMEOFFSETFROMPARTS": "datetimeoffset",
    "TIMEFROMPARTS": "time",
}
"""What the last argument of these is the precision of."""

_BYTE_BY_BYTE = frozenset({"LEFT", "RIGHT", "REVERSE", "STUFF", "REPLICATE", "REPLACE"})
"""Functions of strings with which scripts take bytes apart, between a varbinary and the CAST back to one."""


def _of_bytes(upper: str, arguments: list[Value], surroundings: Surroundings) -> Value:
    """One of _BYTE_BY_BYTE of a binary: text, as in T-SQL, that knows its bytes, which need not be text."""
    texts = [
        as_text(argument) if argument.family == "binary" else replace(argument, raw=None)
        for argument in arguments
    ]
    text = translate(upper, texts, surroundings)
    kinds = [FUNCTIONS[upper].kind(i) for i in range(len(arguments))]
    bytes_ = [
        convert(argument, tm.VARBINARY_MAX) if kind in "at" else _prepare(kind, argument)
        for kind, argument in zip(kinds, arguments, strict=True)
    ]
    raw = n.Call(f"sys.{upper.lower()}", tuple(argument.code for argument in bytes_))
    return replace(text or v.INVALID, raw=raw)


def _check_types(upper: str, arguments: list[Value]) -> None:
    """Raise Wrong for arguments whose types alone SQL Server refuses."""
    error = None
    if upper in AGGREGATES:
        error = operand_types.aggregate_error(upper, arguments[0])
    elif upper in ("DATEADD", "DATEPART", "DATENAME", "DATETRUNC"):
        part = str(arguments[0].constant)
        error = operand_types.date_part_error(upper, part, arguments[-1])
    elif upper in ("YEAR", "MONTH", "DAY"):
        error = operand_types.date_part_error("DATEPART", upper.lower(), arguments[0])
    elif upper in _SCALED and (arguments[-1].is_null or isinstance(arguments[-1].code, n.Variable)):
        error = (
            10760,
            f"Scale argument is not valid. Valid expressions for data type {_SCALED[upper]} scale argument "
            "are integer constants and integer constant expressions.",
        )
    error = error or operand_types.argument_error(upper, arguments)
    for place, argument in enumerate(arguments):
        wanted = _WANTED.get(FUNCTIONS[upper].kind(place))
        if error is None and wanted is not None:
            error = operand_types.implicit_error(argument, wanted)
    if error is not None:
        raise Wrong(error[1], error[0])


def is_of_one_row(upper: str) -> bool:
    """Whether it is a built-in function that OVER gives no meaning."""
    return upper in FUNCTIONS and upper not in AGGREGATES and upper not in WINDOW_FUNCTIONS


def with_clock(name: str, arguments: list[Value]) -> Value:
    """AT TIME ZONE, SWITCHOFFSET, TODATETIMEOFFSET: the moment, and the wall clock that T-SQL shows of it."""
    codes = [argument.code for argument in arguments]
    result = v.call(name, *codes, type=replace(tm.DATETIMEOFFSET, scale=v.scale_of(arguments[0])))
    return replace(result, clock=n.Call(f"{name}_clock", tuple(codes)))


def _moved(name: str) -> Builder:
    """SWITCHOFFSET and TODATETIMEOFFSET, which take a time as one of 1900-01-01, and minutes or +hh:mm."""

    def build(arguments: list[Value], surroundings: Surroundings) -> Value:
        moment, offset = arguments
        if moment.family == "time":
            moment = convert(moment, tm.DATETIME2)
        elif moment.family == "datetimeoffset" and name == "sys.todatetimeoffset":
            moment = v.at_clock(moment)
            moment = convert(moment, tm.DATETIME2) if moment.family == "datetimeoffset" else moment
        return with_clock(name, [moment, offset if offset.is_string else _prepare("i", offset)])

    return build


_READ_THE_CLOCK = frozenset({"DATEPART", "DATENAME", "YEAR", "MONTH", "DAY", "EOMONTH", "FORMAT"})
"""Functions that take a datetimeoffset as its wall clock; DATEDIFF counts from moment to moment."""


def wrong_arity(name: str, minimum: int, maximum: int | None) -> Wrong:
    """Error 174 or 189: a call with more or fewer arguments than these."""
    begin = f"The {name.lower()} function requires {minimum}"
    if maximum == minimum:
        return Wrong(f"{begin} argument(s).", 174)
    return Wrong(f"{begin} to {maximum or 254} arguments.", 189)


_ELSEWHERE_CALLED = {
    "CHAR_LENGTH": "LEN",
    "GEN_RANDOM_UUID": "NEWID",
    "IFNULL": "ISNULL",
    "LENGTH": "LEN",
    "NOW": "GETDATE",
    "NVL": "ISNULL",
    "UUID": "NEWID",
}
"""Functions that other databases have, and what they are called here."""


def meant_by(name: str) -> str | None:
    """Return the hint that names the built-in function that is most likely meant by a name that none has."""
    known = _ELSEWHERE_CALLED.get(name.upper())
    return did_you_mean(name, FUNCTIONS) if known is None else f"did you mean '{known}'?"


_NULLARY_TEXT = tm.nvarchar(128)

FUNCTIONS: dict[str, Function] = {
    # NULL and choice
    "ISNULL": Function("aa", None, build=b.isnull),
    "COALESCE": Function("aa*", None, build=b.coalesce),
    "NULLIF": Function("aa", None, build=b.nullif),
    "CHOOSE": Function("ia*", None, build=b.choose),
    "GREATEST": Function("a*", None, build=b.greatest("GREATEST")),
    "LEAST": Function("a*", None, build=b.greatest("LEAST")),
    # strings
    "ASCII": Function("a", tm.INT),
    "CHAR": Function("i", tm.varchar(1)),
    "NCHAR": Function("i", tm.nvarchar(1)),
    "CHARINDEX": Function("ta?i", tm.INT),
    "CONCAT": Function("a*", None, build=b.concat("concat")),
    "CONCAT_WS": Function("taa*", None, build=b.concat("concat_ws")),
    "DATALENGTH": Function("a", tm.INT, build=b.datalength),
    "DIFFERENCE": Function("tt", tm.INT),
    "SOUNDEX": Function("t", tm.varchar(4)),
    "FORMAT": Function("at?t", tm.NVARCHAR_MAX),
    "FORMATMESSAGE": Function("a?a*", None, build=b.formatmessage),
    "LEFT": Function("ai", b.same_text, build=b.left_or_right("left")),
    "RIGHT": Function("ai", b.same_text, build=b.left_or_right("right")),
    "LEN": Function("a", tm.INT),
    "LOWER": Function("a", b.same_text, build=b.native("lower", when=b.is_text, otherwise="sys.lower")),
    "UPPER": Function("a", b.same_text, build=b.native("upper", when=b.is_text, otherwise="sys.upper")),
    "LTRIM": Function("a?t", b.same_text, build=b.trim_set("ltrim")),
    "RTRIM": Function("a?t", b.same_text, build=b.trim_set("rtrim")),
    "PARSENAME": Function("ti", tm.SYSNAME),
    "PATINDEX": Function("ta", tm.INT),
    "QUOTENAME": Function("t?t", tm.nvarchar(258)),
    "REPLACE": Function("att", b.text_of_first),
    "REPLICATE": Function("ai", None, build=b.replicate),
    "REVERSE": Function("a", b.same_text, build=b.native("reverse", when=b.is_text, otherwise="sys.reverse")),
    "SPACE": Function("i", tm.VARCHAR_MAX),
    "STR": Function("f?ii", tm.varchar(8000)),
    "STRING_ESCAPE": Function("tt", tm.NVARCHAR_MAX),
    "STUFF": Function("aiit", b.text_of_first),
    "SUBSTRING": Function("abb", None, build=b.substring),
    "TRANSLATE": Function("ttt", b.text_of_first),
    "UNICODE": Function("a", tm.INT),
    "CHECKSUM": Function("a*", None, build=b.variadic_text("sys.checksum")),
    "BINARY_CHECKSUM": Function("a*", None, build=b.variadic_text("sys.binary_checksum")),
    "HASHBYTES": Function("tx", tm.SqlType("varbinary", length=8000)),
    # numbers
    "ABS": Function("n", None, build=b.abs_),
    "SIGN": Function("n", b.numeric_first),
    "CEILING": Function("n", None, build=b.ceiling("ceiling", "ceil")),
    "FLOOR": Function("n", None, build=b.ceiling("floor", "floor")),
    "ROUND": Function("ni?i", None, build=b.round_),
    "POWER": Function("nf", b.numeric_first),
    "SQRT": Function("f", tm.FLOAT),
    "SQUARE": Function("f", tm.FLOAT),
    "EXP": Function("f", tm.FLOAT),
    "LOG": Function("f?f", None, build=b.log),
    "LOG10": Function("f", tm.FLOAT),
    "PI": Function("", None, build=b.trigonometric("pi")),
    **{
        name.upper(): Function("f", None, build=b.trigonometric(name))
        for name in ("sin", "cos", "tan", "cot", "asin", "acos", "atan")
    },
    "DEGREES": Function("a", None, build=b.angle("degrees")),
    "RADIANS": Function("a", None, build=b.angle("radians")),
    "ATN2": Function("ff", None, build=b.trigonometric("atan2")),
    "RAND": Function("?i", tm.FLOAT, nullable=False),
    "ISNUMERIC": Function("a", tm.INT, nullable=False),
    # bits
    "LEFT_SHIFT": Function("ab", None, build=bits.shift("left_shift")),
    "RIGHT_SHIFT": Function("ab", None, build=bits.shift("right_shift")),
    "BIT_COUNT": Function("a", None, build=bits.bit_count),
    "GET_BIT": Function("ab", None, build=bits.get_bit),
    "SET_BIT": Function("ab?b", None, build=bits.set_bit),
    # aggregates
    "COUNT": Function("a", None, build=b.count),
    "COUNT_BIG": Function("a", None, build=b.count_big),
    "APPROX_COUNT_DISTINCT": Function(
        "a", None, build=lambda a, s: v.call("count", n.Distinct(a[0].code), type=tm.BIGINT)
    ),
    "SUM": Function("a", None, build=b.sum_),
    "AVG": Function("a", None, build=b.avg),
    "MIN": Function("a", b.first, build=b.native("min", when=b.is_not_raw, otherwise="sys.min")),
    "MAX": Function("a", b.first, build=b.native("max", when=b.is_not_raw, otherwise="sys.max")),
    "STDEV": Function("f", None, build=b.float_aggregate("stddev_samp")),
    "STDEVP": Function("f", None, build=b.float_aggregate("stddev_pop")),
    "VAR": Function("f", None, build=b.float_aggregate("var_samp")),
    "VARP": Function("f", None, build=b.float_aggregate("var_pop")),
    "APPROX_PERCENTILE_CONT": Function("f", tm.FLOAT, build=b.native("percentile_cont")),
    "APPROX_PERCENTILE_DISC": Function("f", None, build=b.native("percentile_disc")),
    "STRING_AGG": Function("at", None, build=b.string_agg),
    "CHECKSUM_AGG": Function("i", tm.INT),
    "GROUPING": Function("a", tm.TINYINT, build=b.native("GROUPING")),
    "GROUPING_ID": Function("a*", tm.INT, build=b.native("GROUPING")),
    # windows
    "ROW_NUMBER": Function("", None, build=b.rank("row_number", tm.BIGINT)),
    "RANK": Function("", None, build=b.rank("rank", tm.BIGINT)),
    "DENSE_RANK": Function("", None, build=b.rank("dense_rank", tm.BIGINT)),
    "NTILE": Function("i", None, build=b.rank("ntile", tm.BIGINT)),
    "PERCENT_RANK": Function("", None, build=b.rank("percent_rank", tm.FLOAT)),
    "CUME_DIST": Function("", None, build=b.rank("cume_dist", tm.FLOAT)),
    "LAG": Function("a?ia", None, build=b.lag("lag")),
    "LEAD": Function("a?ia", None, build=b.lag("lead")),
    "FIRST_VALUE": Function("a", b.first, build=b.edge("first_value")),
    "LAST_VALUE": Function("a", b.first, build=b.edge("last_value")),
    "PERCENTILE_CONT": Function("f", tm.FLOAT, build=b.native("percentile_cont")),
    "PERCENTILE_DISC": Function("f", None, build=b.native("percentile_disc")),
    # dates
    "GETDATE": Function("", tm.DATETIME, nullable=False),
    "GETUTCDATE": Function("", tm.DATETIME, nullable=False),
    "SYSDATETIME": Function("", tm.DATETIME2, nullable=False),
    "SYSUTCDATETIME": Function("", tm.DATETIME2, nullable=False),
    "SYSDATETIMEOFFSET": Function("", tm.DATETIMEOFFSET, nullable=False),
    "DATEADD": Function("pad", None, build=b.dateadd),
    "DATEDIFF": Function("pdd", tm.INT),
    "DATEDIFF_BIG": Function("pdd", tm.BIGINT),
    "DATEPART": Function("pd", tm.INT),
    "DATENAME": Function("pd", tm.nvarchar(30)),
    "DATETRUNC": Function("pd", b.date_like(1, tm.DATETIME2)),
    "DATE_BUCKET": Function("pid?d", None, build=b.date_bucket),
    "YEAR": Function("d", tm.INT),
    "MONTH": Function("d", tm.INT),
    "DAY": Function("d", tm.INT),
    "EOMONTH": Function("d?i", tm.DATE),
    "DATEFROMPARTS": Function("iii", tm.DATE),
    "DATETIMEFROMPARTS": Function("iiiiiii", tm.DATETIME),
    "SMALLDATETIMEFROMPARTS": Function("iiiii", tm.SMALLDATETIME),
    "DATETIME2FROMPARTS": Function("iiiiiiii", b.of_last_precision(tm.DATETIME2)),
    "TIMEFROMPARTS": Function("iiiii", b.of_last_precision(tm.TIME)),
    "DATETIMEOFFSETFROMPARTS": Function("iiiiiiiiii", b.of_last_precision(tm.DATETIMEOFFSET)),
    "ISDATE": Function("a", tm.INT, nullable=False),
    "SWITCHOFFSET": Function("da", None, build=_moved("sys.switchoffset")),
    "TODATETIMEOFFSET": Function("da", None, build=_moved("sys.todatetimeoffset")),
    "CURRENT_TIMEZONE": Function("", tm.varchar(64)),
    "CURRENT_TIMEZONE_ID": Function("", tm.varchar(64), target="sys.current_timezone"),
    # JSON
    "ISJSON": Function("t?t", tm.INT),
    "JSON_VALUE": Function("tt", tm.nvarchar(4000)),
    "JSON_QUERY": Function("t?t", tm.NVARCHAR_MAX),
    "JSON_MODIFY": Function("tta", tm.NVARCHAR_MAX),
    "JSON_PATH_EXISTS": Function("tt", tm.INT),
    # identity, session, catalog
    "CRYPT_GEN_RANDOM": Function("i?y", tm.SqlType("varbinary", length=8000), nullable=False),
    "NEWID": Function("", tm.UNIQUEIDENTIFIER, target="gen_random_uuid", nullable=False),
    "NEWSEQUENTIALID": Function("", tm.UNIQUEIDENTIFIER, nullable=False),
    "SCOPE_IDENTITY": Function("", None, build=b.identity),
    "IDENT_CURRENT": Function("t", tm.decimal(38, 0), with_database=1),
    "IDENT_SEED": Function("t", tm.decimal(38, 0), with_database=1),
    "IDENT_INCR": Function("t", tm.decimal(38, 0), with_database=1),
    "SUSER_NAME": Function("?i", _NULLARY_TEXT),
    "SUSER_SNAME": Function("?y", _NULLARY_TEXT),
    "SUSER_ID": Function("?t", tm.INT),
    "SUSER_SID": Function("?t", tm.SqlType("varbinary", length=85)),
    "ORIGINAL_LOGIN": Function("", tm.SYSNAME),
    "USER_NAME": Function("?i", _NULLARY_TEXT),
    "USER_ID": Function("?t", tm.INT),
    "DATABASE_PRINCIPAL_ID": Function("?t", tm.INT),
    "HOST_NAME": Function("", _NULLARY_TEXT),
    "HOST_ID": Function("", tm.varchar(10)),
    "GETANSINULL": Function("?t", tm.SMALLINT, build=lambda arguments, _: v.integer(1)),
    "APP_NAME": Function("", _NULLARY_TEXT),
    "PROGRAM_NAME": Function("", _NULLARY_TEXT),
    "IS_MEMBER": Function("t", tm.INT),
    "IS_ROLEMEMBER": Function("t?t", tm.INT),
    "IS_SRVROLEMEMBER": Function("t?t", tm.INT),
    "HAS_PERMS_BY_NAME": Function("ttt?tt", tm.INT),
    "HAS_DBACCESS": Function("t", tm.INT),
    "DB_ID": Function("?t", None, build=b.db_id),
    "DB_NAME": Function("?i", None, build=b.db_name),
    "OBJECT_ID": Function("t?t", None, build=b.object_id),
    "OBJECT_NAME": Function("i?i", tm.SYSNAME),
    "EVENTDATA": Function("", tm.XML),
    "TRIGGER_NESTLEVEL": Function("?itt", tm.INT),
    "OBJECT_SCHEMA_NAME": Function("i?i", tm.SYSNAME),
    "FULLTEXTSERVICEPROPERTY": Function("t", tm.INT),
    "OBJECT_DEFINITION": Function("i", tm.NVARCHAR_MAX),
    "SCHEMA_ID": Function("?t", tm.INT, with_database=1),
    "SCHEMA_NAME": Function("?i", tm.SYSNAME),
    "TYPE_ID": Function("t", tm.INT),
    "TYPE_NAME": Function("i", tm.SYSNAME),
    "COL_LENGTH": Function("tt", tm.INT, with_database=2),
    "COL_NAME": Function("ii", tm.SYSNAME),
    "COLUMNPROPERTY": Function("itt", tm.INT),
    "OBJECTPROPERTY": Function("it", tm.INT),
    "OBJECTPROPERTYEX": Function("it", tm.VARIANT),
    "DATABASEPROPERTYEX": Function("tt", tm.VARIANT),
    "DATABASEPROPERTY": Function("tt", tm.INT),
    "SERVERPROPERTY": Function("t", tm.VARIANT),
    "INDEXPROPERTY": Function("itt", tm.INT),
    "INDEX_COL": Function("tii", tm.SYSNAME),
    "STATS_DATE": Function("ii", tm.DATETIME),
    "SESSIONPROPERTY": Function("t", tm.VARIANT),
    "CONNECTIONPROPERTY": Function("t", tm.VARIANT),
    "LOGINPROPERTY": Function("tt", tm.VARIANT),
    "TYPEPROPERTY": Function("tt", tm.INT),
    "COLLATIONPROPERTY": Function("tt", tm.VARIANT),
    "INDEXKEY_PROPERTY": Function("iiit", tm.INT),
    "ORIGINAL_DB_NAME": Function("", _NULLARY_TEXT),
    "CURRENT_REQUEST_ID": Function("", tm.SMALLINT, build=lambda arguments, _: v.integer(0)),
    "FILE_ID": Function("t", tm.SMALLINT, target="sys.file_idex"),
    "FILE_IDEX": Function("t", tm.INT),
    "FILE_NAME": Function("i", _NULLARY_TEXT),
    "FILEPROPERTY": Function("tt", tm.INT),
    "FILEGROUP_ID": Function("t", tm.INT),
    "FILEGROUP_NAME": Function("i", _NULLARY_TEXT),
    "FILEGROUPPROPERTY": Function("tt", tm.INT),
    "APPLOCK_MODE": Function("ttt", tm.nvarchar(32)),
    "APPLOCK_TEST": Function("tttt", tm.SMALLINT),
    "FN_VARBINTOHEXSTR": Function("y", tm.NVARCHAR_MAX),
    "FN_VARBINTOHEXSUBSTRING": Function("iyii", tm.NVARCHAR_MAX),
    "CERT_ID": Function("t", tm.INT),
    "CERTENCODED": Function("i", tm.VARBINARY_MAX),
    "CERTPROPERTY": Function("it", tm.nvarchar(4000)),
    "CERTPRIVATEKEY": Function("it?t", tm.VARBINARY_MAX),
    "CONTEXT_INFO": Function("", tm.SqlType("varbinary", length=128)),
    "SESSION_CONTEXT": Function("t", tm.VARIANT),
    "SQL_VARIANT_PROPERTY": Function("at", tm.VARIANT, build=b.sql_variant_property),
    "GET_TRANSMISSION_STATUS": Function("u", tm.nvarchar(4000), target="ssb.get_transmission_status"),
    "CURRENT_TRANSACTION_ID": Function("", tm.BIGINT),
}
"""Every built-in by its upper-case name.  IIF, CAST and CONVERT are the expression translator's."""


GLOBAL_VARIABLES: dict[str, Value] = {
    "@@spid": Value(n.Call("pg_backend_pid"), tm.SMALLINT, pg="integer", nullable=False),
    "@@servername": v.call("sys.servername", type=tm.SYSNAME),
    "@@servicename": v.call("sys.servicename", type=tm.SYSNAME),
    "@@version": v.call("sys.version", type=tm.nvarchar(300)),
    "@@identity": v.call("sys.identity", type=tm.decimal(38, 0)),
    "@@datefirst": v.call("sys.datefirst", type=tm.TINYINT, nullable=False),
    "@@language": v.call("sys.language", type=tm.SYSNAME),
    "@@langid": v.call("sys.langid", type=tm.SMALLINT),
    "@@max_connections": v.call("sys.max_connections", type=tm.INT),
    "@@lock_timeout": v.call("sys.lock_timeout", type=tm.INT),
    "@@max_precision": Value(n.Integer(38), tm.TINYINT, nullable=False),
    "@@textsize": Value(n.Integer(2147483647), tm.INT, nullable=False),
    "@@dbts": v.call("sys.dbts", type=tm.SqlType("varbinary", length=8)),
    # 16.0.1000, as SERVERPROPERTY('ProductVersion') says it.
    "@@microsoftversion": Value(n.Integer(268436456), tm.INT, nullable=False),
}
"""@@names that do not depend on the running program; the others are the scope's."""


REFUSED_GLOBALS: dict[str, str] = {
    "@@trancount": "a function, view or constraint does not know its caller's transaction",
    "@@cursor_rows": "a function or view has no cursor that was opened",
    "@@cpu_busy": "SQL Server's process statistics do not exist here",
    "@@idle": "SQL Server's process statistics do not exist here",
    "@@io_busy": "SQL Server's process statistics do not exist here",
    "@@pack_sent": "SQL Server's process statistics do not exist here",
    "@@pack_received": "SQL Server's process statistics do not exist here",
    "@@packet_errors": "SQL Server's process statistics do not exist here",
    "@@timeticks": "SQL Server's process statistics do not exist here",
    "@@total_read": "SQL Server's process statistics do not exist here",
    "@@total_write": "SQL Server's process statistics do not exist here",
    "@@total_errors": "SQL Server's process statistics do not exist here",
    "@@connections": "SQL Server's process statistics do not exist here",
    "@@remserver": "remote servers are not supported",
    "@@options": "a function or view does not know its caller's SET options",
}


NAMES_WITHOUT_PARENTHESES: dict[str, Value] = {
    "current_timestamp": v.call("sys.getdate", type=tm.DATETIME, nullable=False),
    "current_date": Value(n.Cast(n.Call("sys.getdate"), "date"), tm.DATE, nullable=False),
    "current_user": v.call("sys.user_name", type=_NULLARY_TEXT),
    "session_user": v.call("sys.user_name", type=_NULLARY_TEXT),
    "user": v.call("sys.user_name", type=_NULLARY_TEXT),
    "system_user": v.call("sys.system_user", type=_NULLARY_TEXT),
}


TABLE_FUNCTIONS: dict[str, tuple[str, tuple[tuple[str, SqlType | None], ...]]] = {
    "STRING_SPLIT": ("ta?i", (("value", tm.NVARCHAR_MAX),)),
    "GENERATE_SERIES": ("aa?a", (("value", None),)),
    "OPENJSON": ("t?t", (("key", tm.nvarchar(4000)), ("value", tm.NVARCHAR_MAX), ("type", tm.INT))),
    "OPENXML": ("it?i", ()),
    "FN_LISTEXTENDEDPROPERTY": (
        "ttttttt",
        (
            ("objtype", tm.SYSNAME),
            ("objname", tm.SYSNAME),
            ("name", tm.SYSNAME),
            ("value", tm.NVARCHAR_MAX),
        ),
    ),
    "FN_MY_PERMISSIONS": (
        "tt",
        (
            ("entity_name", tm.SYSNAME),
            ("subentity_name", tm.SYSNAME),
            ("permission_name", tm.nvarchar(60)),
        ),
    ),
    "DM_EXEC_SQL_TEXT": (
        "b",
        (
            ("dbid", tm.INT),
            ("objectid", tm.INT),
            ("number", tm.INT),
            ("encrypted", tm.BIT),
            ("text", tm.NVARCHAR_MAX),
        ),
    ),
}
"""Built-in functions that stand in FROM: kinds of parameters and columns."""

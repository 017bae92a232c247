"""Which type T-SQL gives several values together, and how many digits numbers have there.

Source: Microsoft's reference, "Data type precedence" and "Precision, scale, and length".
"""

from __future__ import annotations

from ...grammar.records import replace
from ..catalog import types as tm
from ..catalog.types import MAX, SqlType
from .values import Value

_PRECEDENCE = {
    name: rank
    for rank, name in enumerate(
        """
        binary varbinary image char varchar nchar nvarchar sysname uniqueidentifier rowversion text ntext bit
        tinyint smallint int bigint smallmoney money decimal real float time date smalldatetime
        datetime datetime2 datetimeoffset xml sql_variant
        """.split()
    )
}


_MONEY = ("money", "smallmoney")
_FRACTIONS = {"datetime": 3, "time": 7, "datetime2": 7, "datetimeoffset": 7}
"""Digits behind the second of types of moments that name no number."""


def common_type(values: list[Value]) -> SqlType | None:
    """The type T-SQL gives CASE, COALESCE, UNION … over these values; None when one is unknown."""
    types = []
    for value in values:
        if value.is_null:
            continue
        if value.type is None:
            return None
        types.append(value.type)
    return common_of_types(types)


def common_of_types(types: list[SqlType]) -> SqlType | None:
    """The type of highest precedence, wide enough for all."""
    if not types:
        return None
    best = types[0]
    for other in types[1:]:
        best = _wider(best, other)
    return best


def _wider(a: SqlType, b: SqlType) -> SqlType:
    if a == b:
        return a
    if a.family == "user" or b.family == "user":
        return a
    if (a.is_string and b.is_string) or a.family == b.family == "binary":
        name = a.name if _PRECEDENCE[a.name] >= _PRECEDENCE[b.name] else b.name
        if name in ("text", "ntext", "image"):
            return SqlType(name)
        if MAX in (a.length, b.length):
            return SqlType(
                {"char": "varchar", "nchar": "nvarchar", "binary": "varbinary"}.get(name, name), length=MAX
            )
        lengths = [128 if t.name == "sysname" else t.length or 1 for t in (a, b)]
        if name == "sysname":
            name = "nvarchar"
        return SqlType(name, length=max(lengths))
    if a.family == b.family == "decimal" or {a.family, b.family} == {"decimal", "integer"}:
        names = {a.name, b.name}
        if "decimal" not in names and not names.isdisjoint(_MONEY):
            return tm.MONEY if "money" in names else tm.SMALLMONEY
        (p1, s1), (p2, s2) = digits(a), digits(b)
        scale = max(s1, s2)
        return tm.decimal(max(p1 - s1, p2 - s2) + scale, scale)
    rank_a, rank_b = _PRECEDENCE.get(a.name, 99), _PRECEDENCE.get(b.name, 99)
    winner = a if rank_a >= rank_b else b
    if winner.scale is not None and winner.name in _FRACTIONS:
        scales = [_FRACTIONS.get(t.name, 0) if t.scale is None else t.scale for t in (a, b)]
        return replace(winner, scale=None if max(scales) == _FRACTIONS[winner.name] else max(scales))
    if winner.is_string:
        return tm.nvarchar(4001) if winner.is_unicode else tm.varchar(8001)
    return winner


def digits(type_: SqlType, constant: str | int | None = None) -> tuple[int, int]:
    """Precision and scale of a number type as decimal arithmetic sees it."""
    if isinstance(constant, int):
        return max(len(str(abs(constant))), 1), 0
    if type_.name == "decimal":
        return type_.precision or 18, type_.scale or 0
    return {
        "bigint": (19, 0),
        "int": (10, 0),
        "smallint": (5, 0),
        "tinyint": (3, 0),
        "bit": (1, 0),
        "money": (19, 4),
        "smallmoney": (10, 4),
    }.get(type_.name, (38, 6))


_INTEGER_RANK = {"bit": 0, "tinyint": 1, "smallint": 2, "int": 3, "bigint": 4}


def holds_all(to: SqlType, source: SqlType) -> bool:
    """Whether the integer type ``to`` has every value of ``source``, an integer type or bit."""
    return _INTEGER_RANK[to.name] >= _INTEGER_RANK[source.name]


def differs_in_decimals(value: Value, type_: SqlType) -> bool:
    """Whether a number has fewer decimals than ``type_``, a decimal or money, shows, or more than it keeps.

    More has a branch where a common type of 38 digits leaves some of its decimals out.
    """
    return (
        type_.family == "decimal"
        and not value.is_null
        and value.type is not None
        and value.type.family in ("integer", "bit", "decimal")
        and digits(value.type, value.constant)[1] != digits(type_)[1]
    )

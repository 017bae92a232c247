"""The names and values that FOR XML turns into text."""

from __future__ import annotations

from ....grammar.records import dataclass
from ..values import Value


@dataclass
class Shape:
    """The names and values of a query whose rows become XML."""

    names: list[str | None]
    values: list[Value]
    tables: list[str | None]
    """For AUTO: the element (table) that each column belongs to."""


def atom(value: Value) -> str:
    """A value as FOR XML prints it."""
    text = value.text
    if value.is_null:
        text = "NULL::text"
    elif value.pg == "numeric" and value.type is not None and value.type.name == "bigint":
        text = f"{text}::bigint"
    return f"sys.xml_atom({text})"

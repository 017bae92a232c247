"""Constant texts that T-SQL and PostgreSQL read as the same value.

What is none of these is left to a conversion's function, which knows T-SQL's reading and its errors.
"""

from __future__ import annotations

import re
from datetime import date

from ..catalog.types import SqlType

_CLOCK = r"(?:[01]?\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,6})?)?"
_ISO_DATE = re.compile(rf"\s*\d{{4}}-?\d{{2}}-?\d{{2}}(?:[ T]{_CLOCK})?\s*\Z")
_EARLIEST = {"datetime": "17530101", "smalldatetime": "19000101"}
_LATEST = {"smalldatetime": "20790606"}
_ISO_TIME = re.compile(rf"\s*{_CLOCK}\s*\Z")
_INTEGER = re.compile(r"\s*[+-]?\d{1,9}\s*\Z")
_DECIMAL = re.compile(r"\s*[+-]?\d{1,30}(?:\.\d{0,30})?\s*\Z")
_GUID = re.compile(r"\{?[0-9A-Fa-f]{8}(?:-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}\}?\Z")


def is_iso_date(text: str) -> bool:
    """Text that SQL Server and PostgreSQL read as the same date, whatever the session's settings."""
    if not _ISO_DATE.match(text):
        return False
    day = text.strip().replace("-", "")[:8]
    try:
        date(int(day[:4]), int(day[4:6]), int(day[6:]))
    except ValueError:
        return False  # the conversion's function knows the error (241)
    return True


def is_exact_date(text: str, to: SqlType) -> bool:
    """An ISO date that ``to``, a type with a date, has as it stands: in its range, and not rounded."""
    if not is_iso_date(text) or _is_rounded(text, to):
        return False
    return _EARLIEST.get(to.name, "") <= text.strip().replace("-", "")[:8] <= _LATEST.get(to.name, "99991231")


def _is_rounded(text: str, to: SqlType) -> bool:
    """Whether a constant is rounded: datetime knows .000, .003 and .007, smalldatetime whole minutes."""
    clock = text.strip()[10:] if ":" in text else ""
    seconds, _, fraction = [*clock.split(":"), "", "", ""][2].partition(".")
    if to.name == "smalldatetime":
        return bool((seconds + fraction).strip("0"))
    if to.name != "datetime":
        return False
    return len(fraction) > 3 or fraction.ljust(3, "0")[2] not in "037"


def is_iso_time(text: str) -> bool:
    """Text that both read as the same time."""
    return bool(_ISO_TIME.match(text))


def is_integer(text: str) -> bool:
    """Digits that surely fit an int."""
    return bool(_INTEGER.match(text))


def is_decimal(text: str) -> bool:
    """A number of few enough digits, without an exponent."""
    return bool(_DECIMAL.match(text))


def is_guid(text: str) -> bool:
    """A uniqueidentifier, in braces or not."""
    return bool(_GUID.match(text.strip()))


def is_numeric_text(text: str) -> bool:
    """Text that T-SQL would take for a number."""
    return text.strip() == "" or is_decimal(text)


def has_no_value(text: str, to: SqlType) -> bool:
    """Text that surely is no value of a number or date type."""
    if text.strip() == "":
        return False
    if to.name in ("tinyint", "smallint", "int", "bigint"):
        return not text.strip().lstrip("+-").isdigit()
    if to.name == "decimal":
        return not is_decimal(text)
    return not any(letter.isdigit() for letter in text)

"""How PostgreSQL spells strings and identifiers."""

from __future__ import annotations

import re
from functools import lru_cache

_PLAIN = re.compile(r"[a-z_][a-z0-9_$]*\Z")

# Words PostgreSQL 14–18 do not take as a column or table name (categories R and T of
# pg_get_keywords()), and those that do not stand as a function or type name (C).
_RESERVED = frozenset(
    """
    all analyse analyze and any array as asc asymmetric authorization binary both case cast check
    collate collation column concurrently constraint create cross current_catalog current_date
    current_role current_schema current_time current_timestamp current_user default deferrable desc
    distinct do else end except false fetch for foreign freeze from full grant group having ilike in
    initially inner intersect into is isnull join lateral leading left like limit localtime
    localtimestamp natural not notnull null offset on only or order outer overlaps placing primary
    references returning right select session_user similar some symmetric system_user table
    tablesample then to trailing true union unique user using variadic verbose when where window with
    """.split()
)
# Reserved in PL/pgSQL alone: unquoted they are no label, and they end or divide an expression in a body
# (``WHILE x < dbo.loop(1) LOOP``, ``SELECT strict INTO …``).
_RESERVED_IN_BODIES = frozenset("begin by declare execute foreach if loop strict while".split())
_NOT_A_FUNCTION = frozenset(
    """
    between bigint bit boolean char character coalesce dec decimal exists extract float greatest
    grouping inout int integer interval json json_array json_arrayagg json_exists json_object
    json_objectagg json_query json_scalar json_serialize json_table json_value least merge_action
    national nchar none normalize nullif numeric out overlay position precision real row setof
    smallint substring time timestamp treat trim values varchar xmlattributes xmlconcat xmlelement
    xmlexists xmlforest xmlnamespaces xmlparse xmlpi xmlroot xmlserialize xmltable
    """.split()
)
_QUOTED = _RESERVED | _RESERVED_IN_BODIES | _NOT_A_FUNCTION
_LAST_PART = re.compile(r'("(?:[^"]|"")*"|[^".]*)\Z')
_UNSAFE = re.compile("[\r\n\ufdd0-\ufdd2]")


@lru_cache(maxsize=8192)
def quote(identifier: str) -> str:
    """Quote a PostgreSQL identifier where it must be."""
    if _PLAIN.match(identifier) and identifier not in _QUOTED:
        return identifier
    return '"' + identifier.replace('"', '""') + '"'


def unquoted(identifier: str) -> str:
    """Return the name that a PostgreSQL identifier, quoted or not, stands for."""
    return identifier[1:-1].replace('""', '"') if identifier.startswith('"') else identifier


def split_name(spelling: str) -> tuple[str, str]:
    """Return what stands before the last of the names that dots join, as it is spelled, and that name."""
    found = _LAST_PART.search(spelling)
    return ("", "") if found is None else (spelling[: max(found.start() - 1, 0)], unquoted(found.group()))


def last_part(spelling: str) -> str:
    """Return the last of the names, quoted or not, that dots join."""
    return split_name(spelling)[1]


def literal(text: str) -> str:
    """Write ``text`` as a PostgreSQL string literal, right whatever standard_conforming_strings says."""
    quoted = text.replace("'", "''")
    if "\\" in quoted:
        return "E'" + quoted.replace("\\", "\\\\") + "'"
    return f"'{quoted}'"


def text_literal(text: str) -> str:
    """A PostgreSQL string literal on one line: line ends are escaped, so that layout may indent the rest."""
    if not _UNSAFE.search(text):
        return literal(text)
    escaped = text.replace("\\", "\\\\").replace("'", "''").replace("\r", "\\r").replace("\n", "\\n")
    return "E'" + re.sub("[\ufdd0-\ufdd2]", lambda match: f"\\u{ord(match.group()):04x}", escaped) + "'"


def in_comment(name: str) -> str:
    """Return a name as it may stand behind ``--``: what follows a line break would be SQL."""
    return "".join(one if one.isprintable() else "?" for one in name)

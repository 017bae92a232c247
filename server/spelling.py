"""Names in errors as the script spells them: PostgreSQL knows them folded, and with their schema."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import chain

from ..compiler.catalog.names import DEFAULT_SCHEMA, fold, schema_name
from ..compiler.compiled import CompiledStatement
from ..compiler.plpgsql import nodes as pl
from ..compiler.target.quoting import text_literal

_MESSAGES = re.compile(
    r"(?P<before>Invalid object name |Invalid column name |There is already an object named |"
    r"Cannot drop the (?:\w+|XML schema collection) |Cannot drop type |Cannot use DROP \w+ with |"
    r"An explicit DROP INDEX is not allowed on index |"
    r"Cannot perform alter on |Cannot (?:find|alter) the (?:\w+|XML schema collection) |Object |The object |"
    r"Could not truncate object |Could not find stored procedure |"
    r"The multi-part identifier |The specified schema name |Column name |"
    r"Could not find the type |The type |ALTER TABLE only allows [^']*Column |"
    r"Duplicate common table expression name |ALTER TABLE \w+ COLUMN failed because column |"
    r"ALTER TABLE failed because trigger |Column names in each table must be unique\. Column name |"
    r"The ALTER TABLE statement conflicted with the (?:CHECK|FOREIGN KEY) constraint |"
    r"(?='[^']+' is not a constraint\.$)|"
    r"Index cannot be created on object |Cannot alter (?='[^']+' because)|"
    r"The service queue (?=\"[^\"]+\" cannot be directly)|Database (?='[^']+' does not exist\.$)|"
    r'Cannot find either column "[^"]*" or the user-defined function or aggregate |'
    r"Collection specified does not exist in metadata : |"
    r"An explicit value for the identity column in table |"
    r"Column, parameter, or variable #\d+: Cannot find data type )"
    r"(?:(?P<mark>['\"])(?P<name>(?:(?!(?P=mark)).)+)(?P=mark)|(?<=data type )(?P<type>.+)(?=\.$))"
)
_TABLE_OF_COLUMN = re.compile(
    r"(?P<before> in table )(?P<mark>')(?P<name>[^']+)'(?= is specified more than once)"
)
_OBJECT_ALONE = (
    *("Invalid column", "There", "Cannot find the", "Cannot alter", "Object", "Could not truncate", "Index"),
    *("Column name", "Duplicate", "ALTER TABLE", "The service queue", "The ALTER TABLE", "Collection"),
)
_CATCH = re.compile(r"\bCATCH\b", re.IGNORECASE)
_OF_ROWS = frozenset({"INSERT", "UPDATE", "DELETE", "MERGE"})
_DEFINES = tuple(f"ssb_internal.{verb}_" for verb in ("create", "drop", "keep", "prepare", "rename"))
"""What a block calls that makes or drops something, or spells a name that is not in small letters."""
_QUOTED_NAME = r"""\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*\""""
_NO_NAMES = re.compile(rf"--[^\n]*|/\*|'(?:[^']|'')*'|{_QUOTED_NAME}")
_COMMENT_MARK = re.compile(r"/\*|\*/")
_GO_LINE = re.compile(r"^[ \t]*GO\b", re.IGNORECASE | re.MULTILINE)
_PART = rf"(?:{_QUOTED_NAME}|[^\W\d][\w@#$]*|\#[\w@#$]+)"
_NAME = re.compile(rf"(?<![\w@#$.]){_PART}(?:\s*\.\s*(?:{_PART})?)*")


_OF_TEMPORARY = re.compile(r"""['"](?:tempdb\.)?dbo\.(\#[^'"]+)['"]""")
_QUOTED = re.compile(r"""(?<=')[^']+(?=')|(?<=")[^"]+(?=")""")


def as_written(message: str, script: str, line: int = 1) -> str:
    """Return an error's message with its name as ``script`` has it; unchanged where it has none.

    Of several spellings it is the first in the batch from ``line`` on, the line of the error, else that of
    the script; names in the text of dynamic SQL come after those around it.
    """
    found = _MESSAGES.match(message)
    if found is None:
        temporary = _OF_TEMPORARY.search(message)
        return message if temporary is None else _temporary_as_written(message, temporary[1], script)
    of_column = _TABLE_OF_COLUMN.search(message)
    if of_column is not None:
        shown = _told(of_column, script, line)
        message = f"{message[: of_column.start('name')]}{shown}{message[of_column.end('name') :]}"
    shown = _told(found, script, line)
    if found["type"] is not None:
        return f"{message[: found.start('type')]}{shown}{message[found.end('type') :]}"
    mark = found["mark"]  # Some messages tell the name twice.
    return message.replace(f"{mark}{found['name']}{mark}", f"{mark}{shown}{mark}")


def _told(found: re.Match[str], script: str, line: int) -> str:
    """Return the name of a message as the script has it, else as the message does."""
    told = found["name"] or found["type"]
    for schema, name in _splits(told, script):
        # The table of a column has its own spelling in the message already.
        searched = fold(name) if found.re is _TABLE_OF_COLUMN else name
        shown = _shown(found, schema, searched, script, line)
        if shown is not None:
            return shown
    # Of a schema that is not there PostgreSQL tells no more.
    return told.removesuffix(".*")


def _splits(told: str, script: str) -> Iterator[tuple[list[str], str]]:
    """Give what may stand before a name, and the name: those with dots that the script has come first."""
    parts = told.split(".")
    lowered = script.lower()
    for start in range(len(parts) - 1):
        name = ".".join(parts[start:])
        if f"[{name}" in lowered or f'"{name}' in lowered:
            yield parts[:start], name
    yield parts[:-1], parts[-1]


def _shown(found: re.Match[str], schema: list[str], name: str, script: str, line: int) -> str | None:
    """Return the name of a message as the script has it; None where it is not there."""
    # A schema that is there has its own spelling in the message already, and may have dots in its name.
    qualifiers = {fold(".".join(schema[start:])) for start in range(len(schema))}
    # 4104 knows the alias that is missing, not the column asked of it.
    is_alias = found["before"].startswith("The multi-part")
    is_schema = found["before"].startswith("The specified schema")
    is_alone = found["before"].startswith(("The service queue", "The ALTER TABLE"))
    if found["before"].endswith(" index ") and schema and name != "*":
        # DROP INDEX i ON dbo.t, or t.i: it is shown behind its table.
        table, index = (_chain(part, script, line) for part in (fold(schema[-1]), name))
        return f"{'.'.join(table or schema)}.{index[-1] if index else name}"
    for match in chain.from_iterable(_NAME.finditer(text) for text in _texts(script, line)):
        parts = _parts(match[0])
        if is_alias:
            # x.a and dbo.x.a; of x.a.value(…) what stands before the method.
            before = [] if schema else [fold(part) for part in parts[:-1]]
            if name in before:
                return ".".join(parts[: before.index(name) + 2])
            continue
        if found["before"] == "Database ":
            if len(parts) > 2 and fold(parts[-3]) == name:
                return parts[-3]
            continue
        if is_schema:
            if name in _schemas(*parts[:-1]):
                return parts[-2] if fold(parts[-2]) == name else f"{parts[-3]}.{parts[-2] or DEFAULT_SCHEMA}"
            continue
        if name == "*":
            ends = (end for end in range(1, len(parts)) if qualifiers & _schemas(*parts[:end]))
            if end := next(ends, None):
                return ".".join(parts[: end + 1])
            continue
        if fold(parts[-1]) != name:
            continue
        if found["before"].startswith(_OBJECT_ALONE) and (found["mark"] == "'" or is_alone):
            return parts[-1]
        # A bare name is none of a schema of its own.
        is_default = bool(schema) and re.fullmatch(rf"(\w+_)?{DEFAULT_SCHEMA}|pg_temp.*", fold(schema[-1]))
        if not schema or (len(parts) == 1 and is_default) or qualifiers & _schemas(*parts[:-1]):
            return ".".join(parts)
    return None


def _temporary_as_written(message: str, table: str, script: str) -> str:
    """Return the message of a temporary table's row with the names as the script has them that makes it."""
    name = rf"(?:\w*\.\w*\.)?\[?{re.escape(table)}\b"
    made = re.search(rf"\b(?:TABLE|INTO)\s+({name})", script, re.IGNORECASE)
    if made is None:
        return message
    spelled: dict[str, str] = {}
    for match in _NAME.finditer(_without_comments(script[made.start(1) :])):
        part = _parts(match[0])[-1]
        spelled.setdefault(fold(part), part)

    def shown(quoted: re.Match[str]) -> str:
        *schema, name = quoted[0].split(".")
        return ".".join([*schema, spelled.get(name, name) if name != "tempdb" else name])

    return _QUOTED.sub(shown, message)


def _chain(name: str, script: str, line: int) -> list[str]:
    """Return the parts of what a script calls so, up to the name; empty where it is not there."""
    for match in chain.from_iterable(_NAME.finditer(text) for text in _texts(script, line)):
        parts = _parts(match[0])
        folded = [fold(part) for part in parts]
        if name in folded:
            return parts[: folded.index(name) + 1]
    return []


def _parts(written: str) -> list[str]:
    return [_plain(part) for part in re.findall(rf"{_PART}|(?<=\.)(?=\s*\.)", written)]


def _texts(script: str, line: int) -> Iterator[str]:
    """Give what may have the name, the likeliest first."""
    behind = _GO_LINE.split(script.split("\n", line - 1)[-1], maxsplit=1)[0]
    for text in (behind, script):
        yield _without_comments(text)
        yield text


def _without_comments(text: str) -> str:
    """Return a text without its comments, which nest, and its strings."""
    kept, end = [], 0
    while (match := _NO_NAMES.search(text, end)) is not None:
        kept.append(text[end : match.start()])
        end = match.end()
        if match[0] == "/*":
            depth = 1
            for mark in _COMMENT_MARK.finditer(text, end):
                depth += 1 if mark[0] == "/*" else -1
                end = mark.end()
                if depth == 0:
                    break
        kept.append(match[0] if match[0].startswith(("[", '"')) else " ")
    return "".join([*kept, text[end:]])


def _schemas(*qualifiers: str) -> set[str]:
    """Return what a schema is called in messages: as in T-SQL, or as in PostgreSQL, with its database."""
    if not qualifiers:
        return set()
    schema = qualifiers[-1] or DEFAULT_SCHEMA
    return {fold(schema), *(schema_name(schema, database, None) for database in qualifiers[-2:-1])}


def with_script(statement: CompiledStatement, script: str) -> str:
    """Return a statement's text, with its T-SQL behind it where the server is to spell names as the script.

    That is in errors' messages, where the script reads them in a block (ssb_internal.as_written; else they
    come to the client, who knows it), and in the events of definitions (ssb_internal.told_name).
    """
    is_read = statement.is_block and _CATCH.search(script) is not None
    if not is_read and not (script != script.lower() and _defines(statement)):
        return statement.sql
    return f"{statement.sql}\n/* T-SQL:\n{script.replace('*/', '* /').replace('/*', '/ *')} */"


def _defines(statement: CompiledStatement) -> bool:
    """Tell whether a statement may make, alter or drop something that an event tells of."""
    if statement.is_block or isinstance(statement.item, pl.Select):
        return any(name.startswith(_DEFINES) for name in statement.names)
    return not statement.returns_rows and statement.verb.partition(": ")[0] not in _OF_ROWS


def told_script(script: str) -> list[str]:
    """Return the statement that tells the text of a batch that runs inside a CALL, if it has a CATCH."""
    if _CATCH.search(script) is None:
        return []
    return [f"SELECT pg_catalog.set_config('pgsb.text', {text_literal(script)}, true)"]


def _plain(part: str) -> str:
    if part.startswith("["):
        return part[1:-1].replace("]]", "]")
    return part[1:-1].replace('""', '"') if part.startswith('"') else part

"""T-SQL names → PostgreSQL identifiers.

T-SQL databases are sets of schemas of one PostgreSQL database: in the default
T-SQL database schema ``dbo`` is ``dbo`` and ``sales`` is ``sales``; in database
``Trader1`` they are ``trader1_dbo`` and ``trader1_sales``.  Identifiers are
folded to lower case, for T-SQL does not tell cases apart and PostgreSQL folds
what psql users type; they are quoted only where they must be.

Temporary tables live in ``pg_temp`` under their own name, mark included.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache

from ...grammar.lexer import bracketed
from ...grammar.records import dataclass
from ..target import nodes as n
from ..target.quoting import in_comment as in_comment
from ..target.quoting import literal as literal
from ..target.quoting import quote as quote
from ..target.quoting import split_name as split_name
from ..target.quoting import unquoted as unquoted

DEFAULT_SCHEMA = "dbo"
AGGREGATES = frozenset(
    """
    COUNT COUNT_BIG SUM AVG MIN MAX STDEV STDEVP VAR VARP STRING_AGG CHECKSUM_AGG GROUPING GROUPING_ID
    APPROX_COUNT_DISTINCT
    """.split()
)
"""Built-in functions of many rows, as analysis and translation ask for them."""

MAX_IDENTIFIER_BYTES = 63
"""PostgreSQL cuts longer identifiers (NAMEDATALEN - 1); T-SQL allows 128 characters."""
_MAX_HELPER_BYTES = 59
_NOT_PLAIN = re.compile(r"[^\w$]")
_MAX_STEM_BYTES = 49
"""So that @update@begin and its like still stand behind."""
_PART = re.compile(r"(?:@(?:insert|update|delete|database|server))?(?:@(?:begin|rows))?\Z")

_TEMPORARY = "pg_temp"
_SYSTEM_SCHEMAS = frozenset({"sys", "information_schema", "pg_catalog", "ssb", "ssb_internal"})
_SHARED_SCHEMAS = _SYSTEM_SCHEMAS | {_TEMPORARY}

COMPATIBILITY_VIEWS = frozenset(
    """
    sysobjects sysdatabases syscolumns sysusers sysindexes sysmessages sysprocesses syslogins systypes
    syscomments sysreferences sysforeignkeys sysfiles sysaltfiles spt_values
    """.split()
)
"""System tables of old: `sysobjects`, `dbo.sysobjects`, `master..sysdatabases` all mean the view in sys."""

INFORMATION_SCHEMA = frozenset(
    """
    tables views columns routines parameters schemata sequences domains table_constraints key_column_usage
    constraint_column_usage check_constraints referential_constraints view_table_usage table_privileges
    column_privileges
    """.split()
)
"""INFORMATION_SCHEMA views that are made for T-SQL: PostgreSQL's own show all databases of the instance."""


@lru_cache(maxsize=8192)
def fold(name: str) -> str:
    """Return the PostgreSQL name of T-SQL identifier ``name``: lower case, at most 63 bytes.

    A longer name keeps its head and gets a digest, so that two names that differ only
    behind the cut stay two names.
    """
    return _shortened(name.lower(), MAX_IDENTIFIER_BYTES)


def _shortened(name: str, size: int) -> str:
    # A lone surrogate is told as no character elsewhere: here it must not be in the way.
    encoded = name.encode(errors="surrogatepass")
    if len(encoded) <= size:
        return name
    digest = hashlib.sha256(encoded).hexdigest()[:8]
    return f"{encoded[: size - 9].decode(errors='ignore')}_{digest}"


def helper_name(wanted: str) -> str:
    """Return a PL/pgSQL variable's name that needs no quotes, with room for a number behind it."""
    plain = _NOT_PLAIN.sub("_", wanted)
    return _shortened(plain if plain[0].isalpha() or plain[0] == "_" else f"_{plain}", _MAX_HELPER_BYTES)


def stem(name: str) -> str:
    """Return what the names of a module's parts begin with, before the ``@`` (``ssb_internal.stem``)."""
    return _shortened(without_part(name), _MAX_STEM_BYTES)


def without_part(name: str) -> str:
    """Return the name of the trigger that ``name`` is a part of, or itself."""
    return _PART.sub("", name, count=1)


def part_name(sql_name: str, suffix: str) -> str:
    """Return the PostgreSQL name of a part of a module: ``dbo.tr`` and ``@rows`` give ``dbo."tr@rows"``."""
    schema, name = split_name(sql_name)
    part = name[len(without_part(name)) :]
    return f"{schema}.{identifier(f'{stem(name)}{part}{suffix}')}"


def identifier(name: str) -> str:
    """Fold and quote a T-SQL identifier."""
    return quote(fold(name))


def is_temporary(sql_name: str) -> bool:
    """Tell whether a PostgreSQL name from :meth:`ObjectName.sql` is a temporary object's."""
    return sql_name.partition(".")[0] == _TEMPORARY


def is_placeholder(name: str) -> bool:
    """Tell whether a name of dynamic SQL is one that only the run time knows (lower/placeholders)."""
    return "pgsb_placeholder_" in name


SCHEMA_OF = "pgsb_schema_"
"""Between a database and its schema where only the run time knows one of them: the name tells both."""
_IN_DIGITS = "pgsb_digits_"
COLUMNS_OF = "pgsb_columns_of."
"""Before such a table's name: the list of columns that an INSERT without one fills (lower/placeholders)."""


@dataclass(frozen=True)
class ObjectName:
    """A one- to four-part T-SQL name; missing parts are None (``db..t`` has no schema)."""

    name: str
    schema: str | None = None
    database: str | None = None
    server: str | None = None

    @property
    def is_temporary(self) -> bool:
        """``#t``: the session's own."""
        return self.name.startswith("#") and not self.name.startswith("##")

    @property
    def is_of_system(self) -> bool:
        """In a schema that is no script's: nothing can be made there."""
        return not self.is_temporary and fold(self.schema or "") in _SYSTEM_SCHEMAS

    @property
    def text(self) -> str:
        """The name as SQL Server would print it."""
        parts = [self.server, self.database, self.schema, self.name]
        while parts[0] is None and len(parts) > 1:
            parts.pop(0)
        return ".".join(part or "" for part in parts)

    def parts(self, database: str, default_database: str | None) -> tuple[str, str]:
        """Return (schema, name) in PostgreSQL, folded and unquoted.

        ``database`` is the current T-SQL database, ``default_database`` the one whose
        schemas carry no prefix.
        """
        name = fold(self.name)
        if self.is_temporary:
            return _TEMPORARY, name
        if self.name.startswith("##"):
            return schema_name(None, "tempdb", default_database), name
        schema = fold(self.schema) if self.schema else DEFAULT_SCHEMA
        if schema == DEFAULT_SCHEMA and name in COMPATIBILITY_VIEWS:
            return "sys", name
        if schema == "information_schema" and name in INFORMATION_SCHEMA:
            return "sys", f"information_schema_{name}"
        if schema in _SHARED_SCHEMAS:
            return schema, name
        return schema_name(schema, self.database or database, default_database), name

    def sql(self, database: str, default_database: str | None) -> str:
        """Return the schema-qualified, quoted PostgreSQL name."""
        schema, name = self.parts(database, default_database)
        return f"{quote(schema)}.{quote(name)}"


def spelling_arguments(
    name: ObjectName, sql: str, columns: Iterable[str] = (), parts: Iterable[str] = (), *, new: bool = True
) -> list[n.Node]:
    """Return what ssb_internal.keep_spelling is told of a relation, where it is ``new``, and of its columns.

    ``parts`` are the constraints and indexes that it has to see. Empty where all are spelled as PostgreSQL
    knows them, and for #t.
    """
    lists = [other_than_folded(columns), list(parts)]
    own = new and fold(name.name) != name.name
    if name.is_temporary or not (own or any(lists)):
        return []
    arguments: list[n.Node] = [n.Text(sql), n.Text(name.name) if own else n.NULL]
    for label, spelled in zip(("p_columns", "p_parts"), lists, strict=True):
        if spelled:
            arguments.append(n.NamedArgument(label, n.Array(tuple(map(n.Text, spelled)))))
    return arguments


def refusal_of_schema(name: ObjectName) -> n.Node:
    """Error 2760, of what a statement would make in a schema of the system's."""
    return n.Call("ssb_internal.raise_no_schema", (n.Text(fold(name.schema or "")),))


def other_than_folded(names: Iterable[str]) -> list[str]:
    """Return those that are not spelled as PostgreSQL knows them."""
    return [name for name in names if fold(name) != name]


def schema_name(schema: str | None, database: str, default_database: str | None) -> str:
    """Return the PostgreSQL schema (unquoted) of a T-SQL schema in a T-SQL database.

    An empty ``database`` is the default one.
    """
    schema = fold(schema) if schema else DEFAULT_SCHEMA
    if not database or (default_database is not None and fold(database) == fold(default_database)):
        return schema
    if is_placeholder(database) or is_placeholder(schema):
        return f"{_as_word(fold(database))}{SCHEMA_OF}{_as_word(schema)}"
    return fold(f"{fold(database)}_{schema}")


def _as_word(name: str) -> str:
    return name if re.fullmatch(r"\w+", name) else f"{_IN_DIGITS}{name.encode().hex()}"


def database_and_schema(name: str) -> tuple[str, str]:
    """Return the database and the schema, folded, of a name with :data:`SCHEMA_OF` in it."""
    database, schema = (
        bytes.fromhex(part.removeprefix(_IN_DIGITS)).decode() if part.startswith(_IN_DIGITS) else part
        for part in name.split(SCHEMA_OF)
    )
    return database, schema


_IN_DATABASE = "/* sp_executesql */; "


def use_first(database: str) -> str:
    """What the text begins with that sp_executesql runs in another database.

    ssb_internal.use_of_name says the same where only the run time knows the database.
    """
    return f"USE {bracketed(database)} {_IN_DATABASE}"


def behind_use_first(text: str) -> str:
    """Return a text without such a beginning, behind which a module may still be defined."""
    # Asked once a batch of the whole script, so no further than its first line is looked.
    if not text.startswith("USE ["):
        return text
    end = text.find("\n")
    begins = text.find(_IN_DATABASE, 0, len(text) if end < 0 else end)
    return text if begins < 0 else text[begins + len(_IN_DATABASE) :]


# The words that SQL Server's collations begin with, and the sort rules behind SQL_.
_DESIGNATORS = """
    albanian arabic assamese azeri bashkir bengali bosnian breton chinese corsican croatian
    cyrillic_general czech danish dari divehi estonian finnish french frisian georgian german greek
    hebrew hindi hungarian icelandic indic_general japanese kazakh khmer korean lao latin1_general
    latvian lithuanian macedonian maltese maori mapudungan mapudungun modern_spanish mohawk nepali
    norwegian pashto persian polish romanian romansh sami serbian slovak slovenian syriac tamazight
    tatar thai tibetan traditional_spanish turkish turkmen uighur ukrainian upper_sorbian urdu uzbek
    vietnamese welsh yakut
"""
_SORT_RULES = """
    1xcompat altdiction altdiction2 croatian czech danish ebcdic[0-9]* estonian hungarian icelandic
    latin1_general latvian lithuanian mixdiction polish romanian scandinavian slovak slovenian
    swedishphone swedishstd ukrainian
"""
_COLLATION = re.compile(
    rf"(?:sql_(?:{'|'.join(_SORT_RULES.split())})(?:_\w+?)?_cp\d{{1,5}}"
    rf"|(?:{'|'.join(_DESIGNATORS.split())})(?:_[a-z]+)*?(?:_\d{{2,3}})?)"
    r"_(?:(?P<bin>bin2?)|(?P<case>c[si])_(?P<accents>a[si])(?:_ks)?(?:_ws)?(?:_sc)?(?:_vss)?)(?:_utf8)?"
)


def collation_of(name: str) -> str | None:
    """What the name of a collation says: ``bin``, ``cs``, ``ci``, ``cs_ai``, ``ci_ai``, '' for the default.

    None: there is none of that name.
    """
    name = name.lower()
    if name in ("database_default", "catalog_default"):
        return ""
    found = _COLLATION.fullmatch(name)
    if found is None:
        return None
    if found["bin"]:
        return "bin"
    return f"{found['case']}_ai" if found["accents"] == "ai" else found["case"]

"""DDL by its verb and kind: which module translates a statement on tables, indexes, types and sequences."""

from __future__ import annotations

from ....grammar.tokens import Token
from ...target import nodes as n
from ...target import statements as s
from ..context import Context, object_name
from ..dispatch import DEFINITION, translates
from ..interface import Ddl
from ..parse.nodes import is_variable
from ..parse.reader import Reader
from ..parse.tokens import T, to_sqlglot
from .alter_table import alter_table
from .tables import create_index, create_table, create_type, drop, drop_index, sequence


@translates(DEFINITION)
def statement(tokens: list[Token], ctx: Context) -> Ddl | None:
    """Translate a DDL statement on tables, indexes, types and sequences."""
    reader = ctx.reader
    reader.start(to_sqlglot(tokens))
    translated = _translated(reader, tokens, ctx)
    if translated is not None and not reader.at_end:
        reader.fail()
    return translated


def _translated(reader: Reader, tokens: list[Token], ctx: Context) -> Ddl | None:
    if reader.word("CREATE", "TABLE"):
        return create_table(reader, ctx)
    if reader.word("ALTER", "TABLE"):
        return alter_table(reader, ctx)
    if reader.word("DROP", "TABLE"):
        return drop(reader, ctx, "TABLE")
    if reader.word("DROP", "VIEW"):
        return drop(reader, ctx, "VIEW")
    if reader.word("DROP", "INDEX"):
        return drop_index(reader, ctx)
    if reader.word("TRUNCATE", "TABLE"):
        table = reader.target(hinted=False)
        if is_variable(table):
            ctx.problem(f"Incorrect syntax near '{table.name}'.", table, number=102, hint="DELETE its rows")
            return None
        if reader.current_upper == "WITH":
            hint = "delete the rows by a condition"
            ctx.unsupported("TRUNCATE TABLE … WITH (PARTITIONS (…))", table, hint=hint)
            return None
        return Ddl((s.Truncate(ctx.defined_name(object_name(table))),))
    if reader.word("CREATE", "TYPE"):
        return create_type(reader, ctx)
    if reader.word("CREATE", "SEQUENCE"):
        return sequence(reader, ctx, "CREATE")
    if reader.word("ALTER", "SEQUENCE"):
        return sequence(reader, ctx, "ALTER")
    if reader.word("ALTER", "INDEX"):
        return _alter_index(reader, ctx)
    index = create_index(reader, ctx)
    if index is not None:
        return index
    if _ignored(tokens, ctx):
        reader.rest()
        return Ddl(())
    reader.start(to_sqlglot(tokens))
    words = " ".join(token.text for token in tokens[:2]).upper()
    ctx.unsupported(words)
    return None


def _alter_index(reader: Reader, ctx: Context) -> Ddl:
    """``ALTER INDEX i ON t …``, of a table that has to be there; i may be one that is not made here."""
    if not reader.word("ALL"):
        reader.name()
    if not reader.take(T.ON):
        reader.fail()
    table = ctx.defined_name(object_name(reader.target(hinted=False)))
    reader.rest()
    ctx.problems.add(
        "ALTER INDEX has no effect: indexes need no rebuilding here", at=ctx.whole, severity="warning"
    )
    return Ddl((s.Effect(n.Cast(n.Text(table), "regclass")),))


_IGNORED = {
    ("CREATE", "STATISTICS"): "statistics are PostgreSQL's own business",
    ("UPDATE", "STATISTICS"): "statistics are PostgreSQL's own business",
    ("DROP", "STATISTICS"): "statistics are PostgreSQL's own business",
    ("CREATE", "PRIMARY"): "XML indexes do not exist here",
    ("CREATE", "XML"): "XML indexes do not exist here",
    ("CREATE", "SPATIAL"): "spatial indexes do not exist here",
    ("CREATE", "FULLTEXT"): "full-text search is not supported",
    ("CREATE", "COLUMNSTORE"): "columnstore indexes do not exist here",
}


def _ignored(tokens: list[Token], ctx: Context) -> bool:
    """Statements about storage only: accepted, with a warning that says so."""
    if len(tokens) < 2:
        return False
    reason = _IGNORED.get((tokens[0].word, tokens[1].word))
    if reason is None:
        return False
    if tokens[1].word != "STATISTICS":
        words = [token.word for token in tokens[:4]]
        name = " ".join(words[: words.index("INDEX") + 1] if "INDEX" in words else words[:2])
        ctx.problems.add(f"{name} has no effect: {reason}", at=ctx.whole, severity="warning")
    return True

"""Rules and defaults of SQL Server 2000: CREATE RULE, CREATE DEFAULT, and what binds them to columns.

PostgreSQL has neither.  The script remembers what they say, and binding one makes it a CHECK or a
DEFAULT of the column: a rule holds for the rows that are put in from then on.
"""

from __future__ import annotations

from ...grammar.lexer import bracketed, name_parts
from ...grammar.tokens import TokenKind
from .. import nodes
from ..catalog.names import ObjectName, fold
from .context import Context


def remember_rule(node: nodes.SqlStatement, ctx: Context) -> bool:
    """``CREATE RULE r AS condition``, ``CREATE DEFAULT d AS expression``: False for other statements."""
    if node.kind not in ("CREATE RULE", "CREATE DEFAULT"):
        return False
    tokens = node.text.tokens
    words = [token.word for token in tokens]
    if "AS" not in words[3:]:
        ctx.problem(f"Incorrect syntax near '{words[-1]}'.", node.span, number=102)
        return True
    place = words.index("AS", 3)
    parts = [token.name for token in tokens[2:place] if token.word != "."]
    key = (words[1], ctx.catalog.key(_named(parts)))
    ctx.catalog.rules[key] = tokens[place + 1 :]
    return True


def forget_rule(kind: str, name: ObjectName, ctx: Context) -> bool:
    """DROP RULE, DROP DEFAULT: whether the script has made it."""
    return ctx.catalog.rules.pop((kind, ctx.catalog.key(name)), None) is not None


def binding(
    node: nodes.Execute, procedure: str, first: str | None, second: str | None, ctx: Context
) -> tuple[str, ...]:
    """Return the statements that sp_bindrule, sp_bindefault and their opposites stand for.

    None at all, with a problem, where the arguments are no literals or name nothing that is known.
    """
    kind = "RULE" if procedure.endswith("rule") else "DEFAULT"
    unbind = procedure.startswith("sp_unbind")
    target = first if unbind else second
    if target is None or (first is None and not unbind):
        ctx.problem(f"{procedure} needs names as literals", node.span)
        return ()
    parts = _parts(target)
    if not 2 <= len(parts) <= 3:
        ctx.problem(
            f"{procedure} binds to columns only: '{target}' is no table.column",
            node.span,
            hint="name the columns of that type one by one",
        )
        return ()
    table, column = ".".join(map(bracketed, parts[:-1])), parts[-1]
    name = bracketed(f"{kind.lower()}__{fold(parts[-2])}__{fold(column)}")
    drop = f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS {name}"
    if unbind:
        return (drop,)
    found = ctx.catalog.rules.get((kind, ctx.catalog.key(_object(first or ""))))
    if found is None:
        number = 15017 if kind == "RULE" else 15016
        ctx.problem(f"The {kind.lower()} '{first}' does not exist.", node.span, number=number)
        return ()
    # A rule has one variable, of any name, for the column's value.
    said = " ".join(bracketed(column) if token.kind is TokenKind.VARIABLE else token.text for token in found)
    if kind == "DEFAULT":
        return drop, f"ALTER TABLE {table} ADD CONSTRAINT {name} DEFAULT {said} FOR {bracketed(column)}"
    return drop, f"ALTER TABLE {table} WITH NOCHECK ADD CONSTRAINT {name} CHECK ({said})"


def _parts(written: str) -> list[str]:
    return [part for part in name_parts(written) or () if part]


def _object(written: str) -> ObjectName:
    return _named(_parts(written))


def _named(parts: list[str]) -> ObjectName:
    return ObjectName(parts[-1] if parts else "", parts[-2] if len(parts) > 1 else None)

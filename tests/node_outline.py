"""Nodes as short text, for the golden cases: what is not written is left out."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator
from typing import Any

from pgsb.compiler import nodes
from pgsb.compiler.builder.batches import parse_script
from pgsb.grammar.problems import Problem, Problems
from pgsb.grammar.source import Source

_NOT_SHOWN = frozenset({"span", "source", "line", "tokens"})
_WHOLE_TEXT = (
    nodes.CreateTable | nodes.CreateProcedure | nodes.CreateFunction | nodes.CreateTrigger | nodes.CreateView
)
_COMMENTS = frozenset(
    {"comments", "trailing_comments", "closing_comments", "body_comments", "handler_comments"}
)


def outline(text: str) -> str:
    """Return the statements of a script, or its problems if there are any."""
    problems = Problems()
    script = parse_script(Source("case.sql", text), problems)
    if problems.errors:
        return "\n".join(map(problem_line, problems.errors))
    lines: list[str] = []
    for index, batch in enumerate(script.batches):
        if index:
            lines.append("GO")
        for statement in batch.statements:
            lines.extend(statement_lines(statement, 0))
        if batch.repeat > 1:
            lines.append(f"GO {batch.repeat}")
        lines.extend(comment_lines(batch.closing_comments, 0))
    lines.extend(f"warning {problem_line(problem)}" for problem in problems)
    return "\n".join(lines)


def problem_line(problem: Problem) -> str:
    """Return one line: place, number, message, hint."""
    number = f"{problem.number}: " if problem.number else ""
    hint = f" | {problem.hint}" if problem.hint else ""
    return f"{problem.span.line}:{problem.span.column}: {number}{problem.message}{hint}"


def is_written(field: dataclasses.Field[Any], value: Any) -> bool:
    """Tell whether a field says something: None, no elements and a plain False do not."""
    if field.name in _NOT_SHOWN | _COMMENTS or value is None or value == ():
        return False
    if field.name == "text" and isinstance(value, nodes.SqlText) and not value.tokens:
        return False
    return value is not False or field.type != "bool"


def comment_lines(comments: tuple[nodes.Comment, ...], depth: int) -> Iterator[str]:
    for comment in comments:
        yield "  " * depth + "# " + " ".join(comment.text.split())


def statement_lines(statement: nodes.Statement, depth: int) -> Iterator[str]:
    """Yield a line for the statement and indented ones for those inside it."""
    yield from comment_lines(statement.comments, depth)
    kept = nodes.children_of(statement)
    fields = []
    for field in dataclasses.fields(statement):
        value = getattr(statement, field.name)
        if not is_written(field, value):
            continue
        if field.name == "text" and isinstance(statement, _WHOLE_TEXT):
            continue
        if any(value is child for child in kept) or (
            isinstance(value, tuple) and isinstance(value[0], nodes.Statement)
        ):
            continue
        shown = show(value)
        if shown != "ModuleOptions()":
            fields.append(f"{field.name}={shown}")
    line = " ".join([type(statement).__name__, *fields])
    trailing = "".join(f"  # {' '.join(c.text.split())}" for c in statement.trailing_comments)
    yield "  " * depth + line + trailing
    if isinstance(statement, nodes.If):
        yield from statement_lines(statement.then, depth + 1)
        if statement.otherwise is not None:
            yield "  " * depth + "Else"
            yield from statement_lines(statement.otherwise, depth + 1)
        return
    if isinstance(statement, nodes.TryCatch):
        for child in statement.body:
            yield from statement_lines(child, depth + 1)
        yield from comment_lines(statement.body_comments, depth + 1)
        yield "  " * depth + "Catch"
        for child in statement.handler:
            yield from statement_lines(child, depth + 1)
        yield from comment_lines(statement.handler_comments, depth + 1)
        return
    for child in kept:
        yield from statement_lines(child, depth + 1)
    yield from comment_lines(getattr(statement, "closing_comments", ()), depth + 1)


def show(value: Any) -> str:
    match value:
        case nodes.SqlText():
            return "`" + re.sub(r"\s+", " ", value.text) + "`"
        case nodes.Identifier():
            return value.text if re.fullmatch(r"[\w#$@]+", value.text) else f"[{value.text}]"
        case nodes.QualifiedName():
            return value.text
        case nodes.Variable():
            return value.name
        case nodes.StringLiteral():
            return ("N" if value.national else "") + repr(value.value)
        case tuple():
            return "(" + ", ".join(show(item) for item in value) + ")"
        case nodes.DataType() if value.xml_collection is None and not value.varying:
            arguments = f"({','.join(value.arguments)})" if value.arguments else ""
            return value.name.text + arguments
        case nodes.Node():
            shown = [
                f"{field.name}={show(item)}"
                for field in dataclasses.fields(value)
                if field.name != "text" or not isinstance(value, nodes.TableDefinition)
                if is_written(field, item := getattr(value, field.name))
            ]
            return f"{type(value).__name__}({' '.join(shown)})"
        case _:
            return str(value)

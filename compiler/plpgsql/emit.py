"""Target tree → text: the only place that quotes strings and lays out lines.

The output is deterministic: it depends on the tree alone.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from operator import attrgetter
from typing import Any

from ..catalog.names import in_comment, literal
from ..registry import Registry
from ..target import nodes as n
from ..target import statements as s
from ..target.emit import text_of
from . import nodes as pl

INDENT = "    "
WIDTH = 116
"""Lines are broken where a choice exists; text of queries is never touched."""


def expression(node: pl.Expr) -> str:
    """Return the text of an expression."""
    return _texts[type(node)](node)


def _cast(node: pl.Cast) -> str:
    operand = node.operand
    inner = expression(operand)
    simple = isinstance(operand, pl.Text | pl.Number | pl.Constant | pl.Name | pl.Invoke)
    return f"{inner}::{node.type}" if simple else f"CAST({inner} AS {node.type})"


def _array(node: pl.Array) -> str:
    suffix = f"::{node.element_type}[]" if node.element_type else ""
    if not node.items:
        return f"'{{}}'{suffix}"
    return f"ARRAY[{', '.join(map(expression, node.items))}]{suffix}"


_texts: dict[type, Callable[[Any], str]] = {
    pl.Raw: lambda node: text_of(node.code),
    pl.Text: lambda node: literal(node.value),
    pl.Number: lambda node: str(node.value),
    pl.Constant: lambda node: node.word,
    pl.Name: attrgetter("spelling"),
    pl.Invoke: lambda node: f"{node.function}({_arguments(node.arguments, node.named)})",
    pl.Array: _array,
    pl.Cast: _cast,
}


def _arguments(positional: tuple[pl.Expr, ...], named: tuple[tuple[str, pl.Expr], ...]) -> str:
    texts = [expression(argument) for argument in positional]
    texts += [f"{name} => {expression(value)}" for name, value in named]
    return ", ".join(texts)


def statements(body: tuple[pl.Statement, ...], depth: int = 0) -> str:
    """Return the text of statements, each line ended by a newline."""
    writer = _Writer(depth)
    writer.body(body)
    return writer.text()


def top_level(item: pl.TopLevel) -> str:
    """Return the text of a top-level statement, without its closing semicolon."""
    match item:
        case pl.Plain(statement):
            return text_of(statement)
        case pl.Select(call):
            return f"SELECT {expression(call)}"
        case pl.Comment(text):
            return _tidy_comment(text)
        case pl.Do(body, tag):
            return f"DO {_dollar(tag, _block_text(body))}"
        case pl.Routine():
            return _routine(item)


def together(items: Sequence[pl.TopLevel]) -> str:
    """Return one statement that does all of them or, where one fails, nothing: a DO block.

    None of them returns rows. Each keeps its lines as :func:`top_level` writes them.
    """
    texts: list[str] = []
    for item in items:
        match item:
            case pl.Select(call):
                texts.append(f"PERFORM {expression(call)};")
            case pl.Plain(s.Effect(call)):
                texts.append(f"PERFORM {text_of(call)};")
            case pl.Comment():
                texts.append(top_level(item))
            case _:
                texts.append(f"{top_level(item)};")
    body = "\n\n".join(("#variable_conflict use_column\nBEGIN", *texts, "END;\n"))
    return f"DO {_dollar('whole', body)}"


def _routine(routine: pl.Routine) -> str:
    kind = "PROCEDURE" if routine.returns is None else "FUNCTION"
    head = f"CREATE {'OR REPLACE ' if routine.replace else ''}{kind} {routine.name}("
    parameters = [_parameter(parameter) for parameter in routine.parameters]
    one_line = head + ", ".join(parameters) + ")"
    if len(one_line) <= WIDTH:
        lines = [one_line]
    else:
        lines = [head, *(f"{INDENT}{text}," for text in parameters[:-1]), f"{INDENT}{parameters[-1]})"]
    if routine.returns is not None:
        lines.append(f"RETURNS {routine.returns}")
    lines.extend(routine.attributes)
    if routine.sql_body is not None:
        lines.append(f"LANGUAGE sql AS {_dollar(routine.tag, text_of(routine.sql_body) + chr(10))}")
    else:
        assert routine.body is not None
        lines.append(f"LANGUAGE plpgsql AS {_dollar(routine.tag, _block_text(routine.body))}")
    preface = "".join(_tidy_comment(comment.text) + "\n" for comment in routine.preface)
    return preface + "\n".join(lines)


def _parameter(parameter: pl.Parameter) -> str:
    mode = "" if parameter.mode == "IN" else f"{parameter.mode} "
    default = "" if parameter.default is None else f" DEFAULT {expression(parameter.default)}"
    return f"{mode}{parameter.name} {parameter.type}{default}"


def _block_text(block: pl.Block) -> str:
    writer = _Writer(0)
    writer.line("#variable_conflict use_column")
    writer.statement(block)
    return writer.text()


def _dollar(tag: str, body: str) -> str:
    """Quote ``body`` with a tag that does not occur in it."""
    safe = "".join(c if c.isascii() and (c.isalnum() or c == "_") else "_" for c in tag)
    if not safe or safe[0].isdigit():
        safe = f"_{safe}"
    quote, number = f"${safe}$", 1
    while quote in body:
        number += 1
        quote = f"${safe}_{number}$"
    return f"{quote}\n{body}{quote}"


def _tidy_comment(text: str) -> str:
    return text.rstrip()


_LINE_END = re.compile(r"\r\n|\r|\n")
_STRING_OR_NAME = re.compile(r"""'(?:[^']|'')*'|(?:"(?:[^"]|"")*")""")
_NAME = re.compile(r'"(?:[^"]|"")*"')


def _layout_lines(text: str) -> list[str]:
    """Split at the line ends that are layout: those within a quoted name are part of it."""
    if '"' not in text or "\n" not in text:
        return text.split("\n")
    lines = [""]
    at = 0
    for quoted in _STRING_OR_NAME.finditer(text):
        # A string may be the text of a statement, with names of its own.
        for name in _NAME.finditer(text, quoted.start(), quoted.end()):
            first, *rest = text[at : name.start()].split("\n")
            lines[-1] += first
            lines += rest
            lines[-1] += name.group()
            at = name.end()
    first, *rest = text[at:].split("\n")
    lines[-1] += first
    return lines + rest


_layouts: Registry[Callable[[Any, Any], None]] = Registry("layouts")


class _Writer:
    """Lays statements out, four blanks a level."""

    def __init__(self, depth: int) -> None:
        self._lines: list[str] = []
        self._depth = depth

    def text(self) -> str:
        """Return what was written, a newline after each line."""
        return "\n".join([*self._lines, ""])

    def line(self, text: str) -> None:
        """Write one line at the current depth."""
        self._lines.append(INDENT * self._depth + text if text else "")

    def query(self, before: str, query: n.Node, after: str) -> None:
        """Write a query or another statement of SQL between two texts."""
        self._lines_of(f"{before}{text_of(query)}{after}")

    def _lines_of(self, text: str) -> None:
        """Write text whose line ends are layout (target/layout.py) and go to the current depth."""
        for line in _layout_lines(text):
            self.line(line)

    def body(self, body: tuple[pl.Statement, ...]) -> None:
        """Write the statements of a block one level deeper than its frame; never nothing."""
        written = len(self._lines)
        previous: pl.Statement | None = None
        does_nothing = True
        for statement in body:
            if isinstance(statement, pl.Blank):
                if previous is None or isinstance(previous, pl.Blank):
                    continue
            elif not isinstance(statement, pl.Comment):
                does_nothing = False
            previous = statement
            self.statement(statement)
        while len(self._lines) > written and self._lines[-1] == "":
            self._lines.pop()
        if does_nothing:
            self.line("NULL;")

    def nested(self, body: tuple[pl.Statement, ...]) -> None:
        """Write a body one level deeper."""
        self._depth += 1
        self.body(body)
        self._depth -= 1

    def noted(self, text: str, note: str | None) -> None:
        """Write a line with a remark behind it."""
        if note:
            text = f"{text}  -- {in_comment(note)}"
        self._lines.append(INDENT * self._depth + text)

    def statement(self, node: pl.Statement) -> None:
        """Write one statement. Raises NoHandler for a class without layout."""
        _layouts[type(node)](self, node)

    @_layouts.register
    def _(self, node: pl.Comment) -> None:
        # Not splitlines(): a form feed ends no comment, and what is behind it would be SQL.
        for line in _LINE_END.split(_tidy_comment(node.text)):
            self.line(line.strip() if line.lstrip().startswith("--") else line.rstrip())

    @_layouts.register
    def _(self, node: pl.Blank) -> None:
        self._lines.append("")

    @_layouts.register
    def _(self, node: pl.Null) -> None:
        self.line("NULL;")

    @_layouts.register
    def _(self, node: pl.Assign) -> None:
        target = node.target if isinstance(node.target, str) else text_of(node.target)
        self.noted(f"{target} := {expression(node.value)};", node.note)

    @_layouts.register
    def _(self, node: pl.Sql) -> None:
        into = f" INTO {', '.join(node.into)}" if node.into else ""
        self.query("", node.statement, f"{into};")

    @_layouts.register
    def _(self, node: pl.Define) -> None:
        self._lines_of(f"{_routine(node.routine)};")

    @_layouts.register
    def _(self, node: pl.SelectInto) -> None:
        text = text_of(node.query)
        break_ = "\n" if "\n" in text else " "
        self._lines_of(f"{text}{break_}INTO {', '.join(node.into)};")

    @_layouts.register
    def _(self, node: pl.Perform) -> None:
        self.line(f"PERFORM {expression(node.call)};")

    @_layouts.register
    def _(self, node: pl.Call) -> None:
        self.noted(f"CALL {node.procedure}({_arguments(node.arguments, node.named)});", node.note)

    @_layouts.register
    def _(self, node: pl.Execute) -> None:
        into = f" INTO {', '.join(node.into)}" if node.into else ""
        self.line(f"EXECUTE {expression(node.text)}{into}{_using(node.using)};")

    @_layouts.register
    def _(self, node: pl.CommitIf) -> None:
        # The search_path of the transaction before ended with it.
        ended = "COMMIT; PERFORM ssb_internal.pin_search_path();"
        self.line(f"IF {expression(node.condition)} THEN {ended} END IF;")

    @_layouts.register
    def _(self, node: pl.AssignIf) -> None:
        assignment = f"{node.target} := {expression(node.value)};"
        self.line(f"IF {expression(node.condition)} THEN {assignment} END IF;")

    @_layouts.register
    def _(self, node: pl.GetRowCount) -> None:
        self.line(f"GET DIAGNOSTICS {node.target} = ROW_COUNT;")

    @_layouts.register
    def _(self, node: pl.GetDetail) -> None:
        hint = "" if node.hint is None else f", {node.hint} = PG_EXCEPTION_HINT"
        self.line(f"GET STACKED DIAGNOSTICS {node.target} = PG_EXCEPTION_DETAIL{hint};")

    @_layouts.register
    def _(self, node: pl.Exit) -> None:
        self.noted(_jump("EXIT", node.label, node.when), node.note)

    @_layouts.register
    def _(self, node: pl.Continue) -> None:
        self.line(_jump("CONTINUE", node.label, node.when))

    @_layouts.register
    def _(self, node: pl.Return) -> None:
        self.line("RETURN;" if node.value is None else f"RETURN {expression(node.value)};")

    @_layouts.register
    def _(self, node: pl.ReturnQuery) -> None:
        self.query("RETURN QUERY ", node.query, ";")

    @_layouts.register
    def _(self, node: pl.Open) -> None:
        self.query(f"OPEN {node.cursor} FOR ", node.query, ";")

    @_layouts.register
    def _(self, node: pl.OpenExecute) -> None:
        self.line(f"OPEN {node.cursor} FOR EXECUTE {expression(node.text)}{_using(node.using)};")

    @_layouts.register
    def _(self, node: pl.ForExecute) -> None:
        self.line(f"FOR {node.record} IN EXECUTE {expression(node.text)}{_using(node.using)} LOOP")
        self.nested(node.body)
        self.line("END LOOP;")

    @_layouts.register
    def _(self, node: pl.Block) -> None:
        if node.label:
            self.line(f"<<{node.label}>>")
        if node.declarations:
            self.line("DECLARE")
            self._depth += 1
            for declaration in node.declarations:
                initial = "" if declaration.initial is None else f" := {expression(declaration.initial)}"
                self.line(f"{declaration.name} {declaration.type}{initial};")
            self._depth -= 1
        self.noted("BEGIN", node.note)
        self.nested(node.body)
        if node.handler is not None:
            self._handler(node.handler, node.condition)
        self.line(f"END {node.label};" if node.label else "END;")

    HANDLER_WIDTH = 132
    """A handler says the same thing everywhere: better one longer line than two."""

    def _handler(self, handler: tuple[pl.Statement, ...], condition: str) -> None:
        """Write a handler on one line where it fits, else the parts that fit on lines below."""
        inner = _Writer(0)
        inner.body(handler)
        head = f"EXCEPTION WHEN {condition} THEN"
        whole = f"{head} {' '.join(inner._lines)}"
        if len(whole) + len(INDENT) * self._depth <= self.HANDLER_WIDTH:
            self.line(whole)
            return
        current = head
        self._depth += 1
        lines = [head]
        for part in inner._lines:
            if (
                current is not head
                and len(current) + 1 + len(part) + len(INDENT) * self._depth <= self.HANDLER_WIDTH
            ):
                current = f"{current} {part}"
                lines[-1] = current
            else:
                current = part
                lines.append(part)
        self._depth -= 1
        self.line(lines[0])
        self._depth += 1
        for part in lines[1:]:
            self.line(part)
        self._depth -= 1

    @_layouts.register
    def _(self, node: pl.Raise) -> None:
        self.line(f"RAISE EXCEPTION USING ERRCODE = '{node.sqlstate}', MESSAGE = {literal(node.message)};")

    @_layouts.register
    def _(self, node: pl.If) -> None:
        for number, (condition, then) in enumerate(node.branches):
            word = "ELSIF" if number else "IF"
            self.noted(f"{word} {expression(condition)} THEN", None if number else node.note)
            self.nested(then)
        if node.otherwise is not None:
            self.line("ELSE")
            self.nested(node.otherwise)
        self.line("END IF;")

    @_layouts.register
    def _(self, node: pl.Loop) -> None:
        if node.label:
            self.line(f"<<{node.label}>>")
        self.line("LOOP" if node.condition is None else f"WHILE {expression(node.condition)} LOOP")
        self.nested(node.body)
        self.line(f"END LOOP {node.label};" if node.label else "END LOOP;")

    @_layouts.register
    def _(self, node: pl.ForRows) -> None:
        if node.label:
            self.line(f"<<{node.label}>>")
        self.query(f"FOR {node.record} IN ", node.query, " LOOP")
        self.nested(node.body)
        self.line(f"END LOOP {node.label};" if node.label else "END LOOP;")

    @_layouts.register
    def _(self, node: pl.ForCount) -> None:
        self.line(f"FOR {node.counter} IN 1..{node.times} LOOP")
        self.nested(node.body)
        self.line("END LOOP;")

    @_layouts.register
    def _(self, node: pl.Together) -> None:
        inner = _Writer(0)
        inner.body(node.statements)
        self.line(" ".join(inner._lines))

    @_layouts.register
    def _(self, node: pl.Case) -> None:
        self.line(f"CASE {node.selector}")
        for number, body in node.branches:
            self.line(f"WHEN {number} THEN")
            self.nested(body)
        self.line("END CASE;")


def _jump(word: str, label: str | None, when: pl.Expr | None) -> str:
    text = f"{word} {label}" if label else word
    return f"{text} WHEN {expression(when)};" if when is not None else f"{text};"


def _using(values: tuple[pl.Expr, ...]) -> str:
    return f" USING {', '.join(map(expression, values))}" if values else ""

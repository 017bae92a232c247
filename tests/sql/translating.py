"""Translates one piece of SQL outside the compiler, and writes it so that PL/pgSQL can run it.

A case file may begin with ``-- given``: DECLARE and CREATE statements, one a line, for the
variables and tables of its cases.  Variables stand in a block labelled ``p``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from pgsb.compiler.catalog.builtin_relations import QUEUE_COLUMNS
from pgsb.compiler.catalog.names import ObjectName, fold, literal, quote
from pgsb.compiler.catalog.objects import (
    CursorRow,
    Expression,
    ForeignKey,
    Known,
    ScalarVariable,
    SchemaBinding,
    TableInfo,
    TableVariable,
    UserFunction,
)
from pgsb.compiler.catalog.types import DATETIME, INT, TINYINT, SqlType, nvarchar, sql_type
from pgsb.compiler.nodes import SqlText
from pgsb.compiler.sql import translate as o
from pgsb.compiler.sql.interface import Assignment, Ddl, Dml, Query, Statement, TableVariableDml
from pgsb.compiler.target import nodes as n
from pgsb.compiler.target.emit import text_of
from pgsb.grammar.lexer import lex
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from pgsb.grammar.tokens import TokenKind

_TYPE = re.compile(r"(@\w+)\s+(\w+)(?:\(([^)]*)\))?(?:\s*=\s*(.*))?\Z")


@dataclass
class Givens:
    """What stands behind ``-- given``: a scope for the translation, a set-up for the server."""

    variables: dict[str, ScalarVariable] = field(default_factory=dict)
    values: dict[str, str] = field(default_factory=dict)
    """T-SQL text of initial values, by reference."""
    table_variables: dict[str, TableVariable] = field(default_factory=dict)
    tables: dict[tuple[str, str], TableInfo] = field(default_factory=dict)
    functions: dict[tuple[str, str], UserFunction] = field(default_factory=dict)
    set_up: list[str] = field(default_factory=list)
    """PostgreSQL statements that make tables and row types."""
    identity_inserts: set[str] = field(default_factory=set)
    database: str = ""
    default_database: str | None = None
    case_insensitive: bool = False
    tells_varchar: bool = False
    nulls_are_equal: bool = False
    checks: bool = False
    knows_server: bool = False
    row_limit: str | None = None
    locks_rows: bool = False
    level_hint: str = ""
    changed_tables: frozenset[str] = frozenset()
    schema_binding: SchemaBinding | None = None
    limits_recursion: bool = True

    # ------------------------------------------------------------ SqlScope

    def variable(self, name: str) -> ScalarVariable | None:
        return self.variables.get(name.lower())

    def table_variable(self, name: str) -> TableVariable | None:
        return self.table_variables.get(name.lower())

    def table(self, name: ObjectName) -> TableInfo | None:
        return self.tables.get(name.parts(self.database, self.default_database))

    def note_missing_function(self, name: ObjectName) -> None:
        pass

    def global_variable(self, name: str) -> Known | None:
        known = {"@@rowcount": "p.row_count", "@@error": "p.last_error", "@@trancount": "p.trancount"}
        return Known(n.Variable(known[name]), INT) if name in known else None

    def context_function(self, name: str) -> Known | None:
        if name == "error_message":
            return Known(n.Variable("p.failure"), nvarchar(4000))
        return None

    def updated_column(self, name: str) -> Known | None:
        return None

    def updated_columns(self) -> Known | None:
        return None

    def kept_rows(self, name: str) -> str | None:
        return None

    def synonym(self, name: ObjectName) -> ObjectName:
        return name

    def empty_like(self, name: str) -> str | None:
        return "dbo.orders" if name.lower() == "deleted" and "inserted" in self.values else None

    def cursor_status(self, scope: str, name: str) -> Known | None:
        return None

    def cursor_row(self, name: str) -> CursorRow | None:
        if name.lower() != "c":
            return None
        require = n.Call("ssb_internal.require_row", (n.Text("c"), n.Integer(1), n.Integer(1)))
        return CursorRow((("ctid", n.Variable("p.current_row")),), require)

    def identity_insert(self, name: ObjectName) -> bool:
        return fold(name.name) in self.identity_inserts

    def user_function(self, name: ObjectName) -> UserFunction | None:
        return self.functions.get(name.parts(self.database, self.default_database))

    def type_names(self) -> Iterator[str]:
        return iter(())

    def user_type(self, name: ObjectName) -> SqlType | None:
        return None

    def is_cursor(self, name: str) -> bool:
        return False

    def note_missing_rows(self, name: ObjectName) -> None:
        pass

    @property
    def is_module(self) -> bool:
        return False

    def note_foreign_key(self, key: ForeignKey) -> None:
        pass

    def not_null_type(self, name: ObjectName) -> bool:
        return False

    # ------------------------------------------------------------ reading

    def add(self, line: str) -> None:
        """Take one line of the ``-- given`` part."""
        words = line.split()
        if words[0].lower() == "declare" and words[2].lower() == "table":
            self._table_variable(words[1], line[line.index("(") :])
        elif words[0].lower() == "declare":
            for part in re.split(r",\s*(?=@)", line[len("declare ") :]):
                self._variable(part.strip())
        elif words[0].lower() == "create":
            self._create(line)
        elif words[:2] == ["set", "identity_insert"]:
            self.identity_inserts.add(fold(words[2]))
        elif words[0] == "use":
            self.database = words[1]
        elif words[0] == "default":
            self.default_database = words[1]
        elif words[0] == "collation":
            self.case_insensitive = words[1] == "ci"
        elif words[0] == "queue":
            name = ObjectName(words[1])
            self.tables["dbo", fold(words[1])] = TableInfo(name, QUEUE_COLUMNS, read_only=True)
            columns = ", ".join(f"{c.name} {c.type.postgres if c.type else 'text'}" for c in QUEUE_COLUMNS)
            self.set_up.append(f"CREATE TABLE dbo.{quote(fold(words[1]))} ({columns})")
        elif words[0] == "function":
            self.functions["dbo", words[1]] = UserFunction(INT, (TINYINT, nvarchar(10), DATETIME))
        elif words[0] == "sql":
            self.set_up.append(line[len("sql ") :])
        else:
            raise ValueError(line)

    def _variable(self, text: str) -> None:
        match = _TYPE.match(text)
        assert match, text
        name, type_name, arguments, value = match.groups()
        lengths = tuple(
            -1 if part.strip() == "max" else int(part) for part in (arguments or "").split(",") if part
        )
        reference = name.lstrip("@")
        self.variables[name.lower()] = ScalarVariable(
            reference, f"p.{reference}", sql_type(type_name, lengths)
        )
        if value is not None:
            self.values[reference] = value

    def _table_variable(self, name: str, definition: str) -> None:
        problems = Problems()
        info = o.translate_table_variable(sql_text(definition), name, self, problems)
        assert info is not None and not problems, problems.report()
        reference = name.lstrip("@").lower()
        row_type = f'dbo."p{name.lower()}"'
        self.table_variables[name.lower()] = TableVariable(reference, f"p.{reference}", row_type, info)
        columns = ", ".join(
            f"{quote(fold(c.name))} {c.type.postgres if c.type else 'text'}" for c in info.columns
        )
        self.set_up.append(f"CREATE TYPE {row_type} AS ({columns})")

    def _create(self, line: str) -> None:
        problems = Problems()
        made = o.translate_statement(sql_text(line), self, problems)
        assert isinstance(made, Ddl) and not problems, problems.report()
        self.set_up += ddl(made)
        for info in made.defines:
            assert info.name is not None
            self.tables[info.name.parts(self.database, self.default_database)] = info


def sql_text(text: str) -> SqlText:
    """Lex a piece of T-SQL as the parser hands it over."""
    problems = Problems()
    source = Source("case.sql", text)
    tokens = tuple(token for token in lex(source, problems) if token.kind != TokenKind.COMMENT)
    assert not problems, problems.report()
    return SqlText(span=source.span(0, len(text)), tokens=tokens)


def translated(text: str, givens: Givens, kind: str) -> tuple[Statement | Expression | None, Problems]:
    """The translation of a case, and its problems."""
    problems = Problems()
    piece = sql_text(text.rstrip("\n"))
    if kind == "expressions":
        return o.translate_expression(piece, givens, problems), problems
    if kind == "conditions":
        return o.translate_condition(piece, givens, problems), problems
    return o.translate_statement(piece, givens, problems), problems


def translate(text: str, givens: Givens, kind: str) -> str:
    """The translation as PL/pgSQL, or the report of its problems."""
    result, problems = translated(text, givens, kind)
    if problems.errors:
        return problems.report()
    shown = text_of(result.code) if isinstance(result, Expression) else write(result)
    return "\n".join(part for part in (shown, problems.report()) if part)


def write(result: Statement | None) -> str:
    """A translated statement as PL/pgSQL would run it."""
    if isinstance(result, Query):
        return _lines(result.before, text_of(result.code))
    if isinstance(result, Dml):
        code = text_of(result.code)
        sql = f"{code} INTO row_count" if result.counts else code
        return _lines(result.before, sql, *map(text_of, result.after))
    if isinstance(result, Ddl):
        return ";\n".join(ddl(result))
    if isinstance(result, TableVariableDml):
        before = [text_of(result.output_before.code)] if result.output_before is not None else []
        reference = result.variable.reference
        if result.append is not None and not result.unique:
            return f"{reference} := array_append({reference}, {text_of(result.append)})"
        if result.append is not None:
            row = n.Word("new_row")
            unique = [
                text_of(n.replaced(one, lambda node: row if node is TableVariableDml.NEW_ROW else None))
                for one in result.unique
            ]
            return ";\n".join(
                [
                    f"new_row := {text_of(result.append)}",
                    *(f"PERFORM {one}" for one in unique),
                    f"{reference} := array_append({reference}, new_row)",
                ]
            )
        assert result.replace is not None
        return _lines(result.before, *before, f"{text_of(result.replace)}\nINTO {reference}, row_count")
    if isinstance(result, Assignment):
        return _assignment(result)
    return ""


def ddl(result: Ddl) -> list[str]:
    """The statements of a definition."""
    return [text_of(one) for one in result.statements]


def _lines(before: tuple[n.Node, ...], *rest: str) -> str:
    return ";\n".join([*map(_without_result, before), *rest])


def _assignment(result: Assignment) -> str:
    values = [
        f"{target} := {text_of(value)}" for target, value in zip(result.targets, result.values, strict=True)
    ]
    if result.rows is None:
        return ";\n".join(values)
    if result.exactly_one_row and result.query is not None:
        return _lines(result.before, f"{text_of(result.query)}\nINTO {', '.join(result.targets)}")
    body = " ".join(f"{value};" for value in values)
    return _lines(result.before, f"FOR next_row IN\n{text_of(result.rows)}\nLOOP {body} END LOOP")


def runnable(result: Statement | Expression | None, givens: Givens, kind: str) -> str:
    """A DO block that runs a translation with the given variables."""
    declarations = [
        "row_count bigint := 0;",
        "last_error integer := 0;",
        "trancount integer := 0;",
        "failure text := 'none';",
        "current_row tid;",
        "next_row record;",
    ]
    for variable in givens.variables.values():
        value = givens.values.get(variable.reference)
        start = ""
        if value is not None:
            problems = Problems()
            first = o.translate_expression(sql_text(value), givens, problems, target=variable.type)
            start = f" := {text_of(first.code)}"
            assert not problems, problems.report()
        declarations.append(f"{variable.reference} {variable.type.postgres}{start};")
    for table in givens.table_variables.values():
        declarations.append(f"{table.reference} {table.row_type}[] := '{{}}';")
    if isinstance(result, TableVariableDml) and result.unique:
        declarations.append(f"new_row {result.variable.row_type};")
    text = "#variable_conflict use_column\n<<p>>\nDECLARE\n  " + "\n  ".join(declarations)
    return "DO " + literal(f"{text}\nBEGIN\n{_body(result, kind)};\nEND;")


def _body(result: Statement | Expression | None, kind: str) -> str:
    if isinstance(result, Expression):
        code = text_of(result.code)
        return f"IF {code} THEN NULL; END IF" if kind == "conditions" else f"PERFORM {code}"
    if isinstance(result, Query):
        return _lines(result.before, _walked(text_of(result.code)))
    if isinstance(result, Dml):
        after = [_without_result(one) for one in result.after]
        sql = _walked(text_of(result.code)) if result.output is not None else text_of(result.code)
        before = [_without_result(one) for one in result.before]
        return _lines((), *before, f"{sql} INTO row_count" if result.counts else sql, *after)
    if isinstance(result, TableVariableDml) and result.output_before is not None:
        assert result.replace is not None
        before = _walked(text_of(result.output_before.code))
        return f"{before};\n{text_of(result.replace)} INTO {result.variable.reference}, row_count"
    if isinstance(result, Ddl):
        return _lines((), *([_without_result(one) for one in result.statements] or ["NULL"]))
    return write(result) or "NULL"


def _without_result(statement: n.Node) -> str:
    text = text_of(statement)
    return f"PERFORM {text[7:]}" if text.startswith("SELECT ") else text


def _walked(query: str) -> str:
    """Rows that nobody takes are walked through."""
    return f"FOR next_row IN\n{query}\nLOOP END LOOP"

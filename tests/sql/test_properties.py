"""Rules that hold for every input: literals, identifiers, arithmetic, line breaks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from decimal import ROUND_DOWN, Decimal, localcontext

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from sql.translating import Givens, sql_text
from sqlglot import exp

from pgsb.compiler.analysis.mentions import tokens_of
from pgsb.compiler.catalog.names import MAX_IDENTIFIER_BYTES, fold, quote
from pgsb.compiler.sql.parse.tokens import Unreadable, to_sqlglot
from pgsb.compiler.sql.parse.trees import READERS, read_expression, readable_expression
from pgsb.compiler.sql.translate import translate_expression
from pgsb.compiler.target.emit import text_of
from pgsb.compiler.target.layout import BREAK, CLOSE, OPEN, flat, layout
from pgsb.grammar.problems import Problems
from pgsb.grammar.source import Source
from support import Connection, Database, examples

pytestmark = pytest.mark.one_postgres

quick = settings(
    max_examples=examples(150),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
# What a script can hold: no NUL, which PostgreSQL cannot keep either, and no lone surrogates.
characters = st.characters(blacklist_categories=("Cs",), blacklist_characters="\0")


@pytest.fixture(scope="module")
def server(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all examples."""
    import psycopg

    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        yield connection


def _translated(expression: str) -> str:
    problems = Problems()
    result = translate_expression(sql_text(expression), Givens(), problems)
    assert not problems, problems.report()
    return text_of(result.code)


def _answer(server: Connection, expression: str) -> object:
    row = server.execute(f"SELECT {_translated(expression)}".encode(), prepare=False).fetchone()
    assert row is not None
    return row[0]


_OPERANDS = ("@a", "@@ROWCOUNT", "1", "1.5", "'x'", "N'x'", "0x12", "$1", "NULL", "a")
_SIGNS = ("=", "<>", "!=", "<", "<=", ">", ">=", "!<", "+", "-", "*", "/", "%", "IS")


@pytest.mark.parametrize("sign", _SIGNS)
@pytest.mark.parametrize("left", _OPERANDS)
def test_short_expressions_are_read_as_the_reader_reads_them(left: str, sign: str) -> None:
    for right in _OPERANDS:
        tokens = tokens_of(Source("expression", f"{left} {sign} {right}"))
        try:
            whole = READERS.reader.whole(to_sqlglot(tokens), READERS.reader.expression_)
        except Unreadable:
            assert readable_expression(tokens) is None
        else:
            read = read_expression(tokens)
            assert read == whole
            assert _places(read) == _places(whole)


def _places(tree: exp.Expr) -> list[tuple[object, object]]:
    return [(node.meta.get("start"), node.meta.get("end")) for node in tree.walk()]


@quick
@given(st.text(characters, max_size=30), st.booleans())
def test_a_string_literal_keeps_its_characters(server: Connection, text: str, national: bool) -> None:
    # A backslash before a line end continues the literal in T-SQL.
    assume("\\\n" not in text and "\\\r\n" not in text)
    doubled = text.replace("'", "''")
    written = f"{'N' if national else ''}'{doubled}'"
    assert _answer(server, written) == text
    assert "\n" not in _translated(written)


@quick
@given(st.text(characters, min_size=1, max_size=20))
def test_a_quoted_identifier_keeps_its_characters(server: Connection, name: str) -> None:
    assume(len(name.encode()) <= MAX_IDENTIFIER_BYTES)
    cursor = server.execute(f"SELECT 1 AS {quote(name)}".encode(), prepare=False)
    assert cursor.description is not None
    assert cursor.description[0].name == name


@quick
@given(st.text(characters, min_size=1, max_size=128), st.text(characters, min_size=1, max_size=128))
def test_folding_keeps_names_apart_that_t_sql_keeps_apart(first: str, second: str) -> None:
    assert len(fold(first).encode()) <= MAX_IDENTIFIER_BYTES
    assert (fold(first) == fold(second)) == (first.lower() == second.lower())


# ---------------------------------------------------------------- arithmetic

numbers = st.integers(-50, 50)


@st.composite
def sums(draw: st.DrawFn, depth: int = 3) -> tuple[str, int]:
    """An integer expression of T-SQL and its value; + - & | ^ are of one level, left to right."""
    if depth == 0 or draw(st.booleans()):
        number = draw(numbers)
        return (str(number), number) if number >= 0 else (f"({number})", number)
    count = draw(st.integers(2, 3))
    operands = [draw(sums(depth - 1)) for _ in range(count)]
    operators = [draw(st.sampled_from("+-*&|^")) for _ in range(count - 1)]
    texts = [f"({text})" if draw(st.booleans()) or not text.isdigit() else text for text, _ in operands]
    text = texts[0]
    # Multiplications first, then the rest from the left.
    terms = [operands[0][1]]
    pending: list[str] = []
    for operator, operand, shown in zip(operators, operands[1:], texts[1:], strict=True):
        text += f" {operator} {shown}"
        if operator == "*":
            terms[-1] *= operand[1]
        else:
            pending.append(operator)
            terms.append(operand[1])
    value = terms[0]
    for operator, term in zip(pending, terms[1:], strict=True):
        value = {
            "+": value + term,
            "-": value - term,
            "&": value & term,
            "|": value | term,
            "^": value ^ term,
        }[operator]
    return text, value


@quick
@given(sums())
def test_integer_expressions_have_t_sqls_precedence(server: Connection, case: tuple[str, int]) -> None:
    text, value = case
    assume(abs(value) < 2**31 and "--" not in text)
    assert _answer(server, text) == value


def _exact(dividend: Decimal, divisor: int | Decimal, scale: int) -> Decimal:
    with localcontext() as context:
        context.prec = 99
        return (dividend / divisor).quantize(Decimal(1).scaleb(-scale), rounding=ROUND_DOWN)


@quick
@given(
    st.sampled_from([8, 14, 19]),
    st.integers(0, 3),
    st.integers(1, 99999),
    st.integers(0, 3),
    st.data(),
)
def test_decimal_division_is_cut_to_t_sqls_scale(
    server: Connection, precision: int, left_scale: int, right: int, right_scale: int, data: st.DataObject
) -> None:
    left = data.draw(st.integers(1 - 10**precision, 10**precision - 1))
    dividend, divisor = Decimal(left).scaleb(-left_scale), Decimal(right).scaleb(-right_scale)
    types = f"decimal({precision}, {left_scale})", f"decimal(9, {right_scale})"
    expression = f"CAST('{dividend:f}' AS {types[0]}) / CAST('{divisor:f}' AS {types[1]})"
    scale = max(6, left_scale + 9 + 1)
    assert _answer(server, expression) == _exact(dividend, divisor, scale)


@quick
@given(
    st.lists(st.integers(1 - 10**18, 10**18 - 1), min_size=1, max_size=9), st.sampled_from(["", "DISTINCT "])
)
def test_an_average_is_cut(server: Connection, values: list[int], distinct: str) -> None:
    rows = [Decimal(value).scaleb(-2) for value in values]
    listed = ", ".join(f"(CAST('{row:f}' AS decimal(18, 2)))" for row in rows)
    counted = list(set(rows)) if distinct else rows
    answer = _answer(server, f"(SELECT AVG({distinct}x) FROM (VALUES {listed}) AS v (x))")
    assert answer == _exact(sum(counted, Decimal(0)), len(counted), 6)


# ---------------------------------------------------------------- line breaks


@st.composite
def marked(draw: st.DrawFn, depth: int = 3) -> str:
    """Text with layout marks, as the translation puts it together."""
    words = st.sampled_from(["SELECT a", "FROM t", "WHERE b = 1", "x", "(", ")"])
    pieces = []
    for _ in range(draw(st.integers(1, 4))):
        inner = depth > 0 and draw(st.booleans())
        pieces.append(draw(marked(depth - 1)) if inner else draw(words))
    return f"{OPEN}{BREAK.join(pieces)}{CLOSE}"


@quick
@given(marked(), st.integers(10, 120))
def test_layout_changes_nothing_but_blanks(text: str, width: int) -> None:
    broken = layout(text, width)
    assert "".join(broken.split()) == "".join(flat(text).split())
    assert not any(mark in broken for mark in (OPEN, CLOSE, BREAK))
    assert all(line == line.rstrip() for line in broken.splitlines())


@quick
@given(marked())
def test_what_fits_stays_on_one_line(text: str) -> None:
    assert "\n" not in layout(text, len(text))

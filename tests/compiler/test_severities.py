"""An error has one severity, whichever part raises it: compiler, runtime or daemon."""

import ast
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

from pgsb.compiler.check.error_levels import level_of
from support import Connection

PROJECT = Path(__file__).parents[2]
OURS = {102, 50000}
"""Numbers under which sentences of our own go too."""
RAISING = re.compile(r"\b(?:(ssb_internal\.raise_error\()\s*|ROW\()(\d{2,6})\s*,")
OF_TWO = {3701: {11, 14}}
"""What cannot be dropped: 11 where it is not there, 14 where the right is missing."""
# Handlers of DML and of definitions read severity and state from the DETAIL, all others know them by number.
RAISED_IN_FULL = re.compile(r"\bPERFORM ssb_internal\.raise_error\(\s*(\d+)\s*,")
DEFINITIONS = {
    *("definitions", "activation", "security", "names"),
    *("modules/prepare.sql", "modules/drop.sql", "modules/triggers.sql"),
}
BEHIND_THE_TEXT = {"Wrong", "TypeError_", "UnexpectedText"}


def arguments(text: str, start: int) -> list[str]:
    """The arguments of a call whose parenthesis opened before `start`."""
    found, depth, quoted, begin = [], 1, False, start
    for place in range(start, len(text)):
        character = text[place]
        quoted ^= character == "'"
        if quoted:
            continue
        depth += (character == "(") - (character == ")")
        if depth == 0 or (depth == 1 and character == ","):
            found.append(text[begin:place].strip())
            begin = place + 1
        if depth == 0:
            break
    return found


def of_the_runtime() -> Iterator[tuple[int, int, str]]:
    """Number, severity and place of each error that runtime_sql raises by literals."""
    for path in sorted((PROJECT / "runtime_sql").rglob("*.sql")):
        text = re.sub(r"--[^\n]*", lambda match: " " * len(match.group()), path.read_text())
        for match in RAISING.finditer(text):
            severity = arguments(text, match.start(2))[2:3]
            where = f"{path.name}:{text.count(chr(10), 0, match.start()) + 1}"
            if match.group(1) and (not severity or "=>" in severity[0]):
                yield int(match.group(2)), 16, where
            elif severity and severity[0].isdecimal():
                yield int(match.group(2)), int(severity[0]), where


def raised_in_full() -> Iterator[tuple[Path, int, str, int, int]]:
    """Place, number, message, severity and state of each error that is raised with these as literals."""
    for path in sorted((PROJECT / "runtime_sql").rglob("*.sql")):
        text = path.read_text()
        for match in RAISED_IN_FULL.finditer(text):
            _, message, *levels = arguments(text, match.start(1))
            if levels and all(level.isdecimal() for level in levels[:2]):
                yield path, int(match[1]), message, int(levels[0]), int((*levels, "1")[1])


def of_the_compiler() -> Iterator[tuple[int, str]]:
    """Number and place of each error that a batch is refused with."""
    for path in sorted([*(PROJECT / "compiler").rglob("*.py"), *(PROJECT / "grammar").rglob("*.py")]):
        for node in ast.walk(ast.parse(path.read_text())):
            for number in _numbers(node):
                yield number, f"{path.name}:{getattr(node, 'lineno', 0)}"


def _numbers(node: ast.AST) -> list[int]:
    if isinstance(node, ast.Tuple):
        # (8117, "Operand data type …")
        first, *others = node.elts or [ast.Constant(None)]
        texts = (ast.Constant, ast.JoinedStr, ast.BinOp)
        if len(others) == 1 and isinstance(others[0], texts) and not _integers(others[0]):
            return _integers(first)
        return []
    if not isinstance(node, ast.Call):
        return []
    found = [number for word in node.keywords if word.arg == "number" for number in _integers(word.value)]
    name = node.func.id if isinstance(node.func, ast.Name) else ""
    if name in BEHIND_THE_TEXT:
        found += [number for argument in node.args[1:] for number in _integers(argument)]
    return found


def _integers(node: ast.expr) -> list[int]:
    if isinstance(node, ast.IfExp):
        return [*_integers(node.body), *_integers(node.orelse)]
    if isinstance(node, ast.Constant) and isinstance(node.value, int) and node.value > 99:
        return [node.value]
    return []


def test_the_runtime_raises_a_number_with_one_severity():
    places: dict[int, dict[int, list[str]]] = defaultdict(lambda: defaultdict(list))
    for number, severity, where in of_the_runtime():
        places[number][severity].append(where)
    assert len(places) > 150
    assert {number: set(found) for number, found in places.items() if len(found) > 1} == OF_TWO


def test_compiler_and_runtime_agree():
    numbers = dict(of_the_compiler())
    assert len(numbers) > 100
    differing = {
        number: (where, level_of(number)[0], numbers[number])
        for number, severity, where in of_the_runtime()
        if number in numbers and number not in OURS and level_of(number)[0] != severity
    }
    assert differing == {}


def test_a_severity_is_known_by_its_number(connect: Callable[..., Connection]) -> None:
    found = {number: severity for _, number, _, severity, _ in raised_in_full()}
    assert len(found) > 50
    known = connect().execute(
        "SELECT number, ssb_internal.default_severity(number) FROM unnest(%s::integer[]) AS n (number)",
        [list(found)],
    )
    assert dict(known.fetchall()) == found


def test_a_state_is_known_by_number_and_message(connect: Callable[..., Connection]) -> None:
    found = [
        (number, message, state)
        for path, number, message, _, state in raised_in_full()
        if not {path.parent.name, f"{path.parent.name}/{path.name}"} & DEFINITIONS
    ]
    assert len(found) > 20
    states = connect().execute(
        "SELECT number, message, ssb_internal.default_state(number, message)"
        " FROM unnest(%s::integer[], %s::text[]) AS n (number, message)",
        [[number for number, *_ in found], [message for _, message, _ in found]],
    )
    assert sorted(states.fetchall()) == sorted(found)

"""Reads the SQL that the runtime makes of text: each EXECUTE, and what stands for each %s in it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

_ROUTINE = re.compile(
    r"CREATE (?:OR REPLACE )?(?:FUNCTION|PROCEDURE) ([\w.\"]+)\s*\(((?:(?!\bCREATE\b).)*?)"
    r"\$(\w*)\$(.*?)\$\3\$\s*;",
    re.S,
)
_BLOCK = re.compile(r"\bDO \$(\w*)\$(.*?)\$\1\$\s*;", re.S)
_TOKEN = re.compile(r"'(?:[^']|'')*'|\$(\w*)\$.*?\$\1\$|[(),;\[\]]|[^'(),;\[\]$]+|\$", re.S)
_SAFE_TYPES = re.compile(
    r"(?:regclass|regprocedure|regproc|regtype|regnamespace|regrole|integer|smallint|bigint|numeric|oid|boolean"
    r"|uuid|pg_catalog\.\w+)(?:\[\])?"
)
_CAST = re.compile(r"::\s*reg(?:class|procedure|proc|type|namespace|role)$")
_CALL = re.compile(r"^(?:to_reg\w+|quote_ident|quote_literal|quote_nullable|format_type)\s*\(.*\)$", re.S)


@dataclass(frozen=True)
class Insertion:
    """What stands for a %s of a text that is executed, or text that is no call of format at all."""

    routine: str
    definer: bool
    text: str


def insertions(path: Path) -> Iterator[Insertion]:
    """What comes into executed text of a file neither quoted nor of a type that needs no quotes."""
    text = re.sub(r"--[^\n]*", "", path.read_text(encoding="utf-8"))
    outside = _BLOCK.sub("", text)
    for name, head, _, body in _ROUTINE.findall(outside):
        arguments, _, attributes = head.rpartition(")")
        yield from _of_body(
            name, "SECURITY DEFINER" in attributes or "SECURITY DEFINER" in head, arguments, body
        )
    for number, (_, body) in enumerate(_BLOCK.findall(text), 1):
        yield from _of_body(f"DO {number}", True, "", body)
    rest = _ROUTINE.sub("", outside)
    for unread in re.findall(r"\bEXECUTE\s+(?:format|\w*_\w+|')[^;]*", rest):
        yield Insertion("unread", True, unread)


def _of_body(name: str, definer: bool, arguments: str, body: str) -> Iterator[Insertion]:
    types = _declared(arguments, body)
    for expression in _executed(body):
        for inserted in _inserted(expression):
            if not _is_safe(inserted, types, body):
                yield Insertion(name, definer, " ".join(inserted.split()))


def _executed(body: str) -> Iterator[str]:
    """The expressions behind EXECUTE, and those assigned to variables that are executed."""
    for match in re.finditer(r"\bEXECUTE\s+(?!FUNCTION\b|PROCEDURE\b|ON\b)", _blank(body)):
        expression = _until(body, match.end(), ";", r"\b(?:INTO|USING)\b|\bLOOP\b")
        if re.fullmatch(r"\w+", expression.strip()):
            yield from _assigned(expression.strip(), body)
        else:
            yield expression


def _assigned(variable: str, body: str) -> Iterator[str]:
    found = False
    for match in re.finditer(rf"\b{variable}\b[^;:]*:=\s*", _blank(body)):
        found = True
        yield _until(body, match.end(), ";", None)
    for match in re.finditer(rf"\bSELECT\b((?:(?!;).)*?)\bINTO\s+{variable}\b", _blank(body), re.S):
        found = True
        yield body[match.start(1) : match.end(1)]
    if not found:
        yield variable


def _inserted(expression: str) -> Iterator[str]:
    """What comes into the text: arguments of format for %s, operands of || that are no constants."""
    calls = list(_calls(expression))
    outside = expression
    for whole, arguments in calls:
        outside = outside.replace(whole, "''")
        template = "".join(re.findall(r"'((?:[^']|'')*)'", arguments[0])) or arguments[0]
        place = 0
        for number, kind in re.findall(r"%(?:(\d+)\$)?([sIL%])", template):
            if kind == "%":
                continue
            place = int(number) if number else place + 1
            if kind == "s" and place < len(arguments):
                yield arguments[place].strip()
    for operand in outside.split("||"):
        bare = operand.strip()
        if bare and not re.fullmatch(r"(?:'(?:[^']|'')*'\s*)+|\$(\w*)\$.*\$\1\$", bare, re.S):
            yield bare


def _calls(expression: str) -> Iterator[tuple[str, list[str]]]:
    """Outermost calls of format: their text and their arguments."""
    position = 0
    while (match := re.search(r"\bformat\(", _blank(expression)[position:])) is not None:
        start = position + match.start()
        arguments, end = _arguments(expression, position + match.end())
        yield expression[start:end], arguments
        position = end


def _arguments(text: str, position: int) -> tuple[list[str], int]:
    depth, arguments, current = 0, [], ""
    for token in _TOKEN.finditer(text, position):
        word = token[0]
        if word in "([":
            depth += 1
        elif word in ")]" and depth:
            depth -= 1
        elif word == ")":
            return [*arguments, current], token.end()
        elif word == "," and not depth:
            arguments.append(current)
            current = ""
            continue
        current += word
    return [*arguments, current], len(text)


def _until(text: str, position: int, end: str, words: str | None) -> str:
    blank = _blank(text)
    depth = 0
    for place in range(position, len(text)):
        character = blank[place]
        depth += (character == "(") - (character == ")")
        stops = character == end or (words is not None and depth == 0 and re.match(words, blank[place:]))
        if depth < 0 or (stops and depth == 0):
            return text[position:place]
    return text[position:]


def _blank(text: str) -> str:
    """The same length, with the insides of constants blank."""
    return re.sub(r"'(?:[^']|'')*'", lambda m: "'" + " " * (len(m[0]) - 2) + "'", text)


def _declared(arguments: str, body: str) -> dict[str, str]:
    types = {
        match[1]: match[2]
        for match in re.finditer(r"(?:^|[,(])\s*(?:OUT |INOUT |VARIADIC )?(\w+)\s+([\w.\[\]\"]+)", arguments)
    }
    declared = re.search(r"\bDECLARE\b(.*?)\bBEGIN\b", body, re.S)
    for match in re.finditer(
        r"^\s*(\w+)\s+(?:CONSTANT\s+)?([\w.\[\]\"]+)[^;]*;", declared[1] if declared else "", re.M
    ):
        types[match[1]] = match[2]
    return types


def _is_safe(text: str, types: dict[str, str], body: str) -> bool:
    text = text.strip()
    while text.startswith("(") and text.endswith(")") and _until(text, 1, ")", None) == text[1:-1]:
        text = text[1:-1].strip()
    if _CAST.search(text) or _CALL.match(text) or re.fullmatch(r"[\d.]+|'(?:[^']|'')*'", text):
        return True
    # One of several constants.
    results = re.findall(r"\b(?:THEN|ELSE)\s+('(?:[^']|'')*'|\S+)", text)
    if text.startswith("CASE ") and results and all(result.startswith("'") for result in results):
        return True
    return re.fullmatch(_SAFE_TYPES, types.get(text, "")) is not None

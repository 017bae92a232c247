"""What `pgsb check` found, for programs: JSON, GitHub's annotations, SARIF."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .. import __version__
from ..grammar.problems import Problem, Problems, shown_json

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
_HELP = "https://learn.microsoft.com/sql/relational-databases/errors-events/database-engine-events-and-errors"


def as_json(problems: Problems, scripts: int) -> str:
    """One object, as docs/schemas/check.json describes it."""
    found = [_place(problem) | _what(problem) for problem in problems]
    errors = problems.error_count
    whole = {"scripts": scripts, "errors": errors, "warnings": len(found) - errors, "problems": found}
    return shown_json(json.dumps(whole, ensure_ascii=False, indent=2))


def as_github(problems: Problems, scripts: int) -> str:
    """GitHub's workflow commands: each problem becomes an annotation at its line."""
    lines = []
    for problem in problems:
        place = _place(problem)
        named = {
            "file": place["file"],
            "line": place["line"],
            "endLine": place["end_line"],
            "col": place["column"],
            "endColumn": place["end_column"],
            "title": f"Msg {problem.number}" if problem.number else "pgsb check",
        }
        options = ",".join(f"{name}={_escaped(str(value), ':,')}" for name, value in named.items())
        text = problem.message + (f"\nhint: {problem.hint}" if problem.hint else "")
        lines.append(f"::{problem.severity} {options}::{_escaped(text)}")
    return "\n".join(lines)


def as_sarif(problems: Problems, scripts: int) -> str:
    """SARIF 2.1.0, as code scanning takes it."""
    rules: dict[str, dict[str, Any]] = {}
    results = []
    for problem in problems:
        rule = str(problem.number or "pgsb")
        rules.setdefault(rule, {"id": rule, "name": f"Msg{rule}", "helpUri": _HELP})
        place = _place(problem)
        region = {
            "startLine": place["line"],
            "startColumn": place["column"],
            "endLine": place["end_line"],
            "endColumn": place["end_column"],
        }
        where = {"artifactLocation": {"uri": _uri(place["file"])}, "region": region}
        text = problem.message + (f" ({problem.hint})" if problem.hint else "")
        results.append(
            {
                "ruleId": rule,
                "level": problem.severity,
                "message": {"text": text},
                "locations": [{"physicalLocation": where}],
            }
        )
    driver = {"name": "pgsb", "version": __version__, "rules": list(rules.values())}
    # Columns count characters as Python does, not UTF-16 units.
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return json.dumps({"$schema": SARIF_SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


FORMATS: dict[str, Callable[[Problems, int], str]] = {
    "json": as_json,
    "github": as_github,
    "sarif": as_sarif,
}


def _place(problem: Problem) -> dict[str, Any]:
    """File, line and column, and the end behind the last character, all as the file's author counts."""
    span = problem.span
    file, line, column = span.source.author_place(span.start)
    last_file, last_line, last_column = span.source.author_place(
        max(span.end, span.start), behind=span.end > span.start
    )
    if last_file != file:  # it runs into a file that :r reads, or out of it
        last_line, last_column = line, column
    return {
        "file": file,
        "line": line,
        "column": column,
        "end_line": last_line,
        "end_column": last_column,
    }


def _uri(file: str) -> str:
    """A file's name as SARIF wants it: a reference by RFC 3986, relative as the name is."""
    if os.path.isabs(file):
        return Path(file).as_uri()
    return quote(file if os.sep == "/" else file.replace("\\", "/"))


def _what(problem: Problem) -> dict[str, Any]:
    return {
        "severity": problem.severity,
        "number": problem.number,
        "message": problem.message,
        "hint": problem.hint,
    }


def _escaped(text: str, further: str = "") -> str:
    for character in "%\r\n" + further:
        text = text.replace(character, f"%{ord(character):02X}")
    return text

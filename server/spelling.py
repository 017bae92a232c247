"""Names in errors as the script spells them: PostgreSQL knows them folded, and with their schema."""

from __future__ import annotations

import re

from ..compiler.names import fold

_MESSAGES = re.compile(
    r"(?P<before>Invalid object name '|Invalid column name '|There is already an object named '|"
    r"Cannot drop the \w+ ')(?P<name>[^']+)(?P<after>'.*)",
    re.DOTALL,
)
_NO_NAMES = re.compile(r"--[^\n]*|/\*.*?\*/|'(?:[^']|'')*'", re.DOTALL)
_PART = r"""(?:\[(?:[^\]]|\]\])*\]|"(?:[^"]|"")*"|[^\W\d][\w@#$]*|\#[\w@#$]+)"""
_NAME = re.compile(rf"(?<![\w@#$.]){_PART}(?:\s*\.\s*(?:{_PART})?)*")


def as_written(message: str, script: str) -> str:
    """Return an error's message with its name as ``script`` has it first; unchanged where it has none."""
    found = _MESSAGES.match(message)
    if found is None:
        return message
    *schema, name = found["name"].split(".")
    for match in _NAME.finditer(_NO_NAMES.sub(" ", script)):
        parts = [_plain(part) for part in re.findall(rf"{_PART}|(?<=\.)(?=\s*\.)", match[0])]
        if fold(parts[-1]) != name:
            continue
        if found["before"].startswith(("Invalid column", "There")):
            return f"{found['before']}{parts[-1]}{found['after']}"
        if len(parts) == 1 or not schema or fold(parts[-2] or "dbo") == schema[-1]:
            return f"{found['before']}{'.'.join(parts)}{found['after']}"
    return message


def _plain(part: str) -> str:
    if part.startswith("["):
        return part[1:-1].replace("]]", "]")
    return part[1:-1].replace('""', '"') if part.startswith('"') else part

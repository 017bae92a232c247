"""A function of ssb_internal uses what it is given and what it declares."""

import re
from collections.abc import Callable, Iterator

import pytest

from support import Connection

_FUNCTIONS = """
SELECT p.oid::regproc::text, p.proargnames, p.proargmodes::text[], p.prosrc
  FROM pg_proc AS p JOIN pg_language AS l ON l.oid = p.prolang
 WHERE p.pronamespace IN ('ssb_internal'::regnamespace, 'sys'::regnamespace) AND l.lanname = 'plpgsql'
"""
_VARIABLE = re.compile(r"^\s*(v_\w+)\s+(?:CONSTANT\s+)?[\w.\"\[\]]+", re.MULTILINE)

REASONS = {
    "ssb_internal.rethrow line": "procedures that were compiled before give it",
    "ssb_internal.next_set p_ids": "daemons of earlier versions give it, too",
    "ssb_internal.settle_sent p_ids": "daemons of earlier versions give it",
    "ssb_internal.begin_and_send v_lock": "its initial value takes the lock",
    "sys.format_time v_culture": "its initial value raises for a culture that is none",
    "sys.crypt_gen_random seed": "SQL Server's parameter: numbers are random without it",
    "sys.has_perms_by_name sub_class": "SQL Server's parameter: columns are all that securables have",
    "sys.invalid_float value": "one for each type of argument",
}


def _unused(rows: list[tuple[str, list[str] | None, list[str] | None, str]]) -> Iterator[str]:
    for function, names, modes, source in rows:
        text = re.sub(r"--[^\n]*", "", source)
        given = [
            name
            for place, name in enumerate(names or [])
            if name and (modes is None or modes[place] in ("i", "b", "v"))
        ]
        for place, name in enumerate(given, 1):
            if not re.search(rf"\b{re.escape(name)}\b|\${place}\b", text):
                yield f"{function} {name}"
        for name in _VARIABLE.findall(text):
            if len(re.findall(rf"\b{name}\b", text)) < 2:
                yield f"{function} {name}"


@pytest.mark.one_postgres
def test_parameters_and_variables_are_used(connect: Callable[..., Connection]) -> None:
    rows = connect().execute(_FUNCTIONS).fetchall()
    assert len(rows) > 500
    assert set(_unused(rows)) == set(REASONS)

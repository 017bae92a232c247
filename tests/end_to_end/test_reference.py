"""The reference is made from the commands, functions, views and variables that there are, and is current."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import click
import pytest
import reference

from support import Connection

pytestmark = pytest.mark.one_postgres

ROOT = Path(__file__).parents[2]
FOLDERS = ("cli", "server", "daemon", "client", "observe", "security", "bulk", "runtime_sql")
# No settings of ours: the terminal's, Java's, Spark's, a WSGI request's; and what a process hands its child.
NOT_OURS = set(
    "TERM PATH JAVA_HOME PYSPARK_PYTHON SPARK_LOCAL_IP LC_ALL REQUEST_METHOD PATH_INFO PGSSLMODE"
    " PGCONNECT_TIMEOUT".split()
)
HANDED_ON = {"PGSB_RECORD_SPANS"}


def _is_current(name: str, text: str) -> None:
    page = ROOT / "docs" / name
    if os.environ.get("PGSB_GOLDEN") == "rewrite":
        page.write_text(text, encoding="utf-8")
    assert page.read_text(encoding="utf-8") == text, "make golden makes the reference anew"


def test_the_page_of_commands_is_current() -> None:
    _is_current("reference_commands.md", reference.commands_page())


def test_the_page_of_functions_and_views_is_current(connect: Callable[..., Connection]) -> None:
    _is_current("reference_sql.md", reference.sql_page(connect()))


def test_the_page_of_catalog_views_is_current(connect: Callable[..., Connection]) -> None:
    _is_current("reference_catalog.md", reference.catalog_page(connect()))


def test_every_option_says_what_it_is() -> None:
    silent = [
        f"pgsb {path} {parameter.name}"
        for path, command in reference.commands()
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden and not parameter.help
    ]
    assert silent == []


def test_every_command_is_explained_on_a_page_written_by_hand() -> None:
    by_hand = "\n".join(
        page.read_text(encoding="utf-8")
        for page in sorted((ROOT / "docs").glob("*.md"))
        if not page.name.startswith("reference_")
    )
    names = [name for name, _ in reference.commands()]
    assert [name for name in names if not re.search(rf"\bpgsb {name.replace(' ', ' +')}\b", by_hand)] == []


def test_every_variable_that_is_read_is_in_the_reference() -> None:
    text = "\n".join(file.read_text() for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
    read = set(re.findall(r'environ(?:\.get)?[(\[]"([A-Z_]+)"', text)) | set(
        re.findall(r'envvar="([A-Z_]+)"', text)
    )
    documented = {name for names in reference.VARIABLES for name in names.split(", ")}
    assert read - documented - NOT_OURS - HANDED_ON == set()
    assert {name for name in documented if name not in text} == {"VISUAL", "EDITOR"}  # click reads these

"""Every code block of the documentation does what the page says.

The language of a block says how it is run, on one database for each page, in order:
tsql as `pgsb run` does (`tsql fails`: an error is expected; `tsql check`: by `pgsb check`;
`tsql file`: it is only a file),
sql by psql, sh by a shell in an empty directory with pgsb and psql at hand, python as it is.
A `text` block that follows shows what was printed; PGSB_GOLDEN=rewrite fills it in.
`text` elsewhere and `json` are not run: a fence without a language is a signature.
`<!-- file: name -->` before a tsql block also puts it into that file, for the shell.
"""

import contextlib
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from end_to_end.tsql import Tsql

from pgsb.server.embedded import PrivateServer
from support import Database

pytestmark = pytest.mark.one_postgres

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
RUN = {"tsql", "sql", "sh", "python"}
NOT_RUN = {"", "text", "json", "yaml", "mermaid"}
_FENCE = re.compile(
    r"(?:<!-- file: (?P<file>\S+) -->\n)?^```(?P<language>\w*)(?P<mode> \w+)?\n(?P<code>.*?)^```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    language: str
    mode: str
    code: str
    file: str | None
    span: tuple[int, int]


def _blocks(text: str) -> list[Block]:
    return [
        Block(m["language"], (m["mode"] or "").strip(), m["code"], m["file"], m.span("code"))
        for m in _FENCE.finditer(text)
    ]


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    """For the private server of pages that start one."""
    made = Path(tempfile.mkdtemp(prefix="pgsb-home-"))
    if os.geteuid() == 0:
        made.chmod(0o711)
    yield made
    PrivateServer(made).stop(immediate=True)
    shutil.rmtree(made)


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_a_page_does_what_it_says(
    database: Database,
    psql: str,
    home: Path,
    tmp_path: Path,
    pgsb: Callable[..., Any],
    monkeypatch: pytest.MonkeyPatch,
    page: Path,
) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = _blocks(text)
    (tmp_path / "definitions.sql").write_text("CREATE QUEUE OfTheShell;\nGO\n")
    (tmp_path / "changes.sql").write_text("ALTER QUEUE OfTheShell WITH STATUS = OFF;\nGO\n")
    path = os.pathsep.join([str(Path(sys.executable).parent), str(Path(psql).parent), os.environ["PATH"]])
    settings = {"PATH": path, "DATABASE_URL": database.dsn, "PGSB_HOME": str(home), "PGSB_POSTGRES": "18"}
    session = Tsql(database.dsn)

    def outside(command: list[str], code: str) -> str:
        shown = subprocess.run(
            command,
            input=code,
            cwd=tmp_path,
            env={**os.environ, **settings},
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == 0, f"{code}\n{shown.stdout}{shown.stderr}"
        return shown.stdout

    def run(block: Block) -> str:
        if block.file:
            (tmp_path / block.file).parent.mkdir(exist_ok=True)
            (tmp_path / block.file).write_text(block.code)
        match block.language, block.mode:
            case "tsql", "file":
                assert block.file
                return ""
            case "tsql", "check":
                monkeypatch.chdir(tmp_path)
                left = pgsb("check", block.file)
                assert left.status == 1
                return str(left.err)
            case "tsql", "fails":
                shown = session.run(block.code)
                assert session.errors, shown
                return shown
            case "tsql", "":
                return session.run_well(block.code, page.name)
            case "sql", "":
                return outside([psql, "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", database.dsn], block.code)
            case "sh", "":
                return outside(["sh", "-e"], block.code)
            case "python", "":
                monkeypatch.setenv("DATABASE_URL", database.dsn)
                printed = io.StringIO()
                with contextlib.redirect_stdout(printed):
                    exec(compile(block.code, page.name, "exec"), {})
                return printed.getvalue()
        raise AssertionError(f"{page.name}: nobody knows how to run {block.language!r} {block.mode!r}")

    edits: list[tuple[tuple[int, int], str]] = []
    try:
        for number, block in enumerate(blocks):
            if block.language not in RUN or "sh scripts/" in block.code:
                assert block.language in NOT_RUN | {"sh"}, block.language
                continue
            shown = run(block)
            follower = blocks[number + 1] if number + 1 < len(blocks) else None
            if follower is not None and _shows_output(text, block, follower):
                if os.environ.get("PGSB_GOLDEN") == "rewrite":
                    edits.append((follower.span, shown))
                else:
                    assert shown == follower.code, page.name
    finally:
        session.close()
    for (start, end), shown in reversed(edits):
        text = text[:start] + shown + text[end:]
    if edits:
        page.write_text(text, encoding="utf-8")


def _shows_output(text: str, block: Block, follower: Block) -> bool:
    """Whether a text block follows with at most one line of prose (``… prints``) between."""
    between = text[block.span[1] : follower.span[0]].splitlines()
    prose = [line for line in between if line and not line.startswith("```")]
    return follower.language == "text" and len(prose) <= 1


def test_links_between_pages_lead_somewhere() -> None:
    for page in [*PAGES, ROOT / "CONTRIBUTING.md"]:
        for target in re.findall(r"\]\((?!https?:)([^)#]+)", page.read_text(encoding="utf-8")):
            assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_both_commands_of_the_readme_exist_and_ci_runs_the_second() -> None:
    first, second = re.findall(r"^sh (scripts/\w+)", (ROOT / "README.md").read_text(), re.MULTILINE)
    assert (ROOT / first).exists() and (ROOT / second).exists()
    assert f"exec sh {second}" in (ROOT / ".ci" / "run").read_text()


def test_the_first_command_shows_the_hello_world(home: Path) -> None:
    environment = {**os.environ, "PGSB_HOME": str(home), "PGSB_POSTGRES": "18"}
    for name in ("DATABASE_URL", "PGHOST", "PGPORT", "PGDATABASE", "PGUSER"):
        environment.pop(name, None)
    for _ in range(2):
        shown = subprocess.run(
            ["sh", "scripts/demo"], cwd=ROOT, env=environment, capture_output=True, text=True, check=False
        )
        assert shown.returncode == 0, shown.stderr
        assert (ROOT / "examples/hello_world/hello_world.out").read_text() in shown.stdout
        assert shown.stdout.endswith((ROOT / "examples/greeter/greeter.out").read_text())

"""Every code block of the documentation does what the page says.

A newcomer's walk: each page alone, from its top to its end, in an empty folder, with pgsb, psql and python on
the PATH, a private server that holds nothing, and no variable set but by the page itself.

The language of a block says how it is run: sh by one shell (variables and the folder stay), tsql in one
`pgsb shell` (`tsql fails`: an error is expected; `tsql check`: by `pgsb check`; `tsql file`: it is only a
file), sql by `psql "$DATABASE_URL"`, python by python.
A `text` block that follows shows what was printed; PGSB_GOLDEN=rewrite fills it in.
`text` elsewhere and `json` are not run: a fence without a language is a signature.
`<!-- file: name -->` before a tsql block also puts it into that file, for the shell.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from end_to_end.tsql import Tsql
from psycopg import sql

from pgsb.server.embedded import PrivateServer
from pgsb.user_folders import user_cache
from support import server_home

pytestmark = pytest.mark.one_postgres

ROOT = Path(__file__).parents[2]
# Each of these takes as long as five others.
LONG_PAGES = dict.fromkeys(("command_line.md", "moving_example.md"), pytest.mark.long)
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
    """For the private server of all pages."""
    made = server_home("pgsb-home-")
    yield made
    PrivateServer(made).stop(immediate=True)
    shutil.rmtree(made)


@pytest.fixture
def newcomer(home: Path, psql: str, tmp_path: Path) -> Iterator["Newcomer"]:
    """Somebody in an empty folder, whose private server holds nothing yet."""
    _empty(PrivateServer(home, wanted="18").start())
    path = [str(Path(sys.executable).parent), str(Path(psql).parent), "/usr/bin", "/bin"]
    (tmp_path / "home").mkdir()
    (tmp_path / "folder").mkdir()
    walk = Newcomer(
        tmp_path / "folder",
        {
            "PATH": os.pathsep.join(path),
            "HOME": str(tmp_path / "home"),
            # The parser's tables: the first command of somebody new makes them, here each page's would.
            "XDG_CACHE_HOME": str(user_cache().parent),
            "LANG": "C.UTF-8",
            "PGSB_HOME": str(home),  # and PGSB_POSTGRES: for the test alone, which shares one server
            "PGSB_POSTGRES": "18",
            "PGSB_KEYS": os.environ["PGSB_KEYS"],
        },
    )
    yield walk
    walk.leave()


def _empty(dsn: str) -> None:
    """Make the server as new: no databases and roles but those it came with."""
    with psycopg.connect(dsn.replace("/pgsb?", "/postgres?"), autocommit=True) as connection:
        names = "SELECT datname FROM pg_database WHERE NOT datistemplate AND datname <> 'postgres'"
        for (name,) in connection.execute(names).fetchall():
            connection.execute(sql.SQL("DROP DATABASE {} WITH (FORCE)").format(sql.Identifier(name)))
        for (name,) in connection.execute("SELECT rolname FROM pg_roles WHERE oid >= 16384").fetchall():
            connection.execute(sql.SQL("DROP ROLE {}").format(sql.Identifier(name)))
        connection.execute("CREATE DATABASE pgsb")


class Newcomer:
    """Follows a page: ``run`` does what a block says and gives what was shown."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.folder = folder
        self._first = folder
        self._environment = environment
        self._session: Tsql | None = None

    def run(self, block: Block, page: str) -> str:
        if block.file:
            (self.folder / block.file).parent.mkdir(exist_ok=True)
            (self.folder / block.file).write_text(block.code)
        match block.language, block.mode:
            case "tsql", "file":
                assert block.file
                return ""
            case "tsql", "check":
                assert block.file
                return self._outside(["pgsb", "check", block.file], "", status=1).stderr
            case "tsql", "fails":
                shown = self._shell().run(block.code)
                assert self._shell().errors, shown
                return shown
            case "tsql", "":
                return self._shell().run_well(block.code, page)
            case "sql", "":
                url = self._environment.get("DATABASE_URL")
                assert url is not None, f"{page} does not say how psql finds the database"
                return self._outside(
                    ["psql", "-X", "-q", "-v", "ON_ERROR_STOP=1", "-d", url], block.code
                ).stdout
            case "sh", "":
                return self._in_shell(block.code)
            case "python", "":
                return self._outside([sys.executable, "-c", block.code], "").stdout
        raise AssertionError(f"{page}: nobody knows how to run {block.language!r} {block.mode!r}")

    def _in_shell(self, code: str) -> str:
        """Run a block as further lines of one shell."""
        left = self._first.parent / "left"
        shown = self._outside(["sh", "-e"], f"{code}\n{{ pwd; env -0; }} > {left}").stdout
        folder, _, variables = left.read_text().partition("\n")
        self.folder = Path(folder)
        self._environment = dict(one.split("=", 1) for one in variables.split("\0") if one)
        return shown

    def _outside(self, command: list[str], code: str, status: int = 0) -> subprocess.CompletedProcess[str]:
        shown = subprocess.run(
            command,
            input=code,
            cwd=self.folder,
            env=self._environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert shown.returncode == status, f"{code}\n{shown.stdout}{shown.stderr}"
        return shown

    def _shell(self) -> Tsql:
        if self._session is None:
            url = self._environment.get("DATABASE_URL")
            if url is None:  # the private server, as the command begins with it
                self._outside(["pgsb", "shell"], "")
                url = PrivateServer(Path(self._environment["PGSB_HOME"]), wanted="18").start()
            self._session = Tsql(url)
        return self._session

    def leave(self) -> None:
        if self._session is not None:
            self._session.close()


@pytest.mark.long
@pytest.mark.parametrize(
    "page", [pytest.param(one, marks=LONG_PAGES.get(one.name, ()), id=one.name) for one in PAGES]
)
def test_a_page_does_what_it_says(newcomer: Newcomer, page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    blocks = _blocks(text)
    edits: list[tuple[tuple[int, int], str]] = []
    for number, block in enumerate(blocks):
        if block.language not in RUN or "sh scripts/" in block.code:
            assert block.language in NOT_RUN | {"sh"}, block.language
            continue
        shown = newcomer.run(block, page.name)
        follower = blocks[number + 1] if number + 1 < len(blocks) else None
        if follower is not None and _shows_output(text, block, follower):
            if os.environ.get("PGSB_GOLDEN") == "rewrite":
                edits.append((follower.span, shown))
            else:
                assert shown == follower.code, page.name
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


@pytest.mark.long
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

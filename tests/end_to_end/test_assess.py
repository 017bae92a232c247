"""pgsb assess: what runs, differs and is refused, by object; SSDT projects, thousands of files."""

import json
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from pgsb.assess.project import read_project
from pgsb.compiler.catalog.names import identifier

Pgsb = Callable[..., Any]

TABLE = "CREATE TABLE dbo.Orders (Id INT PRIMARY KEY, Name NVARCHAR(50));\nGO\n"
USES = (
    "CREATE PROCEDURE dbo.Place @n dbo.Lines READONLY AS\n  INSERT dbo.Orders SELECT Id, Name FROM @n;\nGO\n"
)
TYPE = "CREATE TYPE dbo.Lines AS TABLE (Id INT, Name NVARCHAR(50));\nGO\n"
HASHES = """\
CREATE PROCEDURE dbo.Hash @t NVARCHAR(50) AS
  SELECT HASHBYTES('SHA1', @t), CAST(N'x' AS VARBINARY(9));
GO
"""
REFUSED = """\
CREATE PROCEDURE dbo.Wrong AS
BEGIN
  PRINT @none;
  PRINT @other;
END;
GO
CREATE QUEUE q WITH X;
GO
"""


@pytest.fixture
def application(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "application"
    for name, text in {
        "a_procedures/place.sql": USES,
        "a_procedures/hash.sql": HASHES,
        "a_procedures/wrong.sql": REFUSED,
        "z_tables/orders.sql": TABLE,
        "z_tables/upper.sql": "CREATE TABLE dbo.ORDERS (Id INT, Name NVARCHAR(50));\nGO\n",
        "z_types/lines.sql": TYPE,
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    (folder / "compiled.sql").write_text("-- Compiled by pgsb 0.1 from orders.sql: …\nSELECT 1;\n")
    (folder / "picture.sql").write_bytes(b"\x89PNG\r\n" + b"abc\0\0\0\0def" * 9)
    return folder


def assessed(pgsb: Pgsb, *paths: str) -> dict[str, Any]:
    left = pgsb("assess", *paths, "--json", "report.json")
    assert left.status == 0, left.err
    found: dict[str, Any] = json.loads(Path("report.json").read_text(encoding="utf-8"))
    return found


@pytest.mark.usefixtures("application")
def test_every_object_has_a_status_and_an_effort(pgsb: Pgsb) -> None:
    found = assessed(pgsb, "application")
    objects = {(one["kind"], one["name"]): (one["status"], one["effort"]) for one in found["objects"]}
    assert objects == {
        ("type", "dbo.Lines"): ("runs", "none"),
        ("table", "dbo.Orders"): ("runs", "none"),
        ("table", "dbo.ORDERS"): ("differs", "small"),
        ("procedure", "dbo.Place"): ("runs", "none"),
        ("procedure", "dbo.Hash"): ("differs", "small"),
        ("procedure", "dbo.Wrong"): ("refused", "medium"),
        ("queue", "q"): ("refused", "small"),
    }
    assert found["statuses"] == {"runs": 3, "differs": 2, "refused": 2}
    assert [*found["unreadable"].values()] == [
        "it is PostgreSQL's: pgsb compile wrote it",
        "it is no text, but binary data",
    ]


@pytest.mark.usefixtures("application")
def test_reasons_and_remarks_have_their_places(pgsb: Pgsb) -> None:
    found = assessed(pgsb, "application")
    wrong = "application/a_procedures/wrong.sql"
    assert {reason["message"]: reason["places"] for reason in found["reasons"]} == {
        "Incorrect syntax near 'X'.": [f"{wrong}:7"],
        'Must declare the scalar variable "@none".': [f"{wrong}:3"],
        'Must declare the scalar variable "@other".': [f"{wrong}:4"],
    }
    remarks = [
        (remark["topic"], remark["text"].split(" ")[0], remark["place"]) for remark in found["remarks"]
    ]
    hashes = "application/a_procedures/hash.sql:2"
    assert remarks == [
        ("UTF-16", "HASHBYTES", hashes),
        ("UTF-16", "CAST", hashes),
        ("names", "table", "application/z_tables/upper.sql:1"),
    ]


class _Balanced(HTMLParser):
    """Collects the text, and demands that what must be closed is closed."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.text = ""

    def handle_starttag(self, tag: str, attrs: object) -> None:
        if tag in ("table", "details", "summary", "code", "h1", "h2", "div", "b"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in ("table", "details", "summary", "code", "h1", "h2", "div", "b"):
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.text += data


def test_the_page_shows_it_and_trusts_no_script(pgsb: Pgsb, application: Path) -> None:
    (application / "x.sql").write_text("PRINT <script>alert(1)</script>;\nGO\n")
    left = pgsb("assess", "application", "--html", "report.html")
    assert "3  run as they are" in left.out and "Msg 137: Must declare" in left.out
    page = Path("report.html").read_text(encoding="utf-8")
    assert "<script" not in page and "http" not in page
    reader = _Balanced()
    reader.feed(page)
    assert reader.open == []
    for words in ("dbo.Wrong", "Must declare the scalar variable", "UTF-16", "picture.sql"):
        assert words in reader.text


def test_an_ssdt_project_says_what_belongs_to_it(pgsb: Pgsb, application: Path) -> None:
    (application / "Shop.sqlproj").write_text(
        '<Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003"><ItemGroup>'
        '<Build Include="z_tables\\orders.sql" /><Build Include="z_types\\*.sql" />'
        '<PostDeploy Include="a_procedures\\place.sql" /></ItemGroup></Project>'
    )
    found = assessed(pgsb, "application")
    assert {one["name"] for one in found["objects"]} == {"dbo.Orders", "dbo.Lines", "dbo.Place"}
    assert len(found["skipped"]) == 5
    (application / "Shop.sqlproj").write_text('<Project Sdk="Microsoft.Build.Sql/1.0"></Project>')
    for built in ("bin/Debug", "Obj"):
        (application / built).mkdir(parents=True)
        (application / built / "copy.sql").write_text("CREATE TABLE dbo.Copied (id int);\n")
    for named in ("application/Shop.sqlproj", "application"):
        assert len(assessed(pgsb, named)["objects"]) == 7


def test_an_ssdt_project_gives_its_variables_their_defaults(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Shop.sqlproj").write_text(
        '<Project xmlns="http://schemas.microsoft.com/developer/msbuild/2003"><ItemGroup>'
        '<SqlCmdVariable Include="Stage"><DefaultValue>TEST</DefaultValue><Value>$(SqlCmdVar__1)</Value>'
        '</SqlCmdVariable><SqlCmdVariable Include="Late"><Value>$(SqlCmdVar__2)</Value></SqlCmdVariable>'
        '<PostDeploy Include="after.sql" /></ItemGroup></Project>'
    )
    (tmp_path / "after.sql").write_text(
        "CREATE QUEUE [$(stage)Queue];\nGO\nPRINT '$(DatabaseName)$(DefaultDataPath)';\nGO\nPRINT '$(Late)';"
    )
    found = assessed(pgsb, str(tmp_path))
    assert [one["name"] for one in found["objects"]][:1] == ["TESTQueue"]
    assert [one["message"] for one in found["reasons"] if "variable" in one["message"]] == [
        "no value for the variable 'Late'"
    ]
    given = assessed(pgsb, str(tmp_path), "-v", "Stage=LIVE", "-v", "Late=")
    assert "LIVEQueue" in [one["name"] for one in given["objects"]]


def test_an_ssdt_project_may_name_lists_and_what_is_no_pattern(pgsb: Pgsb, application: Path) -> None:
    (application / "Shop.sqlproj").write_text(
        '<Project><ItemGroup><Build Include="z_tables\\orders.sql; z_types\\*.sql" />'
        '<Build Include="\\\\server\\share\\*.sql;a**b\\*.sql" /></ItemGroup></Project>'
    )
    found = assessed(pgsb, "application")
    assert {one["name"] for one in found["objects"]} == {"dbo.Orders", "dbo.Lines"}
    assert list(found["unreadable"]) == ["\\\\server\\share\\*.sql", "a**b\\*.sql"]


def test_a_path_that_is_not_there_is_an_error(pgsb: Pgsb) -> None:
    left = pgsb("assess", "nowhere")
    assert left.status == 2
    assert left.err.endswith("\nError: cannot read nowhere: No such file or directory\n")


def test_a_folder_without_scripts_is_an_error_as_with_check(pgsb: Pgsb, tmp_path: Path) -> None:
    left = pgsb("assess", str(tmp_path))
    assert left.status == 2 and f"no .sql files in {tmp_path}" in left.err


def test_what_cannot_be_written_is_told_before_the_work(
    pgsb: Pgsb, application: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pgsb.cli.assess.assess_project", None)
    nowhere = str(application / "nowhere" / "out")
    for option in ("--html", "--json"):
        left = pgsb("assess", "application", option, nowhere)
        assert (left.status, left.out) == (1, "") and left.err.endswith(
            f"{nowhere}: No such file or directory\n"
        )
    (application / "x.sql").write_text("PRINT 1;\nGO\n")
    left = pgsb("compile", "application/x.sql", "-o", nowhere)
    assert (left.status, left.out) == (1, "") and left.err.endswith(f"{nowhere}: No such file or directory\n")


def test_the_page_of_a_file_whose_name_is_no_text(pgsb: Pgsb, tmp_path: Path) -> None:
    (tmp_path / "a\udcff.sql").write_text("PRINT @x")
    page, data = tmp_path / "page.html", tmp_path / "found.json"
    assert pgsb("assess", str(tmp_path), "--html", str(page), "--json", str(data)).status == 0
    assert "a?.sql" in page.read_text(encoding="utf-8")
    assert json.loads(data.read_text(encoding="utf-8"))["files"] == 1


@pytest.mark.long
def test_thousands_of_files(pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for number in range(2000):
        folder = tmp_path / "many" / str(number % 50)
        folder.mkdir(parents=True, exist_ok=True)
        text = (
            f"CREATE TABLE dbo.t{number} (a INT);\nGO\n"
            if number % 2
            else f"CREATE PROCEDURE p{number} AS PRINT 1;\nGO\n"
        )
        (folder / f"{number}.sql").write_text(text if number % 100 else text + "PRINT @x;\n")
    left = pgsb("assess", "many")
    assert left.out.startswith("2,000 files, ")
    assert re.search(r"^ +20  Msg 137: ", left.out, re.MULTILINE)


def test_long_names_are_told_where_somebody_meets_them(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """PostgreSQL's name is told where it is another; what is no identifier there has its own, and runs."""
    monkeypatch.chdir(tmp_path)
    name = "N" * 70
    (tmp_path / "long.sql").write_text(
        f"CREATE TABLE dbo.{name} (a int);\nGO\nCREATE ROUTE {name} WITH ADDRESS = 'LOCAL';\nGO\n"
        f"CREATE BROKER PRIORITY {name} FOR CONVERSATION SET (PRIORITY_LEVEL = 3);\nGO\n"
        f"CREATE DATABASE {name[:60]};\nGO\nCREATE DATABASE {name[:59]};\n"
    )
    found = assessed(pgsb, "long.sql")
    assert [one["text"] for one in found["remarks"]] == [
        f"table dbo.{name} has more than 63 bytes: T-SQL finds it, psql and others as {identifier(name)}",
        f"database {name[:60]} has more than 59 bytes: CREATE DATABASE refuses it",
    ]
    assert [one["status"] for one in found["objects"]] == ["differs", "runs", "runs", "differs", "runs"]


def test_what_a_script_names_comes_before_it(tmp_path: Path) -> None:
    (tmp_path / "a.sql").write_text(
        "/*\nCREATE TABLE t\n*/\nCREATE OR ALTER PROCEDURE p AS SELECT a FROM t\n"
    )
    (tmp_path / "b.sql").write_text("IF OBJECT_ID('t') IS NULL CREATE TABLE t (a INT, b XML(x))\n")
    (tmp_path / "c.sql").write_text("PRINT 'CREATE\nSCHEMA t'\n")
    (tmp_path / "d.sql").write_text("CREATE XML SCHEMA COLLECTION x AS N''\n")
    found = [Path(source.name).name for source in read_project([tmp_path]).sources]
    assert found == ["d.sql", "b.sql", "a.sql", "c.sql"]


def test_directives_of_sqlcmd_are_obeyed_and_what_is_read_in_counts_once(
    pgsb: Pgsb, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "Parts").mkdir()
    (tmp_path / "Parts" / "Orders.sql").write_text(f"{TABLE}USE $(Db)\nGO\n")
    (tmp_path / "deploy.sql").write_text(
        ":setvar Db Shop\n:on error exit\nUSE [$(Db)];\nGO\n"
        ":r .\\parts\\orders.sql\n:r elsewhere.sql\nPRINT N'$(what)';\nGO\n"
    )
    left = pgsb("assess", ".", "-v", "what=done")
    assert left.out.startswith("1 file, 11 lines, 1 object\n      1  run as they are\n")
    assert left.out.endswith("The most frequent reasons:\n      1  cannot read elsewhere.sql: no such file\n")
    left = pgsb("check", ".", "-v", "what=done")
    assert "cannot read elsewhere.sql" in left.err
    assert left.err.endswith("1 script, 4 batches, 1 error\n")

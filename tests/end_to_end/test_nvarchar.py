"""`pgsb install --nvarchar utf16`: SQL Server's bytes of nvarchar, beside the default, UTF-8."""

import asyncio
import hashlib
from collections.abc import Callable, Iterator

import psycopg
import pytest
from end_to_end.conftest import Outcome
from end_to_end.tsql import Tsql

from pgsb import client
from pgsb.runtime_sql import installer
from pgsb.runtime_sql.installer import RuntimeVersionError
from support import Connection, Database

pytestmark = pytest.mark.one_postgres


@pytest.fixture
def wide(utf16: Database) -> Iterator[Tsql]:
    """A session there."""
    session = Tsql(utf16.dsn)
    yield session
    session.close()


def _hex(text: str) -> str:
    return "0x" + text.encode("utf-16-le").hex().upper()


EXPRESSIONS = [
    # expression, its value with UTF-8, with UTF-16
    ("CAST(N'aé' AS VARBINARY(MAX))", "0x61C3A9", "0x6100E900"),
    ("CAST(N'😀' AS VARBINARY(MAX))", "0xF09F9880", _hex("😀")),
    (r"CAST(N'\\000\\' AS VARBINARY(20))", "0x5C5C3030305C5C", _hex(r"\\000\\")),
    ("CAST('aé' AS VARBINARY(MAX))", "0x61C3A9", "0x61C3A9"),
    ("CAST(N'' AS VARBINARY(MAX))", "0x", "0x"),
    ("CAST(N'abc' AS VARBINARY(3))", "0x616263", "0x610062"),
    ("CAST(N'ab' AS BINARY(6))", "0x616200000000", "0x610062000000"),
    ("CAST(N'a' + 'b' AS VARBINARY(MAX))", "0x6162", "0x61006200"),
    ("CONVERT(VARBINARY(MAX), N'0x6162', 1)", "0x6162", "0x6162"),
    ("CONVERT(VARBINARY(MAX), N'6162', 2)", "0x6162", "0x6162"),
    ("CONVERT(VARBINARY(MAX), N'ab', 0)", "0x6162", "0x61006200"),
    ("CAST(UPPER(N'a') AS VARBINARY(MAX))", "0x41", "0x4100"),
    ("CAST(CONCAT('a', N'b') AS VARBINARY(MAX))", "0x6162", "0x61006200"),
    ("CAST(CAST(N'<Δ/>' AS XML) AS VARBINARY(MAX))", "0x3CCE942F3E", "0xFFFE" + _hex("<Δ/>")[2:]),
    ("CAST(CAST(N'<Δ/>' AS XML) AS NVARCHAR(MAX))", "<Δ/>", "<Δ/>"),
    ("CAST(CAST(N'日本' AS VARBINARY(MAX)) AS NVARCHAR(MAX))", "日本", "日本"),
    ("CAST(CAST(N'a😀' AS VARBINARY(MAX)) AS NVARCHAR(10))", "a😀", "a😀"),
    ("CAST(0x61006200 AS NVARCHAR(MAX))", "ab", "ab"),
    ("CAST(0xE5652C67 AS NVARCHAR(4))", "åe,g", "日本"),
    ("CAST(0x6162 AS VARCHAR(4))", "ab", "ab"),
    ("CONCAT('x', 0x6162)", "xab", "xab"),
    ("CONVERT(NVARCHAR(10), 0x6162, 1)", "0x6162", "0x6162"),
    ("CONVERT(NVARCHAR(10), 0x6162, 2)", "6162", "6162"),
    # an odd number of bytes gets a zero, and what pads BINARY(n) goes
    ("CAST(CAST(0x41 AS NVARCHAR) AS VARBINARY)", "0x41", "0x4100"),
    ("CAST(CAST(N'ab' AS BINARY(10)) AS NVARCHAR(5))", "ab", "ab"),
    ("CAST(0x41 AS NCHAR(2)) + N'|'", "A |", "A |"),
    ("TRY_CAST(0x00D8 AS NVARCHAR(10))", "Ø", None),
    ("TRY_CAST(0x3DD800DE AS NCHAR(2))", "😀 ", "😀 "),
    ("LEN(N'aé')", "2", "2"),
    ("DATALENGTH(N'aé😀')", "8", "8"),
    ("DATALENGTH(CAST(N'aé' AS VARBINARY(MAX)))", "3", "4"),
    *(
        (
            f"HASHBYTES('{name}', N'aé')",
            "0x" + hashlib.new(kind, "aé".encode()).hexdigest().upper(),
            "0x" + hashlib.new(kind, "aé".encode("utf-16-le")).hexdigest().upper(),
        )
        for name, kind in (("MD5", "md5"), ("SHA1", "sha1"), ("SHA2_256", "sha256"), ("SHA2_512", "sha512"))
    ),
    ("HASHBYTES('MD5', 'aé')",) + 2 * ("0x" + hashlib.md5("aé".encode()).hexdigest().upper(),),
]


def _values(session: Tsql) -> list[str | None]:
    session.run_well("SELECT " + ", ".join(one for one, *_ in EXPRESSIONS))
    return session.results[0][0]


def test_expressions_have_sql_servers_bytes(wide: Tsql) -> None:
    assert _values(wide) == [value for *_, value in EXPRESSIONS]


def test_expressions_have_utf8_where_nothing_was_chosen(tsql: Tsql) -> None:
    assert _values(tsql) == [value for _, value, _ in EXPRESSIONS]
    assert tsql.scalar("SELECT ssb.nvarchar_encoding()") == "utf8"


@pytest.mark.parametrize("value", ["0x00D8", "0x00DC6100", "0x6100000062", "0x610000006200"])
def test_what_text_cannot_hold_is_8114(wide: Tsql, value: str) -> None:
    wide.run(f"SELECT CAST({value} AS NVARCHAR(10))")
    (error,) = wide.errors
    assert error.number == 8114
    assert error.message == "Error converting data type varbinary to nvarchar."


def test_variables_and_columns_convert_both_ways(wide: Tsql) -> None:
    wide.run_well(
        "DECLARE @s NVARCHAR(10) = N'é', @v VARCHAR(10) = 'é', @b VARBINARY(20);\n"
        "SET @b = CAST(@s AS VARBINARY(20)); SELECT @b, CAST(@v AS VARBINARY(9)), HASHBYTES('MD5', @s);\n"
        "SET @s = 0x3D20; SELECT @s;\n"
        "CREATE TABLE #t (n NVARCHAR(9), v VARCHAR(9), b VARBINARY(9));\n"
        "INSERT #t VALUES (N'é', 'é', 0xE900);\n"
        "INSERT #t (n) SELECT b FROM #t;\n"
        "SELECT CAST(n AS VARBINARY(9)), CAST(v AS VARBINARY(9)), CAST(b AS NVARCHAR(9)) FROM #t;\n"
    )
    first, second, third = wide.results
    assert first == [["0xE900", "0xC3A9", "0x" + hashlib.md5(b"\xe9\0").hexdigest().upper()]]
    assert second == [["\u203d"]]
    assert third == [["0xE900", "0xC3A9", "é"], ["0xE900", None, None]]


def test_char_and_nchar_are_as_long_as_declared(wide: Tsql, tsql: Tsql) -> None:
    script = (
        "DECLARE @n NCHAR(3) = N'é', @c CHAR(3) = 'a';\n"
        "SELECT CAST(@n AS VARBINARY(9)), CAST(@c AS VARBINARY(9)), DATALENGTH(@n), DATALENGTH(@c),\n"
        "       LEN(@n), CAST(@n AS BINARY(7)), HASHBYTES('MD5', @n), HASHBYTES('MD5', @c);\n"
    )
    for session, national in ((wide, "é  ".encode("utf-16-le")), (tsql, "é  ".encode())):
        session.run_well(script)
        digests = [hashlib.md5(one).hexdigest().upper() for one in (national, b"a  ")]
        padded = (national + b"\0\0\0")[:7]
        assert session.results == [
            [
                [
                    f"0x{national.hex().upper()}",
                    "0x612020",
                    "6",
                    "3",
                    "1",
                    f"0x{padded.hex().upper()}",
                    *(f"0x{one}" for one in digests),
                ]
            ]
        ]


def test_columns_of_earlier_tables_count_as_nvarchar(utf16: Database) -> None:
    """PostgreSQL does not keep which they were; where both are UTF-8, it makes no difference to bytes."""
    first = Tsql(utf16.dsn)
    first.run_well("CREATE TABLE dbo.Earlier (n NVARCHAR(9), c NCHAR(2), m NVARCHAR(MAX), v VARCHAR(9));")
    first.run_well("INSERT dbo.Earlier VALUES (N'é', N'é', N'é', 'é');")
    first.close()
    later = Tsql(utf16.dsn)
    later.run_well(
        "SELECT CAST(n AS VARBINARY(9)), CAST(c AS VARBINARY(9)), CAST(m AS VARBINARY(9)),"
        " CAST(CAST(v AS VARCHAR(9)) AS VARBINARY(9)), DATALENGTH(n) FROM dbo.Earlier"
    )
    assert later.results == [[["0xE900", "0xE9002000", "0xE900", "0xC3A9", "2"]]]
    later.close()


def test_send_and_receive_carry_sql_servers_bytes(wide: Tsql) -> None:
    wide.run_well(
        "CREATE QUEUE dbo.Q; CREATE SERVICE [//S] ON QUEUE dbo.Q ([DEFAULT]);\nGO\n"
        "DECLARE @h UNIQUEIDENTIFIER, @x XML = N'<é/>', @n NVARCHAR(20) = N'né', @v VARCHAR(20) = 'vé';\n"
        "BEGIN DIALOG @h FROM SERVICE [//S] TO SERVICE '//S' WITH ENCRYPTION = OFF;\n"
        "SEND ON CONVERSATION @h (N'é'); SEND ON CONVERSATION @h ('é'); SEND ON CONVERSATION @h (@x);\n"
        "SEND ON CONVERSATION @h (@n); SEND ON CONVERSATION @h (@v); SEND ON CONVERSATION @h (0x01);\n"
        "END CONVERSATION @h WITH ERROR = 5 DESCRIPTION = N'wróng';\nGO\n"
        "SET NOCOUNT ON;\n"
        "DECLARE @m TABLE (body VARBINARY(MAX), type SYSNAME);\n"
        "RECEIVE message_body, message_type_name FROM dbo.Q INTO @m;\n"
        "SELECT body FROM @m WHERE type = 'DEFAULT';\n"
        "SELECT CAST(body AS XML).value('(//*:Description)[1]', 'nvarchar(50)'),"
        " LEFT(CAST(body AS NVARCHAR(MAX)), 2) FROM @m WHERE type LIKE '%Error';\n"
    )
    bodies, errors = wide.results
    assert [one for (one,) in bodies] == [
        _hex("é"),
        "0xC3A9",
        "0xFFFE" + _hex("<é/>")[2:],
        _hex("né"),
        "0x76C3A9",
        "0x01",
    ]
    assert errors == [["wróng", "\ufeff<"]]


def test_validation_reads_utf16(wide: Tsql) -> None:
    wide.run_well(
        "CREATE MESSAGE TYPE [//W] VALIDATION = WELL_FORMED_XML; CREATE CONTRACT [//C] ([//W] SENT BY ANY);\n"
        "CREATE QUEUE dbo.W; CREATE SERVICE [//Ws] ON QUEUE dbo.W ([//C]);\nGO\n"
    )
    for body in (
        "N'<a>é</a>'",
        'N\'<?xml version="1.0" encoding="utf-16"?><a>日</a>\'',
        "N' \r\n <a/>'",
        "CAST(N'<a/>' AS XML)",
        "N'<a>'",
    ):
        wide.run_well(
            "DECLARE @h UNIQUEIDENTIFIER;\n"
            "BEGIN DIALOG @h FROM SERVICE [//Ws] TO SERVICE '//Ws' ON CONTRACT [//C] WITH ENCRYPTION = OFF;\n"
            f"SEND ON CONVERSATION @h MESSAGE TYPE [//W] ({body});\n"
        )
    wide.run_well(
        "SET NOCOUNT ON; SELECT RIGHT(message_type_name, 5), COUNT(*) FROM dbo.W GROUP BY message_type_name"
    )
    assert sorted(map(tuple, wide.results[0])) == [("//W", "4"), ("Error", "1")]


def test_text_of_the_api_is_nvarchar(utf16: Database, connect: Callable[..., Connection]) -> None:
    connection = connect(utf16.dsn)
    connection.execute(
        "SELECT ssb.create_queue('dbo.api'), ssb.create_service('//Api', 'dbo.api', '{DEFAULT}')"
    )
    (handle,) = connection.execute("SELECT ssb.begin_dialog('//Api', '//Api')").fetchone() or (None,)
    connection.execute("SELECT ssb.send(%s, 'DEFAULT', 'é'::text)", [handle])
    connection.execute("SELECT ssb.send(%s, body => 'é'::text)", [handle])
    connection.execute("SELECT ssb.send_many(ARRAY[%s]::uuid[], 'DEFAULT', 'é'::text)", [handle])
    connection.execute("SELECT ssb.send_new('//Api', '//Api', 'DEFAULT', 'DEFAULT', 'é'::text)")
    rows = connection.execute(
        "SELECT m.message_body, ssb.nvarchar_text(m.message_body) FROM ssb.receive('dbo.api') AS m"
    ).fetchall()
    rows += connection.execute(
        "SELECT m.message_body, ssb.nvarchar_text(m.message_body) FROM ssb.receive('dbo.api') AS m"
    ).fetchall()
    assert rows == 4 * [(b"\xe9\0", "é")]
    marked = connection.execute(
        "SELECT ssb.nvarchar_text('\\xfffe6100'), ssb.nvarchar_bytes(NULL)"
    ).fetchone()
    assert marked == ("a", None)


@pytest.mark.long
def test_the_choice_is_made_once(utf16: Database, connect: Callable[..., Connection]) -> None:
    connection = connect(utf16.dsn)
    with pytest.raises(RuntimeVersionError, match="keeps nvarchar as utf16") as caught:
        installer.install(connection, nvarchar="utf8")
    assert "pgsb uninstall" in caught.value.hint
    with pytest.raises(psycopg.errors.RaiseException, match="keeps nvarchar as utf16"):
        connection.execute(installer.install_sql("all", "utf8").encode())
    connection.rollback()
    # What does not ask keeps it: an upgrade, a text, and saying the same again.
    installer.install(connection, nvarchar="utf16")
    installer.upgrade(connection)
    connection.execute(installer.install_sql().encode())
    assert installer.nvarchar_of(connection) == "utf16"


@pytest.mark.long
def test_a_runtime_from_before_the_choice_is_utf8(
    database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect()
    connection.execute("DROP FUNCTION ssb.nvarchar_encoding() CASCADE")
    assert installer.nvarchar_of(connection) == "utf8"
    with pytest.raises(RuntimeVersionError, match="keeps nvarchar as utf8"):
        installer.install(connection, nvarchar="utf16")
    installer.upgrade(connection)
    assert connection.execute("SELECT ssb.nvarchar_encoding(), ssb.nvarchar_bytes('é')").fetchone() == (
        "utf8",
        "é".encode(),
    )


@pytest.mark.long
def test_texts_carry_the_choice(empty_database: Database, connect: Callable[..., Connection]) -> None:
    """`--print` and `--as-extension`; without a choice they make none."""
    connection = connect(empty_database.dsn)
    connection.execute(installer.install_sql("broker", "utf16").encode())
    assert installer.nvarchar_of(connection) == "utf16"
    installer.install(connection, parts="all")
    assert connection.execute("SELECT sys.text_of('\\x6100')").fetchone() == ("a",)
    version = installer.RUNTIME_VERSION
    files = installer.extension_files("utf16")
    name = f"{installer.EXTENSION_NAME}--{version}.sql"
    assert "SET LOCAL pgsb.nvarchar = 'utf16'" in files[name]
    # An update keeps what is there.
    assert not [one for one, text in files.items() if one != name and "SET LOCAL pgsb.nvarchar" in text]
    assert "SET LOCAL pgsb.nvarchar" not in installer.extension_files()[name]


def test_the_command_says_what_was_chosen(utf16: Database, pgsb: Callable[..., Outcome]) -> None:
    assert "(nvarchar: utf16)" in pgsb("version", "--dsn", utf16.dsn).out
    refused = pgsb("install", "--dsn", utf16.dsn, "--nvarchar", "utf8")
    assert refused.status == 1
    assert "keeps nvarchar as utf16" in refused.err and "pgsb uninstall" in refused.err


def test_the_python_client_speaks_it(utf16: Database) -> None:
    with client.connect(utf16.dsn) as session:
        session.sql.execute(
            "SELECT ssb.create_queue('dbo.client'), ssb.create_service('//Client', 'dbo.client', '{DEFAULT}')"
        )
        dialog = session.begin_dialog("//Client", "//Client")
        for body in ("日本", "é", b"\xff\xfea\0", b"\x01"):
            session.send(dialog, body=body)
        session.end(dialog, error=7, description="wróng")
        messages = session.receive("dbo.client")
        messages += session.receive("dbo.client")
        session.send_new("//Client", "//Client", body="日")
        messages += session.receive("dbo.client")
    found = {message.body: message for message in messages}
    assert found["日本".encode("utf-16-le")].text == "日本"
    assert found["é".encode("utf-16-le")].text == "é"
    assert found[b"\xff\xfea\0"].text == "a"
    assert found["日".encode("utf-16-le")].text == "日"
    with pytest.raises(UnicodeDecodeError):
        _ = found[b"\x01"].text
    (error,) = [message for message in messages if message.error]
    assert error.error == (7, "wróng") and error.text.startswith("<Error")


def test_the_async_client_speaks_it(utf16: Database) -> None:
    async def exchange() -> str:
        async with await client.connect_async(utf16.dsn) as session:
            await session.sql.execute(
                "SELECT ssb.create_queue('dbo.later'),"
                " ssb.create_service('//Later', 'dbo.later', '{DEFAULT}')"
            )
            await session.send_new("//Later", "//Later", body="日")
            (message,) = await session.receive("dbo.later")
            assert message.body == "日".encode("utf-16-le")
            return message.text

    assert asyncio.run(exchange()) == "日"


def test_a_later_script_knows_which_columns_are_varchar(wide: Tsql, utf16: Database) -> None:
    wide.run_well(
        "CREATE TABLE Kinds (One varchar(9), n nvarchar(9), m varchar(max), c char(2), was varchar(9),"
        " new nvarchar(9))"
        "\nALTER TABLE Kinds ADD later varchar(9)"
        "\nALTER TABLE Kinds ALTER COLUMN was nvarchar(9)\nALTER TABLE Kinds ALTER COLUMN new varchar(9)"
        "\nEXEC sp_rename 'Kinds.c', 'Two', 'COLUMN'"
        "\nINSERT Kinds VALUES ('a', 'a', 'a', 'ab', 'a', 'a', 'a')\nSELECT One, n INTO Copied FROM Kinds"
        "\nGO\nCREATE VIEW ShownKinds AS SELECT One, n FROM Kinds"
    )
    later = Tsql(utf16.dsn)
    later.run_well(
        "SELECT DATALENGTH(One), DATALENGTH(n), DATALENGTH(m), DATALENGTH(Two), DATALENGTH(was),"
        " DATALENGTH(new), DATALENGTH(later) FROM Kinds"
        "\nSELECT DATALENGTH(One), DATALENGTH(n) FROM Copied"
        "\nSELECT DATALENGTH(One), DATALENGTH(n) FROM ShownKinds"
        "\nSELECT name FROM sys.columns WHERE object_id = OBJECT_ID('Kinds') ORDER BY column_id"
    )
    assert later.results == [
        [["1", "2", "1", "2", "2", "1", "1"]],
        [["1", "2"]],
        [["1", "2"]],
        [["One"], ["n"], ["m"], ["Two"], ["was"], ["new"], ["later"]],
    ]
    later.close()

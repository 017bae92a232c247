"""Certificates and master keys: made in fact, kept sealed, read from files and written to them."""

import re
import shutil
import subprocess
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import psycopg
import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
)
from cryptography.x509.oid import NameOID
from end_to_end.tsql import Tsql

from pgsb.security.certificates import facts_of, make_certificate
from pgsb.security.keys import ServiceKeys, WrongKey, seal, seal_by_password, unseal, unseal_by_password
from pgsb.security.private_keys import read_private_key, write_pkcs8, write_pvk
from pgsb.security.problems import KeyProblem
from support import Connection, Database

_PASSWORD = "it's a pass\\word"
_MASTER = "CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'it''s a pass\\word';"


@pytest.fixture
def keys(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's service master keys are."""
    folder = tmp_path / "keys"
    monkeypatch.setenv("PGSB_KEYS", str(folder))
    return folder


@pytest.fixture
def tsql(database: Database, keys: Path) -> Iterator[Tsql]:
    session = Tsql(database.dsn)
    yield session
    session.connection.close()


def numbers(session: Tsql, script: str) -> list[int]:
    session.run(script)
    return [error.number for error in session.errors if error.severity > 10]


def test_a_certificate_is_a_key_pair_and_x509(tsql: Tsql, tmp_path: Path) -> None:
    tsql.run_well(
        f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'The shop''s', START_DATE = '20260102 03:04:05',"
        f" EXPIRY_DATE = '20310102'; BACKUP CERTIFICATE c TO FILE = '{tmp_path}/c.cer'"
        f" WITH PRIVATE KEY (FILE = '{tmp_path}/c.pvk', ENCRYPTION BY PASSWORD = 'p')"
    )
    made = x509.load_der_x509_certificate((tmp_path / "c.cer").read_bytes())
    assert made.subject.get_attributes_for_oid(NameOID.COMMON_NAME)[0].value == "The shop's"
    assert made.not_valid_before_utc == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert made.not_valid_after_utc == datetime(2031, 1, 2, tzinfo=UTC)
    made.verify_directly_issued_by(made)
    key = read_private_key((tmp_path / "c.pvk").read_bytes(), "p")
    public = made.public_key()
    assert isinstance(public, rsa.RSAPublicKey)
    assert public.key_size == 2048
    public.verify(
        key.sign(b"signed", padding.PKCS1v15(), hashes.SHA256()),
        b"signed",
        padding.PKCS1v15(),
        hashes.SHA256(),
    )
    assert oct((tmp_path / "c.pvk").stat().st_mode)[-3:] == "600"
    (row,) = tsql.connection.execute(
        "SELECT name, pvt_key_encryption_type, subject, issuer_name, key_length, start_date, thumbprint,"
        " cert_serial_number, pvt_key_last_backup_date IS NOT NULL, sid FROM sys.certificates"
    ).fetchall()
    thumbprint = made.fingerprint(hashes.SHA1())
    assert row[:7] == ("c", "MK", "The shop's", "The shop's", 2048, datetime(2026, 1, 2, 3, 4, 5), thumbprint)
    assert int(row[7].replace(" ", ""), 16) == made.serial_number
    assert row[8:] == (True, bytes.fromhex("010600000000000901000000") + thumbprint)


@pytest.mark.one_postgres
def test_a_subject_is_a_distinguished_name_or_any_text() -> None:
    start, expiry = datetime(2026, 1, 1, tzinfo=UTC), datetime(2027, 1, 1, tzinfo=UTC)
    for subject, common_name, shown in [
        ("cn = quay , O=Ropes & Sons,C=DE", "quay", "CN=quay,O=Ropes & Sons,C=DE"),
        (r"CN=quay\, west", "quay, west", "quay, west"),
        ("west, CN=quay", "west, CN=quay", "west, CN=quay"),
    ]:
        certificate, _ = make_certificate(subject, start, expiry)
        (found,) = certificate.subject.get_attributes_for_oid(NameOID.COMMON_NAME)
        assert (found.value, facts_of(certificate).subject) == (common_name, shown)


def test_dates_default_to_now_and_a_year(tsql: Tsql) -> None:
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'")
    (row,) = tsql.connection.execute(
        "SELECT start_date BETWEEN timezone('UTC', now()) - interval '1 minute' AND timezone('UTC', now())"
        " + interval '1 minute', expiry_date - start_date >= interval '365 days' FROM sys.certificates"
    ).fetchall()
    assert row == (True, True)


@pytest.mark.long
@pytest.mark.one_postgres
def test_files_travel_between_databases(tsql: Tsql, tmp_path: Path) -> None:
    """A backup with its key, and one without, in another database; PVK and PKCS#8."""
    for form in ("pvk", "p8"):
        tsql.run_well(
            f"""{_MASTER if form == "pvk" else ""}
            CREATE CERTIFICATE c WITH SUBJECT = 'x';
            BACKUP CERTIFICATE c TO FILE = '{tmp_path}/{form}.cer'
                WITH PRIVATE KEY (FILE = '{tmp_path}/{form}.{form}', ENCRYPTION BY PASSWORD = 'p');
            DROP CERTIFICATE c
            GO
            CREATE DATABASE {form}
            GO
            USE {form}
            GO
            CREATE MASTER KEY
            CREATE USER ann WITHOUT LOGIN
            CREATE CERTIFICATE whole FROM FILE = '{tmp_path}/{form}.cer'
                WITH PRIVATE KEY (FILE = '{tmp_path}/{form}.{form}', DECRYPTION BY PASSWORD = 'p')
            GO
            USE master
            """
        )
        script = f"""USE {form}
            GO
            CREATE CERTIFICATE again FROM FILE = '{tmp_path}/{form}.cer'"""
        assert numbers(tsql, script) == [15232]
        tsql.run_well(f"USE {form}\nGO\nDROP CERTIFICATE whole")
        tsql.run_well(
            f"""USE {form}
            GO
            CREATE CERTIFICATE half AUTHORIZATION ann FROM FILE = '{tmp_path}/{form}.cer'
            ALTER CERTIFICATE half
                WITH PRIVATE KEY (FILE = '{tmp_path}/{form}.{form}', DECRYPTION BY PASSWORD = 'p')
            """
        )
        found = tsql.run(f"SELECT name, pvt_key_encryption_type_desc FROM {form}.sys.certificates")
        assert "half" in found
        assert "ENCRYPTED_BY_MASTER_KEY" in found
        tsql.run_well(f"USE {tsql.connection.info.dbname}")


@pytest.mark.one_postgres
def test_a_certificate_is_one_users_whatever_thumbprint_a_client_says(tsql: Tsql) -> None:
    """Who may create certificates answers for the client; with another's he would be taken for that one."""
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'")
    columns = "database_id, der, subject, issuer, serial_number, start_date, expiry_date, key_length"
    with pytest.raises(psycopg.errors.UniqueViolation, match="certificate_by_fingerprint"):
        tsql.connection.execute(
            f"INSERT INTO ssb.certificate (name, owner, thumbprint, encryption, {columns})"
            f" SELECT 'other', 'other', 'other', 'NA', {columns} FROM ssb.certificate"
        )


@pytest.mark.long
@pytest.mark.one_postgres
def test_certencoded_and_certprivatekey_make_a_certificate_elsewhere(tsql: Tsql) -> None:
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'")
    shown = tsql.run_well(
        "SELECT CERTENCODED(CERT_ID('c')) AS c, CERTPRIVATEKEY(CERT_ID('c'), 'p', NULL) AS k"
    )
    public, private = re.findall("0x[0-9A-F]+", shown)
    tsql.run_well(
        "DROP CERTIFICATE c;"
        f" CREATE CERTIFICATE d FROM BINARY = {public} WITH PRIVATE KEY (BINARY = {private},"
        " DECRYPTION BY PASSWORD = 'p', ENCRYPTION BY PASSWORD = 'q')"
    )
    assert "ENCRYPTED_BY_PASSWORD" in tsql.run("SELECT pvt_key_encryption_type_desc FROM sys.certificates")
    assert "S-1-9-1-" in tsql.run("SELECT CERTPROPERTY(CERT_ID('d'), 'String_SID') AS sid")
    # The password, or nothing.
    for given, length in (("NULL", "NULL"), ("'wrong'", "NULL"), ("'q'", "1212")):
        shown = tsql.run(f"SELECT DATALENGTH(CERTPRIVATEKEY(CERT_ID('d'), 'p', {given})) AS length")
        assert length in shown


@pytest.mark.one_postgres
def test_pfx_has_both_in_one_file(tsql: Tsql, tmp_path: Path) -> None:
    tsql.run_well(
        f"""{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'
        BACKUP CERTIFICATE c TO FILE = '{tmp_path}/c.pfx'
            WITH FORMAT = 'PFX', PRIVATE KEY (ENCRYPTION BY PASSWORD = 'p')
        DROP CERTIFICATE c
        CREATE CERTIFICATE c FROM FILE = '{tmp_path}/c.pfx'
            WITH FORMAT = 'PFX', PRIVATE KEY (DECRYPTION BY PASSWORD = 'p')"""
    )
    assert "ENCRYPTED_BY_MASTER_KEY" in tsql.run("SELECT pvt_key_encryption_type_desc FROM sys.certificates")


_WRONG: list[tuple[str, int]] = [
    ("CREATE CERTIFICATE c FROM FILE = '{0}/missing.cer'", 15208),
    ("CREATE CERTIFICATE c FROM FILE = '{0}/broken.cer'", 15208),
    ("CREATE CERTIFICATE c FROM BINARY = 0x308201", 15297),
    ("CREATE CERTIFICATE c FROM FILE = '{0}/ec.cer'", 15297),
    (
        "CREATE CERTIFICATE c FROM FILE = '{0}/good.cer' WITH PRIVATE KEY (FILE = '{0}/missing.pvk')",
        15208,
    ),
    (
        "CREATE CERTIFICATE c FROM FILE = '{0}/good.cer'"
        " WITH PRIVATE KEY (FILE = '{0}/good.pvk', DECRYPTION BY PASSWORD = 'wrong')",
        15465,
    ),
    (
        "CREATE CERTIFICATE c FROM FILE = '{0}/good.cer'"
        " WITH PRIVATE KEY (FILE = '{0}/other.pvk', DECRYPTION BY PASSWORD = 'p')",
        15297,
    ),
    ("CREATE CERTIFICATE c WITH SUBJECT = ''", 15212),
    ("CREATE CERTIFICATE c WITH SUBJECT = 'x', START_DATE = '20300101', EXPIRY_DATE = '20290101'", 15213),
    ("CREATE CERTIFICATE c AUTHORIZATION nobody WITH SUBJECT = 'x'", 15151),
    ("CREATE CERTIFICATE c AUTHORIZATION readers WITH SUBJECT = 'x'", 15345),
    ("CREATE CERTIFICATE good WITH SUBJECT = 'x'", 15232),
    ("CREATE USER u FOR CERTIFICATE nothing", 15151),
    ("DROP CERTIFICATE nothing", 15151),
    ("BACKUP CERTIFICATE nothing TO FILE = '{0}/n.cer'", 15151),
    ("BACKUP CERTIFICATE good TO FILE = '{0}/good.cer'", 15240),
    ("BACKUP CERTIFICATE good TO FILE = '{0}/no/folder'", 15240),
    (
        "BACKUP CERTIFICATE good TO FILE = '{0}/n.cer' WITH PRIVATE KEY (FILE = '{0}/good.pvk',"
        " ENCRYPTION BY PASSWORD = 'p')",
        15240,
    ),
    ("BACKUP CERTIFICATE good TO FILE = '{0}/n.cer' WITH PRIVATE KEY (FILE = '{0}/n.pvk')", 15465),
    ("CREATE MASTER KEY", 15578),
    ("DROP MASTER KEY", 15580),
    ("OPEN MASTER KEY DECRYPTION BY PASSWORD = 'wrong'", 15313),
    ("CLOSE MASTER KEY", 15315),
    ("ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD = 'wrong'", 15313),
    (
        "RESTORE MASTER KEY FROM FILE = '{0}/good.cer' DECRYPTION BY PASSWORD = 'p'"
        " ENCRYPTION BY PASSWORD = 'q'",
        15317,
    ),
    (
        "DECLARE @t nvarchar(99) = N'CREATE CERTIFICATE c WITH SUBJECT = ''x''' + CHAR(32); EXEC(@t)",
        15247,
    ),
]


@pytest.mark.long
@pytest.mark.one_postgres
def test_what_is_wrong_is_told_and_nothing_is_made(tsql: Tsql, tmp_path: Path) -> None:
    tsql.run_well(
        f"""{_MASTER} CREATE ROLE readers; CREATE CERTIFICATE good WITH SUBJECT = 'x'
        BACKUP CERTIFICATE good TO FILE = '{tmp_path}/good.cer'
            WITH PRIVATE KEY (FILE = '{tmp_path}/good.pvk', ENCRYPTION BY PASSWORD = 'p')"""
    )
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (tmp_path / "other.pvk").write_bytes(write_pvk(key, "p"))
    (tmp_path / "broken.cer").write_bytes((tmp_path / "good.cer").read_bytes()[:-7])
    (tmp_path / "ec.cer").write_bytes(_ec_certificate())
    files = sorted(path.name for path in tmp_path.iterdir())
    for script, number in _WRONG:
        assert numbers(tsql, script.format(tmp_path)) == [number], script
        assert tsql.connection.execute("SELECT name FROM sys.certificates").fetchall() == [("good",)], script
        assert sorted(path.name for path in tmp_path.iterdir()) == files, script
    # Text that is known where the script is read can be run.
    assert numbers(tsql, "EXEC('CREATE CERTIFICATE c WITH ' + 'SUBJECT = ''x''')") == []


def _ec_certificate() -> bytes:
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "x")])
    builder = x509.CertificateBuilder().subject_name(name).issuer_name(name).public_key(key.public_key())
    return (
        builder.serial_number(1)
        .not_valid_before(datetime(2026, 1, 1))
        .not_valid_after(datetime(2036, 1, 1))
        .sign(key, hashes.SHA256())
        .public_bytes(Encoding.DER)
    )


@pytest.mark.long
@pytest.mark.one_postgres
def test_without_a_master_key_a_private_key_needs_a_password(tsql: Tsql) -> None:
    assert numbers(tsql, "CREATE CERTIFICATE c WITH SUBJECT = 'x'") == [15581]
    tsql.run_well("CREATE CERTIFICATE c ENCRYPTION BY PASSWORD = 'p' WITH SUBJECT = 'x'")
    assert numbers(tsql, "ALTER CERTIFICATE c WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'p')") == [15581]
    tsql.run_well(_MASTER)
    assert numbers(tsql, "ALTER CERTIFICATE c WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'q')") == [15465]
    tsql.run_well("ALTER CERTIFICATE c WITH PRIVATE KEY (DECRYPTION BY PASSWORD = 'p')")
    assert "ENCRYPTED_BY_MASTER_KEY" in tsql.run("SELECT pvt_key_encryption_type_desc FROM sys.certificates")
    tsql.run_well("ALTER CERTIFICATE c REMOVE PRIVATE KEY; DROP MASTER KEY")
    assert "NO_PRIVATE_KEY" in tsql.run("SELECT pvt_key_encryption_type_desc FROM sys.certificates")


@pytest.mark.one_postgres
def test_a_certificate_that_is_expired_or_not_valid_yet_is_made_with_a_warning(tsql: Tsql) -> None:
    tsql.run_well(_MASTER)
    assert "is expired" in tsql.run_well(
        "CREATE CERTIFICATE e WITH SUBJECT = 'x', START_DATE = '20190101', EXPIRY_DATE = '20200101'"
    )
    assert "not yet valid" in tsql.run_well(
        "CREATE CERTIFICATE f WITH SUBJECT = 'x', START_DATE = '20390101'"
    )


@pytest.mark.long
@pytest.mark.one_postgres
def test_a_master_key_without_the_service_master_key_is_to_be_opened(tsql: Tsql, database: Database) -> None:
    tsql.run_well(f"{_MASTER} ALTER MASTER KEY DROP ENCRYPTION BY SERVICE MASTER KEY")
    assert "ESKP" in tsql.run("SELECT crypt_type FROM sys.key_encryptions")
    assert numbers(tsql, "ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD = 'it''s a pass\\word'") == [15558]
    assert numbers(tsql, "CREATE CERTIFICATE c WITH SUBJECT = 'x'") == [15581]
    tsql.run_well(
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'it''s a pass\\word';"
        " CREATE CERTIFICATE c WITH SUBJECT = 'x'"
    )
    # Open for this session, until it is closed.
    other = Tsql(database.dsn)
    assert numbers(other, "CREATE CERTIFICATE d WITH SUBJECT = 'x'") == [15581]
    other.connection.close()
    tsql.run_well("CLOSE MASTER KEY")
    assert numbers(tsql, "CREATE CERTIFICATE d WITH SUBJECT = 'x'") == [15581]
    tsql.run_well(
        "OPEN MASTER KEY DECRYPTION BY PASSWORD = 'it''s a pass\\word';"
        " ALTER MASTER KEY ADD ENCRYPTION BY SERVICE MASTER KEY; CLOSE MASTER KEY;"
        " ALTER MASTER KEY ADD ENCRYPTION BY PASSWORD = 'second';"
        " ALTER MASTER KEY DROP ENCRYPTION BY PASSWORD = 'it''s a pass\\word';"
        " OPEN MASTER KEY DECRYPTION BY PASSWORD = 'second'; CREATE CERTIFICATE d WITH SUBJECT = 'x'"
    )
    kinds = tsql.connection.execute("SELECT crypt_type FROM sys.key_encryptions ORDER BY 1").fetchall()
    assert kinds == [("ESKM",), ("ESKP",)]


@pytest.mark.long
@pytest.mark.one_postgres
def test_keys_are_exchanged_and_private_keys_stay_usable(tsql: Tsql, tmp_path: Path, keys: Path) -> None:
    """REGENERATE and RESTORE of both master keys; each time the private key is exported again."""
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'")
    exported: list[Any] = []

    def export() -> None:
        place = len(exported)
        tsql.run_well(
            f"BACKUP CERTIFICATE c TO FILE = '{tmp_path}/{place}.cer'"
            f" WITH PRIVATE KEY (FILE = '{tmp_path}/{place}.pvk', ENCRYPTION BY PASSWORD = 'p')"
        )
        exported.append(read_private_key((tmp_path / f"{place}.pvk").read_bytes(), "p").private_numbers())

    export()
    tsql.run_well(
        f"BACKUP MASTER KEY TO FILE = '{tmp_path}/master' ENCRYPTION BY PASSWORD = 'file';"
        f" BACKUP SERVICE MASTER KEY TO FILE = '{tmp_path}/service' ENCRYPTION BY PASSWORD = 'file';"
        " ALTER MASTER KEY REGENERATE WITH ENCRYPTION BY PASSWORD = 'new'"
    )
    export()
    tsql.run_well("ALTER SERVICE MASTER KEY REGENERATE")
    export()
    tsql.run_well(
        f"RESTORE MASTER KEY FROM FILE = '{tmp_path}/master' DECRYPTION BY PASSWORD = 'file'"
        " ENCRYPTION BY PASSWORD = 'newer'"
    )
    export()
    tsql.run_well(
        f"RESTORE SERVICE MASTER KEY FROM FILE = '{tmp_path}/service' DECRYPTION BY PASSWORD = 'file'"
    )
    export()
    # A machine that has not got the key: RESTORE brings it there.
    tsql.run_well(f"BACKUP SERVICE MASTER KEY TO FILE = '{tmp_path}/last' ENCRYPTION BY PASSWORD = 'file'")
    shutil.rmtree(keys)
    fresh = Tsql(tsql.connection.info.dsn)
    script = (
        f"BACKUP CERTIFICATE c TO FILE = '{tmp_path}/x' WITH PRIVATE KEY (FILE = '{tmp_path}/y',"
        " ENCRYPTION BY PASSWORD = 'p')"
    )
    assert numbers(fresh, script) == [33094]
    fresh.run_well(
        f"RESTORE SERVICE MASTER KEY FROM FILE = '{tmp_path}/last' DECRYPTION BY PASSWORD = 'file'"
    )
    fresh.run_well(script)
    fresh.connection.close()
    assert all(one == exported[0] for one in exported)


@pytest.mark.one_postgres
def test_no_key_lies_in_the_database_in_the_clear(tsql: Tsql, tmp_path: Path, keys: Path) -> None:
    """Every table as text: neither the private key's numbers, nor a master key, nor a password."""
    tsql.run_well(
        f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'"
        f" BACKUP CERTIFICATE c TO FILE = '{tmp_path}/c.cer' WITH PRIVATE KEY (FILE = '{tmp_path}/c.pvk',"
        " ENCRYPTION BY PASSWORD = 'p')"
    )
    tables = [
        row[0]
        for row in tsql.connection.execute(
            "SELECT c.oid::regclass::text FROM pg_class AS c WHERE c.relnamespace = 'ssb'::regnamespace"
            " AND c.relkind = 'r'"
        )
    ]
    dump = "".join(
        str(tsql.connection.execute(f"SELECT t::text FROM {table} AS t").fetchall()) for table in tables
    )
    key = read_private_key((tmp_path / "c.pvk").read_bytes(), "p")
    der = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    assert key.private_numbers().public_numbers.n.to_bytes(256, "big").hex() in dump  # the certificate has it
    assert der.hex() not in dump
    assert key.private_numbers().d.to_bytes(256, "big").hex() not in dump
    assert _PASSWORD not in dump
    (service,) = keys.iterdir()
    assert service.read_text().strip() not in dump
    assert service.stat().st_mode & 0o077 == 0
    # And nobody but the owner reads the sealed ones.
    tsql.connection.execute("CREATE ROLE reader LOGIN")
    try:
        with psycopg.connect(tsql.connection.info.dsn, user="reader", autocommit=True) as reader:
            for table in ("certificate", "master_key", "master_key_password", "dialog_key"):
                with pytest.raises(psycopg.errors.InsufficientPrivilege):
                    reader.execute(f"SELECT * FROM ssb.{table}")
    finally:
        tsql.connection.execute("DROP ROLE reader")


def test_without_our_client_it_is_refused_with_the_reason(
    database: Database, connect: Callable[..., Connection]
) -> None:
    connection = connect()
    for call in ("create_master_key('p')", "backup_service_master_key('f', 'p')"):
        with pytest.raises(psycopg.Error, match="done by pgsb run and pgsb shell"):
            connection.execute(f"SELECT ssb.{call}")
    row = connection.execute("SELECT count(*) FROM ssb.master_key").fetchone()
    assert row == (0,)


@pytest.mark.one_postgres
def test_code_of_others_in_the_session_cannot_use_the_keys(tsql: Tsql, tmp_path: Path, keys: Path) -> None:
    """A trigger that asks in the runtime's words: the user's statement does not say so."""
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'; CREATE TABLE dbo.t (a int)")
    tsql.connection.execute(
        """CREATE FUNCTION dbo.steal() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM ssb.add_master_key_encryption('mine');
            RETURN NULL;
        END; $$"""
    )
    tsql.connection.execute(
        "CREATE TRIGGER steal AFTER INSERT ON dbo.t FOR EACH STATEMENT EXECUTE FUNCTION dbo.steal()"
    )
    assert numbers(tsql, "INSERT INTO dbo.t VALUES (1)") == [15247]
    # Nor where a statement has the password in it for other reasons, or calls the function for others.
    assert numbers(tsql, "INSERT INTO dbo.t SELECT 1 WHERE 'mine' = 'mine'") == [15247]
    # Nor by the name of a function that the same statement calls for something else.
    tsql.connection.execute(
        """CREATE OR REPLACE FUNCTION dbo.steal() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            PERFORM ssb_internal.ask_client('x', 'create_certificate', jsonb_build_object(
                'action', 'seal_master_key', 'master', ssb_internal.master_key_json(5),
                'service_key', NULL, 'password', 'd'));
            RETURN NULL;
        END; $$"""
    )
    whole = "IF 1 = 1 BEGIN CREATE CERTIFICATE d WITH SUBJECT = 'x'; INSERT INTO dbo.t VALUES (1) END"
    assert numbers(tsql, whole) == [15247]
    row = tsql.connection.execute("SELECT count(*) FROM ssb.master_key_password").fetchone()
    assert row == (1,)


def test_a_public_certificate_comes_by_dynamic_sql_and_procedures(tsql: Tsql, tmp_path: Path) -> None:
    """What two databases show each other; a private key beside it stays with the user's own statement."""
    tsql.run_well(
        f"""{_MASTER} CREATE CERTIFICATE mine WITH SUBJECT = 'Shown to partners'
        GO
        CREATE PROCEDURE dbo.Meet @name sysname, @shown varbinary(max), @rest nvarchar(400) AS
        DECLARE @text nvarchar(max) = N'CREATE CERTIFICATE ' + QUOTENAME(@name) + N' FROM BINARY = '
            + CONVERT(nvarchar(max), @shown, 1) + @rest
        EXEC (@text)
        """
    )
    meet = """
        DECLARE @shown varbinary(max) = CERTENCODED(CERT_ID('mine'))
        DROP CERTIFICATE mine
        EXEC dbo.Meet 'partner', @shown, N'{}'
    """
    private = " WITH PRIVATE KEY (FILE = ''partner.pvk'', DECRYPTION BY PASSWORD = ''p'')"
    assert numbers(tsql, f"BEGIN TRANSACTION {meet.format(private)} ROLLBACK") == [15247]
    tsql.run_well(meet.format(""))
    assert tsql.connection.execute(
        "SELECT name, subject, pvt_key_encryption_type FROM sys.certificates WHERE name NOT LIKE '##%'"
    ).fetchall() == [("partner", "Shown to partners", "NA")]
    assert numbers(tsql, "EXEC dbo.Meet 'other', 0x3003, N''") == [15297]


@pytest.mark.long
def test_another_database_knows_a_services_owner_by_his_certificate(tsql: Tsql) -> None:
    """Not by his name: the proxy there may have SEND, and without his certificate nobody has."""
    bring = "DECLARE @s nvarchar(max) = N'CREATE CERTIFICATE c AUTHORIZATION {} FROM BINARY = ' +"
    bring += " CONVERT(nvarchar(max), (SELECT shown FROM tempdb.dbo.shown WHERE whose = '{}'), 1) EXEC (@s)"
    side = "CREATE DATABASE {0} GO USE {0} {1} CREATE USER {2} WITHOUT LOGIN CREATE USER proxy WITHOUT LOGIN"
    side += " CREATE CERTIFICATE own AUTHORIZATION {2} WITH SUBJECT = '{2}' CREATE QUEUE q"
    side += " CREATE SERVICE [//{0}] AUTHORIZATION {2} ON QUEUE q ([DEFAULT])"
    side += " INSERT tempdb.dbo.shown SELECT '{2}', CERTENCODED(CERT_ID('own'))"
    text = f"""CREATE TABLE tempdb.dbo.shown (whose sysname, shown varbinary(max)) GO
        {side.format("near", _MASTER, "sender")} GO {side.format("far", _MASTER, "receiver")}
        GRANT SEND ON SERVICE::[//far] TO proxy GO
        USE near {bring.format("proxy", "receiver")}
        CREATE REMOTE SERVICE BINDING b TO SERVICE '//far' WITH USER = proxy GO
        DECLARE @h uniqueidentifier
        BEGIN DIALOG @h FROM SERVICE [//near] TO SERVICE '//far'
        SEND ON CONVERSATION @h (N'hello') GO
        """
    tsql.run_well(text.replace(" GO", "\nGO\n"))
    waiting = "SELECT transmission_status FROM sys.transmission_queue"
    assert tsql.connection.execute(waiting).fetchall() == [
        ("You do not have permission to access the service '//far'.",)
    ]
    tsql.run_well(f"USE far {bring.format('proxy', 'sender')}")
    tsql.run_well(
        "USE near DECLARE @h uniqueidentifier\n"
        "SELECT @h = conversation_handle FROM sys.conversation_endpoints;\n"
        "SEND ON CONVERSATION @h (N'again')"
    )
    assert tsql.connection.execute(waiting).fetchall() == []


def test_who_may(tsql: Tsql, database: Database, tmp_path: Path) -> None:
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'; CREATE USER clerk WITHOUT LOGIN")
    tsql.connection.execute("CREATE ROLE clerk LOGIN")
    clerk = Tsql(psycopg.conninfo.make_conninfo(database.dsn, user="clerk"))
    try:
        for script, number in (
            ("CREATE MASTER KEY", 262),
            ("OPEN MASTER KEY DECRYPTION BY PASSWORD = 'it''s a pass\\word'", 262),
            ("CREATE CERTIFICATE d WITH SUBJECT = 'x'", 262),
            (f"BACKUP CERTIFICATE c TO FILE = '{tmp_path}/c.cer'", 15151),
            ("DROP CERTIFICATE c", 15151),
            ("ALTER SERVICE MASTER KEY REGENERATE", 15247),
        ):
            assert numbers(clerk, script) == [number], script
        assert "NULL" in clerk.run("SELECT CERTPRIVATEKEY(CERT_ID('c'), 'p') AS k")
        tsql.run_well("GRANT CREATE CERTIFICATE TO clerk")
        clerk.run_well(
            f"CREATE CERTIFICATE d WITH SUBJECT = 'x'; BACKUP CERTIFICATE d TO FILE = '{tmp_path}/d'"
        )
    finally:
        clerk.connection.close()
        tsql.connection.execute("DROP OWNED BY clerk; DROP ROLE clerk")


def test_a_certificate_that_something_needs_stays(tsql: Tsql) -> None:
    tsql.run_well(f"{_MASTER} CREATE CERTIFICATE c WITH SUBJECT = 'x'; CREATE USER u FOR CERTIFICATE c")
    assert numbers(tsql, "DROP CERTIFICATE c") == [15352]
    tsql.run_well("DROP USER u; DROP CERTIFICATE c")


@pytest.mark.long
@pytest.mark.one_postgres
def test_an_endpoint_takes_a_certificate_with_which_it_can_log_in_whatever_its_name(tsql: Tsql) -> None:
    tsql.run_well(
        f"USE master; {_MASTER} CREATE CERTIFICATE [Our ]] Windows] WITH SUBJECT = 'x';"
        " CREATE CERTIFICATE locked ENCRYPTION BY PASSWORD = 'p' WITH SUBJECT = 'y';"
        " CREATE CERTIFICATE gone WITH SUBJECT = 'z', START_DATE = '20200101', EXPIRY_DATE = '20210101'"
    )
    create = (
        "CREATE ENDPOINT e AS TCP (LISTENER_PORT = 4022)"
        " FOR SERVICE_BROKER (AUTHENTICATION = certificate /* c */ %s)"
    )
    for name, number in (("locked", 28055), ("[gone]", 28055), ("nowhere", 15151)):
        assert numbers(tsql, create % name) == [number], name
    tsql.run_well(create % "[Our ]] Windows]")
    shown = (
        "SELECT e.connection_auth_desc, c.name FROM sys.service_broker_endpoints AS e"
        " LEFT JOIN sys.certificates AS c ON c.certificate_id = e.certificate_id;"
    )
    login = "ALTER ENDPOINT e FOR SERVICE_BROKER (AUTHENTICATION = %s);"
    both = login % 'WINDOWS kerberos CERTIFICATE "Our ] Windows"'
    tsql.run_well(f"{shown} {both} {shown}")
    assert tsql.results == [
        [["CERTIFICATE", "Our ] Windows"]],
        [["KERBEROS, CERTIFICATE", "Our ] Windows"]],
    ]
    assert numbers(tsql, "DROP CERTIFICATE [Our ]] Windows]") == [15352]
    assert numbers(tsql, login % "CERTIFICATE locked") == [28055]
    for change in ("REMOVE PRIVATE KEY", "WITH PRIVATE KEY (ENCRYPTION BY PASSWORD = 'p')"):
        assert numbers(tsql, f"ALTER CERTIFICATE [Our ]] Windows] {change}") == [28055]
    tsql.run_well(
        f"{login % 'WINDOWS'} ALTER CERTIFICATE [Our ]] Windows] REMOVE PRIVATE KEY;"
        " DROP CERTIFICATE [Our ]] Windows]; DROP ENDPOINT e"
    )


# ------------------------------------------------------------------ without a server


def test_what_is_sealed_opens_with_its_key_for_its_purpose_only() -> None:
    key = bytes(range(32))
    sealed = seal(key, b"secret", "one")
    assert b"secret" not in sealed
    assert unseal(key, sealed, "one") == b"secret"
    for wrong_key, data, purpose in (
        (bytes(32), sealed, "one"),
        (key, sealed, "two"),
        (key, sealed[:-1], "one"),
        (key, sealed[:5] + bytes([sealed[5] ^ 1]) + sealed[6:], "one"),
        (key, b"", "one"),
    ):
        with pytest.raises(WrongKey):
            unseal(wrong_key, data, purpose)
    by_password = seal_by_password("p", b"secret", "one")
    assert unseal_by_password("p", by_password, "one") == b"secret"
    with pytest.raises(WrongKey):
        unseal_by_password("P", by_password, "one")


def test_service_keys_come_from_files_of_their_own_or_a_command(tmp_path: Path) -> None:
    store = ServiceKeys(tmp_path / "deep" / "keys", command="")
    key_id, key = store.make()
    path = tmp_path / "deep" / "keys" / f"{key_id}.key"
    again = ServiceKeys(tmp_path / "deep" / "keys", command="")
    assert again.read(key_id) == key
    path.chmod(0o640)
    with pytest.raises(KeyProblem, match="read by others"):
        ServiceKeys(tmp_path / "deep" / "keys", command="").read(key_id)
    path.unlink()
    with pytest.raises(KeyProblem, match="PGSB_KEY_COMMAND"):
        ServiceKeys(tmp_path / "deep" / "keys", command="").read(key_id)
    told = tmp_path / "told"
    told.write_text(f'#!/bin/sh\n[ "$1" = {key_id} ] && echo {key.hex()}\n')
    told.chmod(0o755)
    assert ServiceKeys(tmp_path / "none", command=str(told)).read(key_id) == key
    for wrong in ("/no/such/command", "printf '%b", "printf '\\377'"):
        with pytest.raises(KeyProblem, match="did not give"):
            ServiceKeys(tmp_path / "none", command=wrong).read(key_id)
    with pytest.raises(ValueError, match="UUID"):
        ServiceKeys(tmp_path, command="").read("../../etc/passwd")


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl")
def test_openssl_reads_what_we_write(tmp_path: Path) -> None:
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    (tmp_path / "k.p8").write_bytes(write_pkcs8(key, "p"))
    done = subprocess.run(
        [
            "openssl",
            "pkey",
            "-inform",
            "DER",
            "-in",
            tmp_path / "k.p8",
            "-passin",
            "pass:p",
            "-outform",
            "DER",
        ],
        capture_output=True,
        check=True,
    )
    read = load_der_private_key(done.stdout, None)
    assert isinstance(read, rsa.RSAPrivateKey)
    assert read.private_numbers() == key.private_numbers()
    (tmp_path / "k.pvk").write_bytes(write_pvk(key, "p"))
    # Only an openssl with its legacy provider knows RC4.
    done = subprocess.run(
        [
            "openssl",
            "rsa",
            "-inform",
            "PVK",
            "-in",
            tmp_path / "k.pvk",
            "-passin",
            "pass:p",
            "-outform",
            "DER",
            "-provider",
            "legacy",
            "-provider",
            "default",
        ],
        capture_output=True,
        check=False,
    )
    if done.returncode == 0:
        read = load_der_private_key(done.stdout, None)
        assert isinstance(read, rsa.RSAPrivateKey)
        assert read.private_numbers() == key.private_numbers()
    assert read_private_key((tmp_path / "k.pvk").read_bytes(), "p").private_numbers() == key.private_numbers()

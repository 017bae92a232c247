"""Keys, certificates and bindings of two instances between which dialogs are secured."""

from pathlib import Path
from typing import Any

from end_to_end.tsql import Tsql
from instances import Side


def script(side: Side, text: str) -> str:
    """Run T-SQL as the instance's owner."""
    session = Tsql(side.database.dsn)
    try:
        return session.run_well(text)
    finally:
        session.close()


def certificate_row(name: str) -> str:
    """The statement for a certificate of master that an endpoint takes, where nobody looks into it."""
    return (
        "INSERT INTO ssb.certificate (database_id, name, owner, der, subject, issuer, serial_number,"
        " thumbprint, start_date, expiry_date, key_length, private_key, encryption) VALUES"
        f" (1, '{name}', 'dbo', '{name}'::bytea, '', '', '', '{name}'::bytea, '20200101', '20991231', 2048,"
        " '', 'MK')"
    )


def own_certificate(side: Side, name: str, folder: Path) -> None:
    """A user who owns the side's service and has a certificate; its public part goes to a file."""
    script(
        side,
        f"""IF NOT EXISTS (SELECT * FROM sys.symmetric_keys) CREATE MASTER KEY ENCRYPTION BY PASSWORD = 'x'
        CREATE USER {name} WITHOUT LOGIN
        CREATE CERTIFICATE {name}Cert AUTHORIZATION {name} WITH SUBJECT = '{name}', EXPIRY_DATE = '20401231'
        BACKUP CERTIFICATE {name}Cert TO FILE = '{folder}/{name}.cer'
        ALTER AUTHORIZATION ON SERVICE::[{side.service}] TO {name}""",
    )


def others_certificate(side: Side, name: str, folder: Path) -> None:
    """The user whom the other side's certificate stands for."""
    script(
        side,
        f"""CREATE USER {name}There WITHOUT LOGIN
        CREATE CERTIFICATE {name}Cert AUTHORIZATION {name}There FROM FILE = '{folder}/{name}.cer'""",
    )


def begin(side: Side, to: str, **options: Any) -> Any:
    return side.begin(to, **{"encryption": True, **options})

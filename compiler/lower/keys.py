"""Master keys and certificates: CREATE, ALTER, OPEN, CLOSE, BACKUP, RESTORE.

Each becomes a call of the engine's function of the same name (docs/api.md), which asks the client to do what
PostgreSQL cannot. The client does nothing that does not stand here as a literal: names of files and passwords
must not be computed.
"""

from __future__ import annotations

from .. import nodes
from ..plpgsql import nodes as pl
from .context import Context, call, flag, named, text_or_none
from .dispatch import invocations


def _bytes(text: str | None) -> pl.Expr | None:
    if text is None:
        return None
    digits = text[2:].lower()
    return pl.Cast(pl.Text("\\x" + digits.zfill(len(digits) + len(digits) % 2)), "bytea")


def _private_key(options: nodes.PrivateKeyOptions | None) -> dict[str, pl.Expr | None]:
    if options is None:
        return {}
    return {
        "private_key_file": text_or_none(options.file),
        "private_key_bytes": _bytes(options.binary),
        "decryption": text_or_none(options.decryption),
        "encryption": text_or_none(options.encryption),
    }


def _date(value: nodes.StringLiteral | None) -> pl.Expr | None:
    return None if value is None else pl.Invoke("sys.convert_datetime", (pl.Text(value.value),))


@invocations.register
def create_certificate(node: nodes.CreateCertificate, ctx: Context) -> list[pl.Invoke] | None:
    """CREATE CERTIFICATE."""
    return call(
        ctx,
        "ssb.create_certificate",
        pl.Text(node.name.text),
        subject=text_or_none(node.subject),
        start_date=_date(node.start_date),
        expiry_date=_date(node.expiry_date),
        password=text_or_none(node.password),
        file=text_or_none(node.file),
        bytes=_bytes(node.binary),
        format=text_or_none(node.format),
        **_private_key(node.private_key),
        active_for_begin_dialog=flag(node.active_for_begin_dialog),
        owner=text_or_none(node.owner),
    )


@invocations.register
def alter_certificate(node: nodes.AlterCertificate, ctx: Context) -> list[pl.Invoke] | None:
    """ALTER CERTIFICATE."""
    return call(
        ctx,
        "ssb.alter_certificate",
        pl.Text(node.name.text),
        active_for_begin_dialog=flag(node.active_for_begin_dialog),
        remove_private_key=pl.TRUE if node.remove_private_key else None,
        has_private_key_options=pl.TRUE if node.private_key is not None else None,
        **_private_key(node.private_key),
    )


@invocations.register
def backup_certificate(node: nodes.BackupCertificate, ctx: Context) -> list[pl.Invoke] | None:
    """BACKUP CERTIFICATE."""
    options = _private_key(node.private_key)
    options.pop("private_key_bytes", None)
    return call(
        ctx,
        "ssb.backup_certificate",
        pl.Text(node.name.text),
        pl.Text(node.file.value),
        format=text_or_none(node.format),
        **options,
    )


_MASTER_KEY = {
    "CREATE": "ssb.create_master_key",
    "OPEN": "ssb.open_master_key",
    "CLOSE": "ssb.close_master_key",
    "ADD": "ssb.add_master_key_encryption",
    "DROP": "ssb.drop_master_key_encryption",
    "REGENERATE": "ssb.regenerate_master_key",
    "BACKUP": "ssb.backup_master_key",
    "RESTORE": "ssb.restore_master_key",
}
_SERVICE_MASTER_KEY = {
    "REGENERATE": "ssb.regenerate_service_master_key",
    "BACKUP": "ssb.backup_service_master_key",
    "RESTORE": "ssb.restore_service_master_key",
}


@invocations.register
def master_key(node: nodes.MasterKeyStatement, ctx: Context) -> list[pl.Invoke] | None:
    """What is said about a MASTER KEY, or about the SERVICE MASTER KEY."""
    options = {
        "file": text_or_none(node.file),
        "decryption": text_or_none(node.decryption),
        "password": text_or_none(node.password),
        "force": pl.TRUE if node.force else None,
    }
    if not node.service:
        return call(ctx, _MASTER_KEY[node.action], **options)
    return [pl.Invoke(_SERVICE_MASTER_KEY[node.action], (), named(*options.items()))]

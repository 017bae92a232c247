"""Master keys and certificates."""

from __future__ import annotations

from ...grammar.records import dataclass
from .core import Identifier, Statement, StringLiteral


@dataclass(frozen=True, kw_only=True)
class PrivateKeyOptions:
    """``WITH PRIVATE KEY ({FILE | BINARY} = …, {DECRYPTION | ENCRYPTION} BY PASSWORD = …)``."""

    file: StringLiteral | None = None
    binary: str | None = None
    """``0x…`` as written."""
    decryption: StringLiteral | None = None
    encryption: StringLiteral | None = None


@dataclass(frozen=True, kw_only=True)
class CreateCertificate(Statement):
    """``CREATE CERTIFICATE name {FROM FILE | FROM BINARY | [ENCRYPTION BY PASSWORD] WITH SUBJECT} …``."""

    name: Identifier
    owner: Identifier | None
    file: StringLiteral | None = None
    binary: str | None = None
    """``0x…`` as written."""
    format: StringLiteral | None = None
    """'PFX': certificate and private key in one file."""
    private_key: PrivateKeyOptions | None = None
    password: StringLiteral | None = None
    subject: StringLiteral | None = None
    start_date: StringLiteral | None = None
    expiry_date: StringLiteral | None = None
    active_for_begin_dialog: bool | None = None


@dataclass(frozen=True, kw_only=True)
class AlterCertificate(Statement):
    """``ALTER CERTIFICATE name {REMOVE PRIVATE KEY | WITH PRIVATE KEY (…) | WITH ACTIVE …}``."""

    name: Identifier
    remove_private_key: bool = False
    private_key: PrivateKeyOptions | None = None
    active_for_begin_dialog: bool | None = None


@dataclass(frozen=True, kw_only=True)
class BackupCertificate(Statement):
    """``BACKUP CERTIFICATE name TO FILE = '…' [WITH PRIVATE KEY (…)]``, or WITH FORMAT = 'PFX'."""

    name: Identifier
    file: StringLiteral
    format: StringLiteral | None = None
    private_key: PrivateKeyOptions | None = None


@dataclass(frozen=True, kw_only=True)
class MasterKeyStatement(Statement):
    """What is said about a MASTER KEY, or with ``service`` about the SERVICE MASTER KEY.

    ``action`` is CREATE, OPEN, CLOSE, ADD or DROP (ENCRYPTION BY), REGENERATE, BACKUP or RESTORE.
    """

    action: str
    service: bool = False
    password: StringLiteral | None = None
    """ENCRYPTION BY PASSWORD; of OPEN: DECRYPTION BY. None with ADD and DROP: BY SERVICE MASTER KEY."""
    decryption: StringLiteral | None = None
    file: StringLiteral | None = None
    force: bool = False

"""Does the client's part of statements about keys and certificates, for a session that is running.

The server asks in a message (runtime_sql/security/ask_client.sql) while its statement goes on; the answer
goes through a second connection of the same user. Whoever has code running in the session, in a trigger for
instance, can send such a message. So nothing is done unless the statement that the user has sent calls the
function that asks, and has each file name and password in it as a literal. What uses no key and no file
is done for anybody: a certificate without its private key, given as its bytes, is only read.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import psycopg

from ..compiler.catalog.names import literal
from .translate import give_answer, own_conninfo

if TYPE_CHECKING:
    from ..security.keys import ServiceKeys
    from ..security.statements import KeyStatements

SETTING = "SET pgsb.key_statements = 'on'"
"""Tells the server that this client answers."""

_ACTIONS = {
    "add_master_key_encryption": "seal_master_key",
    "alter_certificate": "change_private_key",
    "backup_certificate": "backup_certificate",
    "backup_master_key": "backup_master_key",
    "backup_service_master_key": "backup_service_key",
    "certprivatekey": "export_private_key",
    "close_master_key": "close_master_key",
    "create_certificate": "create_certificate",
    "create_master_key": "create_master_key",
    "drop_master_key_encryption": "find_password",
    "open_master_key": "open_master_key",
    "regenerate_master_key": "change_master_key",
    "regenerate_service_master_key": "change_service_key",
    "restore_master_key": "restore_master_key",
    "restore_service_master_key": "restore_service_key",
}
"""What each function of the runtime asks for, and nothing else."""

_WRITTEN = ("file", "password", "decryption", "encryption", "binary")


class KeyAnswerer:
    """Answers one connection."""

    def __init__(self, connection: psycopg.Connection[Any], keys: ServiceKeys | None = None) -> None:
        """Answer a connection that is open; the server is told."""
        connection.execute(SETTING)
        self._conninfo = own_conninfo(connection)
        self._keys = keys
        self._made: KeyStatements | None = None

    def __call__(self, request: str, running: str) -> None:
        """Answer one request, the text of a message SX002; ``running`` is the statement that was sent."""
        # All of security/ is loaded for those who have keys: most scripts have none.
        from ..security.problems import KeyProblem

        asked = json.loads(request)
        try:
            if not (is_public(asked) or is_written(asked, running)):
                raise KeyProblem(
                    15247,
                    f"{asked['statement']} uses keys and files of this machine, so it must stand in a batch"
                    " of the script itself: not in a procedure, a trigger or in dynamic SQL.",
                )
            answer = self._statements()(asked)
        except KeyProblem as problem:
            self._answer(asked["token"], None, problem.number, problem.message)
        except BaseException:
            # The session must not wait for the end of a defect of ours.
            self._answer(asked["token"], None, 50000, f"pgsb could not do its part of {asked['statement']}.")
            raise
        else:
            self._answer(asked["token"], [json.dumps(answer)], None, None)

    def _statements(self) -> KeyStatements:
        if self._made is None:
            from ..security.problems import KeyProblem

            try:
                from ..security.statements import KeyStatements
            except ModuleNotFoundError as error:
                if error.name is None or error.name.partition(".")[0] != "cryptography":
                    raise
                raise KeyProblem(
                    50000,
                    "Keys and certificates need the library cryptography, which is not installed:"
                    " pip install 'pg-service-broker[security]'",
                ) from None

            self._made = KeyStatements(self._keys)
        return self._made

    def _answer(
        self, token: str, statements: list[str] | None, number: int | None, message: str | None
    ) -> None:
        give_answer(self._conninfo, token, statements, number, message)


def is_public(asked: dict[str, Any]) -> bool:
    """Whether it is CREATE CERTIFICATE … FROM BINARY without a private key."""
    source = asked.get("source") or {}
    return (
        asked.get("action") == asked["function"] == "create_certificate"
        and source.get("binary") is not None
        and source.get("file") is None
        and source.get("format") is None
        and asked.get("private_key") is None
    )


def is_written(asked: dict[str, Any], running: str) -> bool:
    """Whether the statement says what is asked for: its function, and all files, passwords and keys."""
    schema = "sys" if asked["function"] == "certprivatekey" else "ssb"
    return (
        _ACTIONS.get(asked["function"]) == asked.get("action")
        and f"{schema}.{asked['function']}(" in running
        and all(_literal(name, value) in running for name, value in _said(asked))
    )


def _said(asked: dict[str, Any]) -> Iterator[tuple[str, str]]:
    for part in (asked, asked.get("source") or {}, asked.get("private_key") or {}):
        for name in _WRITTEN:
            if part.get(name) is not None and not (part is asked and name == "encryption"):
                yield name, part[name]


def _literal(name: str, value: str) -> str:
    return literal(f"\\x{value}" if name == "binary" else value)

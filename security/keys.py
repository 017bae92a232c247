"""Keys under keys: data sealed by a key or by a password, and the service master key.

The hierarchy is SQL Server's. The service master key is a file (or a secret store's answer) outside the
database; it seals each database's master key; that seals the private keys of certificates and the keys of
dialogs. Every blob says in its first byte how it was made.
"""

import os
import re
import shlex
import subprocess
import uuid
from pathlib import Path

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt

from ..user_folders import user_data, write_whole
from .problems import KeyProblem

KEY_BYTES = 32
_BY_KEY, _BY_PASSWORD = b"\x01", b"\x02"
_NONCE, _SALT = 12, 16
# RFC 7914's recommendation for interactive use: some 60 ms and 32 MB a guess.
_SCRYPT = {"n": 2**15, "r": 8, "p": 1}
_COMMAND_SECONDS = 30


class WrongKey(Exception):
    """The blob was sealed by another key or password, for another purpose, or has been changed."""


def new_key() -> bytes:
    """Return 256 random bits."""
    return os.urandom(KEY_BYTES)


def seal(key: bytes, data: bytes, purpose: str) -> bytes:
    """Encrypt ``data`` with AES-256-GCM; ``purpose`` must be the same when it is unsealed."""
    nonce = os.urandom(_NONCE)
    return _BY_KEY + nonce + AESGCM(key).encrypt(nonce, data, purpose.encode())


def unseal(key: bytes, sealed: bytes, purpose: str) -> bytes:
    """Return what `seal` was given. Raises WrongKey."""
    if sealed[:1] != _BY_KEY:
        raise WrongKey("not sealed by a key")
    return _open(key, sealed[1:], purpose)


def seal_by_password(password: str, data: bytes, purpose: str) -> bytes:
    """Encrypt ``data`` with a key that scrypt makes of the password and a salt."""
    salt, nonce = os.urandom(_SALT), os.urandom(_NONCE)
    key = _stretch(password, salt)
    return _BY_PASSWORD + salt + nonce + AESGCM(key).encrypt(nonce, data, purpose.encode())


def unseal_by_password(password: str, sealed: bytes, purpose: str) -> bytes:
    """Return what `seal_by_password` was given. Raises WrongKey."""
    if sealed[:1] != _BY_PASSWORD:
        raise WrongKey("not sealed by a password")
    return _open(_stretch(password, sealed[1 : 1 + _SALT]), sealed[1 + _SALT :], purpose)


def _stretch(password: str, salt: bytes) -> bytes:
    return Scrypt(salt=salt, length=KEY_BYTES, **_SCRYPT).derive(password.encode())


def _open(key: bytes, rest: bytes, purpose: str) -> bytes:
    try:
        return AESGCM(key).decrypt(rest[:_NONCE], rest[_NONCE:], purpose.encode())
    except (InvalidTag, ValueError):
        raise WrongKey("the key does not fit, or the data has been changed") from None


class ServiceKeys:
    """Where service master keys are kept: outside the database, one file each, readable by its owner alone.

    ``directory``: PGSB_KEYS, else ``keys`` in the user's data directory. ``command``: PGSB_KEY_COMMAND, a
    command that is given the key's id and prints the key as 64 hexadecimal digits; it is asked for keys
    that the directory does not have.
    """

    def __init__(self, directory: Path | None = None, command: str | None = None) -> None:
        self.directory = directory or Path(os.environ.get("PGSB_KEYS") or user_data() / "keys")
        self._command = command if command is not None else os.environ.get("PGSB_KEY_COMMAND")
        self._read: dict[str, bytes] = {}

    def make(self) -> tuple[str, bytes]:
        """Return the id of a new key, and the key. Raises KeyProblem where the file cannot be written."""
        key = new_key()
        return self.keep(key), key

    def keep(self, key: bytes) -> str:
        """Return the id under which a key is kept from now on. Raises KeyProblem."""
        key_id = str(uuid.uuid4())
        self.write(key_id, key)
        return key_id

    def write(self, key_id: str, key: bytes) -> None:
        """Keep a key. Raises KeyProblem where the file cannot be written."""
        path = self._path(key_id)
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_whole(path, f"{key.hex()}\n".encode(), 0o600)
        except OSError as error:
            raise KeyProblem(
                15240, f"Cannot write the service master key into {path}: {error.strerror}."
            ) from None
        self._read[key_id] = key

    def read(self, key_id: str) -> bytes:
        """Return the key with this id. Raises KeyProblem 33094 where neither file nor command has it."""
        if key_id not in self._read:
            self._read[key_id] = self._find(key_id)
        return self._read[key_id]

    def _find(self, key_id: str) -> bytes:
        path = self._path(key_id)
        try:
            status = path.stat()
            if status.st_mode & 0o077:
                raise KeyProblem(
                    33094,
                    f"The service master key in {path} can be read by others: chmod 600 makes it private.",
                )
            return _key_of(path.read_text(encoding="ascii"), str(path))
        except FileNotFoundError:
            if not self._command:
                raise KeyProblem(
                    33094,
                    f"An error occurred while opening the service master key: it is not in {path}. Copy the"
                    " file there, set PGSB_KEYS or PGSB_KEY_COMMAND, or RESTORE SERVICE MASTER KEY.",
                ) from None
        except (OSError, UnicodeDecodeError) as error:
            raise KeyProblem(33094, f"Cannot read the service master key in {path}: {error}.") from None
        try:
            done = subprocess.run(
                [*shlex.split(self._command), key_id],
                capture_output=True,
                text=True,
                timeout=_COMMAND_SECONDS,
                check=True,
            )
        except (OSError, subprocess.SubprocessError, ValueError) as error:
            # ValueError: a quotation in the variable that does not end, or an answer that is no text.
            raise KeyProblem(
                33094, f"PGSB_KEY_COMMAND did not give the service master key: {type(error).__name__}."
            ) from None
        return _key_of(done.stdout, "the output of PGSB_KEY_COMMAND")

    def _path(self, key_id: str) -> Path:
        # The id comes from a table: it must not lead anywhere else.
        return self.directory / f"{uuid.UUID(key_id)}.key"


def _key_of(text: str, place: str) -> bytes:
    if not re.fullmatch(r"\s*[0-9a-fA-F]{64}\s*", text):
        raise KeyProblem(33094, f"There is no service master key in {place}: 64 hexadecimal digits.")
    return bytes.fromhex(text.strip())

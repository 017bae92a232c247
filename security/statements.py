"""Answers the runtime where a statement needs a key or a file: CREATE CERTIFICATE, OPEN MASTER KEY, …

The runtime (runtime_sql/security/ask_client.sql) sends a request in a notice while its statement runs, and
stores what comes back. Requests and answers are JSON; bytes are hexadecimal. No answer has a key in the
clear, and no file is overwritten.
"""

import os
import warnings
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    pkcs12,
)

from .certificates import belongs, facts_of, make_certificate, read_certificate
from .keys import (
    KEY_BYTES,
    ServiceKeys,
    WrongKey,
    new_key,
    seal,
    seal_by_password,
    unseal,
    unseal_by_password,
)
from .private_keys import read_private_key, write_pkcs8, write_pvk
from .problems import (
    BAD_DATA,
    BAD_FILE,
    BAD_MASTER_KEY_FILE,
    MASTER_KEY_NEEDED,
    MASTER_KEY_SHUT,
    WRONG_DECRYPTOR,
    WRONG_PASSWORD,
    KeyProblem,
)

MASTER, PRIVATE, FILE, SESSION_KEY = "database master key", "private key", "key file", "dialog key"
"""Purposes of sealed data: what was sealed for one cannot be taken for another."""

Request = dict[str, Any]
Answer = dict[str, Any]
_MOST_FILE_BYTES = 1 << 20


class KeyStatements:
    """Does what one session's key statements need. Remembers the master keys that it has OPENed."""

    def __init__(self, keys: ServiceKeys | None = None) -> None:
        self._keys = keys or ServiceKeys()
        self._opened: dict[str, bytes] = {}

    def __call__(self, request: Request) -> Answer:
        """Answer one request. Raises KeyProblem."""
        action: Callable[[Request], Answer] | None = getattr(self, "_do_" + str(request.get("action")), None)
        if action is None:
            raise KeyProblem(50000, "This version of pgsb does not know what the runtime asks for.")
        return action(request)

    # ------------------------------------------------------------ master keys

    def _do_create_master_key(self, asked: Request) -> Answer:
        return self._sealed_master(new_key(), asked["service_key"], asked["password"])

    def _sealed_master(self, key: bytes, service_key: str | None, password: str | None) -> Answer:
        answer: Answer = {"by_password": None}
        if service_key is None:
            service_key, service = self._keys.make()
        else:
            service = self._keys.read(service_key)
        answer["service_key"] = service_key
        answer["by_service"] = seal(service, key, MASTER).hex()
        if password is not None:
            answer["by_password"] = seal_by_password(password, key, MASTER).hex()
        return answer

    def _do_open_master_key(self, asked: Request) -> Answer:
        self._opened[asked["master"]["guid"]] = self._by_password(asked)[1]
        return {}

    def _do_close_master_key(self, asked: Request) -> Answer:
        if self._opened.pop(asked["master"]["guid"], None) is None:
            raise KeyProblem(15315, "The key 'master key' is not open. Please open the key before using it.")
        return {}

    def _do_seal_master_key(self, asked: Request) -> Answer:
        """ADD ENCRYPTION: one more lock on the same key."""
        key = self.master_key(asked["master"])
        if asked["password"] is not None:
            return {"by_password": seal_by_password(asked["password"], key, MASTER).hex()}
        return self._sealed_master(key, asked["service_key"], None)

    def _do_find_password(self, asked: Request) -> Answer:
        """DROP ENCRYPTION BY PASSWORD: which one it is."""
        return {"place": self._by_password(asked)[0]}

    def _by_password(self, asked: Request) -> tuple[int, bytes]:
        for place, sealed in enumerate(asked["master"]["passwords"]):
            try:
                return place, unseal_by_password(asked["password"], bytes.fromhex(sealed), MASTER)
            except WrongKey:
                continue
        raise KeyProblem(*WRONG_DECRYPTOR)

    def _do_change_master_key(self, asked: Request) -> Answer:
        """REGENERATE: a new key, with which the private keys are sealed anew."""
        return self._exchanged(asked, new_key(), asked["password"])

    def _do_backup_master_key(self, asked: Request) -> Answer:
        key = self.master_key(asked["master"])
        _write(asked["file"], seal_by_password(asked["password"], key, FILE))
        return {}

    def _do_restore_master_key(self, asked: Request) -> Answer:
        return self._exchanged(asked, _key_in_file(asked), asked["password"])

    def _exchanged(self, asked: Request, key: bytes, password: str | None) -> Answer:
        answer = self._sealed_master(key, asked["service_key"], password)
        answer["private_keys"] = []
        if asked["private_keys"]:
            try:
                old: bytes | None = self.master_key(asked["master"])
            except KeyProblem:
                if not asked["force"]:
                    raise KeyProblem(*MASTER_KEY_SHUT) from None
                old = None
            for sealed in asked["private_keys"]:
                answer["private_keys"].append(
                    None if old is None else seal(key, _unseal(old, sealed, PRIVATE), PRIVATE).hex()
                )
        answer["dialog_keys"] = self._exchanged_dialog_keys(asked, key)
        if asked["master"] is not None:
            self._opened.pop(asked["master"]["guid"], None)
        return answer

    def _exchanged_dialog_keys(self, asked: Request, key: bytes) -> dict[str, str]:
        """Without those that cannot be opened: their dialogs wait."""
        found = {}
        for key_id, sealed in asked.get("dialog_keys", {}).items():
            try:
                session_key = _unseal(self.master_key(asked["master"]), sealed, SESSION_KEY)
            except KeyProblem:
                continue
            found[key_id] = seal(key, session_key, SESSION_KEY).hex()
        return found

    def master_key(self, master: Answer | None) -> bytes:
        """Open a database's master key: with the service master key, or as this session has OPENed it."""
        if master is None:
            raise KeyProblem(*MASTER_KEY_NEEDED)
        opened = self._opened.get(master["guid"])
        if opened is not None:
            return opened
        if master["by_service"] is None:
            raise KeyProblem(*MASTER_KEY_NEEDED)
        return _unseal(self._keys.read(master["service_key"]), master["by_service"], MASTER)

    # ------------------------------------------------------------ the service master key

    def _do_change_service_key(self, asked: Request) -> Answer:
        """ALTER SERVICE MASTER KEY REGENERATE."""
        return self._exchanged_service(asked, new_key())

    def _do_backup_service_key(self, asked: Request) -> Answer:
        key_id = asked["service_key"]
        key = self._keys.read(key_id) if key_id is not None else None
        if key is None:
            key_id, key = self._keys.make()
        _write(asked["file"], seal_by_password(asked["password"], key, FILE))
        return {"service_key": key_id}

    def _do_restore_service_key(self, asked: Request) -> Answer:
        key = _key_in_file(asked)
        key_id = asked["service_key"]
        if key_id is not None and all(
            _fits(key, master["by_service"]) for master in asked["masters"] if master["by_service"]
        ):
            # The key that was lost, or has not come to this machine yet.
            self._keys.write(key_id, key)
            return {"service_key": key_id, "masters": [master["by_service"] for master in asked["masters"]]}
        return self._exchanged_service(asked, key)

    def _exchanged_service(self, asked: Request, key: bytes) -> Answer:
        sealed: list[str | None] = []
        for master in asked["masters"]:
            try:
                opened = None if master["by_service"] is None else self.master_key(master)
            except KeyProblem:
                if not asked["force"]:
                    raise KeyProblem(*MASTER_KEY_SHUT) from None
                opened = None
            sealed.append(None if opened is None else seal(key, opened, MASTER).hex())
        return {"service_key": self._keys.keep(key), "masters": sealed}

    # ------------------------------------------------------------ certificates

    def _do_create_certificate(self, asked: Request) -> Answer:
        source, options = asked["source"], asked["private_key"] or {}
        key: rsa.RSAPrivateKey | None = None
        if source is None:
            certificate, key = make_certificate(
                asked["subject"],
                datetime.fromisoformat(asked["start_date"]),
                datetime.fromisoformat(asked["expiry_date"]),
            )
            password = asked["password"]
        elif (source.get("format") or "").upper() == "PFX":
            certificate, key = read_pfx(_content(source), options.get("decryption"))
            password = options.get("encryption")
        else:
            certificate = _certificate_of(source)
            password = options.get("encryption")
            if options:
                key = _private_key_of(options)
                if not belongs(certificate, key):
                    raise KeyProblem(
                        BAD_DATA[0], f"{BAD_DATA[1]} The private key does not belong to the certificate."
                    )
        return facts_of(certificate).as_json() | self._sealed_private(key, asked["master"], password)

    def _sealed_private(
        self, key: rsa.RSAPrivateKey | None, master: Answer | None, password: str | None
    ) -> Answer:
        if key is None:
            return {"private_key": None, "encryption": "NA"}
        data = write_pkcs8(key, None)
        if password is not None:
            return {"private_key": seal_by_password(password, data, PRIVATE).hex(), "encryption": "PW"}
        return {"private_key": seal(self.master_key(master), data, PRIVATE).hex(), "encryption": "MK"}

    def private_key(self, asked: Request, decryption: str | None) -> rsa.RSAPrivateKey:
        """Open a certificate's private key, as the runtime has it. Raises KeyProblem."""
        if asked["sealed"] is None:
            raise KeyProblem(
                15246,
                f"Cannot dump the private key of certificate '{asked['name']}' because the private key cannot"
                " be found.",
            )
        sealed = bytes.fromhex(asked["sealed"])
        if asked["encryption"] == "PW":
            if decryption is None:
                raise KeyProblem(*WRONG_PASSWORD)
            try:
                data = unseal_by_password(decryption, sealed, PRIVATE)
            except WrongKey:
                raise KeyProblem(*WRONG_PASSWORD) from None
        else:
            data = _unseal(self.master_key(asked["master"]), asked["sealed"], PRIVATE)
        # Whether it is one was found out before it was sealed, and takes as long as a thousand messages.
        key = load_der_private_key(data, None, unsafe_skip_rsa_key_validation=True)
        assert isinstance(key, rsa.RSAPrivateKey)
        return key

    def _do_change_private_key(self, asked: Request) -> Answer:
        """ALTER CERTIFICATE … WITH PRIVATE KEY: from a file, or the one that is there under another lock."""
        options = asked["private_key"]
        if options.get("file") is not None or options.get("binary") is not None:
            if asked["sealed"] is not None:
                raise KeyProblem(
                    15332,
                    "The private key is already set for this file. To change it you should drop and re-create"
                    " the certificate.",
                )
            key = _private_key_of(options)
            if not belongs(read_certificate(bytes.fromhex(asked["der"])), key):
                raise KeyProblem(
                    BAD_DATA[0], f"{BAD_DATA[1]} The private key does not belong to the certificate."
                )
        else:
            key = self.private_key(asked, options.get("decryption"))
        return self._sealed_private(key, asked["master"], options.get("encryption"))

    def _do_backup_certificate(self, asked: Request) -> Answer:
        der = bytes.fromhex(asked["der"])
        certificate = read_certificate(der)
        options = asked["private_key"]
        if (asked["format"] or "").upper() == "PFX":
            key = self.private_key(asked, options.get("decryption"))
            secret = options.get("encryption")
            encryption = BestAvailableEncryption(secret.encode()) if secret else NoEncryption()
            _write(
                asked["file"],
                pkcs12.serialize_key_and_certificates(
                    asked["name"].encode(), key, certificate, None, encryption
                ),
            )
            return {}
        if options is None:
            _write(asked["file"], der)
            return {}
        key = self.private_key(asked, options.get("decryption"))
        data = _exported(key, options["encryption"], options["file"])
        _write(asked["file"], der)
        try:
            _write(options["file"], data)
        except KeyProblem:
            Path(asked["file"]).unlink(missing_ok=True)
            raise
        return {}

    def _do_export_private_key(self, asked: Request) -> Answer:
        """CERTPRIVATEKEY: None where a password is wrong, as in SQL Server."""
        try:
            key = self.private_key(asked, asked["private_key"].get("decryption"))
        except KeyProblem:
            return {"pvk": None}
        return {"pvk": write_pvk(key, asked["private_key"]["encryption"]).hex()}


def _exported(key: rsa.RSAPrivateKey, password: str | None, file: str) -> bytes:
    if password is None:
        raise KeyProblem(
            15465,
            "The private key password is invalid. BACKUP … WITH PRIVATE KEY needs ENCRYPTION BY PASSWORD.",
        )
    return write_pvk(key, password) if file.lower().endswith(".pvk") else write_pkcs8(key, password)


def _unseal(key: bytes, sealed: str, purpose: str) -> bytes:
    try:
        return unseal(key, bytes.fromhex(sealed), purpose)
    except WrongKey:
        raise KeyProblem(
            15507, "A key required by this operation appears to be corrupted, or is sealed by another key."
        ) from None


def _fits(key: bytes, sealed: str) -> bool:
    try:
        return len(unseal(key, bytes.fromhex(sealed), MASTER)) == KEY_BYTES
    except WrongKey:
        return False


def _key_in_file(asked: Request) -> bytes:
    try:
        key = unseal_by_password(asked["decryption"], _read(asked["file"]), FILE)
    except KeyProblem:
        raise KeyProblem(*BAD_MASTER_KEY_FILE) from None
    except WrongKey:
        raise KeyProblem(*BAD_MASTER_KEY_FILE) from None
    if len(key) != KEY_BYTES:
        raise KeyProblem(*BAD_MASTER_KEY_FILE)
    return key


def _certificate_of(source: Request) -> x509.Certificate:
    try:
        return read_certificate(_content(source))
    except KeyProblem as problem:
        if source.get("file") is not None and problem.message == BAD_DATA[1]:
            raise KeyProblem(*BAD_FILE) from None
        raise


def _private_key_of(options: Request) -> rsa.RSAPrivateKey:
    try:
        return read_private_key(_content(options), options.get("decryption"))
    except KeyProblem as problem:
        if options.get("file") is not None and problem.message == BAD_DATA[1]:
            raise KeyProblem(*BAD_FILE) from None
        raise


def read_pfx(data: bytes, password: str | None) -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
    """Read a PKCS#12 file that has both. Raises KeyProblem 15297."""
    try:
        # (Some programs write BER, of which the library warns each time that it may not be read for ever.)
        with warnings.catch_warnings(action="ignore", category=UserWarning):
            key, certificate, _ = pkcs12.load_key_and_certificates(
                data, password.encode() if password else None
            )
    except (ValueError, UnsupportedAlgorithm):
        raise KeyProblem(*BAD_DATA) from None
    if certificate is None or not isinstance(key, rsa.RSAPrivateKey):
        raise KeyProblem(*BAD_DATA)
    whole = key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption())
    return read_certificate(certificate.public_bytes(Encoding.DER)), read_private_key(whole, None)


def _content(source: Request) -> bytes:
    if source.get("binary") is not None:
        return bytes.fromhex(source["binary"])
    return _read(source["file"])


def _read(file: str) -> bytes:
    try:
        with open(file, "rb") as opened:
            data = opened.read(_MOST_FILE_BYTES + 1)
    except (OSError, ValueError):
        raise KeyProblem(*BAD_FILE) from None
    if len(data) > _MOST_FILE_BYTES:
        raise KeyProblem(*BAD_FILE)
    return data


def _write(file: str, data: bytes) -> None:
    try:
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as opened:
            try:
                opened.write(data)
                opened.flush()
                os.fsync(opened.fileno())
            except OSError:
                # Half of it would be no backup, and in the way of the next one.
                os.unlink(file)
                raise
    except (OSError, ValueError):
        raise KeyProblem(
            15240,
            f"Cannot write into file '{file}'. Verify that you have write permissions, that the file path is"
            " valid, and that the file does not already exist.",
        ) from None

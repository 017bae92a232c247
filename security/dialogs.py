"""What travels between two instances in a dialog that is secured: key exchanges, sealed messages, answers.

A pair of services shares a key for some hours. Who begins makes it, wraps it for the certificate of the far
service's owner and, with full security, signs that with the private key of its own service's owner: the
*exchange*, which travels with the messages. From it each dialog and direction derives a key of its own, so a
message fits nowhere else. What a set has of a dialog, its *run*, is sealed as one with AES-256-GCM under a
random nonce; types, kinds, bodies and lifetime travel inside, what routing needs outside, bound to it: also
the number of each message, so none can be changed, left out or moved. Inside is, too, the key that the
initiator has given the dialog: it alone tells one anonymous initiator from another, who may have a pair's key
of its own.
"""

import json
import math
import struct
import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from os import urandom
from typing import Any

from cryptography.exceptions import InvalidSignature, InvalidTag
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from .keys import KEY_BYTES, new_key

RENEW_AFTER = timedelta(hours=12)
"""A key that is older is not used for what is sent."""
BEGIN_WITHIN = timedelta(hours=23)
"""A new dialog under an older key is a replay: what was there is remembered for a day."""
CLOCKS_DIFFER = timedelta(minutes=30)

_NONCE = 12
_INNER = struct.Struct(">16sdII")
"""The dialog's key; lifetime in seconds, NaN for none; how long the types and the kinds are."""
_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_PSS = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
_VERSION = 3


class NotGenuine(Exception):
    """Something that travelled has been changed, comes from somebody else or belongs elsewhere."""


@dataclass(frozen=True)
class Exchange:
    """What an exchange says, before anybody has looked whether it is true."""

    key_id: uuid.UUID
    is_anonymous: bool
    from_service: str
    to_service: str
    near: str | None
    """SHA-256 of the sender's certificate, hexadecimal; None: anonymous."""
    far: str
    """… of the certificate for which the key is wrapped."""
    made_at: datetime
    wrapped: bytes
    signed: bytes
    signature: bytes | None


def make_exchange(
    from_service: str,
    to_service: str,
    far: tuple[str, rsa.RSAPublicKey],
    near: tuple[str, rsa.RSAPrivateKey] | None,
) -> tuple[uuid.UUID, bytes, str, datetime]:
    """Make a key for a pair of services: its id, the key, the exchange, when it was made.

    ``near`` None: anonymous security.
    """
    key_id, key, made_at = uuid.uuid4(), new_key(), datetime.now(UTC)
    said = {
        "version": _VERSION,
        "key": str(key_id),
        "made": made_at.isoformat(),
        "from": from_service,
        "to": to_service,
        "near": near[0] if near is not None else None,
        "far": far[0],
        "wrapped": far[1].encrypt(key, _OAEP).hex(),
    }
    text = json.dumps(said, sort_keys=True)
    signature = near[1].sign(text.encode(), _PSS, hashes.SHA256()).hex() if near is not None else None
    return key_id, key, json.dumps({"said": text, "signature": signature}), made_at


def read_exchange(text: str) -> Exchange:
    """Read what `make_exchange` wrote. Raises NotGenuine."""
    try:
        envelope = json.loads(text)
        said = json.loads(envelope["said"])
        if said["version"] != _VERSION:
            raise NotGenuine("the exchange has a version that is not known here")
        signature = envelope["signature"]
        return Exchange(
            uuid.UUID(said["key"]),
            said["near"] is None,
            str(said["from"]),
            str(said["to"]),
            str(said["near"]) if said["near"] is not None else None,
            str(said["far"]),
            datetime.fromisoformat(said["made"]).astimezone(UTC),
            bytes.fromhex(said["wrapped"]),
            envelope["said"].encode(),
            bytes.fromhex(signature) if signature is not None else None,
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        raise NotGenuine("the exchange of keys cannot be read") from None


def open_exchange(exchange: Exchange, own: rsa.RSAPrivateKey, sender: rsa.RSAPublicKey | None) -> bytes:
    """Return the key, having looked at the signature of ``sender``. Raises NotGenuine."""
    if not exchange.is_anonymous:
        if sender is None or exchange.signature is None:
            raise NotGenuine("the exchange of keys is not signed")
        try:
            sender.verify(exchange.signature, exchange.signed, _PSS, hashes.SHA256())
        except InvalidSignature:
            raise NotGenuine("the signature of the exchange of keys is not that of its certificate") from None
    try:
        key = own.decrypt(exchange.wrapped, _OAEP)
    except ValueError:
        raise NotGenuine("the key was wrapped for somebody else") from None
    if len(key) != KEY_BYTES:
        raise NotGenuine("the key has another length")
    return key


def require_current(made_at: datetime, now: datetime) -> None:
    """Raise NotGenuine where no new dialog may begin under a key that was made then."""
    if made_at < now - BEGIN_WITHIN:
        raise NotGenuine("its key is too old for a new conversation")
    if made_at > now + CLOCKS_DIFFER:
        raise NotGenuine(
            "its key was made in the future, by this instance's clock: the clocks of the two differ by"
            f" more than {CLOCKS_DIFFER // timedelta(minutes=1)} minutes"
        )


BOUND = (
    *("conversation_id", "is_initiator", "to_service", "to_instance", "from_service", "from_instance"),
    "contract",
)
"""What a dialog's header says that is bound to each of its messages, with the key's id."""


class DialogCipher:
    """Seals and opens what one side of one dialog says. ``header`` is what travels beside, of the dialog."""

    def __init__(self, key_id: uuid.UUID, key: bytes, header: Mapping[str, Any]) -> None:
        conversation = uuid.UUID(header["conversation_id"])
        side = b"initiator" if header["is_initiator"] else b"target"
        # Two keys by one derivation: nothing that is sealed with the one opens with the other.
        info = b"pgsb dialog " + conversation.bytes + side
        keys = HKDF(hashes.SHA256(), 2 * KEY_BYTES, key_id.bytes, info).derive(key)
        self._cipher = AESGCM(keys[:KEY_BYTES])
        self._answers = AESGCM(keys[KEY_BYTES:])
        self._bound = json.dumps(
            [
                str(key_id),
                str(conversation),
                bool(header["is_initiator"]),
                *(header[name] for name in BOUND[2:]),
            ]
        ).encode()

    def seal(
        self,
        numbers: bytes,
        dialog_key: uuid.UUID,
        lifetime: float | None,
        types: bytes,
        kinds: bytes,
        bodies: bytes,
    ) -> bytes:
        """Seal a run of messages. Columns are elements of arrays in PostgreSQL's binary format.

        ``numbers``, of which the bytes are bound, travel outside.
        """
        nonce = urandom(_NONCE)
        seconds = math.nan if lifetime is None else lifetime
        inner = _INNER.pack(dialog_key.bytes, seconds, len(types), len(kinds))
        plain = b"".join((inner, types, kinds, bodies))
        return nonce + self._cipher.encrypt(nonce, plain, self._bound + numbers)

    def open(self, numbers: bytes, sealed: bytes) -> tuple[uuid.UUID, float | None, bytes, bytes, bytes]:
        """Return the dialog's key, lifetime, types, kinds and bodies. Raises NotGenuine."""
        try:
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], self._bound + numbers)
            dialog_key, lifetime, types, kinds = _INNER.unpack_from(plain)
        except (InvalidTag, ValueError, struct.error):
            raise NotGenuine(
                "the messages have been changed, or belong to another conversation or place in it"
            ) from None
        at = _INNER.size + types
        return (
            uuid.UUID(bytes=dialog_key),
            None if math.isnan(lifetime) else lifetime,
            plain[_INNER.size : at],
            plain[at : at + kinds],
            plain[at + kinds :],
        )

    def seal_answer(self, set_id: str, answer: Mapping[str, Any]) -> str:
        """Seal what the far side is told of its messages in one set."""
        nonce = urandom(_NONCE)
        sealed = self._answers.encrypt(nonce, json.dumps(answer).encode(), self._bound + set_id.encode())
        return (nonce + sealed).hex()

    def open_answer(self, set_id: str, sealed: str) -> dict[str, Any]:
        """Return an answer to a set. Raises NotGenuine."""
        try:
            data = bytes.fromhex(sealed)
            plain = self._answers.decrypt(data[:_NONCE], data[_NONCE:], self._bound + set_id.encode())
        except (InvalidTag, ValueError, TypeError):
            raise NotGenuine("the answer has been changed, or belongs to another set of messages") from None
        try:
            answer: dict[str, Any] = json.loads(plain)
        except (ValueError, RecursionError):
            raise NotGenuine("it is none") from None
        return answer

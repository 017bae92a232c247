"""What travels between two instances in a dialog that is secured: key exchanges, sealed messages, answers.

A pair of services shares a key for some hours. The side that begins makes it, wraps it for the certificate
of the far service's owner and, with full security, signs that with the private key of its own service's
owner: the *exchange*, which travels with the messages. Each direction derives its own keys from it. What a
set has of the pair's dialogs, a *block*, is sealed as one with AES-256-GCM under a random nonce. Types,
kinds, bodies and lifetimes travel inside. What routing needs travels outside and is bound to it, the
number of each message too, so none can be changed, left out or moved. Also inside is the key that the
initiator has given each dialog: it alone tells one anonymous initiator from another, which may have a
pair's key of its own.
"""

import json
import math
import re
import struct
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from os import urandom
from typing import Any, NamedTuple

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
_INNER = struct.Struct(">III")
"""How long the dialogs, the types and the kinds are."""
_BOUND_LENGTHS = struct.Struct(">II")
_UUID = re.compile("[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}").fullmatch
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


def is_for_sending(made_at: datetime, now: datetime) -> bool:
    """Whether a key may seal what is sent. Nobody takes one of the future.

    That is what a clock leaves that was ahead, and has been set right.
    """
    return now - RENEW_AFTER < made_at <= now + CLOCKS_DIFFER


def require_current(made_at: datetime, now: datetime) -> None:
    """Raise NotGenuine where no new dialog may begin under a key that was made then."""
    if made_at < now - BEGIN_WITHIN:
        raise NotGenuine("its key is too old for a new conversation")
    if made_at > now + CLOCKS_DIFFER:
        raise NotGenuine(
            "its key was made in the future, by this instance's clock: the clocks of the two differ by"
            f" more than {CLOCKS_DIFFER // timedelta(minutes=1)} minutes"
        )


BLOCK_VERSION = 4
"""Of what is sealed, and how."""
BOUND = ("is_initiator", "to_service", "to_instance", "from_service", "from_instance")
"""What a block's header says that is bound to it, with the key's id."""


class Dialog(NamedTuple):
    """What the far side has to know of a dialog, beside what all of its block have in common."""

    conversation_id: str
    key: str
    """That the initiator has given it."""
    contract: str
    lifetime: float | None
    """Seconds that are left."""


@dataclass(frozen=True)
class Contents:
    """What is sealed in a block. Columns are elements of arrays in PostgreSQL's binary format."""

    dialogs: Sequence[Dialog]
    types: bytes
    kinds: bytes
    bodies: bytes


class PairCipher:
    """Seals and opens what one side of a pair's dialogs says, the initiators' or the targets'."""

    def __init__(self, key_id: uuid.UUID, key: bytes, is_initiator: bool) -> None:
        # Two keys by one derivation: nothing that is sealed with the one opens with the other.
        info = b"pgsb dialogs " + (b"initiator" if is_initiator else b"target")
        keys = HKDF(hashes.SHA256(), 2 * KEY_BYTES, key_id.bytes, info).derive(key)
        self._key_id = str(key_id)
        self._cipher = AESGCM(keys[:KEY_BYTES])
        self._answers = AESGCM(keys[KEY_BYTES:])

    def _bound(self, header: Mapping[str, Any], places: bytes, numbers: bytes) -> bytes:
        told = json.dumps([self._key_id, *(header.get(name) for name in BOUND)]).encode()
        return _BOUND_LENGTHS.pack(len(told), len(places)) + told + places + numbers

    def seal(
        self, header: Mapping[str, Any], places: bytes, numbers: bytes, contents: Contents
    ) -> tuple[bytes, bytes]:
        """Seal a block: its nonce, and what travels, which begins with that.

        ``places``, of the messages' dialogs in ``contents``, and ``numbers`` are elements too. They travel
        outside, as does ``header``.
        """
        nonce = urandom(_NONCE)
        dialogs = json.dumps(contents.dialogs).encode()
        inner = _INNER.pack(len(dialogs), len(contents.types), len(contents.kinds))
        plain = b"".join((inner, dialogs, contents.types, contents.kinds, contents.bodies))
        return nonce, nonce + self._cipher.encrypt(nonce, plain, self._bound(header, places, numbers))

    def open(self, header: Mapping[str, Any], places: bytes, numbers: bytes, sealed: bytes) -> Contents:
        """Return what `seal` was given. Raises NotGenuine."""
        try:
            bound = self._bound(header, places, numbers)
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
            dialogs, types, kinds = _INNER.unpack_from(plain)
        except (InvalidTag, ValueError, struct.error):
            raise NotGenuine(
                "the messages have been changed, or belong to other conversations or places in them"
            ) from None
        ends = list(accumulate((dialogs, types, kinds), initial=_INNER.size))
        told, *columns = (plain[at:end] for at, end in zip(ends, [*ends[1:], None], strict=True))
        return Contents(_dialogs(told), *columns)

    def seal_answer(self, nonce: bytes, answer: Mapping[str, Any]) -> str:
        """Seal what the far side is told of the block with this nonce."""
        own = urandom(_NONCE)
        return (own + self._answers.encrypt(own, json.dumps(answer).encode(), nonce)).hex()

    def open_answer(self, nonce: bytes, sealed: str) -> dict[str, Any]:
        """Return an answer to a block. Raises NotGenuine."""
        try:
            data = bytes.fromhex(sealed)
            plain = self._answers.decrypt(data[:_NONCE], data[_NONCE:], nonce)
        except (InvalidTag, ValueError, TypeError):
            raise NotGenuine("the answer has been changed, or belongs to other messages") from None
        try:
            answer = json.loads(plain)
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise NotGenuine("it is no answer")
        return answer


def nonce_of(sealed: bytes) -> bytes:
    """What a block begins with."""
    return sealed[:_NONCE]


def _dialogs(told: bytes) -> list[Dialog]:
    """Raises NotGenuine: whoever has the key may still have sealed what is none."""
    try:
        dialogs = [Dialog._make(one) for one in json.loads(told)]
        for one in dialogs:
            is_none = not (_UUID(one.conversation_id) and _UUID(one.key) and isinstance(one.contract, str))
            if is_none or not (one.lifetime is None or math.isfinite(one.lifetime)):
                raise ValueError
    except (ValueError, TypeError, OverflowError, RecursionError):
        raise NotGenuine("its dialogs cannot be read") from None
    return dialogs

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
import struct
import uuid
from collections.abc import Mapping, Sequence
from dataclasses import astuple, dataclass, fields
from datetime import UTC, datetime, timedelta
from itertools import accumulate, pairwise
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
_BOUND_LENGTHS = struct.Struct(">II")
_OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
_PSS = padding.PSS(padding.MGF1(hashes.SHA256()), padding.PSS.DIGEST_LENGTH)
_VERSION = 3
_NOT_WHOLE = "what is sealed has not the parts that it should have"


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


BLOCK_VERSION = 5
"""Of what is sealed, and how."""
BOUND = ("is_initiator", "to_service", "to_instance", "from_service", "from_instance")
"""What a block's header says that is bound to it, with the key's id."""


@dataclass(frozen=True)
class Contents:
    """What is sealed in a block: columns, elements of arrays in PostgreSQL's binary format.

    Of its dialogs the ids, the keys that the initiators have given them, the contracts and the seconds that
    they have left; of its messages the types, kinds and bodies.
    """

    conversation_ids: bytes
    keys: bytes
    contracts: bytes
    lifetimes: bytes
    types: bytes
    kinds: bytes
    bodies: bytes


@dataclass(frozen=True)
class Answer:
    """What the far side is told of a block: arrays in PostgreSQL's binary format, and JSON."""

    next_numbers: bytes
    """Of each dialog; 0 where ``others`` tells."""
    instances: bytes
    others: bytes
    """Empty: every dialog's messages were taken."""


class PairCipher:
    """Seals and opens what one side of a pair's dialogs says, the initiators' or the targets'."""

    def __init__(self, key_id: uuid.UUID, key: bytes, is_initiator: bool) -> None:
        # Two keys by one derivation: nothing that is sealed with the one opens with the other. Nor does what
        # was sealed in another form, whichever its header says that it is.
        info = f"pgsb dialogs {BLOCK_VERSION} {'initiator' if is_initiator else 'target'}".encode()
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
        plain = _joined(astuple(contents))
        return nonce, nonce + self._cipher.encrypt(nonce, plain, self._bound(header, places, numbers))

    def open(self, header: Mapping[str, Any], places: bytes, numbers: bytes, sealed: bytes) -> Contents:
        """Return what `seal` was given. Raises NotGenuine."""
        try:
            bound = self._bound(header, places, numbers)
            plain = self._cipher.decrypt(sealed[:_NONCE], sealed[_NONCE:], bound)
        except (InvalidTag, ValueError):
            raise NotGenuine(
                "the messages have been changed, or belong to other conversations or places in them"
            ) from None
        return Contents(*_divided(plain, len(fields(Contents))))

    def seal_answer(self, nonce: bytes, answer: Answer) -> str:
        """Seal what the far side is told of the block with this nonce."""
        own = urandom(_NONCE)
        return (own + self._answers.encrypt(own, _joined(astuple(answer)), nonce)).hex()

    def open_answer(self, nonce: bytes, sealed: str) -> Answer:
        """Return an answer to a block. Raises NotGenuine."""
        try:
            data = bytes.fromhex(sealed)
            plain = self._answers.decrypt(data[:_NONCE], data[_NONCE:], nonce)
        except (InvalidTag, ValueError, TypeError):
            raise NotGenuine("the answer has been changed, or belongs to other messages") from None
        return Answer(*_divided(plain, len(fields(Answer))))


def nonce_of(sealed: bytes) -> bytes:
    """What a block begins with."""
    return sealed[:_NONCE]


def _joined(parts: Sequence[bytes]) -> bytes:
    return b"".join((struct.pack(f">{len(parts)}I", *map(len, parts)), *parts))


def _divided(plain: bytes, count: int) -> list[bytes]:
    """What was joined of so many parts. Raises NotGenuine: whoever has the key may have sealed anything."""
    head = struct.Struct(f">{count}I")
    try:
        ends = list(accumulate(head.unpack_from(plain), initial=head.size))
    except struct.error:
        raise NotGenuine(_NOT_WHOLE) from None
    if ends[-1] != len(plain):
        raise NotGenuine(_NOT_WHOLE)
    return [plain[at:end] for at, end in pairwise(ends)]

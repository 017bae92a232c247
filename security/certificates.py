"""X.509 certificates: made, read, and what of them stands in sys.certificates."""

import re
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding
from cryptography.x509.oid import NameOID

from .problems import BAD_DATA, KeyProblem

_KEY_SIZE = 2048
_MOST_BYTES = 32 * 1024
_ATTRIBUTE = re.compile(r"(?:^|\s*(?<!\\)([,+]))\s*([A-Za-z]+)\s*=\s*")


@dataclass(frozen=True)
class Facts:
    """What the runtime keeps of a certificate. ``der`` and ``thumbprint`` are hexadecimal, times UTC."""

    der: str
    subject: str
    issuer: str
    serial_number: str
    thumbprint: str
    start_date: str
    expiry_date: str
    key_length: int

    def as_json(self) -> dict[str, Any]:
        """For the answer to the runtime."""
        return asdict(self)


def make_certificate(
    subject: str, start: datetime, expiry: datetime
) -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
    """Make a key pair of 2048 bits and a certificate of its own, signed with SHA-256. Raises KeyProblem.

    ``subject`` is a distinguished name ("CN=shop, O=Example"), or any text, which becomes the common
    name. Without a time zone ``start`` and ``expiry`` are UTC.
    """
    if not 1 <= len(subject) <= 128:
        raise KeyProblem(
            15212,
            "Invalid certificate subject. The certificate subject must have between 1 and 128 characters.",
        )
    if expiry <= start:
        raise KeyProblem(
            15213,
            "The certificate you wanted has an invalid validity period; its expiration date precedes its"
            " start date.",
        )
    name = _name_of(subject)
    key = rsa.generate_private_key(public_exponent=65537, key_size=_KEY_SIZE)
    try:
        certificate = (
            x509.CertificateBuilder()
            .subject_name(name)
            .issuer_name(name)
            .public_key(key.public_key())
            .serial_number(x509.random_serial_number())
            .not_valid_before(start)
            .not_valid_after(expiry)
            .sign(key, hashes.SHA256())
        )
    except ValueError as error:
        raise KeyProblem(BAD_DATA[0], f"{BAD_DATA[1]} {error}") from None
    return certificate, key


def _name_of(subject: str) -> x509.Name:
    if "=" in subject:
        # People write blanks behind commas and around =, and attributes in any case; RFC 4514 knows neither.
        strict = _ATTRIBUTE.sub(lambda found: f"{found[1] or ''}{found[2].upper()}=", subject)
        try:
            return x509.Name.from_rfc4514_string(strict)
        except ValueError:
            pass
    # SQL Server's subjects may have 128 characters, X.520's common names 64.
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, subject, _validate=False)])


def read_certificate(data: bytes) -> x509.Certificate:
    """Read DER, or PEM. Raises KeyProblem 15297."""
    if len(data) > _MOST_BYTES:
        raise KeyProblem(BAD_DATA[0], f"{BAD_DATA[1]} It has more than 32 kB.")
    load = x509.load_pem_x509_certificate if data.lstrip()[:5] == b"-----" else x509.load_der_x509_certificate
    try:
        certificate = load(data)
        public = certificate.public_key()
        # The library reads these when they are asked for: who holds a certificate from here may simply ask.
        names = [_text_of(certificate.subject), _text_of(certificate.issuer)]
        for moment in (certificate.not_valid_before_utc, certificate.not_valid_after_utc):
            _utc(moment)
    except (ValueError, UnsupportedAlgorithm, x509.InvalidVersion):
        raise KeyProblem(*BAD_DATA) from None
    if any("\0" in name for name in names):
        raise KeyProblem(
            BAD_DATA[0], f"{BAD_DATA[1]} A name has a NUL character, which no text of PostgreSQL has."
        )
    if not isinstance(public, rsa.RSAPublicKey):
        raise KeyProblem(BAD_DATA[0], f"{BAD_DATA[1]} Its key is no RSA key.")
    if public.key_size % 64 or not 2048 <= public.key_size <= 4096:
        raise KeyProblem(
            BAD_DATA[0],
            f"{BAD_DATA[1]} The key has {public.key_size} bits: 2048 to 4096 in steps of 64 can be used.",
        )
    return certificate


def facts_of(certificate: x509.Certificate) -> Facts:
    """What sys.certificates and the broker need to know."""
    return Facts(
        der=certificate.public_bytes(Encoding.DER).hex(),
        subject=_text_of(certificate.subject),
        issuer=_text_of(certificate.issuer),
        serial_number=_serial_of(certificate.serial_number),
        thumbprint=certificate.fingerprint(hashes.SHA1()).hex(),
        start_date=_utc(certificate.not_valid_before_utc),
        expiry_date=_utc(certificate.not_valid_after_utc),
        key_length=public_key_of(certificate).key_size,
    )


def public_key_of(certificate: x509.Certificate) -> rsa.RSAPublicKey:
    """Return the certificate's key, which `read_certificate` has seen to be RSA."""
    key = certificate.public_key()
    assert isinstance(key, rsa.RSAPublicKey)
    return key


def belongs(certificate: x509.Certificate, key: rsa.RSAPrivateKey) -> bool:
    """Whether the private key is that of the certificate."""
    return key.public_key().public_numbers() == public_key_of(certificate).public_numbers()


def _text_of(name: x509.Name) -> str:
    # As SQL Server shows what it has made itself: the text alone.
    attributes = list(name)
    if len(attributes) == 1 and attributes[0].oid == NameOID.COMMON_NAME:
        return str(attributes[0].value)
    return name.rfc4514_string()


def _serial_of(number: int) -> str:
    digits = f"{number:x}"
    digits = digits.zfill(len(digits) + len(digits) % 2)
    return " ".join(digits[place : place + 2] for place in range(0, len(digits), 2))


def _utc(moment: datetime) -> str:
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S")

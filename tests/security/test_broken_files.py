"""Files of certificates and keys that are not what they should be are read, or refused by number."""

import random
from collections.abc import Callable
from datetime import UTC, datetime

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    PrivateFormat,
    pkcs12,
)
from cryptography.x509.oid import NameOID

from pgsb.security.certificates import facts_of, make_certificate, read_certificate
from pgsb.security.private_keys import read_private_key, write_pkcs8, write_pvk
from pgsb.security.problems import KeyProblem
from pgsb.security.statements import read_pfx

_PASSWORD = "Wind over the quay 7"
_RSA_OID = bytes.fromhex("06092a864886f70d010101")
_START, _END = datetime(2026, 1, 1, tzinfo=UTC), datetime(2036, 1, 1, tzinfo=UTC)


@pytest.fixture(scope="module")
def pair() -> tuple[x509.Certificate, rsa.RSAPrivateKey]:
    return make_certificate("CN=quay, O=Example", _START, _END)


def _old_pem(key: rsa.RSAPrivateKey) -> bytes:
    encryption = BestAvailableEncryption(_PASSWORD.encode())
    return key.private_bytes(Encoding.PEM, PrivateFormat.TraditionalOpenSSL, encryption)


def _forms(
    certificate: x509.Certificate, key: rsa.RSAPrivateKey
) -> dict[str, tuple[bytes, Callable[[bytes], object]]]:
    def read_key(data: bytes) -> object:
        return read_private_key(data, _PASSWORD)

    encryption = BestAvailableEncryption(_PASSWORD.encode())
    return {
        "der": (certificate.public_bytes(Encoding.DER), lambda data: facts_of(read_certificate(data))),
        "pem": (certificate.public_bytes(Encoding.PEM), lambda data: facts_of(read_certificate(data))),
        "pvk": (write_pvk(key, _PASSWORD), read_key),
        "pkcs8": (write_pkcs8(key, _PASSWORD), read_key),
        "open pkcs8": (write_pkcs8(key, None), lambda data: read_private_key(data, None)),
        "old pem": (_old_pem(key), read_key),
        "pfx": (
            pkcs12.serialize_key_and_certificates(None, key, certificate, None, encryption),
            lambda data: read_pfx(data, _PASSWORD),
        ),
    }


def _mangled(data: bytes, chance: random.Random) -> bytes:
    mangled = bytearray(data)
    place = chance.randrange(len(data))
    kind = chance.randrange(10)
    if kind < 7:
        for _ in range(chance.choice((1, 1, 2, 5))):
            # The front has the lengths and the names of algorithms.
            where = chance.randrange(chance.choice((min(len(data), 80), len(data))))
            mangled[where] = chance.choice((0, 128, 255, chance.randrange(256)))
    elif kind == 7:
        del mangled[place:]
    elif kind == 8:
        mangled[place:place] = chance.randbytes(chance.randrange(1, 9))
    else:
        del mangled[place : place + chance.randrange(1, 9)]
    return bytes(mangled)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::cryptography.utils.CryptographyDeprecationWarning")
def test_whatever_bytes_are_changed_it_is_read_or_refused(
    pair: tuple[x509.Certificate, rsa.RSAPrivateKey],
) -> None:
    chance = random.Random(11)
    for form, (data, read) in _forms(*pair).items():
        read(data)
        refused = 0
        for _ in range(1500 if form in ("der", "pem") else 150):
            try:
                read(_mangled(data, chance))
            except KeyProblem as problem:
                refused += 1
                assert problem.number in (15297, 15465), form
        assert refused, form


def test_an_algorithm_that_nobody_knows(pair: tuple[x509.Certificate, rsa.RSAPrivateKey]) -> None:
    certificate, key = pair
    unknown = _RSA_OID[:-1] + b"\x30"
    with pytest.raises(KeyProblem, match=r"data is invalid\. .*1\.2\.840\.113549\.1\.1\.48") as raised:
        read_private_key(write_pkcs8(key, None).replace(_RSA_OID, unknown), None)
    assert raised.value.number == 15297
    with pytest.raises(KeyProblem) as raised:
        read_certificate(certificate.public_bytes(Encoding.DER).replace(_RSA_OID, unknown))
    assert raised.value.number == 15297


def test_a_first_block_that_is_too_short_is_no_panic(
    pair: tuple[x509.Certificate, rsa.RSAPrivateKey],
) -> None:
    whole = _old_pem(pair[1])
    assert read_private_key(whole, _PASSWORD).private_numbers() == pair[1].private_numbers()
    name, rest = whole.split(b"DEK-Info: ", 1)
    cipher, rest = rest.split(b",", 1)
    with pytest.raises(KeyProblem) as raised:
        read_private_key(name + b"DEK-Info: " + cipher + b"," + rest[2:], _PASSWORD)
    assert raised.value.number == 15297


@pytest.mark.parametrize("broken", ["issuer", "dates"])
def test_what_is_broken_inside_a_certificate_is_found_when_it_is_read(
    pair: tuple[x509.Certificate, rsa.RSAPrivateKey], broken: str
) -> None:
    data = pair[0].public_bytes(Encoding.DER)
    changed = (
        data.replace(b"\x04quay", b"\x04\xffuay") if broken == "issuer" else data.replace(b"26010", b"26990")
    )
    assert changed != data
    with pytest.raises(KeyProblem) as raised:
        read_certificate(changed)
    assert raised.value.number == 15297


def test_a_name_with_nul(pair: tuple[x509.Certificate, rsa.RSAPrivateKey]) -> None:
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "quay\0west")])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(pair[1].public_key())
        .serial_number(7)
        .not_valid_before(_START)
        .not_valid_after(_END)
        .sign(pair[1], hashes.SHA256())
    )
    with pytest.raises(KeyProblem, match="NUL character"):
        read_certificate(certificate.public_bytes(Encoding.DER))

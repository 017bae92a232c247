"""RSA private keys in files: PKCS#8 (DER or PEM) and PVK, the form that SQL Server writes.

A PVK file is Microsoft's PRIVATEKEYBLOB behind a header; a password encrypts it with RC4 under SHA-1 of
salt and password. That is weak by today's measure, and what other servers read: PKCS#8 is AES-256.
"""

import hashlib
import os
import re
import struct

from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.decrepit.ciphers.algorithms import ARC4
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.serialization import (
    BestAvailableEncryption,
    Encoding,
    NoEncryption,
    PrivateFormat,
    load_der_private_key,
    load_pem_private_key,
)

from .problems import BAD_DATA, WRONG_PASSWORD, KeyProblem

_PVK_MAGIC = 0xB0B5F11E
_PVK_HEADER = struct.Struct("<6I")
_BLOB_HEADER = struct.pack("<BBHI", 7, 2, 0, 0xA400)  # PRIVATEKEYBLOB, CALG_RSA_KEYX
_RSA = struct.Struct("<4sII")
_OLD_ENCRYPTION = re.compile(rb"^DEK-Info:\s*([^,\s]*),([^\r\n]*)", re.MULTILINE)
"""Of PEM before PKCS#8: the cipher, and its first block in hexadecimal."""


def read_private_key(data: bytes, password: str | None) -> rsa.RSAPrivateKey:
    """Read a key of any of the forms. Raises KeyProblem 15465 for a wrong password, 15297 for other data."""
    if data[:4] == struct.pack("<I", _PVK_MAGIC):
        return _read_pvk(data, password)
    secret = password.encode() if password is not None else None
    load = load_der_private_key
    if data.lstrip()[:5] == b"-----":
        load = load_pem_private_key
        # The library takes a first block that is too short for an error of its own, and panics.
        if any(len(block) < _digits_of_block(cipher) for cipher, block in _OLD_ENCRYPTION.findall(data)):
            raise KeyProblem(*BAD_DATA)
    try:
        key = load(data, secret)
    except TypeError:
        # Encrypted without a password, or a password for what is not encrypted.
        if password is None:
            raise KeyProblem(*WRONG_PASSWORD) from None
        try:
            key = load(data, None)
        except (TypeError, ValueError, UnsupportedAlgorithm):
            raise KeyProblem(*BAD_DATA) from None
    except ValueError as error:
        wrong = password is not None and "password" in str(error).lower()
        raise KeyProblem(*(WRONG_PASSWORD if wrong else BAD_DATA)) from None
    except UnsupportedAlgorithm as error:
        raise KeyProblem(BAD_DATA[0], f"{BAD_DATA[1]} {error}") from None
    if not isinstance(key, rsa.RSAPrivateKey):
        raise KeyProblem(BAD_DATA[0], f"{BAD_DATA[1]} The key is no RSA key.")
    return check_size(key)


def _digits_of_block(cipher: bytes) -> int:
    return 16 if cipher.startswith(b"DES") else 32


def check_size(key: rsa.RSAPrivateKey) -> rsa.RSAPrivateKey:
    """Return the key if its length is one that Service Broker can use. Raises KeyProblem 15297."""
    if key.key_size % 64 or not 2048 <= key.key_size <= 4096:
        raise KeyProblem(
            BAD_DATA[0],
            f"{BAD_DATA[1]} The key has {key.key_size} bits: 2048 to 4096 in steps of 64 can be used.",
        )
    return key


def write_pkcs8(key: rsa.RSAPrivateKey, password: str | None) -> bytes:
    """DER; with a password encrypted by AES-256."""
    encryption = BestAvailableEncryption(password.encode()) if password else NoEncryption()
    return key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, encryption)


def write_pvk(key: rsa.RSAPrivateKey, password: str) -> bytes:
    """As SQL Server's BACKUP CERTIFICATE writes it."""
    numbers = key.private_numbers()
    public = numbers.public_numbers
    whole, half = key.key_size // 8, key.key_size // 16
    body = _RSA.pack(b"RSA2", key.key_size, public.e) + public.n.to_bytes(whole, "little")
    for part in (numbers.p, numbers.q, numbers.dmp1, numbers.dmq1, numbers.iqmp):
        body += part.to_bytes(half, "little")
    body += numbers.d.to_bytes(whole, "little")
    salt = os.urandom(16)
    blob = _BLOB_HEADER + _rc4(salt, password.encode(), body)
    return _PVK_HEADER.pack(_PVK_MAGIC, 0, 1, 1, len(salt), len(blob)) + salt + blob


def _read_pvk(data: bytes, password: str | None) -> rsa.RSAPrivateKey:
    try:
        _, _, _, encrypted, salt_length, blob_length = _PVK_HEADER.unpack_from(data)
    except struct.error:
        raise KeyProblem(*BAD_DATA) from None
    start = _PVK_HEADER.size
    salt, blob = data[start : start + salt_length], data[start + salt_length :]
    if len(blob) != blob_length or blob[:2] != _BLOB_HEADER[:2]:
        raise KeyProblem(*BAD_DATA)
    body = blob[len(_BLOB_HEADER) :]
    if encrypted:
        if password is None:
            raise KeyProblem(*WRONG_PASSWORD)
        found = [
            plain
            for encoding in ("utf-8", "utf-16-le")
            if (plain := _rc4(salt, password.encode(encoding), body))[:4] == b"RSA2"
        ]
        if not found:
            raise KeyProblem(*WRONG_PASSWORD)
        body = found[0]
    return _key_of_blob(body)


def _key_of_blob(body: bytes) -> rsa.RSAPrivateKey:
    try:
        magic, bits, exponent = _RSA.unpack_from(body)
    except struct.error:
        raise KeyProblem(*BAD_DATA) from None
    whole, half = bits // 8, bits // 16
    if magic != b"RSA2" or bits % 64 or len(body) < _RSA.size + 2 * whole + 5 * half:
        raise KeyProblem(*BAD_DATA)
    position = _RSA.size
    numbers = []
    for length in (whole, half, half, half, half, half, whole):
        numbers.append(int.from_bytes(body[position : position + length], "little"))
        position += length
    n, p, q, dmp1, dmq1, iqmp, d = numbers
    try:
        key = rsa.RSAPrivateNumbers(
            p, q, d, dmp1, dmq1, iqmp, rsa.RSAPublicNumbers(exponent, n)
        ).private_key()
    except ValueError:
        raise KeyProblem(*BAD_DATA) from None
    return check_size(key)


def _rc4(salt: bytes, password: bytes, data: bytes) -> bytes:
    key = hashlib.sha1(salt + password, usedforsecurity=False).digest()[:16]
    return Cipher(ARC4(key), mode=None).encryptor().update(data)

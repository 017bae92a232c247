"""What can be wrong with keys and certificates, numbered as SQL Server numbers it."""


class KeyProblem(Exception):
    """``number`` is SQL Server's, the text one sentence for the user."""

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number
        self.message = message


MASTER_KEY_NEEDED = (
    15581,
    "Please create a master key in the database or open the master key in the session before performing"
    " this operation.",
)
MASTER_KEY_SHUT = (
    15329,
    "The current master key cannot be decrypted. If this is a database master key, you should attempt to open"
    " it in the session before performing this operation. The FORCE option can be used to ignore this error"
    " and continue the operation but the data encrypted by the old master key will be lost.",
)
BAD_DATA = (15297, "The certificate, asymmetric key, or private key data is invalid.")
BAD_FILE = (
    15208,
    "The certificate, asymmetric key, or private key file is not valid or does not exist; or you do not have"
    " permissions for it.",
)
BAD_MASTER_KEY_FILE = (15317, "The master key file does not exist or has invalid format.")
WRONG_PASSWORD = (15465, "The private key password is invalid.")
WRONG_DECRYPTOR = (15313, "The key is not encrypted using the specified decryptor.")

"""Trees of the statements about master keys and certificates → nodes.

The grammar leaves what follows the name as text: its words are no keywords elsewhere. It is read here,
to the last token.
"""

from __future__ import annotations

from typing import Any

from ...grammar.tokens import TokenKind
from .. import nodes
from .reader import Common, Node, Reader, builders


class _Words:
    """Tokens of one statement, read from left to right. What does not fit is reported once."""

    def __init__(self, read: Reader, start: int, end: int) -> None:
        self._read = read
        self._at = start
        self._end = end
        self._failed = False

    def take(self, *words: str) -> bool:
        """Whether these words stand here; they are read if so."""
        found = tuple(token.word for token in self._read.tokens[self._at : self._at + len(words)])
        if self._failed or self._at + len(words) > self._end or found != words:
            return False
        self._at += len(words)
        return True

    def need(self, *words: str) -> None:
        """Read these words, or report what stands here instead."""
        if not self.take(*words):
            self.fail(f"expected {' '.join(words)}")

    def fail(self, hint: str) -> None:
        """Report the token that is next."""
        if not self._failed:
            self._read.unexpected(self._at, hint)
        self._failed = True

    def string(self) -> nodes.StringLiteral:
        """Read ``= 'text'``."""
        self.need("=")
        if not self._failed and self._at < self._end:
            if self._read.tokens[self._at].kind is TokenKind.STRING:
                self._at += 1
                return self._read.string_at(self._at - 1)
            self.fail("expected a string")
        self.fail("expected a string")
        span = self._read.span_of_tokens(self._at - 1, self._at)
        return nodes.StringLiteral(span=span, value="", national=False)

    def binary(self) -> str:
        """Read ``= 0x…``."""
        self.need("=")
        if not self._failed and self._at < self._end:
            token = self._read.tokens[self._at]
            if token.kind is TokenKind.BINARY:
                self._at += 1
                return token.text
        self.fail("expected a binary constant: 0x…")
        return "0x"

    def name(self) -> nodes.Identifier:
        """Read a name."""
        self._at += 1
        return self._read.identifier_at(self._at - 1)

    def is_at_end(self) -> bool:
        """Whether everything has been read, or something was wrong."""
        return self._failed or self._at >= self._end

    def end(self) -> None:
        """Report what is left."""
        if not self.is_at_end():
            self.fail("expected the end of the statement")


def _words(tree: Node, read: Reader) -> _Words:
    text = read.terminal(tree, "TEXT")
    if text is None:
        _, end = read.range_of(tree)
        return _Words(read, end, end)
    return _Words(read, *read.range_of(text))


def _private_key(words: _Words) -> nodes.PrivateKeyOptions:
    """``(FILE = …, …)``, after PRIVATE KEY."""
    words.need("(")
    found: dict[str, Any] = {}
    while not words.is_at_end():
        if "file" not in found and "binary" not in found and words.take("FILE"):
            found["file"] = words.string()
        elif "file" not in found and "binary" not in found and words.take("BINARY"):
            found["binary"] = words.binary()
        elif "decryption" not in found and words.take("DECRYPTION", "BY", "PASSWORD"):
            found["decryption"] = words.string()
        elif "encryption" not in found and words.take("ENCRYPTION", "BY", "PASSWORD"):
            found["encryption"] = words.string()
        else:
            words.fail("expected FILE, BINARY, DECRYPTION BY PASSWORD or ENCRYPTION BY PASSWORD")
        if not words.take(","):
            words.need(")")
            break
    return nodes.PrivateKeyOptions(**found)


def _active(words: _Words) -> bool | None:
    if not words.take("ACTIVE", "FOR", "BEGIN_DIALOG", "="):
        return None
    if words.take("OFF"):
        return False
    words.need("ON")
    return True


_CERTIFICATE_OPTIONS = ("subject", "start_date", "expiry_date")


@builders.register("create_certificate")
def _create_certificate(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    words = _words(tree, read)
    found: dict[str, Any] = {}
    if words.take("FROM"):
        if words.take("FILE"):
            found["file"] = words.string()
        elif words.take("BINARY"):
            found["binary"] = words.binary()
        else:
            words.fail("expected FILE or BINARY: certificates in assemblies and executables are Windows's")
        while words.take("WITH") or words.take(","):
            if "format" not in found and words.take("FORMAT"):
                found["format"] = words.string()
            elif "private_key" not in found:
                words.need("PRIVATE", "KEY")
                found["private_key"] = _private_key(words)
            else:
                words.fail("expected the end of the statement")
                break
    else:
        if words.take("ENCRYPTION", "BY", "PASSWORD"):
            found["password"] = words.string()
        words.need("WITH")
        while True:
            named = next(
                (one for one in _CERTIFICATE_OPTIONS if one not in found and words.take(one.upper())), None
            )
            if named is None:
                left = [one.upper() for one in _CERTIFICATE_OPTIONS if one not in found]
                words.fail(f"expected {' or '.join(left)}" if left else "expected the end of the statement")
                break
            found[named] = words.string()
            if not words.take(","):
                break
        if "subject" not in found:
            words.fail("expected SUBJECT")
    active = _active(words)
    words.end()
    return nodes.CreateCertificate(
        name=read.name(tree), owner=read.owner(tree), active_for_begin_dialog=active, **found, **common
    )


@builders.register("alter_certificate")
def _alter_certificate(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    words = _words(tree, read)
    found: dict[str, Any] = {}
    if words.take("REMOVE", "PRIVATE", "KEY"):
        found["remove_private_key"] = True
    else:
        words.need("WITH")
        active = _active(words)
        if active is None:
            words.need("PRIVATE", "KEY")
            found["private_key"] = _private_key(words)
            # The page's syntax has it after WITH, its scripts after the parenthesis as well.
            active = _active(words) if words.take("WITH") or not words.is_at_end() else None
        found["active_for_begin_dialog"] = active
    words.end()
    return nodes.AlterCertificate(name=read.name(tree), **found, **common)


def backup_certificate(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    """BACKUP CERTIFICATE: to the grammar it is one of the BACKUPs."""
    words = _words(tree, read)
    words.need("CERTIFICATE")
    name = words.name()
    words.need("TO")
    words.need("FILE")
    found: dict[str, Any] = {"file": words.string()}
    while words.take("WITH") or words.take(","):
        if "format" not in found and words.take("FORMAT"):
            found["format"] = words.string()
        elif "private_key" not in found:
            words.need("PRIVATE", "KEY")
            found["private_key"] = _private_key(words)
        else:
            words.fail("expected the end of the statement")
    words.end()
    return nodes.BackupCertificate(name=name, **found, **common)


@builders.register("create_master_key")
def _create_master_key(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    password = read.terminal(tree, "STRING")
    return nodes.MasterKeyStatement(
        action="CREATE", password=read.string(password) if password else None, **common
    )


@builders.register("master_key_action")
def _master_key_action(tree: Node, read: Reader, common: Common) -> nodes.Statement:
    action = read.tokens[read.range_of(tree)[0]].word
    service = read.terminal(tree, "SERVICE_MASTER_KEY") is not None
    words = _words(tree, read)
    found: dict[str, Any] = {}
    if service and action in ("OPEN", "CLOSE"):
        read.unexpected(read.range_of(tree)[0], "the service master key is always open")
    elif action == "OPEN":
        words.need("DECRYPTION", "BY", "PASSWORD")
        found["password"] = words.string()
    elif action == "BACKUP":
        words.need("TO", "FILE")
        found["file"] = words.string()
        words.need("ENCRYPTION", "BY", "PASSWORD")
        found["password"] = words.string()
    elif action == "RESTORE":
        words.need("FROM", "FILE")
        found["file"] = words.string()
        words.need("DECRYPTION", "BY", "PASSWORD")
        found["decryption"] = words.string()
        if not service:
            words.need("ENCRYPTION", "BY", "PASSWORD")
            found["password"] = words.string()
        found["force"] = words.take("FORCE")
    elif action == "ALTER":
        action = _alteration(words, found, service)
    words.end()
    return nodes.MasterKeyStatement(action=action, service=service, **found, **common)


def _alteration(words: _Words, found: dict[str, Any], service: bool) -> str:
    found["force"] = words.take("FORCE")
    if words.take("REGENERATE"):
        if not service:
            words.need("WITH", "ENCRYPTION", "BY", "PASSWORD")
            found["password"] = words.string()
        return "REGENERATE"
    for action in ("ADD", "DROP"):
        if not service and words.take(action, "ENCRYPTION", "BY"):
            if words.take("PASSWORD"):
                found["password"] = words.string()
            else:
                words.need("SERVICE", "MASTER", "KEY")
            return action
    words.fail("expected REGENERATE, or of a database's key ADD or DROP ENCRYPTION BY")
    return "REGENERATE"

"""The words of T-SQL: what kinds of token there are and which words are reserved.

The lexer (lexer.py) makes :class:`Token` tuples, the parser chooses from them the terminals
of the .lark files, and the nodes of the compiler keep them for whoever reads queries and DML.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from enum import IntEnum
from operator import attrgetter
from typing import NamedTuple

__all__ = ["RESERVED_WORDS", "STATEMENT_WORDS", "Token", "TokenKind", "words_of"]


class TokenKind(IntEnum):
    """What a token is, before the parser knows its role."""

    WORD = 1
    """A regular identifier or keyword, ``#temporary`` names included."""
    BRACKETED = 2
    """``[name]``; two ``]]`` stand for one."""
    QUOTED = 3
    """``"name"`` under QUOTED_IDENTIFIER ON; two ``""`` stand for one."""
    VARIABLE = 4
    """``@name`` or ``@@name``."""
    STRING = 5
    """``'text'`` or ``N'text'`` (and ``"text"`` under QUOTED_IDENTIFIER OFF)."""
    NUMBER = 6
    """``12``, ``1.5``, ``1e3`` and money such as ``$1.50``."""
    BINARY = 7
    """``0x…``, also without digits."""
    SYMBOL = 8
    """An operator or a punctuation mark, one of ``( ) , ; . = + - * …`` or ``<>``, ``+=`` …"""
    PSEUDO_COLUMN = 9
    """``$action``, ``$identity``, ``$rowguid``, ``$partition``, ``$node_id`` …"""
    COMMENT = 10
    """``-- …`` or ``/* … */``; the parser never sees one."""


# Reading a member of the class takes Python 3.11 ten times as long as reading a variable of the module.
_BRACKETED = TokenKind.BRACKETED
_QUOTED = TokenKind.QUOTED


class Token(NamedTuple):
    """One token: ``text`` as written, from ``start`` up to ``end`` in the source.

    ``word`` is the upper-case text of a WORD, and of a SYMBOL the symbol itself: what
    grammars and scans compare with. It is empty for every other kind, so that ``[select]``
    never passes for SELECT.
    """

    kind: TokenKind
    text: str
    start: int
    end: int
    word: str

    @property
    def name(self) -> str:
        """The name that a WORD, BRACKETED, QUOTED or VARIABLE token stands for, its case kept."""
        kind = self.kind
        if kind is _BRACKETED:
            return self.text[1:-1].replace("]]", "]")
        if kind is _QUOTED:
            return self.text[1:-1].replace('""', '"')
        return self.text


_WORD_OF: attrgetter[str] = attrgetter("word")


def words_of(tokens: Iterable[Token]) -> Iterator[str]:
    """Give the ``word`` of every token: upper-case keywords and names, symbols, '' for the rest."""
    return map(_WORD_OF, tokens)


_RESERVED = """
ADD ALL ALTER AND ANY AS ASC AUTHORIZATION BACKUP BEGIN BETWEEN BREAK BROWSE BULK BY CASCADE CASE
CHECK CHECKPOINT CLOSE CLUSTERED COALESCE COLLATE COLUMN COMMIT COMPUTE CONSTRAINT CONTAINS
CONTAINSTABLE CONTINUE CONVERT CREATE CROSS CURRENT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP
CURRENT_USER CURSOR DATABASE DBCC DEALLOCATE DECLARE DEFAULT DELETE DENY DESC DISTINCT DISTRIBUTED
DOUBLE DROP ELSE END ERRLVL ESCAPE EXCEPT EXEC EXECUTE EXISTS EXIT EXTERNAL FETCH FILE FILLFACTOR
FOR FOREIGN FREETEXT FREETEXTTABLE FROM FULL FUNCTION GOTO GRANT GROUP HAVING HOLDLOCK IDENTITY
IDENTITY_INSERT IDENTITYCOL IF IN INDEX INNER INSERT INTERSECT INTO IS JOIN KEY KILL LEFT LIKE
LINENO MERGE NATIONAL NOCHECK NONCLUSTERED NOT NULL NULLIF OF OFF OFFSETS ON OPEN
OPENDATASOURCE OPENQUERY OPENROWSET OPENXML OPTION OR ORDER OUTER OVER PERCENT PIVOT PLAN
PRIMARY PRINT PROC PROCEDURE PUBLIC RAISERROR READ READTEXT RECONFIGURE REFERENCES REPLICATION
RESTORE RESTRICT RETURN REVERT REVOKE RIGHT ROLLBACK ROWCOUNT ROWGUIDCOL RULE SAVE SCHEMA
SELECT SEMANTICKEYPHRASETABLE SEMANTICSIMILARITYDETAILSTABLE SEMANTICSIMILARITYTABLE
SESSION_USER SET SETUSER SHUTDOWN SOME STATISTICS SYSTEM_USER TABLE TABLESAMPLE TEXTSIZE THEN TO
TOP TRAN TRANSACTION TRIGGER TRUNCATE TRY_CONVERT TSEQUAL UNION UNIQUE UNPIVOT UPDATE UPDATETEXT
USE USER VALUES VARYING VIEW WAITFOR WHEN WHERE WHILE WITH WITHIN WRITETEXT
"""

_STATEMENT = """
ALTER BACKUP BEGIN BREAK BULK CHECKPOINT CLOSE COMMIT CONTINUE CREATE DBCC DEALLOCATE DECLARE DELETE
DENY DROP ELSE END EXEC EXECUTE FETCH GOTO GRANT IF INSERT KILL LINENO MERGE OPEN PRINT RAISERROR
READTEXT RECONFIGURE RESTORE RETURN REVERT REVOKE ROLLBACK SAVE SELECT SET SETUSER SHUTDOWN
TRUNCATE UPDATE UPDATETEXT USE WAITFOR WHILE WRITETEXT
"""

RESERVED_WORDS: frozenset[str] = frozenset(_RESERVED.split())
"""The reserved words of Transact-SQL: never a name unless in brackets or double quotes."""

STATEMENT_WORDS: frozenset[str] = frozenset(_STATEMENT.split())
"""Reserved words that begin (or, ELSE and END, follow) a statement: outside parentheses they
end the statement before, unless the grammar lets that one go on with them."""

"""T-SQL text → tokens, in one pass over the whole script.

The lexer knows nothing of statements. Which keyword a word stands for is decided later, by
the parser, because nearly every word of Service Broker is also a legal name.

Its time is linear in the text, whatever the text is: no pattern backtracks, and nested
comments are walked, not recursed into.
"""

from __future__ import annotations

import math
import re
from collections import deque
from collections.abc import Iterator

from .problems import Problems
from .source import Source
from .tokens import Token, TokenKind

__all__ = ["bracketed", "lex", "name_parts", "one_name", "open_quote", "string_value"]

# What counts as white space between tokens: Unicode's, the byte order mark (files that were
# joined have it in the middle), the zero-width space of web pages, and control characters.
_BLANK = r"[\s\ufeff\u200b\x01-\x1f\x7f]"

_TOKEN = re.compile(
    rf"""{_BLANK}*+
    (?:
      (?P<word>      (?:(?![Nn]')[^\W\d]|\#)[\w@\#$]*+ )
    | (?P<variable>  @[\w@\#$]*+ )
    | (?P<number>    0[xX](?:[0-9A-Fa-f]|\\\r?\n)*+
                   | (?:\d++(?:\.\d*+)?|\.\d++)(?:[eE][+-]?\d*+)?
                   | [$€£¥¢¤]{_BLANK}*+[+-]?{_BLANK}*+(?:\d(?:,?\d)*+(?:\.\d*+)?|\.\d++)
                   | [$€£¥¢¤](?![\w(]) )
    | (?P<string>    [Nn]?'[^']*+(?:''[^']*+)*+(?P<string_end>'?+) )
    | (?P<bracketed> \[[^\]]*+(?:\]\][^\]]*+)*+(?P<bracketed_end>\]?+) )
    | (?P<quoted>    "[^"]*+(?:""[^"]*+)*+(?P<quoted_end>"?+) )
    | (?P<comment>   --[^\r\n]*+ | /\* )
    | (?P<symbol>    [<>!]{_BLANK}++[=<>]|->|::|<=|>=|<>|!=|!<|!>|\+=|-=|\*=|/=|%=|&=|\^=|\|\|=|\|=|\|\||<<|>>
                   | [-+*/%&|^~=<>().,;:{{}}!] )
    | (?P<pseudo>    \$[A-Za-z_]\w*+ )
    | (?P<end>       \Z )
    | (?P<other>     . )
    )""",
    re.VERBOSE | re.DOTALL,
)
_COMMENT_MARK = re.compile(r"/\*|\*/")
_GO_LINE = re.compile(rf"^{_BLANK}*?GO\b[ \t]*\d*[ \t]*(?=$|--|\r)", re.IGNORECASE | re.MULTILINE)
_BAD_CHARACTER = re.compile("[\0\ud800-\udfff]")
_LINE_CONTINUATION = re.compile(r"\\\r?\n")

_WORD = TokenKind.WORD
_NUMBER = TokenKind.NUMBER
_SYMBOL = TokenKind.SYMBOL
_PLAIN_KINDS = {
    "variable": TokenKind.VARIABLE,
    "number": TokenKind.NUMBER,
    "pseudo": TokenKind.PSEUDO_COLUMN,
}
_NATIONAL = ("N", "n")
_LONGEST_IDENTIFIER = 128
_MOST_DIGITS = 38
_SHORTEST_SUSPECT = 4
"""A number of as many characters is in range whatever they are; ``1e309`` is not."""
_LOOKALIKES = {
    "‘": "'",
    "’": "'",
    "‚": "'",
    "“": '"',
    "”": '"',
    "„": '"',
    "«": '"',
    "»": '"',
    "–": "-",
    "—": "-",
    "−": "-",
    "…": "...",
    "＝": "=",
    "（": "(",
    "）": ")",
    "，": ",",
    "；": ";",
}


def lex(source: Source, problems: Problems) -> Iterator[Token]:
    """Yield every token of ``source``, comments too.

    SET QUOTED_IDENTIFIER is obeyed from the place where it stands, as SQL Server's parser
    does: a string in double quotes then is a STRING.

    Reports characters that no statement can hold (NUL, lone surrogates, typographic quotes),
    an unclosed string or bracket (105; reading goes on after the next GO line), an
    unclosed comment (113), and numbers out of the range of every type (1007, 168).
    """
    text = source.text
    _report_bad_characters(source, problems)
    quoted_identifiers = source.quoted_identifiers
    recent: deque[Token] = deque(maxlen=16)
    suspect: int | None = None  # where a string begins that has a GO line inside
    position = 0
    match_token = _TOKEN.match
    new = tuple.__new__  # Token's own checks the number of values, for each of a script's tokens
    while True:
        match = match_token(text, position)
        assert match is not None, "the last alternatives match anything"
        # The group that was closed last is the one around the others.
        assert match.lastindex is not None
        start, position = match.span(match.lastindex)
        group = match.lastgroup
        if not quoted_identifiers and text[start:position] in _NATIONAL and text.startswith('"', position):
            # N"text"; N is an alias before a name in double quotes
            match = match_token(text, position)
            assert match is not None
            position = match.end()
            group = "quoted"
        if group == "word":
            written = text[start:position]
            word = written.upper()
            token = new(Token, (_WORD, written, start, position, word))
            if position - start > _LONGEST_IDENTIFIER:
                _report_long_identifier(source, token, problems)
            if word in ("ON", "OFF") and recent and recent[-1].word == "QUOTED_IDENTIFIER":
                quoted_identifiers = _quoted_identifiers(recent, word == "ON", quoted_identifiers)
        elif group == "symbol":
            written = text[start:position]
            word = written
            if position - start > 2 and written != "||=":
                word = written[0] + written[-1]
            token = new(Token, (_SYMBOL, written, start, position, word))
        elif group in _PLAIN_KINDS:
            written = text[start:position]
            kind = _PLAIN_KINDS[group]
            if kind is _NUMBER and written[:2] in ("0x", "0X"):
                kind = TokenKind.BINARY
            elif kind is _NUMBER and position - start > _SHORTEST_SUSPECT:
                written = _number_in_range(source, written, start, problems)
            token = new(Token, (kind, written, start, position, ""))
            if position - start > _LONGEST_IDENTIFIER and group == "variable":
                _report_long_identifier(source, token, problems)
        elif group == "comment":
            if text.startswith("/*", start):
                position = _end_of_comment(source, start, problems)
            yield Token(TokenKind.COMMENT, text[start:position], start, position, "")
            continue
        elif group == "end":
            return
        elif group == "other":
            _report_unknown_character(source, start, problems)
            continue
        else:
            assert group is not None
            written = text[start:position]
            if not match[f"{group}_end"]:
                position = _end_of_unclosed(source, start, group, suspect, problems)
                written = text[start:position]
            elif suspect is None and "\n" in written and _GO_LINE.search(text, start, position):
                suspect = start
            kind = _quoted_kind(group, quoted_identifiers)
            token = Token(kind, written, start, position, "")
            if kind is not TokenKind.STRING and position - start > _LONGEST_IDENTIFIER + 2:
                _report_long_identifier(source, token, problems)
        recent.append(token)
        yield token


def _quoted_kind(group: str, quoted_identifiers: bool) -> TokenKind:
    if group == "string":
        return TokenKind.STRING
    if group == "bracketed":
        return TokenKind.BRACKETED
    return TokenKind.QUOTED if quoted_identifiers else TokenKind.STRING


def _quoted_identifiers(recent: deque[Token], on: bool, current: bool) -> bool:
    """Return the setting after ``SET …, QUOTED_IDENTIFIER ON|OFF``.

    ALTER DATABASE … SET QUOTED_IDENTIFIER changes the database, not the parser.
    """
    for index in range(len(recent) - 1, -1, -1):
        if recent[index].word == "SET":
            before = recent[index - 2] if index >= 2 else None
            return current if before is not None and before.word == "DATABASE" else on
        if recent[index].kind is not _WORD and recent[index].word != ",":
            break
    return current


def _end_of_comment(source: Source, start: int, problems: Problems) -> int:
    depth = 0
    for mark in _COMMENT_MARK.finditer(source.text, start):
        if mark.group() == "/*":
            depth += 1
        else:
            depth -= 1
            if depth == 0:
                return mark.end()
    problems.add(
        "Missing end comment mark '*/'.",
        source.span(start, start + 2),
        hint="comments nest: every /* inside the comment needs its own */",
        number=113,
    )
    return len(source.text)


def _end_of_unclosed(source: Source, start: int, group: str, suspect: int | None, problems: Problems) -> int:
    """Report a quote that is never closed; return where reading goes on: the next GO line."""
    hint = None
    if suspect is not None:
        line, column = source.line_of(suspect), source.column_of(suspect)
        hint = f"the string at line {line}, column {column} goes over a GO line: is its end missing?"
    elif group == "string":
        hint = "a quote inside a string is written twice: 'it''s'"
    elif group == "bracketed":
        hint = "the [ has no ]"
    length = 2 if source.text[start] in "nN" else 1
    excerpt = source.text[start + length : start + length + 30].splitlines()
    problems.add(
        f"Unclosed quotation mark after the character string '{excerpt[0] if excerpt else ''}'.",
        source.span(start, start + length),
        hint=hint,
        number=105,
    )
    go_line = _GO_LINE.search(source.text, start)
    return go_line.start() if go_line else len(source.text)


def _report_bad_characters(source: Source, problems: Problems) -> None:
    bad = _BAD_CHARACTER.search(source.text)
    if bad is None:
        return
    if bad.group() == "\0":
        message = "A NUL character (U+0000) cannot stand in a script."
        hint = "is the file UTF-16 without a byte order mark? Save it as UTF-8"
    else:
        message = f"A lone surrogate (U+{ord(bad.group()):04X}) is not a character."
        hint = "save the file as UTF-8"
    problems.add(message, source.span(bad.start(), bad.end()), hint=hint)


def _report_unknown_character(source: Source, start: int, problems: Problems) -> None:
    character = source.text[start]
    if _BAD_CHARACTER.match(character):
        return
    hint = None
    if source.text.startswith("$(", start):
        hint = "this is a variable of sqlcmd: give it a value with -v name=value or :setvar"
    elif character in _LOOKALIKES:
        hint = f"a typographic character (U+{ord(character):04X}): write {_LOOKALIKES[character]} instead"
    problems.add(
        f"Incorrect syntax near '{character}'.", source.span(start, start + 1), hint=hint, number=102
    )


def _report_long_identifier(source: Source, token: Token, problems: Problems) -> None:
    name = token.name
    if len(name) > _LONGEST_IDENTIFIER:
        problems.add(
            f"The identifier that starts with '{name[:_LONGEST_IDENTIFIER]}' is too long. "
            f"Maximum length is {_LONGEST_IDENTIFIER}.",
            source.span(token.start, token.end),
            number=103,
        )


def _number_in_range(source: Source, written: str, start: int, problems: Problems) -> str:
    """Report a constant that no type of SQL Server holds; return the text to read on with.

    That is never longer than int() reads, which refuses 4,301 digits.
    """
    if "e" in written or "E" in written:
        exponent = written.upper().partition("E")[2]
        if exponent in ("", "+", "-") or math.isfinite(float(written)):
            return written
        message, number = (
            "The floating point value '{}' is out of the range of computer representation (8 bytes).",
            168,
        )
    else:
        whole, dot, fraction = written.partition(".")
        if len(whole) + len(fraction) <= _MOST_DIGITS:
            return written
        significant = whole.lstrip("0")
        if len(significant) + len(fraction) <= _MOST_DIGITS:
            return (significant or "0") + dot + fraction
        message, number = (
            "The number '{}' is out of the range for numeric representation (maximum precision 38).",
            1007,
        )
    problems.add(
        message.format(written[:_LONGEST_IDENTIFIER]), source.span(start, start + len(written)), number=number
    )
    return written[:_MOST_DIGITS] if number == 1007 else "0"


def string_value(token: Token) -> str:
    """Return the characters of a STRING token: quotes undoubled, continued lines joined."""
    text = token.text
    if text[0] in "nN":
        text = text[1:]
    value = text[1:-1].replace(text[0] * 2, text[0])
    return _LINE_CONTINUATION.sub("", value) if "\\" in value else value


_NAME_KINDS = (TokenKind.WORD, TokenKind.BRACKETED, TokenKind.QUOTED)


def name_parts(text: str) -> list[str] | None:
    """Return the parts of a dotted name that a string holds (``[db]..[a]]b]``), '' for one left out.

    None where the string is no name.
    """
    parts = [""]
    expected = True
    for token in lex(Source("name", text), Problems()):
        if token.word == ".":
            parts.append("")
            expected = True
        elif expected and token.kind in _NAME_KINDS:
            parts[-1] = token.name
            expected = False
        else:
            return None
    return None if expected else parts


def one_name(text: str) -> str:
    """Return the name that somebody means who types it with or without quotes; ``text`` where it is none."""
    parts = name_parts(text)
    return parts[0] if parts and len(parts) == 1 else text


def bracketed(name: str) -> str:
    """Return a name as ``[name]``."""
    return f"[{name.replace(']', ']]')}]"


def open_quote(text: str) -> TokenKind | None:
    """Return what is open where a text breaks off: STRING, BRACKETED or QUOTED; None for nothing."""
    problems = Problems()
    kind: TokenKind | None = None
    for token in lex(Source("text", text), problems):
        kind = token.kind
    return kind if any(problem.number == 105 for problem in problems) else None

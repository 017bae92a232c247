"""Message bodies for people: what they look like, as text, JSON, XML and bytes."""

import codecs
import json
import re
from xml.dom import minidom
from xml.parsers.expat import ExpatError

LIMIT = 65536
"""More bytes than these are not shown."""
PREVIEW = 4096
"""Of a message in quarantine no more bytes are asked for."""
_XML_LIMIT = 20_000
_JSON_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s\[\]{}:,"]+')


def forms(body: bytes, encoding: str = "utf8", *, is_cut: bool = False) -> dict[str, str]:
    """The ways to show a body, the best first: of JSON, XML, text and hex, those that it has.

    ``encoding`` is the instance's for nvarchar. ``is_cut``: it is the beginning of a longer one.
    """
    is_cut = is_cut or len(body) > LIMIT
    body = body[:LIMIT]
    shown: dict[str, str] = {}
    text = as_text(body, encoding, is_cut=is_cut)
    if text is not None:
        if (indented := _as_json(text)) is not None:
            shown["JSON"] = indented
        if text.lstrip("\ufeff \r\n\t").startswith("<") and (pretty := _as_xml(text)) is not None:
            shown["XML"] = pretty
        shown["text"] = text
    shown["hex"] = as_hex(body)
    return shown


def as_text(body: bytes, encoding: str = "utf8", *, is_cut: bool = False) -> str | None:
    """UTF-16 as NVARCHAR is sent, else UTF-8; None for what is neither.

    UTF-16 without a plain letter is hardly ever valid UTF-8, so that is tried first. One that ``is_cut``
    may be so within its last character, which is left out.
    """
    codings = ["utf-8", "utf-16-le"] if encoding == "utf16" else ["utf-8"]
    for coding in ("utf-16-le", "utf-8") if _looks_wide(body) else codings:
        try:
            text = codecs.getincrementaldecoder(coding)().decode(body, final=not is_cut)
        except UnicodeDecodeError:
            continue
        if not re.search("[\x00-\x08\x0e-\x1f]", text):
            return text
    return None


def _looks_wide(body: bytes) -> bool:
    """Every second byte of the beginning is 0, or there is a mark."""
    start = body[:64]
    return body[:2] == b"\xff\xfe" or (
        len(start) >= 2 and len(body) % 2 == 0 and start[1::2].count(0) * 2 > len(start) // 2
    )


def _as_json(text: str) -> str | None:
    """Indented, every number and member as it stands there; None for what is no JSON."""
    try:
        json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError):
        return None
    out: list[str] = []
    depth, previous = 0, ""
    for match in _JSON_TOKEN.finditer(text):
        token = match[0]
        depth -= token in ("]", "}")
        opened, closes = previous in ("[", "{"), token in ("]", "}")
        if (opened and not closes) or (closes and not opened) or previous == ",":
            out.append("\n" + "  " * depth)
        out.append(": " if token == ":" else _readable(token) if token[0] == '"' else token)
        depth += token in ("[", "{")
        previous = token
    return "".join(out)


def _refuse(constant: str) -> None:
    raise ValueError(constant)  # NaN and Infinity are JavaScript's


def _readable(string: str) -> str:
    """A string of JSON with letters for \\u00e4 and its like; half a surrogate pair stays as it is."""
    shown = json.dumps(json.loads(string), ensure_ascii=False)
    return shown if shown.isascii() or not re.search("[\ud800-\udfff]", shown) else string


def _as_xml(text: str) -> str | None:
    # A document type may define entities that grow without end; messages have none.
    if "<!" in text or len(text) > _XML_LIMIT:
        return None
    try:
        document = minidom.parseString(re.sub(r"^\ufeff?<\?xml[^>]*\?>", "", text).encode())
    except (ExpatError, ValueError):
        return None
    pretty = document.documentElement.toprettyxml(indent="  ") if document.documentElement else ""
    return "\n".join(line for line in pretty.splitlines() if line.strip())


def as_hex(body: bytes) -> str:
    """Sixteen bytes a line: place, bytes, characters."""
    lines = []
    for place in range(0, min(len(body), 4096), 16):
        part = body[place : place + 16]
        letters = "".join(chr(one) if 32 <= one < 127 else "." for one in part)
        lines.append(f"{place:06x}  {part.hex(' '):<47}  {letters}")
    if len(body) > 4096:
        lines.append("…")
    return "\n".join(lines)

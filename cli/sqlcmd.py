"""sqlcmd's language around T-SQL: $(variables), :setvar, :r and the other directives.

A script with directives becomes one text, as sqlcmd would send it: variables replaced, other
files read in.  Each of its lines knows the file and the line it comes from, so that what is
wrong is reported where its author finds it.

A directive opens its line, outside of strings and comments; a variable is replaced wherever it
stands but in comments, in strings and quoted names too.
"""

from __future__ import annotations

import os
import platform
import re
from bisect import bisect_right
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from pathlib import Path

from ..grammar.problems import Problems
from ..grammar.records import dataclass
from ..grammar.source import Source, Span, find_file, is_within
from ..server.render import Output

_VARIABLE = re.compile(r"\$\(([A-Za-z_][\w-]*)\)")
_DIRECTIVE = re.compile(
    r"[ \t]*(?:(?P<shell>:?!!)|:(?P<name>setvar|on[ \t]+error|connect|out|error|perftrace|listvar|list|reset"
    r"|quit|exit|help|serverlist|xml|ed|r)\b)[ \t]*(?P<rest>[^\r\n]*)",
    re.IGNORECASE,
)
_SETVAR = re.compile(r'([A-Za-z_][\w-]*)(?:[ \t]+(?:"((?:[^"]|"")*)"|(\S+)))?')
_GO = re.compile(r"[ \t]*go[ \t]*\d*[ \t]*(?:--[^\r\n]*)?(?=[\r\n]|\Z)", re.IGNORECASE)
# What is skipped, or replaced in, as a whole. A quote that nothing closes runs to the end.
_TOKEN = re.compile(
    r"(?P<quoted>'(?:[^']|'')*(?:'|\Z)|\"(?:[^\"]|\"\")*(?:\"|\Z)|\[(?:[^\]]|\]\])*(?:\]|\Z))"
    r"|(?P<comment>--[^\r\n]*)|(?P<block>/\*)|(?P<variable>\$\([A-Za-z_][\w-]*\))|(?P<newline>\r\n?|\n)"
)
_BLOCK_EDGE = re.compile(r"/\*|\*/")
_REFUSED = {
    "connect": "the server is chosen with --dsn",
    "out": ":out FILE, :out STDOUT, :out STDERR",
    "error": ":error FILE, :error STDOUT, :error STDERR",
    "perftrace": "there is no trace of the kind here",
    "list": "it is for the prompt: see `pgsb shell`",
    "listvar": "it is for the prompt",
    "help": "it is for the prompt: see `pgsb shell`",
    "serverlist": "the server is chosen with --dsn",
    "ed": "it is for the prompt",
}
# A script of a stranger's must not take all memory, nor for ever: variables in values of variables,
# files that read files.
_MOST_OF_VALUE = 1_000_000
_MOST_CHARACTERS = 500_000_000
_MOST_FILES = 10_000
# What sqlcmd itself sets; nothing of it changes anything here.
_DEFAULTS = {
    "sqlcmduser": "",
    "sqlcmdworkstation": "",
    "sqlcmdserver": "localhost",
    "sqlcmddbname": "",
    "sqlcmdlogintimeout": "8",
    "sqlcmdstattimeout": "0",
    "sqlcmdheaders": "0",
    "sqlcmdcolsep": " ",
    "sqlcmdcolwidth": "0",
    "sqlcmdpacketsize": "4096",
    "sqlcmderrorlevel": "0",
    "sqlcmdmaxvartypewidth": "256",
    "sqlcmdmaxfixedtypewidth": "0",
}


@dataclass(frozen=True)
class Piece:
    """A stretch of the composed text, from ``offset`` on: ``length`` characters of ``source`` at ``start``.

    A variable's value may be longer or shorter than ``$(NAME)``, whose place it has.
    """

    offset: int
    source: Source
    start: int
    length: int


@dataclass(frozen=True)
class ComposedSource(Source):
    """A text put together from several files, or lines of one."""

    pieces: tuple[Piece, ...] = field(default=(), compare=False, repr=False)

    def origin(self, line: int) -> tuple[str, int]:
        """Return the file and its line that ``line`` comes from."""
        return self.author_place(self.line_start(line))[:2]

    def author_place(self, offset: int, *, behind: bool = False) -> tuple[str, int, int]:
        """Return the place in the file; all of a variable's value is where the variable stands."""
        looked_at = offset - 1 if behind and offset else offset
        place = max(bisect_right(self.pieces, looked_at, key=lambda piece: piece.offset) - 1, 0)
        piece = self.pieces[place]
        following = self.pieces[place + 1].offset if place + 1 < len(self.pieces) else len(self.text)
        if following - piece.offset == piece.length:
            start = piece.start + min(offset - piece.offset, piece.length)
        else:
            start = piece.start + (piece.length if behind else 0)
        return piece.source.name, piece.source.line_of(start), piece.source.column_of(start)


@dataclass(frozen=True)
class Script:
    """A script as sqlcmd would send it.

    ``stops`` says from which offset on an error ends the script (True) or not, as
    ``:on error`` asks; it is empty when nothing is asked.
    """

    source: Source
    stops: tuple[tuple[int, bool], ...] = ()
    outputs: tuple[Output, ...] = ()

    def stop_at(self, line: int, otherwise: bool) -> bool:
        """Tell whether an error in the batch that begins on ``line`` ends the script."""
        offset = self.source.line_start(line)
        wanted = otherwise
        for start, stop in self.stops:
            if start <= offset:
                wanted = stop
        return wanted


def compose(
    source: Source,
    variables: Mapping[str, str],
    problems: Problems,
    *,
    read: Callable[[Path], Source] = Source.read,
    within: Sequence[Path] = (),
    environment: Mapping[str, str] | None = None,
) -> Script:
    """Obey the directives of ``source`` and replace its variables; read files ``within`` these folders alone.

    A value given in ``variables`` wins over ``:setvar``, that over the ``environment``, which is for what
    runs scripts alone: who only looks at one, maybe a stranger's, would see values of it told. A script
    with no directive and no value given is left as it is, $(…) included: to SQL Server that is
    ordinary text.
    """
    if not variables and ":" not in source.text and "!!" not in source.text:
        return Script(source)
    composer = _Composer(variables, problems, read, within, environment)
    composer.take(source)
    if not composer.changed:
        return Script(source)
    return composer.script(source)


class _Composer:
    """Collects the text; one for a script and all the files that it reads."""

    def __init__(
        self,
        variables: Mapping[str, str],
        problems: Problems,
        read: Callable[[Path], Source],
        within: Sequence[Path],
        environment: Mapping[str, str] | None,
    ) -> None:
        self._given = {name.lower(): value for name, value in variables.items()}
        self._values = dict(self._given)
        self._problems = problems
        self._read = read
        self._environment = environment
        self._within = [folder.resolve() for folder in within]
        self._added = 0
        self._files = 0
        self._active = bool(variables)
        self._pieces: list[Piece] = []
        self._texts: list[str] = []
        self._length = 0
        self._batch = 0
        self._stops: list[tuple[int, bool]] = []
        self._outputs: list[Output] = []
        self._open: list[Path] = []
        self._ended = False
        self.changed = False

    def script(self, source: Source) -> Script:
        """What came out."""
        text, pieces = "".join(self._texts), tuple(self._pieces)
        composed = ComposedSource(source.name, text, source.encoding, pieces=pieces)
        return Script(composed, tuple(self._stops), tuple(self._outputs))

    # ------------------------------------------------------------ reading

    def take(self, source: Source) -> None:
        """Copy one file, line by line where it matters."""
        text = source.text
        position = copied = 0
        line_begins = True
        while position <= len(text) and not self._ended:
            if line_begins:
                directive = _DIRECTIVE.match(text, position)
                if directive is not None:
                    self._copy(source, copied, position)
                    copied = position = directive.end()
                    self.changed = self._active = True
                    self._obey(directive, source)
                    line_begins = False
                    continue
                if go := _GO.match(text, position):
                    self._copy(source, copied, go.end())
                    copied = position = go.end()
                    self._batch = len(self._texts)
                line_begins = False
            token = _TOKEN.search(text, position)
            if token is None:
                break
            position = token.end()
            if token["newline"]:
                line_begins = True
            elif token["block"]:
                position = _end_of_comment(text, position)
            elif self._active and (token["variable"] or (token["quoted"] and "$(" in token["quoted"])):
                for variable in _VARIABLE.finditer(text, token.start(), token.end()):
                    self._copy(source, copied, variable.start())
                    self._replace(source, variable)
                    copied = variable.end()
        if not self._ended:
            self._copy(source, copied, len(text))

    def _copy(self, source: Source, start: int, end: int) -> None:
        if end > start:
            self._put(source.text[start:end], source, start, end - start)

    def _put(self, text: str, source: Source, start: int, length: int) -> None:
        self._pieces.append(Piece(self._length, source, start, length))
        self._texts.append(text)
        self._length += len(text)

    def _replace(self, source: Source, variable: re.Match[str]) -> None:
        self.changed = True
        value = self._value(variable[1])
        if value is None:
            self._problems.add(
                f"no value for the variable {variable[1]!r}",
                at=source.span(variable.start(), variable.end()),
                hint=f"-v {variable[1]}=…",
            )
            value = variable[0]
        if self._has_room(len(value), source.span(variable.start(), variable.end())):
            self._put(value, source, variable.start(), variable.end() - variable.start())

    def _has_room(self, characters: int, at: Span) -> bool:
        """Count what variables and files add; beyond all measure the script ends with a problem."""
        self._added += characters
        if self._added > _MOST_CHARACTERS and not self._ended:
            self._problems.add(
                f"variables and :r add more than {_MOST_CHARACTERS:,} characters to the script", at=at
            )
            self._ended = True
        return not self._ended

    def _value(self, name: str) -> str | None:
        """Names of variables ignore case; the environment's are tried as they are written first."""
        key = name.lower()
        if key in self._values:
            return self._values[key]
        if self._environment is not None:
            for candidate in (name, name.upper()):
                if candidate in self._environment:
                    return self._environment[candidate]
            if key == "sqlcmdworkstation":
                return platform.node()
        return _DEFAULTS.get(key)

    # ------------------------------------------------------------ directives

    def _value_in_directive(self, variable: re.Match[str]) -> str:
        """A variable without a value stays as it is written; the directive's own error shows it."""
        value = self._value(variable[1])
        return variable[0] if value is None else value

    def _obey(self, match: re.Match[str], source: Source) -> None:
        span = source.span(match.start(), match.end())
        if match["shell"]:
            self._problems.add(
                "commands of the operating system are not run", at=span, hint="run them before pgsb"
            )
            return
        name = " ".join(match["name"].lower().split())
        values = [len(self._value_in_directive(one)) for one in _VARIABLE.finditer(match["rest"])]
        if sum(values) > _MOST_OF_VALUE:
            self._problems.add(f"the directive becomes longer than {_MOST_OF_VALUE:,} characters", at=span)
            return
        rest = _VARIABLE.sub(self._value_in_directive, match["rest"]).strip()
        if name == "setvar":
            self._set(rest, source, match)
        elif name == "r":
            self._include(rest, source, match)
        elif name == "on error" and rest.lower() in ("exit", "ignore"):
            self._stops.append((self._length, rest.lower() == "exit"))
        elif name == "reset":
            self._forget()
        elif name == "quit" or (name == "exit" and not rest):
            # What stands since the last GO does not run.
            self._forget()
            self._ended = True
        elif name == "exit" and re.fullmatch(r"\(\s*\)", rest):
            self._ended = True
        elif name == "xml" and rest.lower() in ("on", "off"):
            pass  # XML is shown as one text anyway
        elif name in ("out", "error") and rest:
            # The batch in which it stands goes there as well.
            begin = sum(map(len, self._texts[: self._batch]))
            file = None if rest.lower() == "stdout" else rest.strip('"')
            self._outputs.append(Output(begin, name == "error", file))
        else:
            shown = f"{name} {rest}" if name in ("on error", "exit") else name
            self._problems.add(
                f"sqlcmd's directive :{shown} is not supported",
                at=span,
                hint=_REFUSED.get(name, "of :on error there are exit and ignore; :exit takes no query here"),
            )

    def _set(self, rest: str, source: Source, match: re.Match[str]) -> None:
        setting = _SETVAR.fullmatch(rest)
        if setting is None:
            self._problems.add(
                f"cannot read '{rest}' as NAME VALUE",
                at=source.span(match.start(), match.end()),
                hint=':setvar name "value"',
            )
            return
        key = setting[1].lower()
        if key in self._given:
            return
        quoted, bare = setting[2], setting[3]
        if quoted is not None:
            self._values[key] = quoted.replace('""', '"')
        elif bare is not None:
            self._values[key] = bare
        else:
            self._values.pop(key, None)

    def _forget(self) -> None:
        """Drop what stands since the last GO."""
        del self._pieces[self._batch :]
        del self._texts[self._batch :]
        self._length = sum(map(len, self._texts))

    def _include(self, rest: str, source: Source, match: re.Match[str]) -> None:
        span = source.span(match.start(), match.end())
        name = rest.strip('"')
        if not name:
            self._problems.add("the name of a file is missing", at=span, hint=":r other.sql")
            return
        path = _find(name, Path(source.name).parent)
        if path is None:
            self._problems.add(
                f"cannot read {name}: no such file",
                at=span,
                hint="it is looked for from the working directory, then from the directory of this script",
            )
            return
        if path in self._open or path == Path(source.name).absolute():
            self._problems.add(f"{name} reads itself", at=span)
            return
        if self._within and not is_within(path, self._within):
            self._problems.add(
                f"{name} is not read: it is outside of the working directory and of the scripts' folders",
                at=span,
                hint="what only looks at scripts reads no other files: call it from a folder above them",
            )
            return
        self._files += 1
        if self._files > _MOST_FILES:
            self._problems.add(f":r reads more than {_MOST_FILES:,} files", at=span)
            self._ended = True
            return
        try:
            included = self._read(path)
        except OSError as error:
            self._problems.add(f"cannot read {name}: {error.strerror}", at=span)
            return
        self._open.append(path)
        # Known by the name it is written with, seen from here; its last line ends with ours.
        text = included.text
        if not self._has_room(len(text), span):
            return
        ending = re.search(r"(?:\r\n?|\n)\Z", text)
        if ending is not None:
            text = text[: ending.start()]
        self.take(Source(os.path.relpath(path), text, included.encoding))
        self._open.pop()


def _end_of_comment(text: str, position: int) -> int:
    """The offset after a comment whose ``/*`` ends at ``position``; comments nest."""
    depth = 1
    for edge in _BLOCK_EDGE.finditer(text, position):
        depth += 1 if edge[0] == "/*" else -1
        if depth == 0:
            return edge.end()
    return len(text)


def _find(name: str, beside: Path) -> Path | None:
    """The file that ``name`` means, in either spelling of paths."""
    for spelling in (name, name.replace("\\", "/")):
        for directory in (Path(), beside):
            path = find_file((directory / spelling).absolute())
            if path is not None:
                return path
    return None

"""The prompt on a terminal: several lines until GO, colours, completion, history by batch."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable
from typing import Any

import click
import psycopg
from prompt_toolkit import PromptSession
from prompt_toolkit.auto_suggest import AutoSuggestFromHistory
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, PathCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.filters import is_searching
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.formatted_text.utils import split_lines
from prompt_toolkit.history import FileHistory, History, InMemoryHistory
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.lexers import Lexer
from prompt_toolkit.styles import Style

from ..grammar.lexer import lex
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..grammar.tokens import RESERVED_WORDS, STATEMENT_WORDS, TokenKind
from ..server.connect import connect
from ..server.problems import ServerError
from ..user_folders import user_state
from .shell_batches import HELP, Shell
from .shell_completion import suggest
from .shell_names import Names, load_names

_STYLE = Style.from_dict(
    {
        "keyword": "bold ansiblue",
        "string": "ansigreen",
        "number": "ansimagenta",
        "comment": "italic ansibrightblack",
        "variable": "ansicyan",
        "command": "ansiyellow",
    }
)
_CLASSES = {
    TokenKind.STRING: "class:string",
    TokenKind.NUMBER: "class:number",
    TokenKind.BINARY: "class:number",
    TokenKind.COMMENT: "class:comment",
    TokenKind.VARIABLE: "class:variable",
}
_COMMANDS = sorted(set(re.findall(r"(?:^|\s|\()([:\\][a-z]+)", HELP)))


class _Whole(str):
    """What is to be run although no GO ends it."""


def new_prompt(**options: Any) -> PromptSession[str]:
    """A prompt with the user's history."""
    return PromptSession(history=_history(), **options)


def interact(shell: Shell, prompt: PromptSession[str]) -> None:
    """Read batches from a terminal until :quit or Ctrl-D."""
    with contextlib.closing(_KnownNames(shell)) as names:
        _interact(shell, prompt, names)


def _interact(shell: Shell, prompt: PromptSession[str], names: _KnownNames) -> None:
    options: dict[str, Any] = {
        "multiline": True,
        "key_bindings": _keys(shell),
        "completer": _Completer(names.get),
        "lexer": _Colours(),
        "style": _STYLE,
        "auto_suggest": AutoSuggestFromHistory(),
        "tempfile_suffix": ".sql",
    }
    while not shell.runner.closed:
        begin, shell.edited = shell.edited, ""
        try:
            typed = prompt.prompt(
                shell.prompt, default=begin, prompt_continuation=_numbers(shell.count), **options
            )
        except KeyboardInterrupt:
            shell.reset()
            continue
        except EOFError:
            if _may_leave(shell, prompt):
                return
            continue
        try:
            if not _take(shell, typed) and _may_leave(shell, prompt):
                return
        except KeyboardInterrupt:
            shell.reset()
            click.echo("canceled", err=True)
        names.forget()
    click.echo("the connection to the server is lost", err=True)


def _take(shell: Shell, text: str) -> bool:
    """Hand what was typed on, line by line; False to leave."""
    if not text.strip() and not shell.count:
        return True
    goes_on = all(shell.line(line) for line in text.split("\n"))
    return goes_on and (not isinstance(text, _Whole) or shell.finish())


def _may_leave(shell: Shell, prompt: PromptSession[str]) -> bool:
    """With a transaction open, ask what becomes of it; False to stay."""
    if not shell.depth:
        return True
    question: PromptSession[str] = PromptSession(input=prompt.input, output=prompt.output)
    while True:
        try:
            answer = question.prompt("A transaction is open: commit, rollback or stay? [stay] ")
        except (KeyboardInterrupt, EOFError):
            return False
        answer = answer.strip().lower()
        if not answer or "stay".startswith(answer):
            return False
        for word in ("commit", "rollback"):
            if word.startswith(answer):
                shell.end_transaction(word.upper())
                return not shell.depth


def _keys(shell: Shell) -> KeyBindings:
    """Enter obeys GO and commands and opens a new line elsewhere; F5 and Esc Enter run without GO."""
    keys = KeyBindings()

    @keys.add("enter", filter=~is_searching)
    def _enter(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.complete_state is not None and buffer.complete_state.current_completion is not None:
            buffer.complete_state = None
        elif buffer.document.text_after_cursor.strip() or not shell.ends_with_a_command(buffer.text):
            buffer.newline(copy_margin=False)
        else:
            buffer.validate_and_handle()

    @keys.add("f5")
    @keys.add("escape", "enter")
    def _run(event: KeyPressEvent) -> None:
        buffer = event.current_buffer
        if buffer.text.strip() or shell.count:
            buffer.append_to_history()
            event.app.exit(result=_Whole(buffer.text))

    return keys


def _numbers(before: int) -> Callable[[int, int, int], str]:
    """The numbers of further lines, below that of the first."""

    def number(width: int, line: int, wrapped: int) -> str:
        return " " * width if wrapped else f"{before + line + 1}> ".rjust(width)

    return number


class _Colours(Lexer):
    """Colours by the lexer that the compiler has."""

    def lex_document(self, document: Document) -> Callable[[int], StyleAndTextTuples]:
        """Return what shows a line."""
        fragments: StyleAndTextTuples = []
        done = 0
        for token in lex(Source("<shell>", document.text), Problems()):
            style = _CLASSES.get(token.kind, "")
            if token.word in RESERVED_WORDS or token.word in STATEMENT_WORDS:
                style = "class:keyword"
            fragments += [("", document.text[done : token.start]), (style, token.text)]
            done = token.end
        fragments.append(("", document.text[done:]))
        lines = list(split_lines(fragments))

        def line(number: int) -> StyleAndTextTuples:
            shown = lines[number] if number < len(lines) else []
            return [("class:command", document.lines[number])] if _command(document.lines[number]) else shown

        return line


def _command(line: str) -> bool:
    return bool(re.match(r"\s*([:\\][A-Za-z?!]|!!)", line))


class _Completer(Completer):
    """Names of the database, keywords that fit, commands, and files after :r."""

    def __init__(self, names: Callable[[], Names]) -> None:
        self._names = names
        self._paths = PathCompleter(expanduser=True)

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterable[Completion]:
        """Return what can be typed at the cursor."""
        line = document.current_line_before_cursor
        if _command(line) or line.strip() in (":", "\\"):
            yield from self._of_command(line.lstrip(), complete_event)
            return
        asked = complete_event.completion_requested
        for one in suggest(document.text, document.cursor_position, self._names, asked=asked):
            yield Completion(
                one.text, start_position=one.start - document.cursor_position, display_meta=one.kind
            )

    def _of_command(self, line: str, event: CompleteEvent) -> Iterable[Completion]:
        command, blank, argument = line.partition(" ")
        if not blank:
            for name in _COMMANDS:
                if name.startswith(command.lower()):
                    yield Completion(name, start_position=-len(command))
        elif command.lower() in (":r", "\\i", ":out", ":error", "\\o"):
            yield from self._paths.get_completions(Document(argument), event)
        elif command.startswith("\\"):
            known = self._names()
            found = known.of_kind("database") if command == "\\c" else [one.name for one in known.objects]
            if command == "\\d":
                found += known.of_kind("service") + known.of_kind("contract")
            for name in sorted(set(found)):
                if name.lower().startswith(argument.lower()):
                    yield Completion(name, start_position=-len(argument))


class _KnownNames:
    """The names of the session's database, asked for when they are needed, on a connection of their own.

    The session's own is busy while a transaction is open; what that has made is not known here.
    """

    def __init__(self, shell: Shell) -> None:
        self._shell = shell
        self._connection: psycopg.Connection[Any] | None = None
        self._target = shell.target
        self._names: Names | None = None

    def forget(self) -> None:
        """Names may have changed."""
        self._names = None

    def get(self) -> Names:
        """The names, none where nobody can be asked."""
        if self._names is None:
            try:
                self._names = load_names(self._connected(), self._shell.database or None)
            except (psycopg.Error, ServerError):
                self._names = Names()
        return self._names

    def close(self) -> None:
        """Close the connection."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _connected(self) -> psycopg.Connection[Any]:
        if self._target != self._shell.target:
            self.close()
            self._target = self._shell.target
        if self._connection is None or self._connection.closed:
            self._connection = connect(self._target)
        return self._connection


def _history() -> History:
    """The batches of earlier sessions; without a writable place for them, of this one only."""
    path = user_state() / "history"
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.touch(mode=0o600)
    except OSError:
        return InMemoryHistory()
    return FileHistory(str(path))

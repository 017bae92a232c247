"""What is typed at the prompt, line by line: batches up to GO, sqlcmd's directives, psql's commands."""

from __future__ import annotations

import os
import re
import subprocess
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import click

from ..grammar.lexer import bracketed, lex, one_name
from ..grammar.problems import Problems
from ..grammar.source import Source
from ..server.connect import Target, describe
from ..server.problems import ServerError
from ..server.render import Output
from ..server.results import Cell, Number, Print
from .run import Runner
from .shell_output import ShellRenderer
from .shell_queries import catalog_batches
from .sqlcmd import Script, compose

_OPEN_STRING, _OPEN_COMMENT = 105, 113
_GO = re.compile(r"\s*go(\s+\d+)?\s*(--.*)?", re.IGNORECASE)
_LEAVING = (":quit", ":exit", "quit", "exit", "\\q")
_SETTING = re.compile(r'([A-Za-z_][\w-]*)(?:\s+(?:"((?:[^"]|"")*)"|(\S+)))?')
# psql's names of what sqlcmd has, too.
_ALSO = {
    "?": "help",
    "h": "help",
    "i": "r",
    "p": "list",
    "r": "reset",
    "e": "ed",
    "o": "out",
    "set": "setvar",
    "g": "go",
    "connect": "c",
}
HELP = """\
GO [n]        run what was typed since the last GO, n times (\\g, F5, Esc Enter: without typing GO)
:help         this (\\?)
:list         show what was typed since the last GO (\\p)
:reset        forget it (\\r)
:ed           change it, or the last batch, in your editor (\\e)
:r FILE       read a script: its lines are taken as if typed (\\i)
:setvar N V   $(N) means V from now on; without V it means nothing; :listvar shows all
:out FILE     results go there; :out stdout: back to the screen (\\o); :error FILE likewise for errors
:on error exit | ignore
:connect DSN  go to another server or database of PostgreSQL
!!COMMAND     run a command of your system (\\!)
:exit(QUERY)  run it and leave with its first value as exit status
:quit         leave (\\q, quit, exit, Ctrl-D)

\\d [NAME]     all objects; what NAME is made of. NAME may have * and ?
\\dt \\dv \\dp \\df \\dg   tables, views, procedures, functions, triggers
\\dq \\ds \\dc  queues, services, contracts with their message types
\\sf NAME      the text of a module
\\l  \\c DB     T-SQL databases; use one
\\x [on|off|auto]    results as records: always, never, when wider than the screen
\\pager [on|off]     long results by pages
\\timing [on|off]    how long each batch takes
\\watch [SECONDS] [c=TIMES]   run it again and again, until Ctrl-C
\\conninfo     where you are

Tab completes, Ctrl-R searches what was typed before, Ctrl-C forgets the batch or cancels it."""


@dataclass
class Settings:
    """What the commands have switched on."""

    timing: bool = False
    stops: bool = False
    variables: dict[str, str] = field(default_factory=dict)
    files: dict[str, str | None] = field(default_factory=dict)
    """``out`` and ``error`` → the file that results or errors go to."""


class Shell:
    """Takes lines, runs batches at GO. ``line`` says whether to go on.

    ``reconnect`` makes the runner of ``:connect``; ``typed`` tells whether a person types: commands of the
    operating system come from nobody else.
    """

    def __init__(
        self,
        runner: Runner,
        renderer: ShellRenderer,
        *,
        target: Target,
        reconnect: Callable[[str], Runner] | None = None,
        typed: bool = False,
    ) -> None:
        self.runner = runner
        self.renderer = renderer
        self.target = target
        self._reconnect = reconnect
        self._typed = typed
        self._reading: list[Path] = []
        self._lines: list[str] = []
        self._last: list[str] = []
        self.database = ""
        self.settings = Settings()
        self.status = 0
        self.failed = False
        self.edited = ""
        """What :ed gave: the next lines, to be looked at once more."""

    @property
    def prompt(self) -> str:
        """The T-SQL database, a star while a transaction is open, the number of the line to come."""
        self.database = self.runner.current_database() or self.database
        return f"{self.database}{'*' if self.depth else ''} {len(self._lines) + 1}> "

    @property
    def depth(self) -> int:
        """@@TRANCOUNT."""
        return self.runner.depth

    @property
    def count(self) -> int:
        """Lines since the last GO."""
        return len(self._lines)

    @property
    def pending(self) -> str:
        """What was typed since the last GO."""
        return "\n".join(self._lines)

    def end_transaction(self, word: str) -> None:
        """COMMIT or ROLLBACK the open transaction, however deep it is nested."""
        self._run([f"WHILE @@TRANCOUNT > 0 {word}"])

    # ------------------------------------------------------------ lines

    def ends_with_a_command(self, text: str) -> bool:
        """Whether the last of these lines is to be obeyed at once: GO, a directive, a command."""
        *before, last = text.split("\n")
        word = last.strip().rstrip(";").lower()
        if _inside_literal([*self._lines, *before]):
            return False
        if word in ("quit", "exit"):
            return not any(line.strip() for line in (*self._lines, *before))
        return _is_command(last) or bool(_GO.fullmatch(last)) or not (text.strip() or self._lines)

    def line(self, text: str) -> bool:
        """Take one line; False when it asks to leave."""
        word = text.strip().rstrip(";").lower()
        in_literal = _inside_literal(self._lines)
        if in_literal:
            self._lines.append(text)
        elif word in _LEAVING and (word[0] in ":\\" or not self._lines):
            return False
        elif _is_command(text):
            return self._obey(text.strip())
        elif _GO.fullmatch(text):
            return self._go(text)
        else:
            self._lines.append(text)
        return True

    def reset(self) -> None:
        """Forget what was typed since the last GO."""
        self._lines.clear()

    def finish(self) -> bool:
        """Run what no GO has closed, as sqlcmd does at the end of a file; False to leave."""
        return not any(line.strip() for line in self._lines) or self._go("GO")

    def _go(self, go: str) -> bool:
        self._last = [*self._lines, go]
        self._lines.clear()
        return self._run(self._last) or not self.settings.stops

    def _run(self, lines: list[str]) -> bool:
        """Run a batch; False when it had an error."""
        source = Source("<shell>", "\n".join(lines) + "\n")
        script = Script(source)
        if self.settings.variables:
            problems = Problems()
            script = compose(source, self.settings.variables, problems, environment=os.environ)
            if problems.error_count:
                click.echo(problems.report(), err=True)
                self.failed = True
                return False
        files = self.settings.files
        outputs = tuple(Output(0, name == "error", file) for name, file in files.items())
        began = time.perf_counter()
        succeeded = self.runner.run_script(Script(script.source, script.stops, outputs))[0]
        self.failed = not succeeded or self.failed
        if self.settings.timing:
            self.renderer.write(Print(f"Time: {(time.perf_counter() - began) * 1000:.3f} ms"))
        self.renderer.close()
        return succeeded

    # ------------------------------------------------------------ directives and commands

    def _obey(self, text: str) -> bool:
        """Obey a directive or a command; False to leave."""
        if text.startswith(("!!", ":!!", "\\!")):
            self._system(text.split("!", 1)[1].lstrip("!").strip())
            return True
        if leaving := re.fullmatch(r":exit\s*\((.*)\)", text, re.IGNORECASE | re.DOTALL):
            self._exit_with(leaving[1])
            return False
        name, _, argument = text[1:].partition(" ")
        name, argument = name.lower(), argument.strip()
        if text[0] == "\\":
            batches = catalog_batches(name, argument.rstrip(";"))
            if batches is not None:
                self._look_up(batches)
                return True
            name = _ALSO.get(name, name)
        elif name == "on" and argument.lower().startswith("error"):
            name, argument = "on error", argument[5:].strip()
        elif name == "connect":
            name = "c"
        return self._dispatch(name, argument, text)

    def _dispatch(self, name: str, argument: str, text: str) -> bool:
        match name:
            case "help":
                click.echo(HELP)
            case "reset":
                self.reset()
            case "list":
                click.echo(self.pending)
            case "ed":
                self._edit()
            case "r" if argument:
                return self._read(Path(argument.strip('"')))
            case "go":
                return self._go("GO") if self._lines else self._repeat()
            case "setvar":
                self._set(argument)
            case "listvar":
                self._list_variables()
            case "out" | "error":
                self._redirect(name, argument)
            case "on error" if argument.lower() in ("exit", "ignore"):
                self.settings.stops = argument.lower() == "exit"
            case "c" if argument and not argument.startswith("-"):
                self._change(argument, text)
            case "serverlist":
                click.echo("servers are not listed; :connect DSN goes to one", err=True)
            case "x":
                self._records(argument)
            case "timing":
                self.settings.timing = _switched(self.settings.timing, argument)
                click.echo(f"Timing is {'on' if self.settings.timing else 'off'}.")
            case "pager":
                self.renderer.pages = _switched(self.renderer.pages, argument)
                click.echo(f"Pager is {'on' if self.renderer.pages else 'off'}.")
            case "watch":
                self._watch(argument)
            case "conninfo":
                click.echo(f"{describe(self.target)}, T-SQL database {self.database}")
            case "xml" | "perftrace":
                click.echo(f":{name} changes nothing here", err=True)
            case _:
                kind = "command" if text.startswith("\\") else "directive"
                click.echo(f"unknown {kind} '{text}'; :help shows them", err=True)
        return True

    def _look_up(self, batches: list[str]) -> None:
        """Run what a \\d command asks; row counts would only disturb."""
        counts, self.renderer.counts = self.renderer.counts, False
        timing, self.settings.timing = self.settings.timing, False
        variables, self.settings.variables = self.settings.variables, {}
        try:
            for batch in batches:
                self._run([batch])
        finally:
            self.renderer.counts, self.settings.timing = counts, timing
            self.settings.variables = variables

    def _repeat(self) -> bool:
        return not self._last or self._run(self._last) or not self.settings.stops

    def _edit(self) -> None:
        before = self.pending or "\n".join(self._last[:-1])
        changed = click.edit(before, extension=".sql") if self._typed else None
        if changed is not None:
            self._lines.clear()
            self.edited = changed.rstrip("\n")

    def _read(self, path: Path) -> bool:
        if path in self._reading:
            click.echo(f"{path} reads itself", err=True)
            return True
        try:
            source = Source.read(path)
        except OSError as error:
            click.echo(f"cannot read {path}: {error.strerror}", err=True)
            return True
        self._reading.append(path)
        try:
            # The lines of T-SQL: a form feed, say, begins none.
            lines = [source.line_text(number) for number in range(1, source.line_count + 1)]
            return all(self.line(line) for line in (lines if lines[-1] else lines[:-1]))
        finally:
            self._reading.pop()

    def _set(self, argument: str) -> None:
        if not argument:
            self._list_variables()
            return
        setting = _SETTING.fullmatch(argument)
        if setting is None:
            click.echo(f"cannot read '{argument}' as NAME VALUE: :setvar name \"value\"", err=True)
        elif setting[2] is None and setting[3] is None:
            self.settings.variables.pop(setting[1].lower(), None)
        else:
            quoted = setting[2]
            value = setting[3] if quoted is None else quoted.replace('""', '"')
            self.settings.variables[setting[1].lower()] = value

    def _list_variables(self) -> None:
        for name, value in sorted(self.settings.variables.items()):
            click.echo(f'{name} = "{value}"')

    def _redirect(self, name: str, argument: str) -> None:
        file = argument.strip('"')
        self.settings.files[name] = None if file.lower() in ("", "stdout") else file

    def _change(self, argument: str, text: str) -> None:
        """``\\c DB`` is USE, ``:connect DSN`` another server."""
        if text[0] == "\\" and "=" not in argument and "://" not in argument:
            self._look_up([f"USE {bracketed(one_name(argument.rstrip(';')))}"])
        elif self.depth:
            click.echo("a transaction is open: COMMIT or ROLLBACK first", err=True)
        elif self._reconnect is None:
            click.echo("there is no other server to go to", err=True)
        else:
            try:
                self.runner = self._reconnect(argument.strip('"'))
            except ServerError as error:
                click.echo(f"{error}\nhint: {error.hint}" if error.hint else str(error), err=True)
                return
            click.echo(f"{describe(self.target)}")

    def _records(self, argument: str) -> None:
        wanted = argument.lower()
        if wanted not in ("on", "off", "auto"):
            wanted = "off" if self.renderer.records == "on" else "on"
        self.renderer.records = wanted
        click.echo(f"Records are {wanted}.")

    def _watch(self, argument: str) -> None:
        """Run the batch again and again; Ctrl-C ends it, and the batch that runs."""
        given = re.fullmatch(r"(?:i=)?(\d+(?:\.\d+)?)?\s*(?:c=(\d{1,9}))?", argument)
        batch = [*self._lines, "GO"] if self._lines else self._last
        if given is None or not batch:
            click.echo("\\watch [SECONDS] [c=TIMES], after a batch", err=True)
            return
        if self._lines:
            self._last = batch
            self._lines.clear()
        seconds, times = float(given[1] or 2), int(given[2] or 0)
        count = 0
        try:
            while True:
                count += 1
                self.renderer.write(Print(f"{time.strftime('%H:%M:%S')} (every {seconds:g} s)\n"))
                if not self._run(batch) or count == times:
                    return
                time.sleep(seconds)
        except KeyboardInterrupt:
            click.echo("")

    def _system(self, command: str) -> None:
        if not self._typed or self._reading:
            click.echo("commands of the operating system are run for who types them, not for files", err=True)
            return
        status = subprocess.run(command, shell=True, check=False).returncode
        if status:
            click.echo(f"exit status {status}", err=True)

    def _exit_with(self, query: str) -> None:
        """Run a query; its first value, if it is a number, is the exit status."""
        self.renderer.first_cell = None
        if not self._run([*self._lines, query]):
            self.status = 1
            return
        cell: Cell = self.renderer.first_cell
        if isinstance(cell, Number) and cell.digits.lstrip("-").isdigit():
            self.status = int(cell.digits) % 256


def _is_command(line: str) -> bool:
    return bool(re.match(r"\s*(?::[A-Za-z!]|\\[A-Za-z?!]|!!)", line))


def _switched(current: bool, argument: str) -> bool:
    return {"on": True, "off": False}.get(argument.lower(), not current)


def _inside_literal(lines: list[str]) -> bool:
    """Whether a string or comment is still open: what comes is a part of it."""
    problems = Problems()
    for _ in lex(Source("<shell>", "\n".join(lines)), problems):
        pass
    return any(problem.number in (_OPEN_STRING, _OPEN_COMMENT) for problem in problems)

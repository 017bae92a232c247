"""A shell whose keys and output are the test's."""

import io
import os
from typing import Any, TextIO

import psycopg
from prompt_toolkit import PromptSession
from prompt_toolkit.history import InMemoryHistory
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from pgsb.cli.run import Runner, compile_settings
from pgsb.cli.shell_batches import Shell
from pgsb.cli.shell_output import ShellRenderer
from pgsb.cli.shell_prompt import interact
from pgsb.server.connect import Target, connect


class Terminal:
    """A shell on a database; ``size`` is that of its screen, ``pager`` its pager."""

    def __init__(
        self,
        dsn: str,
        *,
        interactive: bool = True,
        size: tuple[int, int] | None = None,
        pager: str | None = None,
    ) -> None:
        self.target = Target(dsn, False, "the test")
        self.connection: psycopg.Connection[Any] = connect(self.target)
        self.size = None if size is None else os.terminal_size(size)
        self._pager = pager
        self.history = InMemoryHistory()
        settings = compile_settings(self.connection, None, "cs")
        self.runner = Runner(self.connection, settings, self, interactive=interactive)
        self.send_to(io.StringIO())
        self.shell = Shell(self.runner, self.renderer, target=self.target, typed=True)

    def send_to(self, out: TextIO) -> None:
        """Show what comes there from now on."""
        self.out = out
        self.renderer = ShellRenderer(out, size=lambda: self.size, pager=self._pager)

    def type(self, keys: str) -> str:
        """Type keys at the prompt until the shell is left; return what all of it showed."""
        with create_pipe_input() as pipe:
            pipe.send_text(keys)
            prompt: PromptSession[str] = PromptSession(input=pipe, output=DummyOutput(), history=self.history)
            interact(self.shell, prompt)
        assert isinstance(self.out, io.StringIO)
        return self.out.getvalue()

    def write(self, event: Any) -> None:
        """As a renderer: hand on to that of the moment."""
        self.renderer.write(event)

    def close(self) -> None:
        """Leave."""
        self.runner.close()
        self.connection.close()

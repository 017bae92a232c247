"""The terminal's screen: looks again every few seconds, and has keys."""

import asyncio
import time
from typing import Any

import psycopg
from prompt_toolkit.application import Application
from prompt_toolkit.data_structures import Point
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import HSplit, Layout, Window
from prompt_toolkit.layout.controls import FormattedTextControl
from prompt_toolkit.styles import Style

from ...server.connect import FORM_SETTINGS, LOOKING
from ...server.problems import SERVER_GONE
from ..hung_servers import given_up
from .overview import SORTS, Line, lines, look

_STYLE = Style.from_dict(
    {
        "title": "reverse bold",
        "head": "reverse",
        "good": "ansigreen",
        "warning": "ansiyellow",
        "bad": "ansired",
        "faint": "ansibrightblack",
    }
)
_KEYS = " q quit  f findings  p pause  r now  ↑↓ scroll  / filter  sort: d depth  a age  i in  o out  n name "
_FINDINGS_SECONDS = 20.0
# Of all that a look asks; longer than the server's own timeout, which a server that hangs does not heed.
_ANSWER_SECONDS = 20.0
# Tries to reach a server that is not there or hangs cost it nothing, however long they take.
_LONGEST_RETRY = 10.0
_SETTINGS = f"SET statement_timeout = '10s'; {FORM_SETTINGS}; {LOOKING}"


class Top:
    """`run` until q. The database is asked by a connection of its own, at most 2 % of the time."""

    def __init__(self, dsn: str, pause: float) -> None:
        self._dsn = dsn
        self._pause = pause
        self._connection: psycopg.Connection[Any] | None = None
        self._lines: list[Line] = [[("", "looking …")]]
        self._picture: Any = None
        self._diagnosed_at = -_FINDINGS_SECONDS
        self._sort, self._wanted, self._shows_findings = "d", "", True
        self._is_paused = self._is_typing = False
        self._scroll = 0
        self._now = asyncio.Event()
        self.app: Application[None] = Application(
            layout=Layout(
                HSplit(
                    [
                        Window(
                            FormattedTextControl(
                                self._text, focusable=True, get_cursor_position=self._cursor
                            ),
                            wrap_lines=False,
                        ),
                        Window(FormattedTextControl(self._foot), height=1, style="class:head"),
                    ]
                )
            ),
            key_bindings=self._bindings(),
            style=_STYLE,
            full_screen=True,
        )

    def run(self) -> None:
        """Show it until the user leaves."""
        asyncio.run(self._run())

    async def _run(self) -> None:
        task = asyncio.create_task(self._refresh())
        try:
            await self.app.run_async()
        finally:
            task.cancel()
            await asyncio.gather(task, return_exceptions=True)
            if self._connection is not None:
                self._connection.close()

    async def _refresh(self) -> None:
        while True:
            began = time.monotonic()
            failure: psycopg.Error | None = None
            if not self._is_paused:
                try:
                    self._picture = await asyncio.to_thread(self._look)
                    self._draw()
                except psycopg.Error as error:
                    failure = error
                    # Keys draw nothing old as if it were so now.
                    self._connection = self._picture = None
                    self._lines = [[("class:bad", " " + " ".join(str(error).split()))]]
                self.app.invalidate()
            self._now.clear()
            took = time.monotonic() - began
            try:
                async with asyncio.timeout(self._rest(took, failure)):
                    await self._now.wait()
            except TimeoutError:
                pass

    def _rest(self, took: float, failure: psycopg.Error | None) -> float:
        """Seconds from a look that took so long to the next."""
        rest = max(self._pause, 50 * took)
        is_lost = failure is not None and failure.sqlstate in (None, *SERVER_GONE)
        return min(rest, max(self._pause, _LONGEST_RETRY)) if is_lost else rest

    def _look(self) -> Any:
        if self._connection is None:
            self._connection = psycopg.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=5,
                client_encoding="utf8",
                fallback_application_name="pgsb top",
            )
            self._connection.execute(_SETTINGS)
        is_old = time.monotonic() - self._diagnosed_at > _FINDINGS_SECONDS
        with given_up(self._connection, _ANSWER_SECONDS):
            known = None if is_old or self._picture is None else self._picture.findings
            picture = look(self._connection, known)
        if is_old:
            self._diagnosed_at = time.monotonic()
        return picture

    def _draw(self) -> None:
        if self._picture is not None:
            self._lines = lines(self._picture, self._sort, self._wanted, self._shows_findings)
        self._scroll = min(self._scroll, len(self._lines) - 1)

    def _text(self) -> StyleAndTextTuples:
        text: StyleAndTextTuples = []
        for line in self._lines:
            text += [*line, ("", "\n")]
        return text

    def _cursor(self) -> Point:
        return Point(0, self._scroll)

    def _foot(self) -> StyleAndTextTuples:
        if self._is_typing:
            return [("", f" filter: {self._wanted}█")]
        mode = " paused " if self._is_paused else f" by {SORTS[self._sort][0]} "
        return [("class:title", mode), ("", _KEYS)]

    def _bindings(self) -> KeyBindings:
        keys = KeyBindings()

        @keys.add("<any>")
        def _(event: KeyPressEvent) -> None:
            if event.data.isprintable():
                self._press(event.data)

        @keys.add("c-c")
        def _(event: KeyPressEvent) -> None:
            event.app.exit()

        @keys.add("enter")
        @keys.add("escape")
        def _(_event: KeyPressEvent) -> None:
            self._is_typing = False

        @keys.add("backspace")
        def _(_event: KeyPressEvent) -> None:
            if self._is_typing:
                self._wanted = self._wanted[:-1]
                self._draw()

        for key, by in (("up", -1), ("down", 1), ("pageup", -20), ("pagedown", 20)):

            @keys.add(key)
            def _(_event: KeyPressEvent, by: int = by) -> None:
                self._scroll = max(0, min(len(self._lines) - 1, self._scroll + by))

        return keys

    def _press(self, key: str) -> None:
        if self._is_typing:
            self._wanted += key
        elif key == "q":
            self.app.exit()
        elif key == "/":
            self._is_typing = True
        elif key == "f":
            self._shows_findings = not self._shows_findings
        elif key == "p":
            self._is_paused = not self._is_paused
            self._now.set()
        elif key == "r":
            self._now.set()
        elif key in SORTS:
            self._sort = key
        self._draw()

"""Spans of what the daemon does: activations, transport, and what SQL has recorded of SEND and RECEIVE.

A span's place in a trace is a W3C traceparent, behind it a blank and a tracestate where there is one, as
in runtime_sql/conversations/message_traces.sql. What becomes of spans is up to the `SpanSink` they go to.
"""

import secrets
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any


@dataclass(frozen=True)
class Span:
    """Something that was done, from ``began`` to ``ended`` (seconds since 1970).

    ``kind`` is internal, producer or consumer; ``error`` says why it failed.
    """

    name: str
    kind: str
    trace: str
    parent: str | None
    began: float
    ended: float
    attributes: Mapping[str, str | int | float] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    error: str | None = None


SpanSink = Callable[[Span], None]


def new_trace() -> str:
    """The place of a span that begins a trace, which is sampled."""
    return f"00-{secrets.token_hex(16)}-{_span_id()}-01"


def child_of(trace: str) -> str:
    """The place of a new span below this one."""
    return f"{trace[:36]}{_span_id()}{trace[52:]}"


def _span_id() -> str:
    return secrets.token_hex(8)


def is_sampled(trace: str) -> bool:
    """Whether somebody wants to see it."""
    return bool(int(trace[53:55], 16) & 1)


class Activation:
    """One run of a service program; `end` tells its span."""

    def __init__(self, sink: SpanSink, queue: str, database: str | None, program: str | None) -> None:
        self.trace = new_trace()
        self._sink = sink
        self._began = time.time()
        self._name = f"activate {queue}"
        self._attributes = {"pgsb.queue": queue, "pgsb.program": program or ""}
        if database is not None:
            self._attributes["pgsb.database"] = database

    @property
    def settings(self) -> dict[str, str]:
        """Of the program's session: what it sends and receives is recorded below this span."""
        return {"pgsb.traceparent": self.trace, "pgsb.record_spans": "on"}

    @property
    def environment(self) -> dict[str, str]:
        """Of an external program's process."""
        return {"TRACEPARENT": self.trace, "PGSB_RECORD_SPANS": "on"}

    def end(self, error: str | None) -> None:
        """It has ended, with this error."""
        self._sink(
            Span(
                self._name,
                "internal",
                self.trace,
                None,
                self._began,
                time.time(),
                self._attributes,
                error=error,
            )
        )


class Crossing:
    """A set of messages on its way to another instance; `arrived` tells the spans of those that are there.

    ``rows`` are messages with their traces, which go on from the new spans.
    """

    def __init__(self, sink: SpanSink, address: str, rows: list[dict[str, Any]]) -> None:
        self._sink = sink
        self._address = address
        self._began = time.time()
        self._parents: list[tuple[dict[str, Any], str]] = []
        for row in rows:
            self._parents.append((row, row["trace"]))
            row["trace"] = child_of(row["trace"])

    def arrived(self, answers: list[dict[str, Any]]) -> None:
        """What the other instance has answered, by our endpoints."""
        ended = time.time()
        next_numbers = {one["endpoint_id"]: one["next_number"] for one in answers}
        for row, parent in self._parents:
            if is_sampled(parent) and row["message_sequence_number"] < next_numbers.get(
                row["endpoint_id"], 0
            ):
                attributes: dict[str, str | int | float] = {
                    "pgsb.address": self._address,
                    "pgsb.to_service": row["to_service"],
                    "pgsb.message_type": row["message_type"],
                    "pgsb.waited_seconds": max(0.0, self._began - row["sent"]),
                }
                self._sink(
                    Span(
                        f"transport {self._address}",
                        "producer",
                        row["trace"],
                        parent,
                        self._began,
                        ended,
                        attributes,
                    )
                )


def recorded(row: Mapping[str, Any]) -> Span:
    """A row of ssb.trace_span, as to_jsonb writes it."""
    began, ended = (datetime.fromisoformat(row[name]).timestamp() for name in ("began_at", "ended_at"))
    return Span(
        row["name"],
        row["kind"],
        row["traceparent"],
        row["parent"],
        began,
        ended,
        row["attributes"],
        tuple(row["links"]),
    )

"""Hands the daemon's spans to OpenTelemetry's SDK, which sends them wherever its environment variables say.

Needs ``pip install 'pg-service-broker[tracing]'``.
"""

import os
from importlib.metadata import entry_points

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import ReadableSpan, SpanProcessor
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import Link, SpanContext, SpanKind, Status, StatusCode, TraceFlags
from opentelemetry.trace.span import TraceState

from ...daemon.spans import Span
from ...server.problems import ServerError

_EXPORTERS = "opentelemetry_traces_exporter"
_KINDS = {
    "internal": SpanKind.INTERNAL,
    "producer": SpanKind.PRODUCER,
    "consumer": SpanKind.CONSUMER,
}


class Exporter:
    """Gives `Span`s to ``processor``; a context manager that tells the last ones at its end."""

    def __init__(self, processor: SpanProcessor, resource: Resource | None = None) -> None:
        self._processor = processor
        self._resource = resource or Resource.create()
        self._scope = InstrumentationScope("pgsb.broker")

    def __enter__(self) -> "Exporter":
        return self

    def __exit__(self, *exception: object) -> None:
        self._processor.shutdown()

    def __call__(self, span: Span) -> None:
        """May be called from any thread; does not wait."""
        status = Status(StatusCode.UNSET) if span.error is None else Status(StatusCode.ERROR, span.error)
        self._processor.on_end(
            ReadableSpan(
                name=span.name,
                context=context_of(span.trace),
                parent=context_of(span.parent) if span.parent else None,
                resource=self._resource,
                attributes={"messaging.system": "pgsb", **span.attributes},
                links=[Link(context_of(one)) for one in span.links],
                kind=_KINDS[span.kind],
                status=status,
                start_time=int(span.began * 1e9),
                end_time=int(span.ended * 1e9),
                instrumentation_scope=self._scope,
            )
        )


def context_of(trace: str) -> SpanContext:
    """The context that a traceparent, and a tracestate behind a blank, means."""
    traceparent, _, tracestate = trace.partition(" ")
    _, trace_id, span_id, flags = traceparent.split("-")
    return SpanContext(
        int(trace_id, 16),
        int(span_id, 16),
        is_remote=True,
        trace_flags=TraceFlags(int(flags, 16)),
        trace_state=TraceState.from_header([tracestate] if tracestate else []),
    )


def open_exporter() -> Exporter:
    """The exporter that OTEL_TRACES_EXPORTER names: otlp unless it says another. Raises ServerError."""
    os.environ.setdefault("OTEL_SERVICE_NAME", "pgsb")
    name = os.environ.get("OTEL_TRACES_EXPORTER") or "otlp"
    found = list(entry_points(group=_EXPORTERS, name=name))
    if not found and name == "otlp":
        found = list(entry_points(group=_EXPORTERS, name="otlp_proto_http"))
    if not found:
        raise ServerError(
            f"OpenTelemetry has no exporter {name!r} here",
            hint="pip install opentelemetry-exporter-otlp-proto-http, or OTEL_TRACES_EXPORTER=console",
        )
    made: SpanExporter = found[0].load()()
    return Exporter(BatchSpanProcessor(made))

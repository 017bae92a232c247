"""Metrics for Prometheus: the runtime's measures and findings, and what this daemon counts."""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import psycopg
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.registry import Collector
from psycopg.rows import dict_row

from ...daemon.counts import BOUNDS, Counts
from ...server.connect import FORM_SETTINGS, LOOKING
from ..findings import diagnose
from ..hung_servers import given_up

Metric = GaugeMetricFamily | CounterMetricFamily | HistogramMetricFamily

QUEUE_STATES = ("ON", "OFF", "STOPPED BY POISON", "BROKER DISABLED")
_DIAGNOSE_SECONDS = 60.0
# Prometheus itself waits for 10.
ANSWER_SECONDS = 8.0
_SETTINGS = f"SET statement_timeout = '8s'; SET jit = off; {FORM_SETTINGS}; {LOOKING}"
_QUEUE_GAUGES = {
    "depth": "Messages that wait in the queue; an estimate beyond 1,000.",
    "readers": "Service programs at work.",
    "readers_wanted": "Those, and the ones that the queue monitor would start now.",
    "max_readers": "MAX_QUEUE_READERS.",
    "rollbacks_in_a_row": "Transactions that received and rolled back, in a row, as far as on record.",
    "quarantined_groups": "Conversation groups set aside.",
    "retained": "Messages kept by RETENTION = ON, counted up to 1,000.",
}
_DAEMON_COUNTERS = {
    "readers_started": "Service programs started.",
    "readers_failed": "Service programs that ended with an error.",
    "not_started": "Service programs that could not be started.",
    "limit_reached": "Looks that found MAX_QUEUE_READERS or --max-readers reached, and one more wanted.",
}


@dataclass
class _Left:
    """How many messages have left a queue since the collector first looked, as a counter: it never goes back.

    What came less what waits does: a SEND counts as come before its transaction commits, and as waiting
    after; and beyond 1,000 messages what waits is an estimate. Prometheus takes a counter that goes back for
    one that began anew, and would count all of it once more.
    """

    came: int
    reached: int
    total: int = 0

    def look(self, came: int, waiting: int) -> int:
        """Return the counter after another look at the queue."""
        if came < self.came:  # another queue of that name
            self.reached = 0
        self.came = came
        gone = max(came - waiting, 0)
        self.total += max(gone - self.reached, 0)
        self.reached = max(gone, self.reached)
        return self.total


class BrokerCollector(Collector):
    """Asks the database at each scrape, by a connection of its own; one scrape at a time.

    A database that does not answer in 8 seconds gives pgsb_up 0 and the daemon's own counts; one whose
    tables somebody has locked, pgsb_up 0 and the findings.
    """

    def __init__(self, dsn: str, counts: Counts) -> None:
        self._dsn = dsn
        self._counts = counts
        self._connection: psycopg.Connection[Any] | None = None
        self._lock = threading.Lock()
        self._findings: list[tuple[str, str, int]] = []
        self._diagnosed_at = -_DIAGNOSE_SECONDS
        self._left: dict[tuple[str, str], _Left] | None = None
        """By T-SQL database and queue; None before the first look."""

    def collect(self) -> Iterator[Metric]:
        """See `prometheus_client.registry.Collector`."""
        began = time.monotonic()
        yield from self._daemon()
        metrics: list[Metric] = []
        with self._lock:
            try:
                connection = self._connect()
                with given_up(connection, ANSWER_SECONDS):
                    try:
                        metrics += self._queues(connection)
                        metrics += self._transport(connection)
                        metrics += self._instance(connection)
                        is_up = 1
                    except psycopg.errors.LockNotAvailable:
                        # Who has locked what is to be read is among the findings of now.
                        self._diagnosed_at = -_DIAGNOSE_SECONDS
                        metrics = [self._diagnose(connection)]
                        is_up = 0
            except psycopg.Error:
                is_up = 0
                metrics = []
                self.close()
        yield _gauge("pgsb_up", "Whether the database answered.", [((), is_up)])
        yield _gauge("pgsb_scrape_seconds", "How long this scrape took.", [((), time.monotonic() - began)])
        yield from metrics

    def describe(self) -> Iterable[Metric]:
        """Nothing is asked of the database before the first scrape."""
        return []

    def close(self) -> None:
        """Give the connection back."""
        connection, self._connection = self._connection, None
        if connection is not None:
            connection.close()

    def _connect(self) -> psycopg.Connection[Any]:
        if self._connection is None or self._connection.closed:
            self._connection = psycopg.connect(
                self._dsn,
                autocommit=True,
                connect_timeout=5,
                prepare_threshold=None,
                fallback_application_name="pgsb metrics",
                row_factory=dict_row,
            )
            self._connection.execute(_SETTINGS)
        return self._connection

    def _daemon(self) -> Iterator[Metric]:
        counts = self._counts
        with counts.lock:
            totals, buckets, total = dict(counts.totals), list(counts.buckets), counts.latency_sum
            state = counts.state
        yield _gauge(
            "pgsb_daemon_state",
            "1 for the state that this daemon is in.",
            [((name,), int(name == state)) for name in ("starting", "leading", "standing_by", "lost")],
            ["state"],
        )
        for name, text in _DAEMON_COUNTERS.items():
            yield CounterMetricFamily(f"pgsb_{name}", text, value=totals.get(name, 0))
        family = HistogramMetricFamily(
            "pgsb_activation_latency_seconds", "From the NOTIFY of a message to the CALL of its program."
        )
        running = 0
        shown: list[tuple[str, float]] = []
        for bound, count in zip((*BOUNDS, float("inf")), buckets, strict=True):
            running += count
            shown.append(("+Inf" if bound == float("inf") else repr(bound), running))
        family.add_metric([], shown, total)
        yield family

    def _queues(self, connection: psycopg.Connection[Any]) -> Iterator[Metric]:
        rows = connection.execute(
            "SELECT *, extract(epoch FROM oldest_age)::float8 AS age FROM"
            " ssb_internal.queue_measures(NULL, 1000)"
        ).fetchall()
        labels = ["database", "queue"]
        of = [((row["database_name"], row["queue"]), row) for row in rows]
        for name, text in _QUEUE_GAUGES.items():
            yield _gauge(f"pgsb_queue_{name}", text, [(key, row[name]) for key, row in of], labels)
        yield _gauge(
            "pgsb_queue_oldest_age_seconds",
            "How long the oldest message has waited; 0 for an empty queue.",
            [(key, row["age"] or 0) for key, row in of],
            labels,
        )
        yield _gauge(
            "pgsb_queue_state",
            "1 for the state that the queue is in.",
            [((*key, state), int(row["state"] == state)) for key, row in of for state in QUEUE_STATES],
            [*labels, "state"],
        )
        received = CounterMetricFamily(
            "pgsb_queue_received",
            "Messages that have left the queue since the daemon first told, also by rollback of their SEND.",
            labels=labels,
        )
        enqueued = CounterMetricFamily("pgsb_queue_enqueued", "Messages that came.", labels=labels)
        before, self._left = self._left, {}
        for key, row in of:
            came = row["enqueued_total"]
            if came is None:  # somebody drops it at this moment
                continue
            # All that has left a queue that was not there before counts.
            gone = max(came - row["depth"], 0) if before is None else 0
            left = self._left[key] = (before or {}).get(key) or _Left(came, gone)
            enqueued.add_metric(key, came)
            received.add_metric(key, left.look(came, row["depth"]))
        yield enqueued
        yield received

    def _transport(self, connection: psycopg.Connection[Any]) -> Iterator[Metric]:
        rows = connection.execute("SELECT * FROM ssb_internal.transport_measures()").fetchall()
        of = [((row["address"] or "local",), row) for row in rows]
        yield _gauge(
            "pgsb_transmission_messages",
            "Messages in the transmission queue, by the address they go to; local: for this instance."
            " Of more than 100,000 a part: those of the newest dialogs, and some for each address.",
            [(key, row["waiting"]) for key, row in of],
            ["address"],
        )
        away = [(key, row) for key, row in of if row["address"] is not None]
        yield _gauge(
            "pgsb_transport_connected",
            "Whether the daemon has a connection to the instance.",
            [(key, int(row["is_connected"])) for key, row in away],
            ["address"],
        )
        yield _gauge(
            "pgsb_transport_failing_messages",
            "Messages that were tried in vain, and wait to be tried again; of those that"
            " pgsb_transmission_messages counts.",
            [(key, row["failing"]) for key, row in away],
            ["address"],
        )

    def _instance(self, connection: psycopg.Connection[Any]) -> Iterator[Metric]:
        row = connection.execute(
            "SELECT count(*) AS claims, coalesce(sum(messages), 0)::bigint AS messages FROM ssb.claims"
        ).fetchone()
        if row is not None:
            yield _gauge("pgsb_claims", "Claims of Spark jobs.", [((), row["claims"])])
            yield _gauge("pgsb_claimed_messages", "Messages in these claims.", [((), row["messages"])])
        yield self._diagnose(connection)

    def _diagnose(self, connection: psycopg.Connection[Any]) -> Metric:
        if time.monotonic() - self._diagnosed_at >= _DIAGNOSE_SECONDS:
            counts: dict[tuple[str, str], int] = {}
            for one in diagnose(connection):
                key = (str(one.number), one.severity)
                counts[key] = counts.get(key, 0) + 1
            self._findings = [(*key, count) for key, count in sorted(counts.items())]
            self._diagnosed_at = time.monotonic()
        return _gauge(
            "pgsb_findings",
            "What pgsb diagnose finds, by number and severity; looked at once a minute.",
            [((number, severity), count) for number, severity, count in self._findings],
            ["number", "severity"],
        )


def _gauge(
    name: str, text: str, values: Iterable[tuple[tuple[str, ...], float]], labels: Iterable[str] = ()
) -> GaugeMetricFamily:
    family = GaugeMetricFamily(name, text, labels=list(labels))
    for key, value in values:
        family.add_metric(list(key), value)
    return family

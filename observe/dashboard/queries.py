"""What the pages ask: the runtime's measures, each with a limit."""

import asyncio
from typing import Any

from ... import __version__
from ..findings import of_another_version
from .database import Instance, Row

_SECONDS = 2.0
_FINDINGS_SECONDS = 20.0
PAUSES = 100.0
"""Between two looks at all queues, in times of what one takes: 1 % of a core."""
_FINDINGS_PAUSES = 400.0
"""So that all that an open page asks stays below 2 %."""
QUARANTINED = 200
"""Groups that the page of the quarantine shows."""
TRAFFIC = 200
"""Rows of ssb_internal.traffic() at most."""
REASONS, LOOKED_AT = 100, 100_000
"""Rows of ssb_internal.transmission_reasons() at most, and the messages that it looks at."""


async def queues(instance: Instance) -> list[Row]:
    """Every queue with its findings, shared by all who look."""
    return await instance.remembered(
        "queues",
        _SECONDS,
        "SELECT (o.measures).*, o.findings, extract(epoch FROM (o.measures).oldest_age)::float8 AS age"
        " FROM ssb_internal.queues_with_findings() AS o OFFSET 0",
        pauses=PAUSES,
    )


async def findings(instance: Instance) -> list[Row]:
    """What ssb.diagnose finds, worst first: of queues as they are shown, the rest a little older."""
    others = instance.remembered(
        "findings",
        _FINDINGS_SECONDS,
        "SELECT * FROM ssb.diagnose(version => %s, parts => %s)",
        __version__,
        ["instance", "daemon", "conversations", "transport"],
        pauses=_FINDINGS_PAUSES,
    )
    version = instance.remembered(
        "version", _FINDINGS_SECONDS, "SELECT r.version FROM ssb.runtime_version AS r"
    )
    rows, found, installed = await asyncio.gather(queues(instance), others, version)
    of_queues = [one for row in rows for one in row["findings"] or ()]
    of_version = [one.as_json() for row in installed if (one := of_another_version(row["version"]))]
    return sorted([*of_queues, *found, *of_version], key=_worst_first)


def _worst_first(finding: Row) -> tuple[int, int, str, str]:
    place = ("error", "warning", "info").index(finding["severity"])
    return place, finding["number"], finding["object"], finding["detail"]


async def daemons(instance: Instance) -> list[Row]:
    """Daemons with the leader first."""
    return await instance.rows("SELECT * FROM ssb_internal.daemons_running() ORDER BY is_leading DESC, host")


async def depths(instance: Instance, numbers: list[int]) -> dict[int, list[int]]:
    """The last half hour of these queues, a number a minute."""
    if not numbers:
        return {}
    rows = await instance.rows("SELECT * FROM ssb_internal.depth_histories(%s)", numbers)
    return {row["queue_id"]: row["depths"] for row in rows}


async def queue(instance: Instance, name: str) -> Row | None:
    """One queue, counted exactly up to 10,000 messages."""
    rows = await instance.rows(
        "SELECT m.*, extract(epoch FROM m.oldest_age)::float8 AS age"
        " FROM ssb.queue_status AS m WHERE m.queue = %s",
        name,
    )
    return rows[0] if rows else None


async def history(instance: Instance, name: str, back: str, step: str) -> list[Row]:
    """Depth and rates."""
    return await instance.rows(
        "SELECT * FROM ssb.queue_history(%s, %s::interval, %s::interval)", name, back, step
    )


async def log(
    instance: Instance, limit: int, queue: str | None = None, levels: list[str] | None = None
) -> list[Row]:
    """The newest lines first."""
    return await instance.rows("SELECT * FROM ssb_internal.log_lines(%s, %s, %s)", limit, queue, levels)


async def conversations(instance: Instance, **wanted: Any) -> list[Row]:
    """See ssb_internal.find_conversations; names without p_."""
    arguments = ", ".join(f"p_{name} => %s" for name in wanted)
    return await instance.rows(
        f"SELECT * FROM ssb_internal.find_conversations({arguments})", *wanted.values()
    )


async def troubles(instance: Instance, handle: str) -> list[Row]:
    """What is wrong with one conversation."""
    return await instance.rows(
        "SELECT * FROM ssb_internal.conversation_troubles(ARRAY[%s]::uuid[], NULL)", handle
    )


async def timeline(instance: Instance, handle: str) -> list[Row]:
    """Both sides of a dialog. Raises psycopg.Error 8426."""
    return await instance.rows("SELECT * FROM ssb.conversation_timeline(%s::uuid)", handle)


async def bodies(instance: Instance, handle: str) -> list[Row]:
    """What waits, with bodies for those who may receive them."""
    return await instance.rows(
        "SELECT b.*, ssb.nvarchar_encoding() AS encoding"
        " FROM ssb_internal.conversation_bodies(%s::uuid) AS b",
        handle,
    )


async def quarantine(instance: Instance, queue: str | None = None) -> list[Row]:
    """Groups that are set aside, the newest first."""
    return await instance.rows(
        "SELECT g.*, ssb.nvarchar_encoding() AS encoding FROM ssb_internal.quarantined_groups(%s, %s) AS g",
        queue,
        QUARANTINED,
    )


async def transport(instance: Instance) -> list[Row]:
    """By address."""
    return await instance.rows("SELECT * FROM ssb_internal.transport_measures()")


async def waiting(instance: Instance) -> list[Row]:
    """What waits and why, by service and reason."""
    return await instance.rows("SELECT * FROM ssb_internal.transmission_reasons()")


async def claims(instance: Instance) -> list[Row]:
    """Claims of Spark jobs."""
    return await instance.rows("SELECT * FROM ssb.claims ORDER BY claimed_at LIMIT 1000")


async def traffic(instance: Instance) -> list[Row]:
    """Open dialogs by services and contract."""
    return await instance.remembered("traffic", 10.0, "SELECT * FROM ssb_internal.traffic()")


async def routes(instance: Instance) -> list[Row]:
    """Of the session's T-SQL database."""
    return await instance.rows(
        "SELECT r.name, r.remote_service_name, r.broker_instance, r.address, r.mirror_address, r.lifetime"
        " FROM sys.routes AS r ORDER BY r.name"
    )


async def services(instance: Instance) -> list[str]:
    """Names of all services, of all T-SQL databases."""
    return sorted({name for row in await queues(instance) for name in row["services"]})

"""The pages that show: each asks, and gives a template and its values."""

import asyncio
import re
import uuid
from collections.abc import Awaitable, Callable
from typing import Any
from urllib.parse import quote

import psycopg
from starlette.requests import Request

from . import bodies, queries
from .charts import chart, sparkline
from .database import Busy, Instance, Row
from .map import graph
from .sequence import diagram
from .site import Site

Answer = tuple[str, dict[str, Any]]
Page = Callable[[Site, Any, Request], Awaitable[Answer]]

_SHOWN_QUEUES = 100
_BACKS = {
    "15min": ("15 minutes", "15 seconds"),
    "1h": ("1 hour", "15 seconds"),
    "6h": ("6 hours", "2 minutes"),
    "24h": ("1 day", "6 minutes"),
}
STATES = {
    "SO": "started outbound",
    "SI": "started inbound",
    "CO": "conversing",
    "DI": "disconnected inbound",
    "DO": "disconnected outbound",
    "ER": "error",
    "CD": "closed",
}
_AGES = {"10min": "10 minutes", "1h": "1 hour", "1d": "1 day", "7d": "7 days"}


async def start(site: Site, _instance: None, _request: Request) -> Answer:
    """The only instance, or all of them with what is wrong in each."""
    if len(site.instances) == 1:
        (name,) = site.instances
        return f"/i/{quote(name, safe='')}/", {}

    async def look(instance: Instance) -> dict[str, Any]:
        try:
            found, queues = await asyncio.gather(queries.findings(instance), queries.queues(instance))
        except (Busy, psycopg.Error) as error:
            return {"name": instance.name, "problem": str(error), "findings": [], "queues": [], "depth": 0}
        return {
            "name": instance.name,
            "problem": None,
            "findings": [one for one in found if one["severity"] != "info"],
            "queues": queues,
            "depth": sum(row["depth"] for row in queues),
        }

    return "start.html", {
        "shown": await asyncio.gather(*map(look, site.instances.values())),
        "title": "Instances",
    }


async def overview(site: Site, instance: Instance, request: Request) -> Answer:
    """Findings first, then the queues that want attention, then the fullest ones."""
    # A page is not held up by the checks: what they find comes with the next look.
    checks = instance.in_background(queries.findings(instance))
    rows, daemons = await asyncio.gather(queries.queues(instance), queries.daemons(instance))
    await asyncio.wait({checks}, timeout=site.options.patience)
    found = checks.result() if checks.done() else []
    wanted = request.query_params.get("q", "").strip().lower()
    chosen = [
        row for row in rows if wanted in row["queue"].lower() or wanted in " ".join(row["services"]).lower()
    ]
    chosen.sort(
        key=lambda row: (row["state"] == "ON", row["quarantined_groups"] == 0, -row["depth"], row["queue"])
    )
    shown = chosen[:_SHOWN_QUEUES]
    depths = await queries.depths(instance, [row["queue_id"] for row in shown[:40]])
    for row in shown:
        row["spark"] = sparkline(
            depths.get(row["queue_id"], []), f"depth of {row['queue']} in the last half hour"
        )
    return "overview.html", {
        "title": "Overview",
        "is_looking": not checks.done(),
        "findings": found,
        "queues": shown,
        "matching": len(chosen),
        "all_queues": len(rows),
        "depth": sum(row["depth"] for row in rows),
        "oldest": max((row["age"] or 0 for row in rows), default=0),
        "rate_in": sum(row["in_per_second"] or 0 for row in rows),
        "rate_out": sum(row["out_per_second"] or 0 for row in rows),
        "has_rates": any(row["in_per_second"] is not None for row in rows),
        "readers": sum(row["readers"] for row in rows),
        "readers_wanted": sum(row["readers_wanted"] for row in rows),
        "daemons": daemons,
        "wanted": request.query_params.get("q", ""),
    }


async def queue(_site: Site, instance: Instance, request: Request) -> Answer:
    """One queue: its state, history, conversations with messages, and switches."""
    name = request.path_params["queue"]
    row = await queries.queue(instance, name)
    if row is None:
        return "problem.html", {
            "title": "There is no such queue",
            "text": name,
            "hint": None,
            "status_code": 404,
        }
    back = request.query_params.get("back", "1h")
    span = _BACKS.get(back, _BACKS["1h"])
    history, log, newest, found = await asyncio.gather(
        queries.history(instance, name, *span),
        queries.log(instance, 15, name),
        queries.conversations(instance, queue=name, limit=15),
        queries.findings(instance),
    )
    times = [one["sampled_at"].isoformat() for one in history]
    return "queue.html", {
        "title": name,
        "queue": row,
        "depth_chart": chart(
            "Waiting messages", times, [("depth", "depth", [one["depth"] for one in history])], "messages"
        ),
        "rate_chart": chart(
            "Throughput",
            times,
            [
                ("in", "in", [float(one["in_per_second"]) for one in history]),
                ("out", "out", [float(one["out_per_second"]) for one in history]),
            ],
            "messages a second",
        ),
        "back": back,
        "backs": list(_BACKS),
        "log": log,
        "conversations": newest,
        "states": STATES,
        "findings": [one for one in found if one["object"] == name],
        "purge": await _purge(instance, name, request),
    }


async def _purge(instance: Instance, name: str, request: Request) -> dict[str, Any] | None:
    """How many messages a purge would take, when that was asked."""
    if "purge" not in request.query_params:
        return None
    message_type = request.query_params.get("type", "").strip()
    older = request.query_params.get("older", "")
    rows = await instance.rows(
        "SELECT ssb.purge_messages(%s, nullif(%s, ''), nullif(%s, '')::interval, count_only => true)"
        " AS messages",
        name,
        message_type,
        _AGES.get(older, ""),
    )
    return {"type": message_type, "older": older, "messages": rows[0]["messages"]}


async def conversation(_site: Site, instance: Instance, request: Request) -> Answer:
    """One dialog: its sequence diagram, and the bodies of what waits."""
    handle = request.path_params["handle"]
    try:
        handle = str(uuid.UUID(handle))
        events, waiting, troubles = await asyncio.gather(
            queries.timeline(instance, handle),
            queries.bodies(instance, handle),
            queries.troubles(instance, handle),
        )
    except (ValueError, psycopg.Error) as error:
        if isinstance(error, psycopg.Error) and error.sqlstate != "S8426":
            raise
        return "problem.html", {
            "title": "There is no such conversation",
            "text": handle,
            "hint": "Both sides may have ended it, and 30 minutes have passed.",
            "status_code": 404,
        }
    begins: dict[str, str] = {
        event["side"]: event["detail"].split(" on contract ")[0]
        for event in events
        if event["event"] == "begin"
    }
    (ours,) = await instance.rows(
        "SELECT c.state, c.far_service FROM sys.conversation_endpoints AS c"
        " WHERE c.conversation_handle = %s::uuid",
        handle,
    ) or [{"state": None, "far_service": None}]
    far = str(ours["far_service"] or "another instance")
    for body in waiting:
        body["forms"] = (
            bodies.forms(bytes(body["body"]), body["encoding"]) if body["body"] is not None else {}
        )
        body["is_cut"] = (body["bytes"] or 0) > bodies.LIMIT
    return "conversation.html", {
        "title": "Conversation",
        "handle": handle,
        "events": events,
        "diagram": diagram(events, begins.get("initiator", far), begins.get("target", far)),
        "bodies": waiting,
        "troubles": troubles,
        "state": ours["state"],
        "states": STATES,
        "services": [begins.get("initiator", far), begins.get("target", far)],
    }


async def search(_site: Site, instance: Instance, request: Request) -> Answer:
    """Conversations by what is in the address, so that it can be kept and sent."""
    given = request.query_params
    handle = given.get("handle", "").strip()
    if re.fullmatch("[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", handle):
        return f"/i/{quote(instance.name, safe='')}/conversation/{handle}", {}
    wanted: dict[str, Any] = {}
    for name, key in (
        ("service", "service"),
        ("state", "state"),
        ("type", "type"),
        ("text", "text"),
        ("queue", "queue"),
    ):
        if value := given.get(name, "").strip():
            like = name in ("service", "type") and "%" not in value
            wanted[key] = f"%{value}%" if like else value
    for key in ("older", "newer"):
        if given.get(key, "") in _AGES:
            wanted[key] = _AGES[given[key]]
    if re.fullmatch("[0-9]{1,18}", given.get("before", "")):
        wanted["before"] = int(given["before"])
    rows = await queries.conversations(instance, **wanted, limit=51)
    kept = "&".join(
        f"{name}={quote(value)}" for name, value in given.items() if value and name not in ("before", "done")
    )
    return "search.html", {
        "title": "Search",
        "rows": rows[:50],
        "next": f"?{kept}&before={rows[49]['endpoint_id']}" if len(rows) > 50 else None,
        "given": given,
        "states": STATES,
        "ages": _AGES,
    }


async def service_map(_site: Site, instance: Instance, _request: Request) -> Answer:
    """Services, contracts and traffic; routes."""
    traffic, queues, routes = await asyncio.gather(
        queries.traffic(instance), queries.queues(instance), queries.routes(instance)
    )
    drawing, drawn, services = graph(traffic, queues, f"/i/{quote(instance.name, safe='')}")
    return "map.html", {
        "title": "Map",
        "graph": drawing,
        "drawn": drawn,
        "services": services,
        "traffic": traffic,
        "has_all_traffic": len(traffic) < queries.TRAFFIC,
        "routes": routes,
    }


async def quarantine(_site: Site, instance: Instance, request: Request) -> Answer:
    """What is set aside, by error."""
    only = request.query_params.get("queue")
    rows = await queries.quarantine(instance, only or None)
    there = len(rows)
    if there >= queries.QUARANTINED:
        # Of many the newest are shown. To count the rest all queues are measured: of 5,000, for seconds.
        there = sum(
            row["quarantined_groups"] or 0
            for row in await queries.queues(instance)
            if row["queue"] == only or not only
        )
    for row in rows:
        row["preview"] = (
            next(
                iter(
                    bodies.forms(
                        bytes(row["body"]),
                        row["encoding"],
                        is_cut=len(row["body"]) >= bodies.PREVIEW,
                    ).items()
                )
            )
            if row["body"] is not None
            else None
        )
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row["error"] or "no error is known", []).append(row)
    return "quarantine.html", {
        "title": "Quarantine",
        "groups": sorted(groups.items(), key=lambda one: -len(one[1])),
        "count": len(rows),
        # As queue_status has counted them, maybe a moment ago.
        "all_groups": there,
        "only": only,
        "resubmitted": instance.resubmitted,
    }


async def transport(_site: Site, instance: Instance, _request: Request) -> Answer:
    """What waits and why; peers."""
    peers, waiting, routes = await asyncio.gather(
        queries.transport(instance), queries.waiting(instance), queries.routes(instance)
    )
    looked_at = sum(row["messages"] for row in waiting)
    return "transport.html", {
        "title": "Transport",
        "peers": peers,
        "waiting": waiting,
        "looked_at": looked_at,
        "has_more": looked_at >= queries.LOOKED_AT or len(waiting) >= queries.REASONS,
        "routes": routes,
    }


async def claims(_site: Site, instance: Instance, _request: Request) -> Answer:
    """Claims of Spark jobs."""
    return "claims.html", {"title": "Claims", "rows": await queries.claims(instance)}


async def log(_site: Site, instance: Instance, request: Request) -> Answer:
    """The daemon's log."""
    level = request.query_params.get("level", "")
    levels = {"error": ["error"], "warning": ["error", "warning"]}.get(level)
    rows = await queries.log(instance, 200, request.query_params.get("queue") or None, levels)
    return "log.html", {
        "title": "Log",
        "rows": rows,
        "level": level,
        "only": request.query_params.get("queue", ""),
    }


PAGES: dict[str, Page] = {
    "/": overview,
    "/map": service_map,
    "/queue/{queue:path}": queue,
    "/conversation/{handle}": conversation,
    "/search": search,
    "/quarantine": quarantine,
    "/transport": transport,
    "/claims": claims,
    "/log": log,
}

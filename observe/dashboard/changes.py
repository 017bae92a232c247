"""The forms that change: each with the rights of the dashboard's database role, and noted with who did it."""

import logging
import re
import uuid
from collections.abc import Awaitable, Callable

from starlette.requests import Request

from .database import Instance

Form = Callable[[Instance, str, Request, dict[str, str]], Awaitable[str]]

_LOG = logging.getLogger("pgsb.dashboard")
_AGES = {"": None, "10min": "10 minutes", "1h": "1 hour", "1d": "1 day", "7d": "7 days"}


class WrongInput(Exception):
    """A form cannot be read; the text is for the reader."""


async def _done(instance: Instance, user: str, what: str, queue: str | None = None) -> str:
    _LOG.info("%s, %s: %s", instance.name, user, what)
    await instance.change("SELECT ssb_internal.note_change(%s, %s, %s)", user, what, queue)
    return what


def _whole(text: str, what: str, least: int, most: int) -> int:
    if not (re.fullmatch("[0-9]{1,18}", text) and least <= int(text) <= most):
        raise WrongInput(f"{what} is a number from {least} to {most}, not {text[:100]!r}.")
    return int(text)


async def switch(instance: Instance, user: str, request: Request, given: dict[str, str]) -> str:
    """STATUS, activation's STATUS, MAX_QUEUE_READERS of a queue."""
    queue = request.path_params["queue"]
    what = given.get("switch", "")
    value = given.get("value", "")
    if what in ("status", "activation_status") and value in ("on", "off"):
        await instance.change(f"SELECT ssb.alter_queue(%s, {what} => %s)", queue, value == "on")
        name = "STATUS" if what == "status" else "ACTIVATION (STATUS"
        return await _done(
            instance, user, f"{queue}: {name} = {value.upper()}{')' if '(' in name else ''}", queue
        )
    if what == "max_queue_readers":
        readers = _whole(value, "MAX_QUEUE_READERS", 0, 32767)
        await instance.change("SELECT ssb.alter_queue(%s, max_queue_readers => %s)", queue, readers)
        return await _done(instance, user, f"{queue}: MAX_QUEUE_READERS = {readers}", queue)
    raise WrongInput(f"There is no switch {what!r} with the value {value!r}.")


async def purge(instance: Instance, user: str, request: Request, given: dict[str, str]) -> str:
    """Take messages off a queue; the page has shown how many."""
    queue = request.path_params["queue"]
    if given.get("older", "") not in _AGES:
        raise WrongInput(f"There is no age {given.get('older')!r}.")
    message_type = given.get("type", "").strip() or None
    count = await instance.change(
        "SELECT ssb.purge_messages(%s, %s, %s::interval)", queue, message_type, _AGES[given.get("older", "")]
    )
    return await _done(instance, user, f"{queue}: {count} messages purged", queue)


async def end(instance: Instance, user: str, request: Request, given: dict[str, str]) -> str:
    """END CONVERSATION, WITH ERROR, WITH CLEANUP."""
    handle = str(_uuid(request.path_params["handle"]))
    how = given.get("how", "")
    if how == "end":
        await instance.change("SELECT ssb.end_conversation(%s::uuid)", handle)
    elif how == "error":
        code = _whole(given.get("code", ""), "The error code", 1, 2147483647)
        text = given.get("text", "").strip()
        if not text:
            raise WrongInput("An error needs a description.")
        await instance.change("SELECT ssb.end_conversation(%s::uuid, %s::integer, %s)", handle, code, text)
    elif how == "cleanup":
        await instance.change("SELECT ssb.end_conversation(%s::uuid, cleanup => true)", handle)
    else:
        raise WrongInput(f"A conversation is not ended by {how!r}.")
    words = {"end": "ended", "error": "ended with an error", "cleanup": "cleaned up"}[how]
    return await _done(instance, user, f"conversation {handle.upper()} {words}")


async def decide(instance: Instance, user: str, _request: Request, given: dict[str, str]) -> str:
    """Resubmit, fail or drop groups in quarantine: all that are ticked, or none."""
    groups = [str(_uuid(one)) for one in given.get("group", "").split(",") if one]
    how = given.get("how", "")
    if not groups:
        raise WrongInput("No group is ticked.")
    if how == "resubmit":
        query, words = "SELECT count(ssb.resubmit_quarantined(g)) FROM unnest(%s::uuid[]) AS g", "resubmitted"
        await instance.change(query, groups)
        instance.resubmitted[user] = groups
    elif how == "drop":
        await instance.change("SELECT count(ssb.drop_quarantined(g)) FROM unnest(%s::uuid[]) AS g", groups)
        words = "dropped"
    elif how == "fail":
        code = _whole(given.get("code", ""), "The error code", 1, 2147483647)
        text = given.get("text", "").strip()
        if not text:
            raise WrongInput("An error needs a description.")
        await instance.change(
            "SELECT count(ssb.fail_quarantined(g, %s::integer, %s)) FROM unnest(%s::uuid[]) AS g",
            code,
            text,
            groups,
        )
        words = "failed"
    else:
        raise WrongInput(f"A group in quarantine is not decided by {how!r}.")
    return await _done(instance, user, f"{len(groups)} {'group' if len(groups) == 1 else 'groups'} {words}")


async def set_aside(instance: Instance, user: str, _request: Request, _given: dict[str, str]) -> str:
    """Undo this user's last resubmit: groups that nobody has received go back into quarantine."""
    groups = instance.resubmitted.pop(user, [])
    if not groups:
        raise WrongInput("There is nothing to undo.")
    count = await instance.change(
        "SELECT count(*) FILTER (WHERE ssb.set_aside(g)) FROM unnest(%s::uuid[]) AS g", groups
    )
    return await _done(instance, user, f"{count} of {len(groups)} groups set aside again")


def _uuid(text: str) -> uuid.UUID:
    try:
        return uuid.UUID(text)
    except ValueError:
        raise WrongInput(f"{text!r} is no handle.") from None


FORMS: dict[str, Form] = {
    "/queue/{queue:path}/switch": switch,
    "/queue/{queue:path}/purge": purge,
    "/conversation/{handle}/end": end,
    "/quarantine/decide": decide,
    "/quarantine/undo": set_aside,
}

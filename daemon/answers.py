"""What another instance answers to a set: by dialog, how much it has taken, or why not."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

import psycopg

from .transport_values import Malformed, Raw, RawBigints, RawJson, RawTexts, checked_list, loaded

Row = dict[str, Any]
Settle = Callable[[Mapping[int, Row]], Awaitable[None]]
"""Takes answers by the dialogs' keys: what the sender calls them."""
Tell = Callable[[list[Row]], None]
"""Hears what was settled, by endpoints."""

NAMES = ("next_number", "status", "refusal_code", "refusal", "instance", "taken_bytes")
MOST = 2**62
"""No dialog has that many messages, no message that many bytes: behind it is room for SEND to count on."""
_NUMBERS = {"next_number": (0, MOST), "refusal_code": (-(2**31), 2**31 - 1), "taken_bytes": (0, MOST)}
_LONGEST_TEXT = 3000
"""Of a status or a refusal, as of an Error message's description; what is longer is cut."""
_LONGEST_INSTANCE = 36
_NO_TEXT = re.compile("[\0\ud800-\udfff]")


@dataclass(frozen=True)
class Taken:
    """What ssb_internal.take_from_peer or take_opened has answered: arrays that are what they should be."""

    next_numbers: RawBigints
    """Of each dialog; 0 where ``others`` tells."""
    instances: RawTexts
    rows: list[tuple[int, str | None]]
    """The same, read."""
    others: list[Row]
    """Empty: every dialog's messages were taken."""


def checked_taken(next_numbers: object, instances: object, others: Raw | bytes | None, dialogs: int) -> Taken:
    """Return what another instance has answered. Raises Malformed.

    Whoever is over there: every byte is looked at before it gets to our functions.
    """
    if not (
        isinstance(next_numbers, RawBigints)
        and isinstance(instances, RawTexts)
        and isinstance(others, RawJson | None)
    ):
        raise Malformed
    rows = list(zip(checked_list(next_numbers, dialogs), checked_list(instances, dialogs), strict=True))
    try:
        told = loaded(others) or []
    except (ValueError, RecursionError, psycopg.Error):
        raise Malformed from None
    if not isinstance(told, list) or not all(isinstance(one, dict) for one in told):
        raise Malformed
    if not all(0 <= number <= MOST and is_instance(instance) for number, instance in rows):
        raise Malformed
    if not told and any(number == 0 for number, _ in rows):
        raise Malformed
    return Taken(next_numbers, instances, rows, told)


def read_answer(given: Mapping[str, Any]) -> Row | None:
    """Return an answer's values; None where one is nothing that this instance's functions could take.

    Whoever is over there, or further on, has written them: what one dialog is answered holds up no other.
    """
    answer = {name: given.get(name) for name in NAMES}
    for name, value in answer.items():
        if value is None:
            continue
        if name in _NUMBERS:
            least, most = _NUMBERS[name]
            if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
                return None
        elif not is_text(value):
            return None
        elif name == "instance":
            if not is_instance(value):
                return None
        else:
            answer[name] = value[:_LONGEST_TEXT]
    return answer


def is_text(value: Any) -> bool:
    """Tell whether PostgreSQL has such a text: it has no NUL, and no half of a surrogate pair."""
    return isinstance(value, str) and not _NO_TEXT.search(value)


def is_instance(value: str | None) -> bool:
    """Tell whether it may be a service_broker_guid."""
    return value is None or len(value) <= _LONGEST_INSTANCE


def short(text: str) -> str:
    """What one can keep beside each message that waits."""
    return text[:_LONGEST_TEXT]


def by_place(given: Any) -> dict[int, Row]:
    """Answers in JSON, by dialog: whoever has written them."""
    if not isinstance(given, list):
        return {}
    return {one["place"]: one for one in given if isinstance(one, dict) and isinstance(one.get("place"), int)}


def plain_answers(answers: Mapping[int, Row]) -> list[Row]:
    """For ssb_internal.settle_sent: answers of dialogs in the clear."""
    settled = []
    for endpoint, given in answers.items():
        answer = read_answer(given)
        if answer is None:
            answer = dict.fromkeys(NAMES) | {"status": "The answer of the other instance cannot be read."}
        settled.append({"endpoint_id": endpoint} | answer | {"next_number": answer["next_number"] or 0})
    return settled

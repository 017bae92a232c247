"""What another instance answers to a set: by dialog, how much it has taken, or why not."""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

Row = dict[str, Any]
Settle = Callable[[Mapping[int, Row]], Awaitable[None]]
"""Takes answers by the dialogs' keys: what the sender calls them."""
Tell = Callable[[list[Row]], None]
"""Hears what was settled, by endpoints."""

NAMES = ("next_number", "status", "refusal_code", "refusal", "instance", "taken_bytes")
_KINDS = (int | None, str | None, int | None, str | None, str | None, int | None)


def is_answer(given: Row) -> bool:
    """Tell whether an answer's values are of the types that they should be."""
    return all(isinstance(given[name], kind) for name, kind in zip(NAMES, _KINDS, strict=True))


def by_place(given: Any) -> dict[int, Row]:
    """Answers in JSON, by dialog: whoever has written them."""
    if not isinstance(given, list):
        return {}
    return {one["place"]: one for one in given if isinstance(one, dict) and isinstance(one.get("place"), int)}


def plain_answers(answers: Mapping[int, Row]) -> list[Row]:
    """For ssb_internal.settle_sent: answers of dialogs in the clear."""
    settled = []
    for endpoint, given in answers.items():
        answer = {name: given.get(name) for name in NAMES}
        if not is_answer(answer):
            answer = dict.fromkeys(NAMES) | {"status": "The answer of the other instance is none."}
        settled.append({"endpoint_id": endpoint} | answer | {"next_number": answer["next_number"] or 0})
    return settled

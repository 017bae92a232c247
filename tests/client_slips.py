"""What callers of pgsb.client give by mistake, and what is said: of both sessions."""

from datetime import timedelta
from typing import Any
from uuid import uuid4

SLIPS: list[tuple[str, tuple[Any, ...], dict[str, Any], type[Exception], str]] = [
    ("send", ("none",), {}, ValueError, "'none' is no conversation handle"),
    ("send", (7,), {}, TypeError, "a conversation handle is a UUID, not int"),
    ("send", (uuid4(), 7), {}, TypeError, "message_type is text, not int"),
    ("begin_dialog", ("//From", 7), {}, TypeError, "to_service is text, not int"),
    (
        "begin_dialog",
        ("//From", "//To"),
        {"lifetime": 1.5},
        TypeError,
        "lifetime is a whole number",
    ),
    (
        "begin_dialog",
        ("//From", "//To"),
        {"lifetime": 2**31},
        ValueError,
        "lifetime is 2,147,483,648, and must be a number up to 2,147,483,647",
    ),
    (
        "begin_dialog",
        ("//From", "//To"),
        {"related_to": uuid4(), "group": uuid4()},
        ValueError,
        "related_to and group both choose the conversation group: give one of them",
    ),
    ("send_new", ("//From", b"//To"), {}, TypeError, "to_service is text, not bytes"),
    ("receive", ("dbo.to_queue", "2"), {}, TypeError, "count is a whole number, not str"),
    ("receive", ("dbo.to_queue",), {"wait": "1"}, TypeError, "wait is a number of seconds, not str"),
    ("receive", ("dbo.to_queue",), {"group": "none"}, ValueError, "'none' is no conversation handle"),
    ("receive_and_end", (7,), {}, TypeError, "queue is text, not int"),
    ("receive_and_end", ("dbo.to_queue",), {"groups": 1.5}, TypeError, "groups is a whole number, not float"),
    ("end_finished", ("dbo.to_queue", None, 3), {}, TypeError, "positional"),
    (
        "end_finished",
        ("dbo.to_queue", 2**63),
        {},
        ValueError,
        "must be a number up to 9,223,372,036,854,",
    ),
    ("end", (uuid4(),), {"error": "1"}, TypeError, "error is a whole number, not str"),
    ("end", (uuid4(),), {"error": 1, "description": 2}, TypeError, "description is text, not int"),
    ("set_timer", (uuid4(), timedelta(1)), {}, TypeError, "seconds is a whole number, not timedelta"),
]
"""The call, what it is given by place and by name, the error and its text."""

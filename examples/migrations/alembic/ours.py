"""For `alembic revision --autogenerate`: what belongs to the broker is not in the application's models."""

from typing import Any

BROKERS = {"ssb", "ssb_internal", "ssb_locks", "ssb_staging", "sys"}


def include_name(name: str | None, kind: str, parents: Any) -> bool:
    """Whether autogenerate compares a schema: not those of the runtime."""
    return kind != "schema" or name not in BROKERS

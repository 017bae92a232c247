"""Columns of relations that every script knows without creating them: queues and sys views.

Only what the translation must know: a column's type decides how ``+``, comparisons and
conversions are written.
"""

from __future__ import annotations

from functools import cache

from . import types as tm
from .names import COMPATIBILITY_VIEWS, INFORMATION_SCHEMA, ObjectName, fold
from .objects import ColumnInfo, TableInfo
from .sys_views import KINDS, VIEWS
from .types import SqlType

QUEUE_COLUMNS: tuple[ColumnInfo, ...] = tuple(
    ColumnInfo(name, type_, nullable=nullable)
    for name, type_, nullable in (
        ("status", tm.TINYINT, False),
        ("priority", tm.TINYINT, False),
        ("queuing_order", tm.BIGINT, False),
        ("conversation_group_id", tm.UNIQUEIDENTIFIER, False),
        ("conversation_handle", tm.UNIQUEIDENTIFIER, False),
        ("message_sequence_number", tm.BIGINT, False),
        ("service_name", tm.nvarchar(512), False),
        ("service_id", tm.INT, False),
        ("service_contract_name", tm.nvarchar(256), False),
        ("service_contract_id", tm.INT, False),
        ("message_type_name", tm.nvarchar(256), False),
        ("message_type_id", tm.INT, False),
        ("validation", SqlType("nchar", length=2), False),
        ("message_body", tm.VARBINARY_MAX, True),
        ("message_enqueue_time", tm.DATETIME, True),
    )
)
"""Columns of a queue, in the order of the CREATE QUEUE page."""


def queue_table(name: ObjectName) -> TableInfo:
    """A queue as a relation that SELECT may read."""
    return TableInfo(name, QUEUE_COLUMNS, read_only=True, is_queue=True)


_OF_NAMES = frozenset(
    """
    databases objects all_objects tables views procedures triggers schemas columns indexes service_queues
    types server_principals database_principals sysobjects sysdatabases key_constraints check_constraints
    default_constraints foreign_keys identity_columns computed_columns parameters syscolumns sysindexes
    sysusers syslogins sequences all_columns all_views all_parameters synonyms table_types server_triggers
    stats xml_indexes systypes routes remote_service_bindings conversation_priorities event_notifications
    server_event_notifications endpoints tcp_endpoints service_broker_endpoints certificates symmetric_keys
    xml_schema_collections extended_properties
    """.split()
)
"""Views whose ``name`` is an identifier; names of services, contracts, message types are data."""

_NAME_COLUMNS = frozenset(
    """
    table_catalog table_schema table_name column_name routine_schema routine_name specific_schema
    specific_name parameter_name constraint_schema constraint_name unique_constraint_schema
    unique_constraint_name schema_name view_schema view_name sequence_schema sequence_name domain_schema
    domain_name
    """.split()
)
"""Columns of INFORMATION_SCHEMA that are identifiers."""


def system_view(name: ObjectName) -> TableInfo | None:
    """A view of schema sys; None for another name."""
    view = fold(name.name)
    if fold(name.schema or "") == "information_schema" and view in INFORMATION_SCHEMA:
        view = f"information_schema_{view}"
    elif fold(name.schema or "") != "sys" and not (
        view in COMPATIBILITY_VIEWS and fold(name.schema or "dbo") == "dbo"
    ):
        return None
    return TableInfo(name, _columns(view), read_only=True) if view in VIEWS else None


@cache
def _columns(view: str) -> tuple[ColumnInfo, ...]:
    infos = []
    for entry in VIEWS[view].split():
        column, _, kind = entry.partition(":")
        holds_names = (column == "name" and view in _OF_NAMES) or column in _NAME_COLUMNS
        shown = column.upper() if view.startswith("information_schema_") else column
        infos.append(ColumnInfo(shown, KINDS[kind], holds_names=holds_names))
    return tuple(infos)

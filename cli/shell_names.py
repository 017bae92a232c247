"""The names that a database has, for completion at the prompt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import psycopg

_KINDS = {
    "U": "table",
    "V": "view",
    "SQ": "queue",
    "P": "procedure",
    "FN": "function",
    "IF": "function",
    "TF": "function",
    "SO": "sequence",
    "SN": "synonym",
}
_OBJECTS = """
SELECT s.name::text, o.name::text, pg_catalog.btrim(o.type::text), coalesce(c.names, p.names, '{}')
  FROM sys.objects AS o
  JOIN sys.schemas AS s ON s.schema_id = o.schema_id
  LEFT JOIN (SELECT object_id, array_agg(name::text ORDER BY column_id) AS names
               FROM sys.columns GROUP BY object_id) AS c ON c.object_id = o.object_id
  LEFT JOIN (SELECT object_id, array_agg(name::text ORDER BY parameter_id) AS names
               FROM sys.parameters WHERE parameter_id > 0 GROUP BY object_id) AS p
         ON p.object_id = o.object_id
 WHERE pg_catalog.btrim(o.type::text) = ANY (%s) AND o.is_ms_shipped::text = '0'
"""
_NAMED = """
SELECT 'service', name::text FROM sys.services WHERE service_id > 65535
UNION ALL SELECT 'contract', name::text FROM sys.service_contracts
UNION ALL SELECT 'message type', name::text FROM sys.service_message_types
UNION ALL SELECT 'route', name::text FROM sys.routes
UNION ALL SELECT 'remote service binding', name::text FROM sys.remote_service_bindings
UNION ALL SELECT 'broker priority', name::text FROM sys.conversation_priorities
UNION ALL SELECT 'certificate', name::text FROM sys.certificates
UNION ALL SELECT 'XML schema collection', name::text FROM sys.xml_schema_collections
UNION ALL SELECT 'database', name::text FROM sys.databases
UNION ALL SELECT 'schema', name::text FROM sys.schemas
"""
# T-SQL's own views: those of schema sys, with their columns.
_CATALOG = """
SELECT c.relname::text, array_agg(a.attname::text ORDER BY a.attnum)
  FROM pg_catalog.pg_class AS c
  JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
 WHERE c.relnamespace = 'sys'::regnamespace AND c.relkind = 'v'
 GROUP BY c.relname
"""


@dataclass(frozen=True)
class Object:
    """A table, view, queue or module; ``columns`` are a module's parameters where it has no columns."""

    schema: str
    name: str
    kind: str
    columns: tuple[str, ...]


@dataclass(frozen=True)
class Names:
    """What a T-SQL database has; ``named`` are services and the like: kind and name."""

    objects: Sequence[Object] = ()
    named: Sequence[tuple[str, str]] = ()
    database: str = ""
    catalog: Sequence[Object] = field(default=())

    def of_kind(self, kind: str) -> list[str]:
        """Names of services, databases, schemas and the like."""
        return [name for one, name in self.named if one == kind]


def load_names(connection: psycopg.Connection[Any], database: str | None) -> Names:
    """Ask for the names of a T-SQL database, None: the default one. Raises psycopg.Error."""
    if database is not None:
        connection.execute("SELECT ssb.use_database(%s)", [database])
    objects = [
        Object(schema, name, _KINDS[kind], tuple(columns))
        for schema, name, kind, columns in connection.execute(_OBJECTS, [list(_KINDS)])
    ]
    catalog = [Object("sys", name, "view", tuple(columns)) for name, columns in connection.execute(_CATALOG)]
    named = [(kind, name) for kind, name in connection.execute(_NAMED)]
    row = connection.execute("SELECT ssb.db_name()").fetchone()
    return Names(objects, named, str(row[0]) if row is not None else "", catalog)

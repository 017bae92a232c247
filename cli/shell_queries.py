"""What the prompt's \\d commands ask: T-SQL over the catalog views of the session's database."""

from __future__ import annotations

import re

from ..grammar.lexer import one_name

_COMMANDS = {
    "dt": ("U", "tables"),
    "dv": ("V", "views"),
    "dp": ("P", "procedures"),
    "df": ("FN', 'IF', 'TF", "functions"),
    "dg": ("TR", "triggers"),
}
_OBJECTS = """
SELECT s.name AS [schema], o.name, LOWER(REPLACE(o.type_desc, '_', ' ')) AS kind
  FROM sys.objects AS o JOIN sys.schemas AS s ON s.schema_id = o.schema_id
 WHERE o.type IN ('{types}') AND o.is_ms_shipped = 0{like}
 ORDER BY s.name, o.name"""
_QUEUES = """
SELECT s.name AS [schema], q.name AS queue,
       (SELECT p.rows FROM sys.objects AS o JOIN sys.partitions AS p ON p.object_id = o.object_id
         WHERE o.parent_object_id = q.object_id AND o.type = 'IT' AND p.index_id IN (0, 1)) AS messages,
       CASE WHEN q.is_receive_enabled = 1 THEN 'ON' ELSE 'OFF' END AS status,
       CASE WHEN q.is_activation_enabled = 1 THEN q.activation_procedure END AS activation,
       (SELECT STRING_AGG(v.name, ', ') WITHIN GROUP (ORDER BY v.name)
          FROM sys.services AS v WHERE v.service_queue_id = q.object_id) AS services
  FROM sys.service_queues AS q JOIN sys.schemas AS s ON s.schema_id = q.schema_id
 WHERE q.is_ms_shipped = 0{like}
 ORDER BY s.name, q.name"""
_SERVICES = """
SELECT v.name AS service, q.name AS queue,
       (SELECT STRING_AGG(c.name, ', ') WITHIN GROUP (ORDER BY c.name)
          FROM sys.service_contract_usages AS u
          JOIN sys.service_contracts AS c ON c.service_contract_id = u.service_contract_id
         WHERE u.service_id = v.service_id) AS contracts
  FROM sys.services AS v JOIN sys.service_queues AS q ON q.object_id = v.service_queue_id
 WHERE q.is_ms_shipped = 0{like}
 ORDER BY v.name"""
_CONTRACTS = """
SELECT c.name AS contract, m.name AS message_type, m.validation_desc AS validation,
       CASE WHEN u.is_sent_by_initiator = 1 AND u.is_sent_by_target = 1 THEN 'ANY'
            WHEN u.is_sent_by_initiator = 1 THEN 'INITIATOR' ELSE 'TARGET' END AS sent_by
  FROM sys.service_contracts AS c
  JOIN sys.service_contract_message_usages AS u ON u.service_contract_id = c.service_contract_id
  JOIN sys.service_message_types AS m ON m.message_type_id = u.message_type_id
 WHERE 1 = 1{like}
 ORDER BY c.name, m.name"""
_DATABASES = """
SELECT name, CASE WHEN is_broker_enabled = 1 THEN 'ENABLED' ELSE 'DISABLED' END AS broker, service_broker_guid
  FROM sys.databases WHERE 1 = 1{like} ORDER BY name"""
_LENGTH = (
    "'(' + CASE c.max_length WHEN -1 THEN 'max' ELSE CAST(c.max_length / {bytes} AS VARCHAR(9)) END + ')'"
)
_COLUMNS = f"""
SELECT c.name AS [column],
       t.name + CASE WHEN t.name IN ('nvarchar', 'nchar') THEN {_LENGTH.replace("{bytes}", "2")}
                     WHEN t.name IN ('varchar', 'char', 'varbinary', 'binary')
                     THEN {_LENGTH.replace("{bytes}", "1")}
                     WHEN t.name IN ('decimal', 'numeric')
                     THEN '(' + CAST(c.precision AS VARCHAR(9)) + ',' + CAST(c.scale AS VARCHAR(9)) + ')'
                     ELSE '' END AS type,
       CASE c.is_nullable WHEN 1 THEN 'NULL' ELSE 'NOT NULL' END
       + CASE c.is_identity WHEN 1 THEN ' IDENTITY' ELSE '' END AS nullable,
       (SELECT d.definition FROM sys.default_constraints AS d
         WHERE d.parent_object_id = c.object_id AND d.parent_column_id = c.column_id) AS [default]
  FROM sys.columns AS c JOIN sys.types AS t ON t.user_type_id = c.user_type_id
 WHERE c.object_id = OBJECT_ID({{name}})
 ORDER BY c.column_id"""
_INDEXES = """
SELECT i.name AS [index],
       CASE WHEN i.is_primary_key = 1 THEN 'PRIMARY KEY'
            WHEN i.is_unique = 1 THEN 'UNIQUE' ELSE '' END AS kind,
       (SELECT STRING_AGG(c.name, ', ') WITHIN GROUP (ORDER BY k.key_ordinal)
          FROM sys.index_columns AS k
          JOIN sys.columns AS c ON c.object_id = k.object_id AND c.column_id = k.column_id
         WHERE k.object_id = i.object_id AND k.index_id = i.index_id) AS columns
  FROM sys.indexes AS i
 WHERE i.object_id = OBJECT_ID({name}) AND i.name IS NOT NULL
 ORDER BY i.name"""
_TEXT = "EXEC sp_helptext {name}"


def catalog_batches(command: str, argument: str) -> list[str] | None:
    """The batches that a command such as ``dt`` runs; None for a command that is none of these.

    ``argument`` is a name, or with ``*`` and ``?`` a pattern.
    """
    if command == "d" and argument and not _is_pattern(argument):
        return _describe(argument)
    if command == "sf" and argument:
        return [_TEXT.format(name=_literal(argument))]
    text = _listing(command)
    if text is None:
        return None
    name = {"ds": "v.name", "dc": "c.name", "dq": "q.name", "l": "name"}.get(command, "o.name")
    return [text.replace("{like}", _like(name, argument))]


def _listing(command: str) -> str | None:
    if command in _COMMANDS:
        return _OBJECTS.replace("{types}", _COMMANDS[command][0])
    if command == "d":
        return _OBJECTS.replace("{types}", "U', 'V', 'P', 'FN', 'IF', 'TF', 'SQ', 'SO', 'SN")
    return {"dq": _QUEUES, "ds": _SERVICES, "dc": _CONTRACTS, "l": _DATABASES}.get(command)


def _describe(name: str) -> list[str]:
    """The columns and indexes of a table, a view, a queue; the text of a module; a service or contract."""
    literal = _literal(name)
    plain = _literal(one_name(name))
    queue = _QUEUES.replace("{like}", f" AND q.object_id = OBJECT_ID({literal})")
    service = _SERVICES.replace("{like}", f" AND v.name = {plain}")
    contract = _CONTRACTS.replace("{like}", f" AND c.name = {plain}")
    return [
        f"IF OBJECT_ID({literal}) IS NULL AND NOT EXISTS (SELECT * FROM sys.services WHERE name = {plain})"
        f" AND NOT EXISTS (SELECT * FROM sys.service_contracts WHERE name = {plain})"
        f" PRINT 'There is nothing named ' + {literal} + ' in ' + DB_NAME() + '.'",
        f"IF OBJECTPROPERTY(OBJECT_ID({literal}), 'IsProcedure') = 1"
        f" OR OBJECTPROPERTY(OBJECT_ID({literal}), 'IsScalarFunction') = 1"
        f" OR OBJECTPROPERTY(OBJECT_ID({literal}), 'IsTableFunction') = 1"
        f" OR OBJECTPROPERTY(OBJECT_ID({literal}), 'IsTrigger') = 1 {_TEXT.format(name=literal)}"
        f" ELSE IF OBJECT_ID({literal}) IS NOT NULL {_COLUMNS.replace('{name}', literal)}",
        f"IF EXISTS (SELECT * FROM sys.indexes WHERE object_id = OBJECT_ID({literal}) AND name IS NOT NULL)"
        f" AND OBJECTPROPERTY(OBJECT_ID({literal}), 'IsTable') = 1 {_INDEXES.replace('{name}', literal)}",
        f"IF EXISTS (SELECT * FROM sys.service_queues WHERE object_id = OBJECT_ID({literal})) {queue}",
        f"IF EXISTS (SELECT * FROM sys.services WHERE name = {plain}) {service}",
        f"IF EXISTS (SELECT * FROM sys.service_contracts WHERE name = {plain}) {contract}",
    ]


def _is_pattern(argument: str) -> bool:
    return "*" in argument or "?" in argument


def _like(name: str, argument: str) -> str:
    """A condition for a name or pattern; schemas are not part of it."""
    if not argument:
        return ""
    if not _is_pattern(argument):
        return f" AND LOWER({name}) = LOWER({_literal(argument)})"
    escaped = re.sub(r"([%_\[\\])", r"\\\1", argument).replace("*", "%").replace("?", "_")
    return f" AND LOWER({name}) LIKE LOWER({_literal(escaped)}) ESCAPE '\\'"


def _literal(text: str) -> str:
    return "N'" + text.replace("'", "''") + "'"

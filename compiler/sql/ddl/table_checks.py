"""What is wrong with a table's definition, whatever the server has: said twice, or against the rest of it."""

from __future__ import annotations

from collections.abc import Sequence

from ...catalog.names import fold
from ...catalog.objects import TableInfo
from ..context import Context
from .definitions import Column, Constraint, Definition, all_constraints


def refuse_repeated_columns(columns: Sequence[str], ctx: Context) -> None:
    """Report an index, or a key, that has a column twice."""
    folded = [fold(column) for column in columns]
    twice = next((one for place, one in enumerate(columns) if folded[place] in folded[:place]), None)
    if twice is not None:
        ctx.problem(
            f"Cannot use duplicate column names in index. Column name '{twice}' listed more than once.",
            number=1909,
        )


def refuse_xml_keys(columns: Sequence[str], info: TableInfo, ctx: Context) -> None:
    """Report a column of XML that an index would have to sort by."""
    keys = {fold(column) for column in columns}
    for known in info.columns:
        if known.type is not None and known.type.family == "xml" and fold(known.name) in keys:
            table = info.name.name if info.name is not None else ""
            ctx.problem(
                f"Column '{known.name}' in table '{table}' is of a type that is invalid for use as a key "
                "column in an index.",
                number=1919,
            )


def check_column(column: Column, is_key: bool, table: str, ctx: Context) -> None:
    """Report what is said of a column twice, or against what else is said of it."""
    kinds = [constraint.kind for constraint in column.constraints]
    twice = column.repeated or [
        kind for place, kind in enumerate(kinds) if kind != "PRIMARY KEY" and kind in kinds[:place]
    ]
    if twice:
        what = twice[0]
        said = f"More than one column {what} constraint"
        if what == "NULL":
            said = "Multiple NULL constraints were"
        ctx.problem(
            f"{said} specified for column '{column.name.name}', table '{table}'.",
            column.name,
            number=8150 if what == "NULL" else 8148,
        )
    elif "PRIMARY KEY" in kinds and "UNIQUE" in kinds:
        ctx.problem(
            f"Both a PRIMARY KEY and UNIQUE constraint have been defined for column '{column.name.name}', "
            f"table '{table}'. Only one is allowed.",
            column.name,
            number=8151,
        )
    elif column.identity is not None and column.default is not None:
        ctx.problem(
            f"Defaults cannot be created on columns with an IDENTITY attribute. Table '{table}', "
            f"column '{column.name.name}'.",
            column.name,
            number=1754,
        )
    elif column.nullable and column.identity is not None:
        ctx.problem(
            f"Could not create IDENTITY attribute on nullable column '{column.name.name}', table '{table}'.",
            column.name,
            number=8147,
        )
    elif column.nullable and is_key:
        ctx.problem(
            f"Cannot define PRIMARY KEY constraint on nullable column in table '{table}'.",
            column.name,
            number=8111,
        )


def check_table(definition: Definition, info: TableInfo, table: str, ctx: Context) -> None:
    """Report what the columns, constraints and indexes of a table say against each other."""
    _check_identity(definition, info, table, ctx)
    keys = sum(constraint.kind == "PRIMARY KEY" for constraint in all_constraints(definition))
    # A table's own PostgreSQL refuses when it is made, where a TRY may catch it.
    if info.name is None and keys > 1:
        ctx.problem(f"Cannot add multiple PRIMARY KEY constraints to table '{table}'.", number=8110)
    if sum(constraint.clustered for constraint in all_constraints(definition)) > 1:
        ctx.problem(
            f"Cannot add more than one clustered index for constraints on table '{table}'.", number=8112
        )
    versions = [c.name for c in info.columns if c.type is not None and c.type.name == "rowversion"]
    if len(versions) > 1:
        ctx.problem(
            f"A table can only have one timestamp column. Because table '{table}' already has one, the "
            f"column '{versions[1]}' cannot be added.",
            number=2738,
        )
    indexes = [fold(index.name) for index in definition.indexes]
    for place, index in enumerate(definition.indexes):
        if indexes[place] in indexes[:place]:
            ctx.problem(
                f"The operation failed because an index or statistics with name '{index.name}' already "
                f"exists on table '{table}'.",
                number=1913,
            )


def check_foreign_key(constraint: Constraint, table: str, ctx: Context) -> None:
    """Report a foreign key to a temporary table, or to another number of columns than it has."""
    if constraint.references is not None and constraint.references.name.startswith("#"):
        called = f" Foreign key '{constraint.name}'." if constraint.name is not None else ""
        ctx.problem(
            f"Foreign key references to temporary tables are not supported.{called}",
            constraint.references,
            number=1766,
        )
    elif constraint.foreign_columns and len(constraint.foreign_columns) != len(constraint.columns):
        ctx.problem(
            "Number of referencing columns in foreign key differs from number of referenced columns, table "
            f"'{table}'.",
            number=8139,
        )


def _check_identity(definition: Definition, info: TableInfo, table: str, ctx: Context) -> None:
    counting = [
        (column, known)
        for column, known in zip(definition.columns, info.columns, strict=True)
        if column.identity is not None
    ]
    for column, known in counting:
        type_ = known.type
        if (
            type_ is not None
            and type_.user is None
            and (type_.family not in ("integer", "decimal") or type_.scale)
        ):
            ctx.problem(
                f"Identity column '{known.name}' must be of data type int, bigint, smallint, tinyint, or "
                "decimal or numeric with a scale of 0, unencrypted, and constrained to be nonnullable.",
                column.name,
                number=2749,
            )
    if len(counting) > 1:
        ctx.problem(
            f"Multiple identity columns specified for table '{table}'. Only one identity column per table is "
            "allowed.",
            counting[1][0].name,
            number=2744,
        )

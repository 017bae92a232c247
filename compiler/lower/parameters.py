"""Parameters as their declared types: PostgreSQL drops the length and precision of a parameter's type.

T-SQL converts an argument to the declared type: strings are cut, decimals rounded.  A caller
that knows the procedure may have done so; an application does not.
"""

from __future__ import annotations

from .. import nodes
from ..catalog.objects import TableVariable
from ..catalog.scope import ProcedureParameter, TableType
from ..catalog.types import MAX, SqlType
from ..plpgsql import nodes as pl
from .context import Context


def needs_variable(type_: SqlType | None) -> bool:
    """Tell whether assignments too rely on PostgreSQL's type, which a parameter then cannot have.

    Strings, binaries and datetime are converted wherever they are assigned.
    """
    if type_ is None:
        return False
    if type_.collection is not None:
        return True
    if type_.name == "datetime" or "(6)" in type_.postgres or type_.postgres == type_.postgres_bare:
        return False
    return type_.family in ("decimal", "datetime", "datetimeoffset", "time")


def may_overflow(type_: SqlType | None) -> bool:
    """Tell whether an argument of the right PostgreSQL type can be too large, or break its schema."""
    return type_ is not None and (type_.family == "decimal" or type_.collection is not None)


def converted(reference: str, type_: SqlType | None) -> pl.Expr | None:
    """Return a parameter's value as its declared type has it; None where nothing can differ."""
    if type_ is None or type_.user is not None or type_.collection is not None:
        return None
    if type_.family == "binary":
        if type_.length in (None, MAX):
            return None
        arguments = (pl.Name(reference), pl.Number(type_.length or 1))
        return pl.Invoke(f"sys.convert_{type_.name}", arguments)
    if type_.name in ("datetime", "smalldatetime"):
        return pl.Invoke(f"sys.convert_{type_.name}", (pl.Name(reference),))
    if type_.postgres == type_.postgres_bare or "(6)" in type_.postgres:
        return None
    return pl.Cast(pl.Name(reference), type_.postgres)


def taken(reference: str, type_: SqlType) -> pl.Expr:
    """Return what a variable of the parameter's type takes: its own type rounds, but to no minute."""
    minutes = converted(reference, type_) if type_.name == "smalldatetime" else None
    return minutes or pl.Name(reference)


def declare_table_parameter(
    written: nodes.Parameter, table: TableType, ctx: Context, qualifier: str | None
) -> TableVariable:
    """Declare a parameter of a table type, which no statement may change."""
    require_readonly(written, ctx)
    name = written.variable.name
    return ctx.scope.declare_table(name, table.row_type, table.info, qualifier=qualifier, read_only=True)


def require_readonly(written: nodes.Parameter, ctx: Context) -> None:
    """Error 352, of a parameter that is a table's."""
    name = written.variable.name
    if not written.readonly:
        ctx.problem(
            f'The table-valued parameter "{name}" must be declared with the READONLY option.',
            written.span,
            number=352,
        )


def refuse_readonly(written: nodes.Parameter, ctx: Context) -> None:
    """Error 346: READONLY stands behind a parameter that is no table's."""
    if written.readonly and not ctx.catalog.is_made_elsewhere(written.type):
        ctx.problem(
            f'The parameter "{written.variable.name}" can not be declared READONLY since it is not a '
            "table-valued parameter.",
            written.span,
            number=346,
        )


def conversions(parameters: list[tuple[str, SqlType | None]]) -> list[pl.Statement]:
    """Return the assignments at entry of those that stay parameters."""
    result: list[pl.Statement] = []
    for reference, type_ in parameters:
        value = None if needs_variable(type_) else converted(reference, type_)
        if value is not None:
            result.append(pl.Assign(reference, value))
    return result


def variable_type(parameter: ProcedureParameter) -> str:
    """Return the type of a variable that holds what goes to a parameter, or comes from it, uncut."""
    type_ = pg_type(parameter)
    return "bpchar" if type_ == "char" else type_  # char is a single character where no routine is declared


def pg_type(parameter: ProcedureParameter) -> str:
    """Return the PostgreSQL type of a parameter, without length: routines have none."""
    if parameter.table_type is not None:
        return f"{parameter.table_type}[]"
    if parameter.type is None:
        return "text"
    return parameter.type.postgres_bare

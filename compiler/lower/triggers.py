"""Triggers.

An AFTER trigger is a statement-level trigger of PostgreSQL; INSERTED and DELETED are its
transition tables. A trigger function belongs to one event, since transition tables do.

An INSTEAD OF trigger runs once a statement in T-SQL, once a row in PostgreSQL, and there on views
only. So a row-level trigger (INSTEAD OF on a view, BEFORE on a table, where it keeps the row from
being changed) keeps the rows in temporary tables, and a statement-level trigger runs the body over
them.
"""

from __future__ import annotations

from collections.abc import Sequence

from ...grammar.records import replace
from .. import nodes
from ..analysis.callees import call_effect, callee_reads
from ..analysis.declared_types import variable_names
from ..analysis.live_status import DEAD, Status
from ..analysis.mentions import reads_status
from ..analysis.structured_jumps import structured
from ..analysis.transaction_depth import ANY, Depths
from ..catalog.names import ObjectName, fold, part_name, quote, stem, unquoted, without_part
from ..catalog.objects import Known, TableInfo
from ..catalog.scope import Scope, object_name, sets_row_limit
from ..catalog.types import BOOLEAN, VARBINARY_MAX, XML
from ..plpgsql import nodes as pl
from ..target import nodes as n
from ..target import queries as q
from ..target import statements as s
from .context import Context, Mode
from .dispatch import invocations
from .leaving import kept_settings
from .results import sql
from .routines import (
    finish_alteration,
    free_label,
    has_own_rights,
    lower_routine_body,
    refuse_planted,
    rights,
)
from .statement_lists import comments

Module = nodes.CreateProcedure | nodes.CreateFunction | nodes.CreateTrigger | nodes.CreateView


class TriggerScope(Scope):
    """The scope of a trigger: UPDATE(column) asks what other triggers have noted."""

    event: str = ""
    trigger_name: str = ""
    noted: set[str]
    """Columns that UPDATE(column) asks for, folded; an empty name: COLUMNS_UPDATED() asks for all."""
    updates: str = ""
    """The variable with the columns that the UPDATE names, as the trigger found them when it began."""
    kept: str = ""
    """INSTEAD OF: what the names of the temporary tables with the rows begin with."""

    def updated_column(self, name: str) -> Known | None:
        """Return ``UPDATE(name)``: true for INSERT, false for DELETE."""
        if self.event != "UPDATE":
            return Known(n.TRUE if self.event == "INSERT" else n.FALSE, BOOLEAN)
        self.noted.add(fold(name))
        named = n.Items((self._updates,))
        return Known(n.Quantified(n.Text(fold(name)), "=", "ANY", named), BOOLEAN)

    @property
    def _updates(self) -> n.Node:
        return n.Variable(f"{self.label}.{self.updates}")

    def updated_columns(self) -> Known | None:
        """Return ``COLUMNS_UPDATED()``: a bit for each column, by its number in sys.columns."""
        changed = self._updates
        if self.event == "UPDATE":
            self.noted.add("")
        else:
            changed = n.TRUE if self.event == "INSERT" else n.FALSE
        return Known(n.Call("ssb_internal.columns_updated", (n.Word("TG_RELID"), changed)), VARBINARY_MAX)

    def kept_rows(self, name: str) -> str | None:
        """Return the temporary table that INSERTED or DELETED of an INSTEAD OF trigger is."""
        if not self.kept or fold(name) not in self.transition_tables:
            return None
        return f"pg_temp.{quote(fold(f'{self.kept}@{fold(name)}'))}"


class DdlTriggerScope(Scope):
    """The scope of a DDL trigger: EVENTDATA() is in the row that fires it (ddl_triggers.sql)."""

    def context_function(self, name: str) -> Known | None:
        """Return ``EVENTDATA()``, which has a value in the trigger's own text only."""
        if name.lower() == "eventdata":
            return Known(n.Cast(n.Variable("NEW.event_data"), "sys.xml"), XML)
        return super().context_function(name)


def module_name(node: Module, context: Context) -> ObjectName:
    """The name of a module; a trigger without a schema belongs to that of its table."""
    name = object_name(node.name)
    if isinstance(node, nodes.CreateTrigger) and name.schema is None and node.target is not None:
        target = context.object(node.target)
        return ObjectName(name.name, target.schema, target.database)
    return name


def lower_create_trigger(node: nodes.CreateTrigger, context: Context) -> list[pl.TopLevel]:
    """Lower CREATE TRIGGER: a trigger function and a trigger for each event."""
    node = replace(node, body=structured(node.body))
    folded = fold(node.name.name.text)
    if without_part(folded) != folded:
        # So the trigger's parts are called.
        context.problems.add(
            f"A trigger of the name '{node.name.name.text}' is not supported.", at=node.name.name.span
        )
        return []
    if node.target is None:
        return _ddl_trigger(node, context)
    catalog = context.catalog
    target = context.object(node.target)
    table = catalog.sql_name(target)
    known = catalog.tables.get(catalog.key(target))
    sql_name = catalog.sql_name(module_name(node, context))
    prepare = pl.Invoke(
        "ssb_internal.prepare_trigger", (pl.Text(node.action), pl.Text(sql_name), pl.Text(table))
    )
    result: list[pl.TopLevel] = [pl.Select(prepare)]
    if node.timing != "AFTER":
        events = pl.Array(tuple(map(pl.Text, node.events)), "text")
        checked = (pl.Text(table), pl.Text(node.name.name.text), events)
        result.append(pl.Select(pl.Invoke("ssb_internal.check_instead", checked)))
    result += [pl.Comment(comment.text) for comment in node.comments]
    for number, event in enumerate(node.events):
        suffix = "" if number == 0 else f"@{event.lower()}"
        result += _trigger_of_event(node, context, event, suffix, sql_name, table, known)
    return [*result, *finish_alteration(node.action, sql_name)]


def _ddl_trigger(node: nodes.CreateTrigger, context: Context) -> list[pl.TopLevel]:
    """A trigger on the database or the server: one on the table by which the runtime fires them."""
    catalog = context.catalog
    name = node.name.name.text
    scope_name = _scope_of(node.scope)
    function = part_name(catalog.sql_name(object_name(node.name)), f"@{scope_name.lower()}")
    label = free_label(fold(name), node.text.tokens)
    scope = DdlTriggerScope(catalog, label=label, routine=function, trigger=True)
    scope.reserve(variable_names(node.body))
    ctx = _context_of(node, context, scope)
    routine = pl.Routine(
        function,
        (),
        _frame(node, ctx, before=[], after=[], result=pl.Name("NEW")),
        tag=name,
        returns="trigger",
        attributes=rights(node.options),
    )
    events = pl.Array(tuple(map(pl.Text, node.events)), "text")
    named = (pl.Text(name), pl.Text(scope_name))
    prepare = pl.Invoke(
        "ssb_internal.prepare_ddl_trigger", (pl.Text(node.action), *named), context.database_argument()
    )
    create = pl.Invoke(
        "ssb_internal.create_ddl_trigger", (*named, events, pl.Text(function)), context.database_argument()
    )
    comment_lines = [pl.Comment(comment.text) for comment in node.comments]
    made = _kept_from_others(routine, pl.Perform(create))
    return [pl.Select(prepare), *comment_lines, *ctx.prelude, made]


def _scope_of(words: str | None) -> str:
    """Return DATABASE or SERVER."""
    return "SERVER" if words is not None and words.endswith("SERVER") else "DATABASE"


def _context_of(node: nodes.CreateTrigger, context: Context, scope: Scope) -> Context:
    """Return the context of a trigger's body; its variables are reserved in the scope."""
    label = scope.label
    scope.taken |= {fold(node.name.name.text), unquoted(label)}
    scope.session = scope.helper("session")
    scope.limits_rows = sets_row_limit(node.body)
    return Context(
        catalog=context.catalog,
        scope=scope,
        problems=context.problems,
        mode=Mode.TRIGGER,
        first_line=context.first_line,
        depths=Depths(node.body, ANY, call_effect(context.catalog), careful=True),
        liveness=Status(node.body, DEAD, callee_reads(context.catalog)),
        body_label=label,
        routine_name=node.name.name.text,
    )


def _frame(
    node: nodes.CreateTrigger,
    ctx: Context,
    before: Sequence[pl.Statement],
    after: Sequence[pl.Statement],
    result: pl.Expr,
) -> pl.Block:
    """Return the body between what begins a trigger and what ends it."""
    body = [*lower_routine_body(node.body, ctx), *comments(node.closing_comments)]
    if isinstance(ctx.scope, TriggerScope) and ctx.scope.noted:
        trigger = pl.Name("TG_RELID"), pl.Text(ctx.scope.trigger_name)
        named = pl.Invoke("ssb_internal.columns_named", trigger)
        ctx.declarations[ctx.scope.updates] = pl.Declaration(ctx.scope.updates, "text[]", named)
    keep, put_back = kept_settings(node.body, ctx)
    outer: list[pl.Statement] = [
        pl.Assign(ctx.session, _enter(node, ctx)),
        *refuse_planted(node.text.tokens),
        *keep,
        *before,
        pl.Block(tuple(body), label=ctx.scope.label, declarations=tuple(ctx.declarations.values())),
        *put_back,
        *ctx.drop_temporary_tables(),
        *after,
        pl.Perform(pl.Invoke("ssb_internal.leave_trigger", (pl.Name(ctx.session),))),
    ]
    outer.append(pl.Return(result))
    declarations = (pl.Declaration(ctx.session, "ssb.session"), *ctx.frame.declarations.values())
    return pl.Block(tuple(outer), declarations=declarations)


def _enter(node: nodes.CreateTrigger, ctx: Context) -> pl.Expr:
    name = (pl.Text(node.name.name.text),)
    if not has_own_rights(node.options) and ctx.catalog.in_default_database:
        return pl.Invoke("ssb_internal.enter_trigger", name)
    return pl.Invoke("ssb_internal.enter_definer", name, ctx.database_argument())


def _kept_from_others(routine: pl.Routine, *then: pl.Statement) -> pl.TopLevel:
    """Make a trigger's function that nobody but its owner may hang on a table, whose rows it would trust.

    One statement: a function that has been made is everybody's to hang until that is revoked.
    """
    revoke = sql(s.RevokeFromPublic(n.Call(routine.name)))
    return pl.Do(pl.Block((pl.Define(routine), *then, revoke)), tag="define")


def _definition(node: nodes.CreateTrigger, routine: pl.Routine) -> pl.TopLevel:
    """Make the function of a trigger on a table."""
    return _kept_from_others(routine) if has_own_rights(node.options) else routine


def _trigger_of_event(
    node: nodes.CreateTrigger,
    context: Context,
    event: str,
    suffix: str,
    sql_name: str,
    table: str,
    known: TableInfo | None,
) -> list[pl.TopLevel]:
    catalog = context.catalog
    folded = fold(node.name.name.text)
    label = free_label(folded, node.text.tokens)
    scope = TriggerScope(catalog, label=label, routine=sql_name, trigger=True)
    function = part_name(sql_name, suffix) if suffix else sql_name
    scope.event, scope.trigger_name, scope.noted = event, folded, set()
    columns = known.columns if known else ()
    instead = node.timing != "AFTER"
    if instead:
        scope.kept = function.replace('"', "")
    for pseudo in ("inserted", "deleted"):
        scope.transition_tables[pseudo] = TableInfo(
            None, columns, read_only=True, partial=known is None or known.partial, rows_of=table
        )
    missing = {"DELETE": ("inserted", "deleted"), "INSERT": ("deleted", "inserted")}.get(event)
    if missing is not None:
        # Without a row, in the place of what the event does not have; the table itself may be renamed.
        scope.absent[missing[0]] = scope.kept_rows(missing[1]) or missing[1]
    scope.reserve(variable_names(node.body))
    scope.updates = scope.helper("updates")
    ctx = _context_of(node, context, scope)
    running = (pl.Text(sql_name),)
    routine = pl.Routine(
        function,
        (),
        _frame(
            node,
            ctx,
            before=[
                *([pl.Perform(pl.Invoke("ssb_internal.enter_instead", running))] if instead else []),
                *_rows_of_event(node, event, scope),
            ],
            after=[pl.Perform(pl.Invoke("ssb_internal.leave_instead", running))] if instead else [],
            result=pl.NULL,
        ),
        tag=node.name.name.text,
        returns="trigger",
        attributes=rights(node.options),
    )
    trigger_name = stem(folded) + suffix if suffix else folded
    if instead:
        create = _instead(node, event, scope, trigger_name, function, sql_name, table)
    else:
        create = [_after(event, trigger_name, function, table)]
    notes = _notes(folded, table, sorted(scope.noted)) if scope.noted else []
    return [*ctx.prelude, _definition(node, routine), *create, *notes]


def _notes(trigger: str, table: str, columns: Sequence[str]) -> list[pl.TopLevel]:
    """A trigger that fires before the trigger itself and forgets older notes, and those that note columns.

    PostgreSQL fires triggers in the order of their names.
    """
    words = (trigger, "", *columns)
    forget = s.CreateStatementTrigger(
        fold(f"!{stem(trigger)}@"),
        "UPDATE",
        table,
        n.Call("ssb_internal.note_update", tuple(map(n.Text, words))),
    )
    note = pl.Invoke("ssb_internal.note_updates", (pl.Text(table), pl.Text(trigger)))
    return [pl.Plain(forget), pl.Select(note)]


def _after(event: str, trigger_name: str, function: str, table: str) -> pl.TopLevel:
    """The trigger of an AFTER trigger; it does not fire itself."""
    inserted, deleted = ("NEW TABLE", "inserted"), ("OLD TABLE", "deleted")
    rows = {"INSERT": (inserted,), "DELETE": (deleted,), "UPDATE": (inserted, deleted)}[event]
    outermost = n.Comparison("=", n.Call("pg_trigger_depth"), n.Integer(0))
    fires = n.Call("ssb_internal.fires", (n.Text(function),))
    trigger = s.CreateStatementTrigger(
        trigger_name,
        event,
        table,
        n.Call(function),
        rows=rows,
        when=n.AnyOf((outermost, fires)),
    )
    return pl.Plain(trigger)


def _instead(
    node: nodes.CreateTrigger,
    event: str,
    scope: TriggerScope,
    trigger_name: str,
    function: str,
    trigger: str,
    table: str,
) -> list[pl.TopLevel]:
    """The triggers of an INSTEAD OF trigger: the rows are kept, then the body runs over them.

    Whether the target is a view only the run time may know: ssb_internal.create_instead asks it.
    """
    rows = part_name(function, "@rows")
    kept = {
        row: scope.kept_rows(name) or ""
        for name, row, missing in (("inserted", "NEW", "DELETE"), ("deleted", "OLD", "INSERT"))
        if event != missing
    }
    names_of_rows = tuple(map(pl.Text, kept.values()))
    begin = pl.Invoke("ssb_internal.begin_instead", (pl.Text(trigger), pl.Name("TG_RELID"), *names_of_rows))
    once = (pl.Perform(begin), pl.Return(pl.NULL))
    of_statement = n.Comparison("=", n.Word("TG_LEVEL"), n.Text("STATEMENT"))
    body: list[pl.Statement] = [pl.If(((pl.Raw(of_statement), once),))]
    for row, table_of in kept.items():
        whole = q.Select((n.Every(n.Word(row)),), breaks=q.Breaks.NEVER)
        body.append(sql(s.Insert(n.Variable(table_of), (), whole)))
    of_view = n.Comparison("=", n.Word("TG_WHEN"), n.Text("INSTEAD OF"))
    done = n.Case(((of_view, n.Word("OLD" if event == "DELETE" else "NEW")),))
    body.append(pl.Return(pl.Raw(done)))
    keep = pl.Routine(
        rows,
        (),
        pl.Block(tuple(body)),
        tag="keep_rows",
        returns="trigger",
        attributes=rights(node.options),
    )
    names = (table, event, trigger_name, function, rows, trigger)
    made = pl.Invoke("ssb_internal.create_instead", tuple(map(pl.Text, names)))
    return [_definition(node, keep), pl.Select(made)]


def _rows_of_event(node: nodes.CreateTrigger, event: str, scope: TriggerScope) -> list[pl.Statement]:
    """@@ROWCOUNT at the start of a trigger: the rows of the statement that fired it."""
    if not reads_status(node.tokens)[1]:
        return []
    rows = "deleted" if event == "DELETE" else "inserted"
    source = n.Variable(scope.kept_rows(rows) or rows)
    counted = q.Select((n.Call("count", (n.STAR,)),), source, breaks=q.Breaks.NEVER)
    return [pl.Assign(f"{scope.session}.rowcount", pl.Raw(n.Subquery(counted)))]


@invocations.register
def enable_trigger(node: nodes.EnableTrigger, ctx: Context) -> list[pl.Invoke] | None:
    """ENABLE TRIGGER, DISABLE TRIGGER."""
    names = pl.Array(tuple(pl.Text(fold(name.name.text)) for name in node.triggers), "text")
    enable = pl.TRUE if node.enable else pl.FALSE
    if node.target is None:
        arguments = (pl.Text(_scope_of(node.scope)), names, enable)
        return [pl.Invoke("ssb_internal.enable_ddl_trigger", arguments, ctx.database_argument())]
    return [pl.Invoke("ssb_internal.enable_trigger", (ctx.queue(node.target), names, enable))]

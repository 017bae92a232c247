"""Texts that are known before the program runs: what EXEC and sp_executesql are given.

:class:`Constants` follows the variables of a body on every way that control takes.  A known text is a
:data:`Template`: constant parts, and between them pieces that only the run time knows
(``N'SELECT * FROM ' + QUOTENAME(@table)``).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import cached_property

from sqlglot import exp

from ...grammar.records import dataclass
from ...grammar.tokens import Token, TokenKind
from .. import nodes
from ..catalog.names import fold
from ..sql.parse.nodes import constant_text, operands, unwrapped, variable_name
from .mentions import assigned_variables, has_query, variables_in


@dataclass(frozen=True)
class Piece:
    """A part of a text that is an expression over variables."""

    text: nodes.SqlText

    @property
    def variables(self) -> set[str]:
        """Return the variables it reads, folded."""
        return variables_in(self.text.tree)

    @property
    def has_query(self) -> bool:
        """Whether a query stands in it."""
        return has_query(self.text.tree)

    @property
    def quoted_by(self) -> str | None:
        """What QUOTENAME puts around it, ``[`` where it says nothing; None where it is something else."""
        tree = self.text.tree
        if not isinstance(tree, exp.Anonymous) or tree.name.upper() != "QUOTENAME":
            return None
        mark = tree.expressions[1:2]
        return mark[0].name if mark and isinstance(mark[0], exp.Literal | exp.National) else "["


Template = tuple[str | Piece, ...]


def plain(template: Template | None) -> str | None:
    """Return the text of a template without pieces."""
    if template is None or not all(isinstance(part, str) for part in template):
        return None
    return "".join(part for part in template if isinstance(part, str))


@dataclass(frozen=True)
class Known:
    """The variables whose text is known at a place, by their folded names.

    ``types`` are those of the variables, which cut off what is too long.
    """

    values: Mapping[str, Template] = field(default_factory=dict)
    types: Mapping[str, nodes.DataType] = field(default_factory=dict, compare=False)

    def of_variable(self, name: str) -> Template | None:
        """Return the text that a variable holds."""
        return self.values.get(name.lower())

    def value(self, text: nodes.SqlText) -> Template | None:
        """Return the text that an expression gives; None when no part of it is constant."""
        return None if text.tree is None else self._template(text, text.tree)

    def _template(self, text: nodes.SqlText, tree: exp.Expr) -> Template | None:
        """The text that a part of an expression gives, likewise: a sum may be one of numbers."""
        parts: list[str | Piece] = []
        for operand in operands(unwrapped(tree), exp.Add):
            inner = unwrapped(operand)
            name = variable_name(inner)
            constant = constant_text(inner)
            if constant is not None:
                parts.append(constant)
            elif name is not None and name.lower() in self.values:
                parts += self.values[name.lower()]
            elif isinstance(inner, exp.Add) and (template := self._template(text, inner)) is not None:
                parts += template
            else:
                parts.append(Piece(text.part(inner)))
        return tuple(parts) if any(isinstance(part, str) for part in parts) else None

    def after(self, statement: nodes.Statement) -> Known:
        """Return what is known after a statement that was known as this before it."""
        match statement:
            case nodes.Declare(declarations=declarations):
                known = self
                for declaration in declarations:
                    if isinstance(declaration, nodes.VariableDeclaration) and declaration.initial is not None:
                        known = known._set(declaration.variable.key, declaration.initial)
                return known
            case nodes.SetVariable(operator="=", variable=variable):
                return self._set(variable.key, statement.value)
            case nodes.SetVariable(operator="+=", variable=variable):
                before = self.values.get(variable.key)
                more = self.value(statement.value) or (Piece(statement.value),)
                return self._with(variable.key, None if before is None else before + more)
            case nodes.SqlStatement(kind="SELECT", text=text) if _is_simple_select(text.tokens):
                # SELECT @v = expression
                return self._set(text.tokens[1].text.lower(), _value_of_select(text))
        return self.without([statement])

    def _set(self, name: str, text: nodes.SqlText) -> Known:
        return self._with(name, self.value(text))

    def _with(self, name: str, value: Template | None) -> Known:
        known = self._forgetting({name})
        kept = None if value is None else _kept(value, self.types.get(name))
        return known if kept is None else Known({**known.values, name: kept}, self.types)

    def without(self, body: Iterable[nodes.Statement]) -> Known:
        """Return what is known when statements may have run, or not, or some of them again."""
        return self._forgetting(assigned(body)) if self.values else self

    def _forgetting(self, changed: set[str]) -> Known:
        """Nothing of these variables, nor of texts with pieces that read them."""
        kept = {
            name: value
            for name, value in self.values.items()
            if name not in changed
            and not any(isinstance(part, Piece) and part.variables & changed for part in value)
        }
        return self if len(kept) == len(self.values) else Known(kept, self.types)


_NOTHING = Known()


class Constants:
    """What is known before each statement of a body."""

    def __init__(
        self, body: tuple[nodes.Statement, ...] = (), parameters: Mapping[str, nodes.DataType] | None = None
    ) -> None:
        """Follow ``body`` when the first question is asked; ``parameters``: their types."""
        self._body = body
        self._parameters = parameters or {}
        self._before: dict[int, Known] = {}
        self._at_label: dict[str, Known] = {}

    def before(self, statement: nodes.Statement) -> Known:
        """Return what is known before ``statement``; nothing where control never comes."""
        _ = self._end
        return self._before.get(id(statement), _NOTHING)

    @cached_property
    def _end(self) -> Known | None:
        while True:
            known = dict(self._at_label)
            end = self._run(self._body, Known(types={**self._parameters, **_types_in(self._body)}))
            if known == self._at_label:
                return end

    def _run(self, body: Iterable[nodes.Statement], known: Known | None) -> Known | None:
        """Return what is known behind statements, None where control does not come there."""
        for statement in body:
            known = self._step(statement, known)
        return known

    def _step(self, statement: nodes.Statement, known: Known | None) -> Known | None:
        if isinstance(statement, nodes.Label):
            known = _either(known, self._at_label.get(fold(statement.name.text)))
        if known is not None:
            self._before[id(statement)] = known
        match statement:
            case nodes.Block(statements=inner) | nodes.AtomicBlock(statements=inner):
                return self._run(inner, known)
            case nodes.If(then=then, otherwise=otherwise):
                after = self._step(then, known)
                after = _either(after, known if otherwise is None else self._step(otherwise, known))
                return after and after.without([statement])
            case nodes.While(body=body):
                known = known and known.without([statement])
                self._step(body, known)
                return known
            case nodes.TryCatch(body=tried, handler=handler):
                after = self._run(tried, known)
                after = _either(after, self._run(handler, known and known.without(tried)))
                return after and after.without([statement])
            case nodes.Goto(label=label):
                if known is not None:
                    name = fold(label.text)
                    there = self._at_label.get(name, known)
                    self._at_label[name] = _either(known, there) or known
                return None
            case nodes.InsertExecute(execute=execute) if known is not None:
                self._before[id(execute)] = known
        return known and known.after(statement)


def _either(one: Known | None, other: Known | None) -> Known | None:
    """Return what is known on either of two ways, where control comes on them."""
    if one is None or other is None or one is other:
        return other if one is None else one
    same = {name: value for name, value in one.values.items() if other.values.get(name) == value}
    return Known(same, one.types)


def _types_in(body: Iterable[nodes.Statement]) -> dict[str, nodes.DataType]:
    """The types of the variables that a body declares, wherever that is: they hold for all of it."""
    return {
        declaration.variable.key: declaration.type
        for statement in nodes.all_of(body)
        if isinstance(statement, nodes.Declare)
        for declaration in statement.declarations
        if isinstance(declaration, nodes.VariableDeclaration)
    }


# No text that a script writes down is as long; one that is doubled again and again takes all memory.
_MOST_CHARACTERS = 1_000_000
_MOST_PARTS = 10_000


def _kept(value: Template, type_: nodes.DataType | None) -> Template | None:
    """What a variable keeps of a text: what is too long is cut off.

    None where only the run time knows where, and beyond all measure; pieces are taken to fit.
    """
    length = sum(len(part) for part in value if isinstance(part, str))
    if len(value) > _MOST_PARTS or length > _MOST_CHARACTERS:
        return None
    name = "" if type_ is None else type_.name.name.text.lower()
    if type_ is None or name not in ("varchar", "nvarchar", "char", "nchar") or type_.arguments == ("MAX",):
        return value
    room = int(type_.arguments[0]) if type_.arguments and type_.arguments[0].isdecimal() else 1
    if length <= room:
        return value
    text = plain(value)
    return None if text is None else (text[:room],)


def _value_of_select(text: nodes.SqlText) -> nodes.SqlText:
    """What ``SELECT @v = expression`` gives the variable."""
    tokens = tuple(token for token in text.tokens[3:] if token.word != ";")
    return nodes.SqlText(span=text.span, tokens=tokens)


def _is_simple_select(tokens: Sequence[Token]) -> bool:
    """Tell whether a SELECT is ``SELECT @v = expression`` without FROM and further variables."""
    words = {token.word for token in tokens}
    return (
        len(tokens) > 3
        and tokens[1].kind == TokenKind.VARIABLE
        and tokens[2].word == "="
        and not words & {"FROM", ",", "WHERE"}
    )


def assigned(body: Iterable[nodes.Statement]) -> set[str]:
    """Return the variables that statements may change, folded names with @."""
    result: set[str] = set()
    for statement in body:
        children = nodes.children_of(statement)
        if children:
            result |= assigned(children)
            continue
        match statement:
            case nodes.SetVariable(variable=variable) | nodes.SetMethod(variable=variable):
                result.add(variable.key)
            case nodes.Declare(declarations=declarations):
                result |= {declaration.variable.key for declaration in declarations}
            case nodes.Print() | nodes.Send() | nodes.EndConversation() | nodes.Return():
                pass
            case nodes.Execute(arguments=arguments, return_variable=returned):
                result |= {a.value.tokens[0].text.lower() for a in arguments if a.output and a.value}
                if returned is not None:
                    result.add(returned.key)
            case _:
                # A variable in front of = (SELECT, RECEIVE, UPDATE), or anywhere in FETCH INTO.
                result |= assigned_variables(statement.tokens)
    return result

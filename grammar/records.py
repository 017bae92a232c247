"""``dataclass`` as the standard library's, made in a fifth of its time.

The compiler has some three hundred such classes, and every command that compiles makes them all:
the standard library writes and compiles six methods for each, which took a third of a short
script's time. Here only ``__init__`` is written; the others are the same for all classes.

A frozen class is frozen to mypy. At run time nothing checks it, which makes objects faster, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from functools import cache
from operator import attrgetter
from types import CodeType, FunctionType
from typing import Any, TypeVar, dataclass_transform, overload

__all__ = ["dataclass", "replace"]

T = TypeVar("T")


@overload
def dataclass(cls: type[T], /) -> type[T]: ...
@overload
def dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> Callable[[type[T]], type[T]]: ...
@dataclass_transform(field_specifiers=(dataclasses.field,))
def dataclass(
    cls: type[T] | None = None, /, *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> type[T] | Callable[[type[T]], type[T]]:
    """Make a class a dataclass: with ``__init__``, comparison by value, and ``hash`` where it is frozen."""

    def make(made: type[T]) -> type[T]:
        own_repr = "__repr__" in made.__dict__
        own_init = "__init__" in made.__dict__
        made = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)(made)
        changed: Any = made
        if not own_init:
            changed.__init__ = _first_init(changed)
        changed._given = tuple(one.name for one in dataclasses.fields(changed) if one.init)
        names = [one.name for one in dataclasses.fields(changed) if one.compare]
        changed._compared = attrgetter(*names) if names else _nothing
        changed.__eq__ = _equal
        changed.__hash__ = _hash if frozen else None
        if not own_repr:
            changed.__repr__ = _represent
        return made

    return make if cls is None else make(cls)


def _first_init(cls: Any) -> Callable[..., None]:
    """Return an ``__init__`` that puts the class's own in its place when it is first called."""

    def __init__(self: Any, *given: Any, **named: Any) -> None:
        cls.__init__ = _written_init(cls)
        cls.__init__(self, *given, **named)

    return __init__


def _written_init(cls: Any) -> Callable[..., None]:
    """Write ``__init__`` as ``dataclasses`` does: positional parameters first, then those by name alone.

    ``dataclasses.fields`` gives the fields of base classes before the class's own.
    """
    fields = dataclasses.fields(cls)
    if not hasattr(cls, "__post_init__") and all(
        one.init and one.default_factory is dataclasses.MISSING for one in fields
    ):
        return _renamed_init(cls, fields)
    parameters = {False: ["self"], True: ["*"]}
    body: list[str] = []
    names: dict[str, Any] = {"MISSING": dataclasses.MISSING}
    for one in fields:
        made = None
        if one.default_factory is not dataclasses.MISSING:
            names[f"make_{one.name}"] = one.default_factory
            made = f"make_{one.name}()"
        elif one.default is not dataclasses.MISSING:
            names[f"default_{one.name}"] = one.default
            made = f"default_{one.name}"
        if not one.init:
            body += [f"self.{one.name} = {made}"] if made else []
            continue
        default = "" if made is None else "=MISSING" if made.endswith("()") else f"={made}"
        parameters[bool(one.kw_only)].append(one.name + default)
        value = f"{made} if {one.name} is MISSING else {one.name}" if default == "=MISSING" else one.name
        body.append(f"self.{one.name} = {value}")
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    by_name = parameters[True] if len(parameters[True]) > 1 else []
    head = ", ".join([*parameters[False], *by_name])
    exec(f"def __init__({head}):\n  " + "\n  ".join(body or ["pass"]), names)
    written: Callable[..., None] = names["__init__"]
    written.__qualname__ = f"{cls.__qualname__}.__init__"
    return written


def _renamed_init(cls: Any, fields: tuple[dataclasses.Field[Any], ...]) -> Callable[..., None]:
    """Return ``__init__`` for a class whose fields are all given or have a value as default.

    It is another such class's with other names, which takes a tenth of the time of compiling one.
    """
    given = [one for one in fields if not one.kw_only]
    by_name = [one for one in fields if one.kw_only]
    names = tuple(one.name for one in (*given, *by_name))
    code = _init_code(len(given), len(by_name)).replace(
        co_varnames=("self", *names), co_names=names, co_qualname=f"{cls.__qualname__}.__init__"
    )
    defaults = tuple(one.default for one in given if one.default is not dataclasses.MISSING)
    written = FunctionType(code, {"__name__": cls.__module__}, "__init__", defaults)
    written.__kwdefaults__ = {
        one.name: one.default for one in by_name if one.default is not dataclasses.MISSING
    }
    return written


@cache
def _init_code(given: int, by_name: int) -> CodeType:
    names = [f"field_{number}" for number in range(given + by_name)]
    head = ["self", *names[:given], *(["*"] if by_name else []), *names[given:]]
    body = [f"self.{name} = {name}" for name in names]
    made: dict[str, Any] = {}
    exec(f"def __init__({', '.join(head)}):\n  " + "\n  ".join(body or ["pass"]), made)
    code: CodeType = made["__init__"].__code__
    return code


def replace(one: T, /, **changes: Any) -> T:
    """Return a copy of an object of such a class with other values in some of its fields."""
    kind: Any = one.__class__
    for name in kind._given:
        if name not in changes:
            changes[name] = getattr(one, name)
    copy: T = kind(**changes)
    return copy


def _nothing(one: object) -> tuple[()]:
    return ()


def _equal(self: Any, other: Any) -> Any:
    kind = self.__class__
    if other.__class__ is not kind:
        return NotImplemented
    return kind._compared(self) == kind._compared(other)


def _hash(self: Any) -> int:
    return hash(self.__class__._compared(self))


def _represent(self: Any) -> str:
    shown = ", ".join(
        f"{one.name}={getattr(self, one.name)!r}" for one in dataclasses.fields(self) if one.repr
    )
    return f"{self.__class__.__qualname__}({shown})"

"""Handlers by what they handle, a node class, a verb or a rule; the ``dispatch`` modules hold them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import reduce
from typing import Any, Generic, TypeVar, overload

Handler = TypeVar("Handler", bound=Callable[..., Any])
Some = TypeVar("Some", bound=Callable[..., Any])


class NoHandler(LookupError):
    """Nothing is registered for a key; the message names the registry and the key."""


class _Found(dict[Any, Any], Generic[Handler]):
    """What was found for a key; what was not asked for yet is looked for in ``handlers``."""

    def __init__(self, handlers: dict[Any, Handler]) -> None:
        super().__init__()
        self._handlers = handlers

    def __missing__(self, key: Any) -> Handler | None:
        bases = key.__mro__ if isinstance(key, type) else (key,)
        found = next((self._handlers[base] for base in bases if base in self._handlers), None)
        self[key] = found
        return found


class Registry(Generic[Handler]):
    """One handler a key. A class without one of its own has that of its nearest base class.

    Two handlers for one key are refused when the second module is imported (TypeError).
    """

    def __init__(self, name: str) -> None:
        """``name`` stands in messages."""
        self.name = name
        self._handlers: dict[Any, Handler] = {}
        self._found = _Found(self._handlers)
        self.find: Callable[[Any], Handler | None] = self._found.__getitem__
        """Give the handler of a key, None when there is none."""

    @property
    def keys(self) -> tuple[Any, ...]:
        """All that have a handler of their own."""
        return tuple(self._handlers)

    @overload
    def register(self, key: type | str, /, *keys: type | str) -> Callable[[Some], Some]: ...
    @overload
    def register(self, handler: Some, /) -> Some: ...
    def register(self, *keys: Any) -> Any:
        """Register the decorated function for ``keys``; without any, for the class of its first parameter."""
        if len(keys) == 1 and callable(keys[0]) and not isinstance(keys[0], type):
            handler = keys[0]
            self._add(_first_parameter(handler), handler)
            return handler

        def registering(handler: Any) -> Any:
            for key in keys:
                self._add(key, handler)
            return handler

        return registering

    def _add(self, key: Any, handler: Handler) -> None:
        known = self._handlers.get(key)
        if known is not None and known is not handler:
            raise TypeError(
                f"{self.name}: {_shown(key)} has a handler in {known.__module__} and another one in "
                f"{handler.__module__}"
            )
        self._handlers[key] = handler
        self._found.clear()

    def __getitem__(self, key: Any) -> Handler:
        """Return the handler of ``key``. Raises NoHandler."""
        found: Handler | None = self._found[key]
        if found is None:
            raise NoHandler(f"{self.name}: no handler for {_shown(key)}")
        return found

    def __iter__(self) -> Iterator[Any]:
        """Give the keys."""
        return iter(self._handlers)


def _first_parameter(handler: Any) -> Any:
    """Return the class that a handler's first parameter is annotated with.

    ``get_type_hints`` would compile every annotation of every handler, at the start of each command.
    """
    annotation = next(iter(handler.__annotations__.values()))
    if not isinstance(annotation, str):
        return annotation
    name, *attributes = annotation.split(".")
    return reduce(getattr, attributes, handler.__globals__[name])


def _shown(key: Any) -> str:
    return key.__name__ if isinstance(key, type) else str(key)

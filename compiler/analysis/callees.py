"""What a called routine does to its caller: @@TRANCOUNT, and what it reads of @@ERROR and @@ROWCOUNT."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from typing import Generic, TypeVar

from ...grammar.lexer import string_value
from ...grammar.tokens import TokenKind
from .. import nodes
from ..catalog.scope import Catalog, object_name
from .live_status import BOTH, DEAD, Live, Status
from .transaction_depth import MANY, CallEffect, Depths, State

K = TypeVar("K")
R = TypeVar("R")
Body = tuple[nodes.Statement, ...]

_BEGINS = re.compile(r"\bBEGIN\s+TRAN(?:SACTION)?\b", re.IGNORECASE)
_ENDS = re.compile(r"\b(?:COMMIT|ROLLBACK)\b", re.IGNORECASE)


def call_effect(catalog: Catalog) -> CallEffect:
    """Return what EXEC does to @@TRANCOUNT: found in the procedure's body where the script has it."""
    known = catalog.call_effects.setdefault(catalog.database, {})
    open_calls: _OpenCalls[tuple[tuple[str, str], int], tuple[State, State]] = _OpenCalls()

    def effect(call: nodes.Statement, state: State) -> tuple[State, State]:
        if isinstance(call, nodes.InsertExecute):
            return state, state
        if begun := _left_open(call):
            deeper = state | frozenset(min(depth + begun, MANY) for depth in state)
            return deeper, deeper
        if not isinstance(call, nodes.Execute) or not isinstance(call.module, nodes.QualifiedName):
            return state, state
        key = catalog.key(object_name(call.module))
        body = catalog.bodies.get(key)
        if body is None:
            return state, state
        after: set[int] = set()
        thrown: set[int] = set()
        for depth in state:
            # A recursive call counts as one that leaves the depth as it was.
            same = frozenset({depth})

            def analyse(body: Body = body, same: State = same) -> tuple[State, State]:
                depths = Depths(body, same, effect)
                return depths.exit, depths.anywhere

            left, anywhere = open_calls.result((key, depth), known, (same, same), analyse)
            after |= left
            thrown |= anywhere
        return frozenset(after) or state, frozenset(thrown)

    return effect


def _left_open(call: nodes.Statement) -> int:
    """How many transactions dynamic SQL seems to leave open, by the strings that it is written with."""
    text: nodes.SqlText | None = None
    if isinstance(call, nodes.ExecuteString):
        text = call.text
    elif isinstance(call, nodes.Execute) and isinstance(call.module, nodes.QualifiedName) and call.arguments:
        text = call.arguments[0].value if call.module.name.text.lower() == "sp_executesql" else None
    if text is None:
        return 0
    written = " ".join(string_value(token) for token in text.tokens if token.kind is TokenKind.STRING)
    return max(len(_BEGINS.findall(written)) - len(_ENDS.findall(written)), 0)


def callee_reads(catalog: Catalog) -> Callable[[nodes.Execute], Live]:
    """Return what a called procedure may read of @@ERROR and @@ROWCOUNT before it sets them."""
    known = catalog.call_reads.setdefault(catalog.database, {})
    open_calls: _OpenCalls[tuple[str, str], Live] = _OpenCalls()

    def reads(call: nodes.Execute) -> Live:
        if not isinstance(call.module, nodes.QualifiedName):
            return BOTH
        name = call.module.name.text.lower()
        key = catalog.key(object_name(call.module))
        body = catalog.bodies.get(key)
        if body is None:
            # A system procedure reads neither, but the text that sp_executesql runs may.
            return DEAD if name.startswith("sp_") and name != "sp_executesql" else BOTH
        # A recursive call reads what the first one reads.
        return open_calls.result(key, known, DEAD, lambda: Status(body, DEAD, reads).at_entry)

    return reads


class _OpenCalls(Generic[K, R]):
    """The procedures under analysis, each called by the one before it.

    A call of one of them gets a preliminary answer; what was found with its help holds for this
    analysis alone, everything else is kept for all.
    """

    def __init__(self) -> None:
        self._places: dict[K, int] = {}
        self._preliminary: dict[K, R] = {}
        self._lowest = sys.maxsize

    def result(self, key: K, known: dict[K, R], assumed: R, analyse: Callable[[], R]) -> R:
        """Return what is known of ``key``, or what ``analyse`` finds; ``assumed`` while that goes on."""
        if key in known:
            return known[key]
        if key in self._places:
            self._lowest = min(self._lowest, self._places[key])
            return assumed
        if key in self._preliminary:
            self._lowest = -1
            return self._preliminary[key]
        place = self._places[key] = len(self._places)
        before, self._lowest = self._lowest, sys.maxsize
        found = analyse()
        del self._places[key]
        if self._lowest >= place:
            known[key] = found
        else:
            self._preliminary[key] = found
            before = min(before, self._lowest)
        self._lowest = before
        return found

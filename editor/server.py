"""The language server itself: LSP over stdio, by pygls.

Texts come whole with each change: the lines are then ours, and a surrogate or a strange line end cannot
put them apart from the client's. Diagnostics follow a moment after the last change, made in a thread.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from lsprotocol import types
from pygls.lsp.server import LanguageServer

from .. import __version__
from ..compiler.compiled import CompileOptions
from .completion import complete
from .dialect import row_at
from .documents import Definition, Document, definitions_of
from .findings import Finding, Prepare, check

QUIET_SECONDS = 0.25
"""How long after the last change the scripts are checked."""

_SYMBOLS = {
    "message type": types.SymbolKind.Struct,
    "contract": types.SymbolKind.Interface,
    "queue": types.SymbolKind.Array,
    "service": types.SymbolKind.Module,
    "table": types.SymbolKind.Class,
    "view": types.SymbolKind.Class,
    "type": types.SymbolKind.Class,
    "procedure": types.SymbolKind.Function,
    "function": types.SymbolKind.Function,
    "trigger": types.SymbolKind.Event,
}
_COMPLETIONS = {
    "keyword": types.CompletionItemKind.Keyword,
    "message type": types.CompletionItemKind.Struct,
    "contract": types.CompletionItemKind.Interface,
    "service": types.CompletionItemKind.Module,
    "table": types.CompletionItemKind.Class,
    "view": types.CompletionItemKind.Class,
    "procedure": types.CompletionItemKind.Function,
    "function": types.CompletionItemKind.Function,
}


class Scripts:
    """The open scripts and the answers to the client's questions about them."""

    def __init__(self, server: LanguageServer, options: CompileOptions, prepare: Prepare) -> None:
        """Start with none open."""
        self._server = server
        self._options = options
        self._prepare = prepare
        self._open: dict[str, Document] = {}
        self._changed = asyncio.Event()
        self._checking: asyncio.Task[None] | None = None

    # ------------------------------------------------------------ what the client tells

    def opened(self, params: types.DidOpenTextDocumentParams) -> None:
        """Take a script."""
        item = params.text_document
        self._take(item.uri, item.version)

    def changed(self, params: types.DidChangeTextDocumentParams) -> None:
        """Take the new text of a script."""
        self._take(params.text_document.uri, params.text_document.version)

    def closed(self, params: types.DidCloseTextDocumentParams) -> None:
        """Forget a script and what was wrong with it; the others may have used what it defines."""
        uri = params.text_document.uri
        self._open.pop(uri, None)
        self._publish(uri, None, [])
        self._check_soon()

    def _take(self, uri: str, version: int | None) -> None:
        held = self._server.workspace.get_text_document(uri)
        units = self._server.workspace.position_encoding
        name = held.path if uri.startswith("file:") else uri
        self._open[uri] = Document(uri, name, held.source, version, str(getattr(units, "value", units)))
        self._check_soon()

    # ------------------------------------------------------------ diagnostics

    def _check_soon(self) -> None:
        self._changed.set()
        if self._checking is None or self._checking.done():
            self._checking = asyncio.get_running_loop().create_task(self._check_when_quiet())

    async def _check_when_quiet(self) -> None:
        """Check the scripts whenever nothing has changed for a moment, until nothing is left to check."""
        while self._changed.is_set():
            self._changed.clear()
            await asyncio.sleep(QUIET_SECONDS)
            if self._changed.is_set():
                continue
            documents = sorted(self._open.values(), key=lambda document: document.uri)
            for document, found in await asyncio.to_thread(check, documents, self._options, self._prepare):
                # What was typed meanwhile is checked in the next round.
                if self._open.get(document.uri) is document:
                    self._publish(document.uri, document.version, _diagnostics(document, found))

    def _publish(self, uri: str, version: int | None, found: list[types.Diagnostic]) -> None:
        self._server.text_document_publish_diagnostics(
            types.PublishDiagnosticsParams(uri=uri, version=version, diagnostics=found)
        )

    # ------------------------------------------------------------ what the client asks

    def completion(self, params: types.CompletionParams) -> list[types.CompletionItem]:
        """Return what can be written at the cursor."""
        document, offset = self._place(params)
        if document is None:
            return []
        end = _position(document, offset)
        return [
            types.CompletionItem(
                label=one.text,
                kind=_COMPLETIONS.get(one.kind, types.CompletionItemKind.Reference),
                detail=one.kind,
                sort_text=f"{int(one.kind == 'keyword')}{one.text.lower()}",
                filter_text=one.text,
                text_edit=types.TextEdit(types.Range(_position(document, one.start), end), one.text),
            )
            for one in complete(document, offset, self._open.values())
        ]

    def hover(self, params: types.HoverParams) -> types.Hover | None:
        """Return what docs/dialect.md says about the statement under the cursor."""
        document, offset = self._place(params)
        found = row_at(document.source, offset) if document is not None else None
        if document is None or found is None:
            return None
        row, span = found
        text = f"```sql\n{row.sample}\n```\n{row.answer}"
        return types.Hover(
            types.MarkupContent(types.MarkupKind.Markdown, text), _range(document, span.start, span.end)
        )

    def definition(self, params: types.DefinitionParams) -> list[types.Location]:
        """Return where the name under the cursor is created."""
        document, offset = self._place(params)
        token = document.name_at(offset) if document is not None else None
        if token is None:
            return []
        return [
            types.Location(other.uri, _range(other, one.span.start, one.span.end))
            for other, one in definitions_of(token, self._open.values())
        ]

    def symbols(self, params: types.DocumentSymbolParams) -> list[types.DocumentSymbol]:
        """Return what a script creates."""
        document = self._open.get(params.text_document.uri)
        return [_symbol(document, one) for one in document.definitions] if document is not None else []

    def _place(self, params: types.TextDocumentPositionParams) -> tuple[Document | None, int]:
        document = self._open.get(params.text_document.uri)
        if document is None:
            return None, 0
        return document, document.offset(params.position.line, params.position.character)


def make_server(options: CompileOptions, prepare: Prepare) -> LanguageServer:
    """Return a server that answers when it is started (``start_io``).

    ``prepare`` obeys sqlcmd's directives of a script, for the compiler does not know them.
    """
    server = LanguageServer("pgsb", __version__, types.TextDocumentSyncKind.Full)
    scripts = Scripts(server, options, prepare)
    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(_function(scripts.opened))
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(_function(scripts.changed))
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(_function(scripts.closed))
    triggers = types.CompletionOptions(trigger_characters=["[", "'", ".", " "])
    server.feature(types.TEXT_DOCUMENT_COMPLETION, triggers)(_function(scripts.completion))
    server.feature(types.TEXT_DOCUMENT_HOVER)(_function(scripts.hover))
    server.feature(types.TEXT_DOCUMENT_DEFINITION)(_function(scripts.definition))
    server.feature(types.TEXT_DOCUMENT_DOCUMENT_SYMBOL)(_function(scripts.symbols))
    return server


def _function(method: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a function that calls a method: pygls writes attributes on what it is given."""

    def handler(params: Any) -> Any:
        return method(params)

    return handler


def _position(document: Document, offset: int) -> types.Position:
    return types.Position(*document.position(offset))


def _range(document: Document, start: int, end: int) -> types.Range:
    return types.Range(_position(document, start), _position(document, end))


def _diagnostics(document: Document, found: Sequence[Finding]) -> list[types.Diagnostic]:
    return [
        types.Diagnostic(
            range=_range(document, one.start, one.end),
            message=one.problem.message + (f"\nhint: {one.problem.hint}" if one.problem.hint else ""),
            severity=types.DiagnosticSeverity.Warning
            if one.problem.severity == "warning"
            else types.DiagnosticSeverity.Error,
            code=one.problem.number,
            source="pgsb",
        )
        for one in found
    ]


def _symbol(document: Document, one: Definition) -> types.DocumentSymbol:
    return types.DocumentSymbol(
        name=one.written,
        detail=one.kind,
        kind=_SYMBOLS.get(one.kind, types.SymbolKind.Object),
        range=_range(document, one.whole.start, one.whole.end),
        selection_range=_range(document, one.span.start, one.span.end),
    )

"""Batch → Lark tree.

An LALR parser over the grammar in the .lark files, whose tables Lark makes (:mod:`.tables`);
:mod:`.terminals` tells it what each word is. Two things are done here besides: T-SQL has no statement
terminators, so the end of a statement is put in where the next word cannot go on with it; and
after an error the parser is taken back to the last place where a statement can begin, so that
a script with five mistakes has five of them reported.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache

from .batches import BatchText, split
from .hints import (
    EXAMPLES,
    describe,
    incorrect_syntax,
    misplaced_quote,
    missing,
    never_altered,
    no_conversation,
    of_neighbours,
    reserved_name,
)
from .problems import Problems, did_you_mean, similar
from .records import dataclass
from .source import Source
from .tables import INVALID, Rule, tables
from .terminals import END_OF_BATCH, END_OF_STATEMENT, TerminalChooser, UnexpectedText
from .tokens import RESERVED_WORDS, STATEMENT_WORDS, TokenKind
from .tree import Terminal, Tree

__all__ = ["ParsedBatch", "keywords_after", "parse_batch", "parse_batches"]

_BLOCKS = ("BEGIN", "BEGIN_TRY", "BEGIN_CATCH", "BEGIN_ATOMIC")
_BLOCK_ENDS = ("END", "CATCH")
_BEFORE_STATEMENTS = frozenset({";", "AS", "BEGIN", "CATCH", "ELSE", "TRY"})
_DIRECTIVES = ("connect", "error", "exit", "listvar", "on error", "out", "perftrace", "quit", "setvar")
_PARTS = ("TRY", "CATCH")
_BLOCK_WORDS = ("BEGIN", "END")
_CATCH_BLOCK = ("BEGIN", "CATCH")
_NO_BLOCKS = ("CONVERSATION", "DIALOG", "DISTRIBUTED", "TRAN", "TRANSACTION")
"""Behind BEGIN: no END belongs to it."""


_WITHOUT_SEMICOLON = (
    "Incorrect syntax near the keyword 'with'. If this statement is a common table expression, an "
    "xmlnamespaces clause or a change tracking context clause, the previous statement must be terminated "
    "with a semicolon."
)
"""Error 319."""
_FIRST_WORDS = STATEMENT_WORDS | {"GET", "MOVE", "RECEIVE", "SEND", "THROW"}


@dataclass(frozen=True)
class ParsedBatch:
    """A batch and its tree.

    ``start_pos`` and ``end_pos`` in the tree count tokens of ``text.tokens``, not characters.
    ``tree`` is None when the batch breaks off in the middle of a block. ``complete`` tells that
    nothing was reported inside it.
    """

    text: BatchText
    tree: Tree | None
    complete: bool


def parse_batches(source: Source, problems: Problems) -> Iterator[ParsedBatch]:
    """Parse the batches of a script one by one; what is wrong goes to ``problems``."""
    for text in split(source, problems):
        yield parse_batch(text, problems)


def parse_batch(text: BatchText, problems: Problems) -> ParsedBatch:
    """Parse one batch; what is wrong goes to ``problems``."""
    before = len(problems)
    tree = _BatchParser(text, problems).parse()
    complete = len(problems) == before and not problems.within(text.span)
    return ParsedBatch(text, tree, complete)


def keywords_after(text: BatchText) -> frozenset[str]:
    """Return the keywords, upper case, with which a batch that breaks off can go on (for an editor).

    Empty where anything may stand: in parentheses that the grammar takes as a whole.
    """
    return _BatchParser(text, Problems()).keywords_at_end()


# ------------------------------------------------------------------ one batch


class _BatchParser:
    """Feeds the terminals of one batch to the automaton and recovers from errors."""

    def __init__(self, text: BatchText, problems: Problems) -> None:
        self._text = text
        self._tokens = text.tokens
        self._count = len(text.tokens)
        self._problems = problems
        table = tables()
        self._states = table.states
        self._rules = table.rules
        self._names = table.names
        self._stack = [table.start]
        self._values: list[Terminal | Tree] = []
        self._chooser = TerminalChooser(self._tokens, table.names, table.states, table.starters)
        self._resumed_at = -1
        self._failed = False
        self._quotes_seen = 1
        self._quote_hint: str | None = None

    def parse(self) -> Tree | None:
        index = 0
        while index < self._count and self._tokens[index].word == ";":
            index += 1
        while True:
            try:
                if index >= self._count:
                    return self._finish()
                index = self._step(index)
            except UnexpectedText as unexpected:
                resumed = self._recover(unexpected, index)
                if resumed is None:
                    return None
                index = resumed

    def _step(self, index: int) -> int:
        """Feed the terminal that stands at ``index``; return the index after it."""
        stack = self._stack
        while True:
            state = stack[-1]
            choices = self._states[state]
            chosen = None
            may_end = END_OF_STATEMENT in choices
            if not may_end or not self._chooser.certain_starter(index):
                chosen = self._chooser.choose(index, choices)
            if chosen is None and may_end and self._chooser.starter(index):
                if self._word(index) == "WITH" and not self._names_a_query(index):
                    raise UnexpectedText(index, _WITHOUT_SEMICOLON, number=319)
                chosen = END_OF_STATEMENT, index
            if chosen is None and "EXEC" in choices and self._begins_at(index):
                chosen = "EXEC", index  # as where the text alone is the batch
            if chosen is None:
                raise UnexpectedText(index)
            terminal, end = chosen
            if not self._feed(terminal, index, end):
                # An LALR table finishes rules on words that cannot follow them here; now that
                # they are finished, the row of the table tells what can.
                if stack[-1] == state:
                    raise UnexpectedText(index)
                continue
            if end > index:
                return end
            self._check_with(index)

    def _begins_at(self, index: int) -> bool:
        """Whether the batch's own text begins with a token that stands behind others."""
        begins = self._text.source.begins
        return 0 < begins <= self._tokens[index].start and self._tokens[index - 1].end <= begins

    def _feed(self, terminal: str, start: int, end: int) -> bool:
        """Take one terminal, after the rules that it finishes; False when it cannot follow them."""
        stack, values, states, rules = self._stack, self._values, self._states, self._rules
        action = states[stack[-1]].get(terminal)
        while action is not None and action < 0:
            origin, size, name, expands, kept = rules[-1 - action]
            if size == 1:  # what _reduce does, without a call for each of a script's rules
                stack.pop()
                values[-1] = _tree_of_one(name, expands, kept, values[-1])
                stack.append(states[stack[-1]][origin])
            else:
                self._reduce(rules[-1 - action])
            action = states[stack[-1]].get(terminal)
        if action is None:
            return False
        text = self._tokens[start].text if end > start else terminal
        stack.append(action)
        made = Terminal(text)
        made.type = terminal
        made.start_pos = start
        made.end_pos = end
        values.append(made)
        return True

    def _reduce(self, rule: Rule) -> None:
        """Put a tree in the place of what a rule matched."""
        stack, values = self._stack, self._values
        origin, size, name, expands, kept = rule
        if size == 1:
            stack.pop()
            values[-1] = _tree_of_one(name, expands, kept, values[-1])
        else:
            children: list[Terminal | Tree] = []
            if size:
                children = values[-size:]
                del values[-size:]
                del stack[-size:]
            values.append(_tree(name, expands, kept, children))
        stack.append(self._states[stack[-1]][origin])

    def _check_with(self, index: int) -> None:
        """Report a WITH that begins a statement without a semicolon before it."""
        token = self._tokens[index]
        if token.word == "WITH" and self._tokens[index - 1].word != "END":
            self._problems.add(
                _WITHOUT_SEMICOLON,
                self._text.source.span(token.start, token.end),
                hint="write a semicolon before WITH",
                number=319,
            )

    def _names_a_query(self, index: int) -> bool:
        """Tell whether the WITH at ``index`` begins a statement, and is no option of the one before it."""
        following = self._word(index + 2)
        return following in ("AS", "(") or self._word(index + 1) in (
            "XMLNAMESPACES",
            "CHANGE_TRACKING_CONTEXT",
        )

    def _finish(self) -> Tree:
        stack = self._stack
        while True:
            state = stack[-1]
            choices = self._states[state]
            if END_OF_BATCH in choices:
                tree = self._end()
                if tree is not None:
                    return tree
            elif END_OF_STATEMENT not in choices:
                raise UnexpectedText(self._count)
            elif self._feed(END_OF_STATEMENT, self._count, self._count):
                continue
            if stack[-1] == state:
                raise UnexpectedText(self._count)

    def _end(self) -> Tree | None:
        """Finish all rules at the end of the batch; None when it cannot end here."""
        stack, end = self._stack, tables().end
        while True:
            action = self._states[stack[-1]].get(END_OF_BATCH)
            if action is None or action >= 0:
                return None
            self._reduce(self._rules[-1 - action])
            if stack[-1] == end:
                tree = self._values[-1]
                assert isinstance(tree, Tree)
                return tree

    def first_error(self) -> tuple[int, str] | None:
        """Parse up to the first error; return the state and the sign of the token there."""
        index = 0
        try:
            while index < self._count:
                index = self._step(index)
            self._finish()
        except UnexpectedText as unexpected:
            return self._where(), self._sign(unexpected.index)
        return None

    def _where(self) -> int:
        """Return the state at the error, once all is reduced that can only be reduced.

        Behind a number all statements are in the same state: what takes the number tells them apart.
        """
        stack = list(self._stack)
        while True:
            actions = set(self._states[stack[-1]].values())
            action = actions.pop() if len(actions) == 1 else 0
            if action >= 0:
                return stack[-1]
            rule = self._rules[-1 - action]
            if rule.size:
                del stack[-rule.size :]
            stack.append(self._states[stack[-1]][rule.origin])

    def keywords_at_end(self) -> frozenset[str]:
        """Parse all tokens and return the keywords that may follow the last of them."""
        index = 0
        while index < self._count:
            try:
                index = self._step(index)
            except UnexpectedText as unexpected:
                if unexpected.opened_at is not None or unexpected.index >= self._count:
                    return frozenset()
                resumed = self._recover(unexpected, index)
                if resumed is None:
                    return frozenset()
                index = resumed
        words = self._accepted_words()
        if self._accepts(END_OF_STATEMENT) and self._feed(END_OF_STATEMENT, index, index):
            words |= self._accepted_words()
        return frozenset(words)

    def _accepted_words(self) -> set[str]:
        texts = self._names.texts
        accepted = {name for name in self._states[self._stack[-1]] if name in texts and self._accepts(name)}
        return {word for word in map(texts.__getitem__, accepted) if word[0].isalpha()}

    # -------------------------------------------------------------- errors

    def _recover(self, unexpected: UnexpectedText, fed: int) -> int | None:
        """Report the error and take the parser back to where a statement can begin.

        ``fed`` is the index up to which the parser has taken the tokens. Returns the index at
        which parsing goes on, None when it cannot.
        """
        index = min(unexpected.index, self._count)
        if self._resumed_at >= self._count:
            return None
        if not self._follows_an_error(unexpected):
            self._report(unexpected)
        self._failed = True
        resumed = self._put_in_part_of_try(index)
        if resumed is not None:
            self._resumed_at = max(self._resumed_at, resumed)
            return resumed
        stack, values = self._stack, self._values
        if values and isinstance(values[-1], Terminal) and values[-1].type in _BLOCK_ENDS:
            self._feed(END_OF_STATEMENT, fed, fed)  # The block before it is whole.
        start = fed
        while self._states[stack[-1]].get(INVALID, -1) < 0:
            stack.pop()
            start = min(start, _start_of(values.pop(), start))
        # A parenthesis that is not closed swallows the statements after it: begin again inside.
        resume = self._resume_after(index if unexpected.opened_at is None else unexpected.opened_at + 1)
        self._feed(INVALID, min(start, resume), resume)
        self._resumed_at = resume
        if resume >= self._count and not self._closed():
            return None
        return resume

    def _put_in_part_of_try(self, index: int) -> int | None:
        """Go on as if TRY or CATCH stood there where nothing else may, and END TRY before BEGIN CATCH.

        As if there were an empty CATCH, too, where none follows.

        Returns the index at which parsing goes on, None where that is not what is missing.
        """
        stack, values = self._stack, self._values
        accepted = {terminal for terminal in self._states[stack[-1]] if self._accepts(terminal)}
        if accepted in ({"TRY"}, {"CATCH"}):
            self._feed(accepted.pop(), index, index)
            return index
        if accepted == {"BEGIN_CATCH"}:
            # What stands between the two is left out; behind another block's TRY it is that one's.
            places = range(index, self._count - 1)
            pairs = ((at, self._word(at), self._word(at + 1)) for at in places)
            found = next((pair for pair in pairs if pair[1] in _BLOCK_WORDS and pair[2] in _PARTS), None)
            if found is not None and found[1:] == _CATCH_BLOCK:
                return found[0]
            for terminal in ("BEGIN_CATCH", "END", "CATCH"):
                self._feed(terminal, index, index)
            return index
        if index and (self._word(index - 1), self._word(index)) == _CATCH_BLOCK:
            blocks = [value.type for value in values if isinstance(value, Terminal) and value.type in _BLOCKS]
            if blocks[-2:] == ["BEGIN_TRY", "BEGIN"] and isinstance(values[-1], Terminal):
                stack.pop()
                values.pop()
                # (An INVALID where there is no statement at all: the block would not end without one.)
                is_empty = isinstance(values[-1], Terminal) and values[-1].type == "BEGIN_TRY"
                for terminal in (INVALID,) * is_empty + (END_OF_STATEMENT, "END", "TRY"):
                    if self._accepts(terminal):
                        self._feed(terminal, index - 1, index - 1)
                return index - 1
        return None

    def _closed(self) -> bool:
        """Tell whether the batch could end here: no block is open."""
        choices = self._states[self._stack[-1]]
        return END_OF_BATCH in choices

    def _follows_an_error(self, unexpected: UnexpectedText) -> bool:
        """Tell whether an error is only the echo of one before it.

        What stands right where parsing was taken up again, and between statements an ELSE, an END or
        the end of the batch: what they belong to may have been skipped.
        """
        index = unexpected.index
        if not self._failed or unexpected.opened_at is not None:
            return False
        values = self._values
        empty_block = bool(values) and isinstance(values[-1], Terminal) and values[-1].type in _BLOCKS
        between_statements = self._accepts(INVALID) and not empty_block
        return index == self._resumed_at or (
            between_statements and (index >= self._count or self._word(index) in ("ELSE", "END"))
        )

    def _accepts(self, terminal: str) -> bool:
        """Tell whether the parser can take ``terminal`` now; the row of the table alone does not."""
        stack = list(self._stack)
        while True:
            action = self._states[stack[-1]].get(terminal)
            if action is None or action >= 0:
                return action is not None
            rule = self._rules[-1 - action]
            if rule.size:
                del stack[-rule.size :]
            stack.append(self._states[stack[-1]][rule.origin])

    def _resume_after(self, index: int) -> int:
        """Return the next index from ``index`` on at which a statement seems to begin.

        Each time it is further on than the time before, so that recovery comes to an end.
        """
        position = max(index, self._resumed_at + 1)
        depth = 0
        while position < self._count:
            word = self._tokens[position].word
            if word == "CASE":
                depth += 1
            elif word == "END" and depth:
                depth -= 1
            elif word == ";":
                return position + 1
            elif (word in STATEMENT_WORDS and self._seems_to_begin(position)) or (
                self._chooser.certain_starter(position)
            ):
                return position
            position += 1
        return self._count

    def _word(self, index: int) -> str:
        return self._tokens[index].word if index < self._count else ""

    def _seems_to_begin(self, position: int) -> bool:
        """Tell whether the statement word at ``position`` is likely to begin a statement."""
        return (
            self._word(position) in ("END", "ELSE", "BEGIN")
            or self._opens_line(position)
            or self._word(position - 1) in ("BEGIN", "ELSE", "END")
        )

    def _report(self, unexpected: UnexpectedText) -> None:
        source = self._text.source
        index = unexpected.index
        token = self._tokens[min(index, self._count - 1)]
        span = source.span(token.start if index < self._count else token.end, token.end)
        message, number = incorrect_syntax(token)
        if unexpected.message is not None:
            message, number = unexpected.message, unexpected.number or number
        hint = unexpected.hint
        if hint is None:
            hint = self._misplaced_quote(index)
        if hint is None and unexpected.opened_at is not None:
            opened = self._tokens[unexpected.opened_at]
            place = source.span(opened.start, opened.end)
            hint = f"the {opened.word} at line {place.line}, column {place.column} is not closed"
        if hint is None:
            hint = self._hint(index)
        self._problems.add(message, span, hint=hint, number=number)

    def _misplaced_quote(self, index: int) -> str | None:
        """The hint of the first quote before an error; each part of the batch is looked at once."""
        if self._quote_hint is None:
            places = range(self._quotes_seen, min(index + 1, self._count))
            self._quote_hint = misplaced_quote(self._tokens, self._text.source, places)
            self._quotes_seen = max(self._quotes_seen, places.stop)
        return self._quote_hint

    def _hint(self, index: int) -> str | None:
        accepted = {
            terminal
            for terminal in self._states[self._stack[-1]]
            if terminal.isupper() and self._accepts(terminal)
        }
        return (
            never_altered(self._tokens, index)
            or reserved_name(self._tokens, index)
            or no_conversation(self._tokens, index)
            or self._almost(index, accepted)
            or of_neighbours(self._tokens, index)
            or self._lacks_a_word(index, accepted)
            or _sentences().get((self._where(), self._sign(index)))
            or self._hint_between(index, accepted)
            or describe(accepted, self._names.texts)
            or (missing(self._tokens, index) if index < self._count else None)
        )

    def _almost(self, index: int, accepted: set[str]) -> str | None:
        if index >= len(self._tokens) or self._tokens[index].kind is not TokenKind.WORD:
            return None
        following = self._tokens[index + 1] if index + 1 < len(self._tokens) else None
        if self._tokens[index].word == "END" and following is not None:
            # BEGIN DIALOG has no counterpart of its own.
            another = following.word == "DIALOG" or similar(following.text, ("CONVERSATION",)) is not None
            return "did you mean 'END CONVERSATION'?" if another else None
        texts = self._names.texts
        known = [texts[one] for one in accepted if one in texts]
        # BEGIN was taken for that of a block, as it was not that of BEGIN DIALOG.
        before = self._tokens[index - 1].word if index else ""
        known += [words[1] for words in map(str.split, texts.values()) if words[0] == before and words[1:]]
        token = self._tokens[index]
        phrases = {phrase.split()[0]: phrase for phrase in known if " " in phrase}
        is_first = token.word in phrases and token.word not in RESERVED_WORDS
        first = token.word if is_first else similar(token.text, phrases)
        return did_you_mean(token.text, known) or (f"did you mean '{phrases[first]}'?" if first else None)

    def _lacks_a_word(self, index: int, accepted: set[str]) -> str | None:
        last = self._values[-1] if self._values else None
        if "VALUES" in accepted and last is not None:
            pairs = {(self._word(at), self._word(at + 1)) for at in range(last.start_pos, last.end_pos)}
            return "did you mean 'VALUES'?" if ("VALUE", "(") in pairs else None
        if self._word(index + 1) == "=" and index < self._count and self._opens_line(index):
            token = self._tokens[index]
            if token.kind is TokenKind.VARIABLE:
                return f"write SET {token.text} = …, or a comma if it goes on with what is before it"
        return None

    def _sign(self, index: int) -> str:
        """Return what an example must have at its error to be like the token at ``index``."""
        if index >= self._count:
            return END_OF_BATCH
        token = self._tokens[index]
        known = token.word in RESERVED_WORDS or token.kind is TokenKind.SYMBOL
        return token.word if known or token.word in self._names.keywords else token.kind.name

    def _hint_between(self, index: int, accepted: set[str]) -> str | None:
        """Return what to say about a token that neither goes on with a statement nor begins one."""
        values = self._values
        opened = [
            place
            for place, value in enumerate(values)
            if isinstance(value, Terminal) and value.type in _BLOCKS
        ]
        if index >= self._count:
            if "END" not in accepted or not opened:
                return None
            line, misplaced = self._line_of(values[opened[-1]]), self._line_of_misplaced_block()
            is_another = misplaced is not None and misplaced != line
            told = f"; by how the lines begin it is that of line {misplaced}" if is_another else ""
            return f"the BEGIN at line {line} has no END{told}"
        if values and isinstance(values[0], Tree) and values[0].data == "qualified_name":
            name = self._tokens[0].text
            if name.upper() == "RECEIVE":
                return "RECEIVE needs *, columns or assignments before FROM"
            return did_you_mean(name, _FIRST_WORDS) or (
                f"'{name}' is taken for the procedure to call, as in EXEC {name}; prose is a comment"
            )
        token = self._tokens[index]
        if token.word == "ELSE" and "END" in accepted and opened:
            begins = values[opened[-1] - 2] if opened[-1] > 1 else None
            if isinstance(begins, Terminal) and begins.type == "IF":
                return f"the BEGIN at line {self._line_of(values[opened[-1]])} has no END before it"
        elif not ({INVALID, END_OF_STATEMENT} & accepted or self._closed()):
            return None
        if token.word == "ELSE":
            return "it has no IF: several statements between IF and ELSE stand in BEGIN … END"
        if token.word == "END":
            return "it has no BEGIN"
        if token.word == ")":
            return "there is no ( for it"
        if token.word == "CATCH" and self._word(index - 1) == "BEGIN":
            tries = [v for v in values if isinstance(v, Terminal) and v.type == "BEGIN_TRY"]
            if not tries:
                return "it has no BEGIN TRY"
            return f"the BEGIN TRY at line {self._line_of(tries[-1])} has no END TRY before it"
        if token.kind is TokenKind.WORD and token.word not in RESERVED_WORDS and self._opens_line(index):
            return did_you_mean(token.text, _FIRST_WORDS) or (
                f"'{token.text}' begins no statement: a procedure is called with EXEC, prose is a comment"
            )
        if token.word == ":" and index + 1 < self._count:
            name = self._tokens[index + 1].text
            return did_you_mean(name, _DIRECTIVES) or f"sqlcmd has no directive ':{name}'"
        if self._word(index - 1) in _BEFORE_STATEMENTS or self._opens_line(index):
            shown = token.text if token.kind is TokenKind.STRING else f"'{token.text}'"
            return f"{shown} begins no statement: is a word before it missing?"
        return None

    def _line_of(self, value: Terminal | Tree) -> int:
        return self._text.source.line_of(self._tokens[value.start_pos].start)

    def _line_of_misplaced_block(self) -> int | None:
        """Return the line of the first BEGIN whose END stands further to the left."""
        source = self._text.source
        opened: list[int] = []
        for index, token in enumerate(self._tokens):
            following = self._word(index + 1)
            if token.word == "CASE" or (token.word == "BEGIN" and following not in _NO_BLOCKS):
                opened.append(index)
            elif token.word == "END" and following != "CONVERSATION" and opened:
                begin = opened.pop()
                if not (self._opens_line(begin) and self._opens_line(index)):
                    continue
                start = self._tokens[begin].start
                if source.column_of(token.start) < source.column_of(start):
                    return source.line_of(start)
        return None

    def _opens_line(self, index: int) -> bool:
        if index == 0:
            return True
        between = self._text.source.text[self._tokens[index - 1].end : self._tokens[index].start]
        return "\n" in between or "\r" in between


def _tree_of_one(
    name: str, expands: bool, kept: tuple[tuple[int, bool], ...] | None, child: Terminal | Tree
) -> Terminal | Tree:
    """Do what `_tree` does where a rule matched one thing, as most do."""
    if type(child) is not Tree:
        if expands and (kept is None or kept):
            return child
        return Tree(name, [] if kept == () else [child], child.start_pos, child.end_pos)
    if kept is not None and (not kept or kept[0][1]):
        return _tree(name, expands, kept, [child])
    return child if expands else Tree(name, [child], child.outer_start, child.outer_end)


def _tree(
    name: str, expands: bool, kept: tuple[tuple[int, bool], ...] | None, children: list[Terminal | Tree]
) -> Terminal | Tree:
    """Return what stands for a rule in the tree: a tree, or the one child of a ``?rule``."""
    if kept is None:
        inner = children
    else:
        inner = []
        for index, inline in kept:
            child = children[index]
            if not inline or type(child) is not Tree:
                inner.append(child)
            elif inner:
                inner += child.children
            else:
                # The child is nobody else's: a list that grows by one item at a time is not copied.
                inner = child.children
                if len(children) == 1 and not expands:
                    child.data = name
                    return child
    # Its place is that of all that was matched, left out of the tree or not.
    start = end = -1
    for child in children:
        start = child.outer_start if type(child) is Tree else child.start_pos
        if start >= 0:
            break
    at = len(children)
    while end < 0 < at:
        at -= 1
        child = children[at]
        end = child.outer_end if type(child) is Tree else child.end_pos
    if not expands or len(inner) != 1:
        return Tree(name, inner, start, end)
    made = inner[0]
    if isinstance(made, Tree):
        made.outer_start, made.outer_end = start, end
        if made.empty:
            made.start_pos, made.end_pos = start, end
    return made


def _start_of(value: Terminal | Tree, otherwise: int) -> int:
    """Return the index of the first token of what the parser holds on its stack."""
    return otherwise if value.start_pos < 0 else value.start_pos


@cache
def _sentences() -> dict[tuple[int, str], str]:
    """Return what to say, by the state in which the parser gives up and the token it sees there.

    Each example of hints.py is parsed, and its error is where its sentence fits.
    """
    found: dict[tuple[int, str], str] = {}
    for sentence, snippets in EXAMPLES:
        for snippet in snippets:
            unwanted = Problems()
            for text in split(Source("example", snippet), unwanted):
                parser = _BatchParser(text, unwanted)
                key = parser.first_error()
                assert key is not None, f"the example has no error: {snippet}"
                found.setdefault(key, sentence)
    return found

"""The language server: what an editor asks about scripts (LSP), answered from their text alone.

- `documents`    a script that is open: its text, places in the client's units, its tokens and definitions
- `findings`     the compiler's problems of all open scripts
- `completion`   keywords that the grammar accepts at the cursor, names that the open scripts define
- `dialect`      the row of docs/dialect.md for a statement
- `server`       the protocol, by pygls, over stdio

`dialect.md` is docs/dialect.md: a link in the checkout, a copy of it in the wheel.
"""

"""Text for people: names and messages in it are often other people's."""

_CONTROL = {code: "\N{MIDDLE DOT}" for code in (*range(32), *range(127, 160)) if chr(code) not in "\t\n\r"}


def visible(text: str) -> str:
    """Return the text with a dot for each character that a terminal would act on instead of showing it.

    Tabs and the ends of lines stay.
    """
    return text.translate(_CONTROL)


def visible_lines(text: str) -> str:
    """As `visible`; a carriage return that ends no line is a dot too: what follows it would cover a line."""
    return visible(text).replace("\r\n", "\n").replace("\r", "\N{MIDDLE DOT}")

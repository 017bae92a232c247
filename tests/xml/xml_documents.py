"""Random XML documents as plain trees, written in many ways, and a plain evaluator of paths.

Independent of the runtime: shares no code and no representation with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "Item", "x-y", "n.1"])
TEXT = st.text(st.sampled_from("ab \n\t&<>\"'é€😀]-0"), max_size=6)


@dataclass
class Element:
    """An element: attributes in order, children are elements and strings, no two strings adjacent."""

    name: str
    attributes: dict[str, str] = field(default_factory=dict)
    children: "list[Element | str]" = field(default_factory=list)

    def elements(self) -> "Iterator[Element]":
        """Child elements, in order."""
        return (child for child in self.children if isinstance(child, Element))

    def descendants(self) -> "Iterator[Element]":
        """All elements below, in document order."""
        for child in self.elements():
            yield child
            yield from child.descendants()

    def text(self) -> str:
        """The string value."""
        return "".join(child if isinstance(child, str) else child.text() for child in self.children)


def _merge(children: list[Element | str]) -> list[Element | str]:
    merged: list[Element | str] = []
    for child in children:
        if isinstance(child, str) and merged and isinstance(merged[-1], str):
            merged[-1] += child
        elif child != "":
            merged.append(child)
    return merged


def _element(children: st.SearchStrategy[Element | str]) -> st.SearchStrategy[Element]:
    return st.builds(
        Element,
        NAMES,
        st.dictionaries(NAMES, TEXT, max_size=3),
        st.lists(children, max_size=4).map(_merge),
    )


trees: st.SearchStrategy[Element] = _element(
    st.recursive(TEXT, lambda children: st.one_of(TEXT, _element(children)), max_leaves=12)
)
"""Documents of up to a dozen elements."""


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")


def canonical(node: Element | str) -> str:
    """The text that SQL Server would print for a node, white space of its own kept."""
    if isinstance(node, str):
        text = _escape(node)
        if not text.strip(" \n\t"):
            text = text[:-1] + {" ": "&#x20;", "\n": "&#xA;", "\t": "&#x9;"}[text[-1]]
        return text
    start = node.name + "".join(
        f' {name}="'
        + _escape(value).replace('"', "&quot;").replace("\t", "&#x9;").replace("\n", "&#xA;")
        + '"'
        for name, value in node.attributes.items()
    )
    inner = "".join(map(canonical, node.children))
    return f"<{start}>{inner}</{node.name}>" if inner else f"<{start}/>"


def without_space(node: Element) -> Element:
    """The tree as CAST reads it: strings of white space alone dropped."""
    children: list[Element | str] = []
    for child in node.children:
        if isinstance(child, Element):
            children.append(without_space(child))
        elif child.strip(" \n\t"):
            children.append(child)
    return Element(node.name, node.attributes, children)


@st.composite
def written(draw: st.DrawFn, node: Element | str) -> str:
    """One of the many texts that mean a tree."""
    if isinstance(node, str):
        pieces = []
        for char in node:
            way = draw(st.integers(0, 9))
            if char == "<":
                pieces.append("&lt;" if way < 6 else "&#60;")
            elif char == "&":
                pieces.append("&amp;" if way < 6 else "<![CDATA[&]]>")
            elif char == ">":
                pieces.append("&gt;" if way < 6 else "&#x3E;")
            elif char in "\"'" and way > 6:
                pieces.append({'"': "&quot;", "'": "&apos;"}[char])
            elif way == 9 and not char.isspace():
                pieces.append(f"&#x{ord(char):X};")
            else:
                pieces.append(char)
        return "".join(pieces)
    start = "<" + node.name
    for name, value in node.attributes.items():
        quote = draw(st.sampled_from("\"'"))
        text = _escape(value).replace(quote, f"&#{ord(quote)};").replace("\n", "&#10;").replace("\t", "&#9;")
        space = draw(st.sampled_from([" ", "  ", "\n", "\t"]))
        equal = draw(st.sampled_from(["=", " =", "= "]))
        start += f"{space}{name}{equal}{quote}{text}{quote}"
    inner = "".join(draw(written(child)) for child in node.children)
    tail = draw(st.sampled_from(["", " ", "\n"]))
    if not inner and draw(st.booleans()):
        return f"{start}{tail}/>"
    return f"{start}{tail}>{inner}</{node.name}{tail}>"


@dataclass(frozen=True)
class Step:
    """A step of a simple path: an axis written as / or //, a name or *, at most one predicate."""

    deep: bool
    name: str
    predicate: str = ""
    number: int = 0

    def __str__(self) -> str:
        shown = f"[{self.number}]" if self.predicate == "position" else f"[{self.predicate}]"
        return ("//" if self.deep else "/") + self.name + (shown if self.predicate else "")


steps = st.builds(
    Step,
    st.sampled_from([False, False, True]),
    st.sampled_from(["a", "b", "c", "Item", "*", "*"]),
    st.sampled_from(["", "", "position", "@a", "b", "last()"]),
    st.integers(1, 3),
)


def evaluate(root: Element, path: list[Step]) -> list[Element]:
    """Elements that a path gives, in document order, each once."""
    document = Element("", {}, [root])
    everything = [document, *document.descendants()]
    found = [document]
    for step in path:
        selected: set[int] = set()
        # //x is /descendant-or-self::node()/child::x: positions count per parent
        parents = found
        if step.deep:
            parents = [node for start in found for node in (start, *start.descendants())]
        for parent in parents:
            matching = [child for child in parent.elements() if step.name in ("*", child.name)]
            if step.predicate == "position":
                matching = matching[step.number - 1 : step.number]
            elif step.predicate == "last()":
                matching = matching[-1:]
            elif step.predicate == "@a":
                matching = [child for child in matching if "a" in child.attributes]
            elif step.predicate == "b":
                matching = [child for child in matching if any(e.name == "b" for e in child.elements())]
            selected.update(map(id, matching))
        found = [node for node in everything if id(node) in selected]
    return found

"""Random documents and paths: the runtime against Python's expat, ElementTree and plain trees."""

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Callable, Iterator
from xml.parsers import expat

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from xml_documents import Element, Step, canonical, evaluate, steps, trees, without_space, written

from support import Connection, Database, examples

pytestmark = [pytest.mark.filterwarnings("error"), pytest.mark.one_postgres]

# text, a comment or an instruction beside the root element
beside = st.sampled_from(["", "", "/x", "?x", "!x", "<!--<b/>-->", "<?p <b/>?>", "t<!-->-->"])

few = settings(
    max_examples=examples(80),
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@pytest.fixture(scope="module")
def server(new_database: Callable[[], Database]) -> Iterator[Connection]:
    """One connection for all examples."""
    with psycopg.connect(new_database().dsn, autocommit=True) as connection:
        yield connection


def ask(connection: Connection, query: str, *arguments: str) -> str:
    """The one value of a query."""
    row = connection.execute(query, arguments).fetchone()  # type: ignore[arg-type]
    assert row is not None
    return str(row[0])


def as_tree(element: ElementTree.Element) -> Element:
    """An ElementTree element as our plain tree."""
    children: list[Element | str] = [element.text] if element.text else []
    for child in element:
        children.append(as_tree(child))
        if child.tail:
            children.append(child.tail)
    return Element(element.tag, dict(element.attrib), children)


@pytest.mark.long
@few
@given(st.data())
def test_a_document_reads_the_same_however_it_is_written(server: Connection, data: st.DataObject) -> None:
    tree = data.draw(trees)
    text = data.draw(written(tree))
    kept = ask(server, "SELECT sys.xml_of(%s::text, 1)::text", text)
    assert kept == canonical(tree)
    assert as_tree(ElementTree.fromstring(kept)) == tree


@few
@given(trees)
def test_space_between_tags_is_dropped_once(server: Connection, tree: Element) -> None:
    written_plainly = canonical(tree).replace("&#x20;", " ").replace("&#xA;<", "\n<").replace("&#x9;<", "\t<")
    expected = canonical(without_space(tree))
    assert ask(server, "SELECT sys.xml_of(%s::text)::text", written_plainly) == expected
    assert ask(server, "SELECT sys.xml_of(%s::text)::text", expected) == expected


def is_well_formed(text: str) -> bool:
    """What expat says of a fragment, namespaces included."""
    parser = expat.ParserCreate(namespace_separator=" ")
    try:
        parser.Parse(f"<root>{text}</root>", True)
    except expat.ExpatError:
        return False
    return True


@pytest.mark.long
@settings(few, max_examples=examples(250))
@given(st.data())
def test_a_damaged_document_is_refused_where_expat_refuses_it(
    server: Connection, data: st.DataObject
) -> None:
    text = data.draw(written(data.draw(trees)))
    if data.draw(st.booleans()):
        text = re.sub("(</?)(Item|x-y)", r"\1p:\2", text)
        text = re.sub(
            r"^<([^\s/>]+)", data.draw(st.sampled_from([r"<\1 xmlns:p='u'", r'<\1 xmlns:p="u"'])), text
        )
    for _ in range(data.draw(st.integers(0, 2))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 2))
        put = data.draw(st.text(st.sampled_from("<>&\"'/= ab:!-[]?x;#1"), max_size=3))
        text = text[:at] + put + text[at + cut :]
    # the one difference meant: the empty text is no message
    expected = is_well_formed(text) and text != ""
    assert ask(server, "SELECT sys.xml_is_well_formed(%s::text)", text) == str(expected)
    assert ask(server, "SELECT (ssb_internal.xml_read(%s::text)).error IS NULL", text or "x") == str(
        expected or not text
    )


@few
@given(trees, st.lists(steps, min_size=1, max_size=3), beside, beside)
def test_paths_give_the_elements_that_a_plain_walk_gives(
    server: Connection, tree: Element, path: list[Step], before: str, after: str
) -> None:
    document = before + canonical(tree) + after
    written_path = "".join(map(str, path))
    found = evaluate(tree, path)
    expected = "".join(map(canonical, found))
    assert ask(server, "SELECT sys.xml_query(%s::text, %s)::text", document, written_path) == expected
    assert ask(server, "SELECT sys.xml_value(%s::text, %s)", document, f"count({written_path})") == str(
        len(found)
    )
    assert ask(server, "SELECT sys.xml_exist(%s::text, %s)", document, written_path) == str(int(bool(found)))
    first = found[0].text() if found else "None"
    assert ask(server, "SELECT sys.xml_value(%s::text, %s)", document, f"({written_path})[1]") == first
    names = ",".join(node.attributes.get("a", "-") for node in found)
    rows = (
        "SELECT coalesce(string_agg(coalesce(sys.xml_value(t.c, '@a'), '-'), ',' ORDER BY t.place), '') FROM "
    )
    for upward in ("0", "1", "NULL"):
        assert (
            ask(
                server,
                rows + f"sys.xml_nodes(%s::text, %s, upward => {upward}) AS t(c)",
                document,
                written_path,
            )
            == names
        )


@few
@given(trees, st.lists(steps, min_size=1, max_size=2), st.integers(0, 2))
def test_rows_of_nodes_see_what_is_above_them(
    server: Connection, tree: Element, path: list[Step], levels: int
) -> None:
    document = canonical(tree)
    up = "/".join([".."] * levels) or "."
    whole = (
        "SELECT coalesce(string_agg(sys.xml_query(t.c, %s)::text, '|' ORDER BY t.place), '')"
        " FROM sys.xml_nodes(%s::text, %s{}) AS t(c)"
    )
    arguments = (f"{up}/a", document, "".join(map(str, path)))
    everything = ask(server, whole.format(""), *arguments)
    assert ask(server, whole.format(f", upward => {levels}"), *arguments) == everything
    parents = {id(child): node for node in (Element("", {}, [tree]),) for child in node.elements()}
    parents |= {id(child): node for node in (tree, *tree.descendants()) for child in node.elements()}
    pieces = []
    for node in evaluate(tree, path):
        above: Element | None = node
        for _ in range(levels):
            above = parents.get(id(above)) if above is not None else None
        children = above.elements() if above is not None else iter(())
        pieces.append("".join(canonical(child) for child in children if child.name == "a"))
    assert everything == "|".join(pieces)


@few
@given(trees, st.lists(steps, min_size=1, max_size=2))
def test_what_is_deleted_is_gone_and_nothing_else(
    server: Connection, tree: Element, path: list[Step]
) -> None:
    gone = {id(node) for node in evaluate(tree, path)}

    def rest(node: Element) -> Element:
        children: list[Element | str] = []
        for child in node.children:
            if isinstance(child, str):
                if children and isinstance(children[-1], str):
                    children[-1] += child
                else:
                    children.append(child)
            elif id(child) not in gone:
                children.append(rest(child))
        return Element(node.name, node.attributes, children)

    expected = "".join(map(canonical, rest(Element("", {}, [tree])).children))
    dml = "delete " + "".join(map(str, path))
    assert ask(server, "SELECT sys.xml_modify(%s::text, %s)::text", canonical(tree), dml) == expected


_declarations = st.sampled_from(
    [
        *(
            'xmlns="u"',
            'xmlns=""',
            'xmlns:p="u"',
            'xmlns:p="v"',
            'xmlns:q="u"',
            'xmlns:p=""',
            'xmlns:xmlns="u"',
        ),
        *('xmlns:xml="u"', 'xmlns:xml="http://www.w3.org/XML/1998/namespace"', 'xml:lang="e"'),
        f'xmlns:q="{"u" * 70}"',
    ]
)
_attributes = st.sampled_from(
    [
        'a="1"',
        'p:a="1"',
        'q:a="2"',
        'p:b=""',
        "q:b='>'",
        'r:a="1"',
        *(f'p:a{n}="" q:a{n}=""' for n in range(3)),
    ]
)
_names = st.sampled_from(["a", "p:a", "q:a", "r:a"])


@st.composite
def _prefixed(draw: st.DrawFn, depth: int = 0) -> str:
    """An element whose prefixes are declared, or not."""
    name = draw(_names)
    inside = draw(st.lists(st.one_of(_declarations, _attributes), max_size=4))
    if draw(st.integers(0, 9)) == 0:
        inside = ['xmlns:p="u"', 'xmlns:q="v"', *(f'p:c{n}="" q:c{n}=""' for n in range(20)), *inside]
    tag = " ".join([name, *inside])
    children = "".join(draw(st.lists(_prefixed(depth + 1), max_size=3))) if depth < 3 else "t"
    return f"<{tag}/>" if draw(st.booleans()) else f"<{tag}>{children}</{name}>"


@few
@given(text=_prefixed())
def test_prefixes_of_a_long_text_are_checked_as_those_of_a_short_one(server: Connection, text: str) -> None:
    """Long ones are checked all at once, in a way of their own."""
    read = "SELECT r.tokens, r.error, r.place FROM ssb_internal.xml_read(%s::text) AS r"
    text = f'<r xmlns:p="u" xmlns:q="v">{text}</r>'
    short = server.execute(read, (text,)).fetchone()
    long = server.execute(read, (f"{text}<!--{'x' * 60000}-->",)).fetchone()
    assert short is not None and long is not None
    assert long[1:] == short[1:]
    assert (long[0] and long[0][:-1]) == short[0]

"""The dashboard over HTTP: pages, changes, and who may."""

import html
import os
import re
import socket
import subprocess
import sys
import urllib.parse
from collections.abc import Callable, Iterator
from contextlib import ExitStack, suppress
from functools import partial
from types import SimpleNamespace
from typing import Any

import psycopg
import pytest
from observe_desk import Browser, Shop

from pgsb.observe.dashboard import deadlines
from pgsb.observe.dashboard.access import Access
from pgsb.observe.dashboard.bodies import forms
from pgsb.observe.dashboard.charts import number
from pgsb.observe.dashboard.map import graph
from pgsb.observe.dashboard.options import Options
from pgsb.observe.dashboard.serve import DashboardThread, _bind
from pgsb.server.connect import Target
from pgsb.server.problems import ServerError
from support import Connection, Database

pytestmark = pytest.mark.one_postgres

PAGES = ["/", "/map", "/search", "/quarantine", "/transport", "/claims", "/log", "/queue/dbo.orders"]


@pytest.fixture
def shop(shop: Shop, connect: Callable[..., Connection], database: Database) -> Shop:
    # Sessions of the dashboard, which come later, read moments and intervals all the same.
    for setting in ("DateStyle = 'German'", "IntervalStyle = 'sql_standard'"):
        connect().execute(f"ALTER DATABASE {database.name} SET {setting}")
    return shop


def _options(database: Database, **options: object) -> Options:
    given = {
        "instances": {"shop": Target(database.dsn, False, "test")},
        "token": "a token for the test",
        "patience": 30.0,
        **options,
    }
    return Options(**given)  # type: ignore[arg-type]


@pytest.fixture
def reader(database: Database) -> Iterator[Browser]:
    with DashboardThread(_options(database)) as running:
        yield Browser(running.url)


@pytest.fixture
def operator(database: Database) -> Iterator[Browser]:
    """Logged in, where changes are allowed."""
    with DashboardThread(_options(database, allow_changes=True)) as running:
        browser = Browser(running.url)
        status, _, _ = browser.post("/login", {"token": "a token for the test", "user": "On call"})
        assert status == 200
        yield browser


def csrf(page: str) -> str:
    (secret,) = set(re.findall(r'name="csrf" value="([^"]+)"', page))
    return secret


@pytest.mark.long
def test_every_page_shows_what_is_there(shop: Shop, reader: Browser) -> None:
    for path, expected in {
        "/": ["dbo.orders", "a queue is off and messages wait", "ALTER QUEUE [dbo].[Shipping] WITH"],
        "/map": ["//Shop/Billing", "<svg class=\"map\"", "Warehouse", "12 open dialogs"],
        "/search": ["//Warehouse/Stock", "started outbound"],
        "/quarantine": ["null value in column item", "5001", "3 groups"],
        "/transport": ["tcp://warehouse:4022", "The target service name could not be found"],
        "/claims": ["dbo.counter", "held"],
        "/log": ["booked order 4711", "reader_failed", "Msg 515"],
        "/queue/dbo.orders": ["Throughput", "<polyline", "dbo.bookorder", "booked order 4711"],
        f"/conversation/{shop.order}": ["größer", "<svg class=\"sequence\"", "BEGIN CONVERSATION TIMER"],
        f"/conversation/{shop.ended}": ["9001: The customer is not known"],
        f"/conversation/{shop.waiting}": ["waits for delivery"],
    }.items():  # fmt: skip
        status, page, headers = reader.get(f"/i/shop{path}")
        assert status == 200, (path, page)
        for text in expected:
            assert text.replace("'", "&#39;") in page or text in page, (path, text)
        assert "default-src 'none'" in headers["content-security-policy"]
        assert '<form method="post"' not in page
        # Nothing of the page needs an exception to its own policy, or a network.
        assert not re.search(
            r"<style|\sstyle=|\son[a-z]+=|<script(?! src)|(src|href)=\"(https?:)?//", page
        ), path


@pytest.mark.long
def test_a_page_with_a_part_of_what_there_is_says_so(
    shop: Shop, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """200 of 5,000 groups were "200 groups", 100,000 messages all that waited."""
    assert "More wait" not in reader.get("/i/shop/transport")[1]
    assert "services, those with the most" not in reader.get("/i/shop/map")[1]
    monkeypatch.setattr("pgsb.observe.dashboard.queries.QUARANTINED", 2)
    monkeypatch.setattr("pgsb.observe.dashboard.queries.LOOKED_AT", 1)
    monkeypatch.setattr("pgsb.observe.dashboard.queries.TRAFFIC", 1)
    monkeypatch.setattr("pgsb.observe.dashboard.pages.graph", partial(graph, limit=2))
    assert "the 2 newest of 3 groups" in reader.get("/i/shop/quarantine")[1]
    assert "More wait: these are " in reader.get("/i/shop/transport")[1]
    page = reader.get("/i/shop/map")[1]
    assert re.search(r"These are 2 of \d+ services, those with the most dialogs", page)
    assert "with the most dialogs as a table" in page


@pytest.mark.long
def test_the_quarantine_is_there_where_all_queues_take_too_long_to_measure(
    shop: Shop, reader: Browser, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of 5,000 queues the page was 503, with nothing set aside."""

    async def takes_too_long(_instance: Any) -> Any:
        raise psycopg.errors.QueryCanceled("canceling statement due to statement timeout")

    monkeypatch.setattr("pgsb.observe.dashboard.queries.queues", takes_too_long)
    status, page, _ = reader.get("/i/shop/quarantine")
    assert (status, "3 groups" in page) == (200, True)


def test_the_map_of_many_services_has_the_busiest() -> None:
    """It had the first of the alphabet, and did not say so."""
    traffic: list[dict[str, Any]] = [
        {
            "from_service": f"//{name}",
            "to_service": "//Z",
            "contract_name": "DEFAULT",
            "conversations": count,
            "address": None,
        }
        for name, count in (("Y", 90), ("X", 50), ("A", 2), ("B", 1))
    ]
    queues = [{"services": ["//Idle"], "queue": "dbo.idle", "depth": 0, "state": "ON"}]
    drawing, drawn, services = graph(traffic, queues, "/i/x", limit=3)
    assert (drawn, services) == (3, 6)
    assert [name for name in ("//Y", "//Z", "//X", "//A", "//Idle") if f">{name}<" in drawing] == [
        "//Y",
        "//Z",
        "//X",
    ]
    assert graph(traffic, queues, "/i/x")[1:] == (6, 6)


def test_a_runtime_of_another_version_is_told(shop: Shop, sql: Connection, reader: Browser) -> None:
    sql.execute("UPDATE ssb.runtime_version SET version = 1")
    status, page, _ = reader.get("/i/shop/")
    assert status == 200 and "it is version 1, this pgsb brings " in page


def test_a_queue_that_is_being_dropped_is_shown(shop: Shop, sql: Connection, reader: Browser) -> None:
    """Whoever looks at that moment finds its row, and no sequence any more."""
    row = sql.execute("SELECT order_sequence::text FROM ssb.queue WHERE name = 'dbo.orders'").fetchone()
    assert row is not None
    sql.execute(f"DROP SEQUENCE {row[0]}".encode())
    status, page, _ = reader.get("/i/shop/queue/dbo.orders")
    assert status == 200 and "– ever came" in page


def test_search_is_kept_in_the_address(shop: Shop, reader: Browser) -> None:
    def found(query: str) -> int:
        _, page, _ = reader.get(f"/i/shop/search?{query}")
        return page.count("<tr data-row>")

    assert found("service=Warehouse") == 1
    assert found("state=ER") == 1
    assert found("queue=dbo.billing&state=CO") > 10
    assert found("type=Order&queue=dbo.orders") == 4
    assert found("text=invoice+7") == 1
    assert found("text=NVARCHAR") == 1
    assert found("older=1h") == 0
    assert found("service=nothing+like+it") == 0
    _, page, _ = reader.get("/i/shop/search?newer=1h")
    assert "before 1 hour" in page
    status, page, _ = reader.get(f"/i/shop/search?handle={shop.order}")
    assert status == 200 and shop.order.upper() in page


@pytest.mark.parametrize(
    "path", ["/i/other/", "/i/shop/queue/dbo.none", "/i/shop/conversation/nonsense",
             "/i/shop/conversation/00000000-0000-0000-0000-000000000001", "/i/shop/nowhere",
             "/i/shop/queue/%00", "/i/shop/search?service=%00"]
)  # fmt: skip
def test_what_is_not_there_is_said(path: str, reader: Browser) -> None:
    status, page, _ = reader.get(path)
    assert status == 404
    assert "There is no such" in page


@pytest.mark.long
def test_names_and_bodies_are_text(reader: Browser, connect: Callable[..., Connection]) -> None:
    sql = connect()
    sql.execute(
        "SELECT ssb.create_queue('dbo.q'),"
        " ssb.create_service('<script>alert(1)</script>', 'dbo.q', '{DEFAULT}')"
    )
    row = sql.execute(
        "SELECT ssb.begin_dialog('<script>alert(1)</script>', '<script>alert(1)</script>')"
    ).fetchone()
    assert row is not None
    sql.execute("SELECT ssb.send(%s, 'DEFAULT', '<script>alert(2)</script>'::text)", row)
    for path in ("/", "/map", "/search", f"/conversation/{row[0]}", "/queue/dbo.q"):
        status, page, _ = reader.get(f"/i/shop{path}")
        assert status == 200
        assert "<script>alert" not in page
        assert "&lt;script&gt;alert(" in page


def test_after_a_change_comes_the_page_of_a_queue_with_any_name(
    shop: Shop, operator: Browser, connect: Callable[..., Connection]
) -> None:
    name = 'dbo."a%20b/?#&c"'
    connect().execute("SELECT ssb.create_queue(%s)", [name])
    path = f"/i/shop/queue/{urllib.parse.quote(name, safe='')}"
    _, page, _ = operator.get(path)
    back = re.search(r'name="back" value="([^"]*)"', page)
    assert back is not None
    fields = {"csrf": csrf(page), "switch": "status", "value": "off", "back": html.unescape(back[1])}
    status, page, _ = operator.post(f"{path}/switch", fields)
    assert status == 200 and f"{name}: STATUS = OFF" in html.unescape(page)


@pytest.mark.long
def test_a_queue_is_switched_and_the_log_tells_who(
    shop: Shop, operator: Browser, connect: Callable[..., Connection]
) -> None:
    sql = connect()
    _, page, _ = operator.get("/i/shop/queue/dbo.shipping")
    secret = csrf(page)

    def switch(name: str, value: str) -> tuple[int, str]:
        status, shown, _ = operator.post(
            "/i/shop/queue/dbo.orders/switch",
            {
                "csrf": secret,
                "switch": name,
                "value": value,
                "back": "/i/shop/queue/dbo.orders?undo=status&was=on",
            },
        )
        return status, shown

    status, shown = switch("status", "off")
    assert status == 200 and "dbo.orders: STATUS = OFF" in shown and "Undo" in shown
    row = (
        "SELECT is_receive_enabled, is_activation_enabled, max_readers FROM ssb.queue"
        " WHERE name = 'dbo.orders'"
    )
    assert sql.execute(row).fetchone() == (False, False, 4)
    switch("status", "on")
    switch("activation_status", "on")
    switch("max_queue_readers", "7")
    assert sql.execute(row).fetchone() == (True, True, 7)
    for name, value in [
        ("status", "perhaps"),
        ("retention", "on"),
        ("max_queue_readers", "-1"),
        ("max_queue_readers", "9" * 5000),
    ]:
        assert switch(name, value)[0] == 400
    said = sql.execute(
        "SELECT message FROM ssb.log_recent WHERE event = 'changed' ORDER BY log_id"
    ).fetchall()
    assert len(said) == 4
    assert re.fullmatch(r"On call, as \w+: dbo.orders: STATUS = OFF", said[0][0])


def test_purging_shows_the_number_before(
    shop: Shop, operator: Browser, connect: Callable[..., Connection]
) -> None:
    _, page, _ = operator.get("/i/shop/queue/dbo.billing?purge=1&type=DEFAULT")
    assert "<strong>12 messages</strong> would be deleted" in page
    _, old, _ = operator.get("/i/shop/queue/dbo.billing?purge=1&older=1h")
    assert "<strong>0 messages</strong>" in old
    holder = connect(autocommit=False)
    holder.execute("SELECT * FROM ssb.receive('dbo.billing', 1)")
    _, page, _ = operator.post(
        "/i/shop/queue/dbo.billing/purge", {"csrf": csrf(page), "type": "DEFAULT", "older": ""}
    )
    assert "dbo.billing: 11 messages purged" in page
    holder.rollback()
    assert connect().execute("SELECT depth FROM ssb.queue_status WHERE queue = 'dbo.billing'").fetchone() == (
        1,
    )


@pytest.mark.parametrize("how", ["end", "error", "cleanup"])
def test_a_conversation_is_ended(
    how: str, shop: Shop, operator: Browser, connect: Callable[..., Connection]
) -> None:
    _, page, _ = operator.get(f"/i/shop/conversation/{shop.order}")
    fields = {"csrf": csrf(page), "how": how, "code": "50001", "text": "by hand"}
    status, shown, _ = operator.post(f"/i/shop/conversation/{shop.order}/end", fields)
    assert status == 200, shown
    sql = connect()
    left = sql.execute(
        "SELECT state FROM sys.conversation_endpoints WHERE conversation_handle = %s", [shop.order]
    ).fetchall()
    assert left == []
    heard = sql.execute(
        "SELECT message_type_name FROM ssb_internal.find_conversations(p_queue => 'dbo.orders') AS c,"
        " ssb_internal.conversation_bodies(c.conversation_handle) AS b"
        " WHERE b.message_type_name LIKE '%ServiceBroker/E%'"
    ).fetchall()
    wanted = {"end": ["EndDialog"], "error": ["Error"], "cleanup": []}[how]
    assert [row[0].rpartition("/")[2] for row in heard] == wanted
    assert operator.post(f"/i/shop/conversation/{shop.ended}/end", {**fields, "how": "hope"})[0] == 400
    assert (
        operator.post(f"/i/shop/conversation/{shop.ended}/end", {**fields, "how": "error", "code": "0"})[0]
        == 400
    )


@pytest.mark.long
def test_groups_in_quarantine_are_decided_together(
    shop: Shop, operator: Browser, connect: Callable[..., Connection]
) -> None:
    _, page, _ = operator.get("/i/shop/quarantine")
    secret = csrf(page)
    groups = re.findall(r'name="group" value="([^"]+)"', page)
    assert len(groups) == 3

    def decide(how: str, ticked: list[str], **more: str) -> tuple[int, str]:
        status, shown, _ = operator.post(
            "/i/shop/quarantine/decide", {"csrf": secret, "how": how, "group": ticked, **more}
        )
        return status, shown

    assert decide("resubmit", [])[0] == 400
    assert decide("fail", groups[:1])[0] == 400
    # All or none: one of them is not in quarantine.
    status, shown = decide("drop", [groups[0], "00000000-0000-0000-0000-000000000001"])
    assert status == 409 and "is not found" in shown
    assert "3 groups" in operator.get("/i/shop/quarantine")[1]
    assert "1 group failed" in decide("fail", groups[:1], code="9001", text="not possible")[1]
    assert "1 group dropped" in decide("drop", groups[1:2])[1]
    assert "1 group resubmitted" in decide("resubmit", groups[2:])[1]
    # The undo, which finds those that nobody has received meanwhile.
    undone = operator.post("/i/shop/quarantine/undo", {"csrf": secret})
    assert undone[0] == 200 and "1 of 1 groups set aside again" in undone[1]
    assert operator.post("/i/shop/quarantine/undo", {"csrf": secret})[0] == 400
    assert "1 group resubmitted" in decide("resubmit", groups[2:])[1]
    assert "No group is set aside" in operator.get("/i/shop/quarantine")[1]
    depth = (
        connect()
        .execute("SELECT depth, quarantined_groups FROM ssb.queue_status WHERE queue = 'dbo.orders'")
        .fetchone()
    )
    assert depth == (3, 0)


def test_nothing_is_changed_by_those_who_may_not(shop: Shop, reader: Browser, database: Database) -> None:
    fields = {"switch": "status", "value": "off", "csrf": "x"}
    assert reader.post("/i/shop/queue/dbo.orders/switch", fields)[0] == 403
    with DashboardThread(_options(database, allow_changes=True)) as running:
        stranger = Browser(running.url)
        status, page, _ = stranger.get("/i/shop/queue/dbo.orders")
        assert status == 200 and "Turn the queue" not in page and "Log in to change" in page
        assert stranger.post("/i/shop/queue/dbo.orders/switch", fields)[0] == 403
        assert stranger.post("/login", {"token": "wrong", "user": "Eve"})[0] == 403
        operator = Browser(running.url)
        assert operator.post("/login", {"token": "a token for the test", "user": "On call"})[0] == 200
        secret = csrf(operator.get("/i/shop/queue/dbo.orders")[1])
        # A form without the secret, and one that another site has made the browser send.
        assert operator.post("/i/shop/queue/dbo.orders/switch", fields)[0] == 403
        assert (
            operator.post(
                "/i/shop/queue/dbo.orders/switch", {**fields, "csrf": secret}, Origin="https://evil.example"
            )[0]
            == 403
        )
        assert operator.post("/logout", {"csrf": secret})[0] == 200
        assert operator.post("/i/shop/queue/dbo.orders/switch", {**fields, "csrf": secret})[0] == 403
        for _ in range(6):
            stranger.post("/login", {"token": "wrong", "user": "Eve"})
        # Guessing is slow, for the right token too.
        assert stranger.post("/login", {"token": "a token for the test", "user": "Eve"})[0] == 403


def test_who_goes_on_guessing_keeps_nobody_out_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    now = 0.0
    monkeypatch.setattr("pgsb.observe.dashboard.access.time", SimpleNamespace(monotonic=lambda: now))
    access = Access(Options({}, token="right"))
    for _ in range(100):
        now += 1.0
        access.begin("wrong", "Eve")
    now += 9.0
    assert access.begin("right", "On call") is not None


def test_another_host_name_is_refused(reader: Browser, database: Database) -> None:
    assert reader.get("/i/shop/", Host="evil.example")[0] == 421
    with DashboardThread(_options(database, hosts=("broker.example",))) as running:
        assert Browser(running.url).get("/i/shop/", Host="broker.example:8025")[0] == 200


@pytest.mark.parametrize("origin", ["http://[evil", "null", "http://evil.example", "evil"])
def test_a_form_of_another_origin_is_refused(origin: str, reader: Browser) -> None:
    """What is no address had the answer 500, for those who have not logged in too."""
    assert reader.post("/logout", {"csrf": ""}, Origin=origin)[0] == 403


def test_beyond_loopback_everybody_logs_in(database: Database) -> None:
    with DashboardThread(_options(database, needs_login=True)) as running:
        stranger = Browser(running.url)
        _, page, _ = stranger.get("/i/shop/")
        assert "Token" in page and "Queues" not in page
        assert stranger.post("/login", {"token": "a token for the test", "user": "On call"})[0] == 200
        assert "Queues" in stranger.get("/i/shop/")[1]
        # What was asked for comes then, a search with all its words.
        late = Browser(running.url)
        _, page, _ = late.get("/i/shop/search?service=%25a%26b%25&state=CO")
        action = html.unescape(re.findall('action="(/login[^"]*)"', page)[0])
        status, page, _ = late.post(action, {"token": "a token for the test", "user": "On call"})
        assert status == 200 and 'value="%a&amp;b%"' in page
        # Where to go after it is a page of ours.
        _, page, _ = stranger.get("/login?next=//evil.example/")
        assert "evil" not in page


@pytest.mark.long
def test_who_has_not_logged_in_learns_no_names(database: Database) -> None:
    instances = {name: Target(database.dsn, False, "") for name in ("shop", "secret store")}
    with DashboardThread(_options(database, needs_login=True, instances=instances)) as running:
        stranger = Browser(running.url)
        for path in ("/", "/i/x/", "/i/x/nothing", "/i/shop/", "/login"):
            assert "secret store" not in stranger.get(path)[1]
        status, page, _ = stranger.post("/i/x/quarantine/undo", {})
        assert status == 404 and "secret store" not in page
        stranger.post("/login", {"token": "a token for the test", "user": "On call"})
        assert "secret store" in stranger.get("/i/shop/")[1]


@pytest.mark.long
def test_a_reverse_proxy_names_the_user(
    database: Database, shop: Shop, connect: Callable[..., Connection]
) -> None:
    with DashboardThread(_options(database, allow_changes=True, user_header="X-Remote-User")) as running:
        operator = Browser(running.url, {"X-Remote-User": "operator@example.org"})
        secret = csrf(operator.get("/i/shop/queue/dbo.orders")[1])
        fields = {"csrf": secret, "switch": "max_queue_readers", "value": "2"}
        assert operator.post("/i/shop/queue/dbo.orders/switch", fields)[0] == 200
        # Nobody whom the proxy does not name, whatever cookie he has.
        for stranger in ({}, {"Cookie": "pgsb_session=header operator@example.org"}):
            assert "Turn the queue" not in Browser(running.url, stranger).get("/i/shop/queue/dbo.orders")[1]
    row = connect().execute("SELECT message FROM ssb.log_recent WHERE event = 'changed'").fetchone()
    assert row is not None and row[0].startswith("operator@example.org, as ")


@pytest.mark.long
def test_changes_have_the_rights_of_the_database_role(
    database: Database, shop: Shop, connect: Callable[..., Connection]
) -> None:
    sql = connect()
    sql.execute("CREATE ROLE page LOGIN; GRANT pg_monitor TO page")
    try:
        target = Target(psycopg.conninfo.make_conninfo(database.dsn, user="page"), False, "test")
        options = Options({"shop": target}, allow_changes=True, token="a token for the test")
        with DashboardThread(options) as running:
            browser = Browser(running.url)
            browser.post("/login", {"token": "a token for the test", "user": "On call"})
            status, page, _ = browser.get(f"/i/shop/conversation/{shop.order}")
            assert status == 200
            assert (
                "NVARCHAR as T-SQL" not in page
                and "Its body is for those who may receive from this queue" in page
            )
            for path in PAGES:
                assert browser.get(f"/i/shop{path}")[0] == 200, path
            fields = {"csrf": csrf(page), "switch": "status", "value": "off"}
            status, page, _ = browser.post("/i/shop/queue/dbo.orders/switch", fields)
            assert status == 409 and "permission" in page
    finally:
        sql.execute("DROP OWNED BY page; DROP ROLE page")


@pytest.mark.long
def test_several_instances_are_on_one_page(
    database: Database, shop: Shop, new_database: Callable[[], Database]
) -> None:
    other = new_database()
    instances = {"shop": Target(database.dsn, False, ""), "store": Target(other.dsn, False, ""),
                 "gone": Target("host=127.0.0.1 port=1 dbname=gone", False, "")}  # fmt: skip
    with DashboardThread(Options(instances, timeout=2.0)) as running:
        status, page, _ = Browser(running.url).get("/")
        assert status == 200
        assert page.count('class="card link"') == 3 and "not reached" in page
        assert Browser(running.url).get("/i/store/")[0] == 200
        status, page, _ = Browser(running.url).get("/i/gone/")
        assert status == 503 and "The database does not answer" in page


def test_a_slow_database_does_not_hang_the_page(
    database: Database, shop: Shop, connect: Callable[..., Connection]
) -> None:
    with DashboardThread(_options(database, timeout=0.3)) as running:
        blocker = connect(autocommit=False)
        blocker.execute("LOCK TABLE ssb.conversation_endpoint IN ACCESS EXCLUSIVE MODE")
        status, page, _ = Browser(running.url).get("/i/shop/search")
        assert status == 503
        assert "took longer than 0.3 s" in page
        blocker.rollback()
        assert Browser(running.url).get("/i/shop/search")[0] == 200


def test_a_database_without_the_runtime_says_so(empty_database: Database) -> None:
    with DashboardThread(_options(empty_database)) as running:
        status, page, _ = Browser(running.url).get("/i/shop/")
    assert status == 503 and "pgsb upgrade" in page


@pytest.mark.parametrize(
    ("body", "first", "shown"),
    [
        (b'{"a": [1, 2]}', "JSON", '"a": ['),
        (b"<a><b>1</b></a>", "XML", "<b>1</b>"),
        (b"plain text", "text", "plain text"),
        ("größer".encode("utf-16-le"), "text", "größer"),
        (b"\x00\x01\xff", "hex", "000000  00 01 ff"),
        (b"", "text", ""),
        (b"<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "text", "<!DOCTYPE"),
    ],
)
@pytest.mark.one_postgres
def test_bodies_are_shown_as_what_they_are(body: bytes, first: str, shown: str) -> None:
    found = forms(body)
    assert next(iter(found)) == first
    assert shown in found[first]
    assert "hex" in found


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    ("text", "encoding"), [("a" + "ä" * 40_000, "utf-8"), ("a" + "😀" * 20_000, "utf-16-le")]
)
def test_a_long_body_is_text_wherever_it_is_cut(text: str, encoding: str) -> None:
    wide = "utf16" if encoding != "utf-8" else "utf8"
    assert text.startswith(forms(text.encode(encoding), wide)["text"])
    part = text.encode(encoding)[:4099]
    assert "text" not in forms(part[:4096], wide)
    assert len(forms(part[:4096], wide, is_cut=True)["text"]) in (2048, 1024)


@pytest.mark.one_postgres
def test_json_is_shown_as_it_was_sent() -> None:
    body = rb'{"price": 10.10, "n":12345678901234567890.5,"a":1,"a":[],"b":{},"c":[true,{"\u00e4\"]":null}]} '
    assert forms(body)["JSON"] == (
        '{\n  "price": 10.10,\n  "n": 12345678901234567890.5,\n  "a": 1,\n  "a": [],\n  "b": {},\n'
        '  "c": [\n    true,\n    {\n      "ä\\"]": null\n    }\n  ]\n}'
    )
    assert next(iter(forms(b"NaN"))) == "text"


def test_half_a_surrogate_pair_in_a_message_is_shown(
    reader: Browser, shop: Shop, connect: Callable[..., Connection]
) -> None:
    """PostgreSQL has no such character, and neither has the page: the message has its escape."""
    sql = connect()
    row = sql.execute("SELECT ssb.begin_dialog('//Shop/Counter', '//Shop/Billing')").fetchone()
    assert row is not None
    sql.execute("SELECT ssb.send(%s, 'DEFAULT', %s::bytea)", [row[0], rb'["\ud83d", 1]'])
    status, page, _ = reader.get(f"/i/shop/conversation/{row[0]}")
    assert status == 200
    assert "&#34;\\ud83d&#34;" in page


@pytest.mark.one_postgres
def test_bodies_of_an_instance_with_utf16_are_read_so() -> None:
    assert forms("日本".encode("utf-16-le"), "utf16")["text"] == "日本"
    assert forms("<é/>".encode("utf-16"), "utf16")["XML"] == "<é/>"
    assert forms("größer".encode(), "utf16")["text"] == "größer"


@pytest.mark.one_postgres
@pytest.mark.parametrize(
    ("value", "shown"),
    [(0, "0"), (2.5, "2.5"), (9999, "9,999"), (9999.7, "10 k"), (12345, "12.3 k"), (999_499, "999 k"),
     (999_700, "1 M"), (1_234_567, "1.23 M"), (999_999_999, "1 G"), (1234e9, "1,230 G"), (-999_700, "-1 M")],
)  # fmt: skip
def test_numbers_are_short(value: float, shown: str) -> None:
    assert number(value) == shown


@pytest.mark.one_postgres
def test_two_instances_of_one_name_are_refused() -> None:
    command = [sys.executable, "-m", "pgsb.cli.main", "dashboard"]
    command += ["--instance", "shop=dbname=a", "--instance", "shop=dbname=b"]
    left = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert left.returncode == 2 and "two of them have the name shop" in left.stderr


@pytest.mark.long
@pytest.mark.parametrize(
    "half",
    [
        b"",
        b"GET / HTTP/1.1\r\nHost: 127",
        b"POST /login HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99\r\n\r\ntok",
        b"GET /static/style.css HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\nG",
    ],
)
def test_who_does_not_finish_a_request_is_left(
    half: bytes, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "PATIENCE", 0.5)
    with DashboardThread(_options(database)) as running:
        host, port = running.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), timeout=60) as client, suppress(ConnectionError):
            client.sendall(half)
            while client.recv(65536):
                pass


@pytest.mark.long
def test_a_request_that_takes_its_time_is_answered(
    database: Database, shop: Shop, connect: Callable[..., Connection], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "PATIENCE", 0.2)
    with DashboardThread(_options(database, timeout=2)) as running:
        blocker = connect(autocommit=False)
        blocker.execute("LOCK TABLE ssb.conversation_endpoint IN ACCESS EXCLUSIVE MODE")
        assert "took longer than 2 s" in Browser(running.url).get("/i/shop/search")[1]


def test_clients_that_say_nothing_leave_room_for_others(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deadlines, "PATIENCE", 600)
    monkeypatch.setattr(deadlines, "MOST_CONNECTIONS", 5)
    with DashboardThread(_options(database)) as running, ExitStack() as stack:
        host, port = running.url.removeprefix("http://").split(":")
        silent = [
            stack.enter_context(socket.create_connection((host, int(port)), timeout=60)) for _ in range(20)
        ]
        for one in silent[:15]:
            with suppress(ConnectionError):
                assert one.recv(1) == b""
        assert Browser(running.url).get("/")[0] == 200


@pytest.mark.one_postgres
def test_of_two_that_start_at_once_one_has_the_address() -> None:
    """Also before its server has begun to listen, which takes a moment."""
    with _bind("127.0.0.1", 0) as first, pytest.raises(ServerError, match="Address already in use"):
        _bind("127.0.0.1", first.getsockname()[1])


@pytest.mark.long
@pytest.mark.one_postgres
def test_the_address_is_told_when_it_is_ours(database: Database) -> None:
    """With port 0 the system chooses; an address that cannot be had is not told as one that can."""
    command = [sys.executable, "-m", "pgsb.cli.main", "dashboard", "--dsn", database.dsn, "--listen"]
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        left = subprocess.run([*command, port], capture_output=True, text=True, check=False, timeout=60)
    assert (left.returncode, left.stdout) == (1, "")
    assert f"cannot listen on 127.0.0.1:{port}" in left.stderr
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        [*command, "0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as running:
        assert running.stdout is not None
        told = re.match(r"http://127\.0\.0\.1:(\d+)/ shows ", running.stdout.readline())
        running.terminate()
    assert told is not None and int(told[1]) > 0

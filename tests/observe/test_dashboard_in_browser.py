"""The dashboard in Chromium: every page, every button, keys, themes, a phone's width; pictures for the docs.

PGSB_SCREENSHOTS=rewrite makes the pictures in docs/images anew.
"""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from observe_desk import Shop
from playwright.sync_api import sync_playwright

from pgsb.observe.dashboard import pages
from pgsb.observe.dashboard.options import Options
from pgsb.observe.dashboard.serve import DashboardThread
from pgsb.server.connect import Target
from support import Connection, Database

_CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
pytestmark = [
    pytest.mark.one_postgres,
    pytest.mark.skipif(
        _CHROMIUM is None, reason="no Chromium is installed (Debian: apt-get install chromium)"
    ),
]

PICTURES = Path(__file__).parents[2] / "docs" / "images"
TOKEN = "a token for the test"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    node = subprocess.run([sys.executable, "-m", "playwright", "--version"], capture_output=True, text=True)
    if node.returncode:
        pytest.skip(f"playwright's driver does not start here: {node.stderr.strip()}")
    with sync_playwright() as driver:
        browser = driver.chromium.launch(
            executable_path=_CHROMIUM,
            args=[
                "--disable-gpu",
                "--disable-dev-shm-usage",
                *(["--no-sandbox"] if os.geteuid() == 0 else []),
            ],
        )
        yield browser
        browser.close()


@pytest.fixture
def url(database: Database) -> Iterator[str]:
    options = Options(
        {"shop": Target(database.dsn, False, "test")}, allow_changes=True, token=TOKEN, refresh=0.5
    )
    with DashboardThread(options) as running:
        yield running.url


@pytest.fixture
def page(chromium: Any, url: str) -> Iterator[Any]:
    """A tab of 1280 × 860; a script error, a refused resource and a foreign address fail the test."""
    context = chromium.new_context(
        viewport={"width": 1280, "height": 860}, locale="en-GB", timezone_id="Europe/Vienna", base_url=url,
        permissions=["clipboard-read", "clipboard-write"],
    )  # fmt: skip
    problems: list[str] = []
    context.on("weberror", lambda error: problems.append(str(error.error)))
    context.on("console", lambda line: problems.append(line.text) if line.type == "error" else None)
    context.on(
        "request", lambda request: problems.append(request.url) if not request.url.startswith(url) else None
    )
    context.set_default_timeout(15_000)
    yield context.new_page()
    context.close()
    # Chromium tells of a page that answered 4xx, which some tests want.
    assert [one for one in problems if "Failed to load resource" not in one] == []


def log_in(page: Any) -> None:
    page.goto("/login")
    page.get_by_label("Your name, for the log").fill("On call")
    page.get_by_label("Token").fill(TOKEN)
    page.get_by_role("button", name="Log in").click()
    page.get_by_text("On call").wait_for()


def picture(page: Any, name: str) -> None:
    """Into docs/images, where that is wanted."""
    if os.environ.get("PGSB_SCREENSHOTS") == "rewrite":
        PICTURES.mkdir(exist_ok=True)
        page.screenshot(path=PICTURES / f"dashboard_{name}.png")


@pytest.mark.long
def test_every_page_by_its_key_in_both_themes(page: Any, shop: Shop) -> None:
    page.goto("/")
    page.get_by_role("heading", name="What is wrong").wait_for()
    # A finding opens by the keyboard, and stays open when the page looks again.
    finding = page.locator("summary", has_text="a queue is off and messages wait")
    finding.focus()
    page.keyboard.press("Enter")
    remedy = page.get_by_text("ALTER QUEUE [dbo].[Shipping] WITH STATUS = ON;")
    remedy.wait_for()
    page.locator("[data-copy]:visible").first.click()
    page.get_by_role("button", name="Copied").wait_for()
    assert page.evaluate("navigator.clipboard.readText()") == "ALTER QUEUE [dbo].[Shipping] WITH STATUS = ON;"
    page.evaluate("document.activeElement.blur()")
    page.wait_for_timeout(1200)
    assert remedy.is_visible()
    picture(page, "overview")
    for key, name in [
        ("m", "map"),
        ("s", "search"),
        ("q", "quarantine"),
        ("t", "transport"),
        ("c", "claims"),
        ("l", "log"),
    ]:
        page.keyboard.press("g")
        page.keyboard.press(key)
        page.get_by_role("heading", level=1, name=name.capitalize()).wait_for()
        assert page.locator("nav a[aria-current=page]").inner_text().startswith(name.capitalize())
        if name == "map":
            page.keyboard.press("d")
            assert page.evaluate("document.documentElement.dataset.theme") == "dark"
        picture(page, name)
        if name == "quarantine":
            page.keyboard.press("d")
    page.keyboard.press("/")
    assert page.evaluate("document.activeElement.name") == "queue"
    page.get_by_role("heading", name="Log").click()
    page.keyboard.press("?")
    page.get_by_role("heading", name="Keys").wait_for()
    page.get_by_role("button", name="Close").click()
    page.keyboard.press("p")
    assert page.locator("[data-live-state]").inner_text() == "paused"


def test_rows_are_walked_by_keys(page: Any, shop: Shop) -> None:
    page.goto("/i/shop/search?service=Warehouse")
    page.keyboard.press("j")
    page.keyboard.press("Enter")
    page.get_by_role("heading", level=1, name=shop.waiting.upper()).wait_for()


@pytest.mark.long
def test_what_is_looked_for_stands_in_the_address(page: Any, shop: Shop) -> None:
    page.goto("/i/shop/search")
    page.get_by_label("Service").fill("Warehouse")
    page.get_by_role("button", name="Search").click()
    page.wait_for_url("**service=Warehouse*")
    assert page.locator("tr[data-row]").count() == 1
    page.goto("/i/shop/log")
    page.get_by_label("Queue").fill("dbo.nothing")
    page.get_by_role("button", name="Filter").click()
    page.get_by_text("The log is empty.").wait_for()
    page.goto("/i/shop/")
    page.get_by_role("searchbox", name="Queue or service").fill("ship")
    page.get_by_role("button", name="Filter").click()
    page.wait_for_url("**ship*")
    assert page.locator("#queues tr[data-row]").count() == 1
    theme = "document.documentElement.dataset.theme"
    before = page.evaluate(theme)
    page.get_by_role("button", name="Light or dark").click()
    assert page.evaluate(theme) != before


@pytest.mark.long
def test_numbers_change_while_one_looks(page: Any, shop: Shop, connect: Callable[..., Connection]) -> None:
    page.goto("/i/shop/queue/dbo.billing")
    card = page.locator("#numbers .card").first
    card.get_by_text("12", exact=True).wait_for()
    connect().execute("SELECT * FROM ssb.receive('dbo.billing', 1)")
    # Shared by all who look for two seconds, or for longer where a look takes long.
    card.get_by_text("11", exact=True).wait_for(timeout=120_000)
    page.wait_for_function("!document.querySelector('time').textContent.includes('UTC')")


# What its buttons send test_dashboard.py sends, too.
@pytest.mark.long
def test_a_queue_and_its_switches(page: Any, shop: Shop, connect: Callable[..., Connection]) -> None:
    sql = connect()
    log_in(page)
    page.goto("/i/shop/queue/dbo.orders")
    page.get_by_role("img", name="Throughput").wait_for()
    picture(page, "queue")
    for pressed, said in [
        ("Turn the queue off", "dbo.orders: STATUS = OFF"),
        ("Undo", "dbo.orders: STATUS = ON"),
        ("Turn the queue off", "dbo.orders: STATUS = OFF"),
        ("Turn the queue on", "dbo.orders: STATUS = ON"),
        ("Turn activation on", "dbo.orders: ACTIVATION (STATUS = ON)"),
        ("Turn activation off", "dbo.orders: ACTIVATION (STATUS = OFF)"),
    ]:
        page.get_by_role("button", name=pressed).click()
        page.locator("#flash", has_text=said).wait_for()
    page.get_by_label("MAX_QUEUE_READERS").fill("9")
    page.get_by_role("button", name="Set", exact=True).click()
    page.locator("#flash", has_text="MAX_QUEUE_READERS = 9").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator("#flash", has_text="MAX_QUEUE_READERS = 4").wait_for()
    for back in ("15min", "6h", "24h"):
        page.get_by_role("link", name=back).click()
        page.wait_for_url(f"**back={back}")
    page.goto("/i/shop/queue/dbo.billing")
    page.get_by_label("Purge messages of type").fill("DEFAULT")
    page.get_by_role("button", name="Count them").click()
    page.get_by_role("link", name="Cancel").click()
    page.get_by_role("button", name="Count them").click()
    page.get_by_role("button", name="Purge 12 messages").click()
    page.locator("#flash", has_text="12 messages purged").wait_for()
    assert sql.execute("SELECT depth FROM ssb.queue_status WHERE queue = 'dbo.billing'").fetchone() == (0,)
    page.get_by_role("button", name="Log out").click()
    page.get_by_role("link", name="Log in to change").wait_for()


@pytest.mark.long
def test_a_conversation_with_its_bodies(page: Any, shop: Shop, connect: Callable[..., Connection]) -> None:
    log_in(page)
    page.goto(f"/i/shop/conversation/{shop.order}")
    page.get_by_role("img", name="Dialog of //Shop/Counter and //Shop/Orders").wait_for()
    picture(page, "conversation")
    body = page.locator("article.body", has_text="confirmation").first
    body.get_by_role("button", name="hex").click()
    body.get_by_text("000000  3c 63 6f 6e").wait_for()
    page.evaluate("document.activeElement.blur()")
    # The choice outlasts the next look.
    page.wait_for_timeout(1200)
    assert body.get_by_text("000000  3c 63 6f 6e").is_visible()
    page.get_by_text("The same as a table").click()
    page.get_by_role("cell", name="BEGIN CONVERSATION TIMER").wait_for()
    page.get_by_label("Description").fill("by hand")
    page.get_by_role("button", name="End with error").click()
    page.locator("#flash", has_text="ended with an error").wait_for()
    page.once("dialog", lambda dialog: dialog.dismiss())
    page.goto(f"/i/shop/conversation/{shop.ended}")
    page.get_by_role("button", name="End conversation").click()
    page.get_by_role("heading", level=1, name=shop.ended.upper()).wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="End conversation").click()
    page.locator("#flash", has_text="ended").wait_for()
    page.once("dialog", lambda dialog: dialog.accept())
    page.goto(f"/i/shop/conversation/{shop.waiting}")
    page.get_by_role("button", name="Clean up").click()
    page.locator("#flash", has_text="cleaned up").wait_for()


@pytest.mark.long
def test_groups_in_quarantine_are_ticked_and_decided(page: Any, shop: Shop) -> None:
    log_in(page)
    page.goto("/i/shop/quarantine")
    section = page.locator("section", has=page.get_by_role("heading", name="null value in column item"))
    section.get_by_label("all").check()
    page.get_by_text("2 ticked").wait_for()
    picture(page, "quarantine_ticked")
    page.get_by_role("button", name="Fail the conversations").click()
    page.locator("#flash", has_text="2 groups failed").wait_for()
    page.locator('input[name="group"]').check()
    page.get_by_role("button", name="Resubmit").click()
    page.locator("#flash", has_text="1 group resubmitted").wait_for()
    page.get_by_text("No group is set aside").wait_for()
    page.get_by_role("button", name="Undo").click()
    page.locator("#flash", has_text="1 of 1 groups set aside again").wait_for()
    page.locator('input[name="group"]').check()
    page.get_by_role("button", name="Drop the failing messages").click()
    page.locator("#flash", has_text="1 group dropped").wait_for()


@pytest.mark.long
def test_it_fits_a_phone_and_names_everything(page: Any, shop: Shop) -> None:
    page.set_viewport_size({"width": 390, "height": 844})
    log_in(page)
    for path in (
        "/",
        "/map",
        "/search",
        "/quarantine",
        "/transport",
        "/log",
        "/queue/dbo.orders",
        f"/conversation/{shop.order}",
    ):
        page.goto(f"/i/shop{path}")
        width = page.evaluate("document.documentElement.scrollWidth")
        assert width <= 390, (path, width)
        nameless = page.evaluate(
            """[...document.querySelectorAll(
                 "button, a[href], input:not([type=hidden]), select, svg[role=img]")]
               .filter(one => !(one.ariaLabel || one.textContent.trim() || one.labels?.length || one.title))
               .map(one => one.outerHTML)"""
        )
        assert nameless == [], path
    page.goto("/i/shop/")
    picture(page, "phone")


def test_every_button_is_pressed_by_a_test() -> None:
    """The names of all buttons of the templates; those that are made of values have a word of theirs here."""
    templates = Path(pages.__file__).parent / "templates"
    here = Path(__file__).read_text(encoding="utf-8")
    names = set()
    for template in templates.glob("*.html"):
        text = re.sub(r"\{%.*?%\}", "", template.read_text(encoding="utf-8"))
        names |= {name.strip() for name in re.findall(r"<button[^>]*>(.*?)</button>", text)}
        names |= set(re.findall(r"switch\('\w+', '\w+', '([^']+)'", template.read_text()))
    # Its name is for screen readers; "Copy" says "Copied" once it is pressed.
    pressed = {"◐": "Light or dark", "Copy": "Copied"}
    made = {"{{ label }}", "{{ name }}"}
    missing = {name for name in names - made if f'"{pressed.get(name, name.split(" {{")[0])}' not in here}
    assert len(names) > 15
    assert missing == set()

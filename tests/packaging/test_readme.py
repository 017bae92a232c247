"""The README as a package index shows it."""

import tarfile
import zipfile
from email import message_from_bytes
from email.message import Message
from html.parser import HTMLParser
from pathlib import PurePosixPath
from urllib.parse import urlsplit

import pytest
from readme_renderer import markdown


class _Links(HTMLParser):
    """What a page links to and which pictures it shows."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.pictures: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = dict(attrs)
        if tag == "a":
            self.links.append(values.get("href") or "")
        elif tag == "img":
            self.pictures.append(values.get("src") or "")


@pytest.fixture(scope="module")
def metadata(wheel: zipfile.ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return message_from_bytes(wheel.read(name))


@pytest.fixture(scope="module")
def page(metadata: Message) -> str:
    """The description as PyPI's own renderer shows it."""
    body = metadata.get_payload(decode=True)
    assert isinstance(body, bytes)
    shown = markdown.render(body.decode())
    assert shown is not None
    return shown


def test_the_description_is_markdown(metadata: Message, page: str) -> None:
    assert metadata["Description-Content-Type"] == "text/markdown"
    assert "<table>" in page and "<pre" in page


def test_links_lead_to_the_web_or_into_the_sdist(page: str, sdist: tarfile.TarFile) -> None:
    held = {PurePosixPath(*PurePosixPath(one.name).parts[1:]) for one in sdist.getmembers()}
    relative = [urlsplit(link) for link in _Links(page).links if not urlsplit(link).scheme]
    assert relative
    assert [link.path for link in relative if link.path and PurePosixPath(link.path) not in held] == []


def test_pictures_are_shown_without_the_checkout(page: str) -> None:
    # A relative one would be a broken image on an index.
    assert [source for source in _Links(page).pictures if urlsplit(source).scheme != "https"] == []

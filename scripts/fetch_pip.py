"""Download pip's wheel from the package index and print its path: for scripts/setup, standard library only.

    python fetch_pip.py DIRECTORY

The index is PIP_INDEX_URL (default https://pypi.org/simple), read in its HTML form, which mirrors have too.
"""

import hashlib
import os
import re
import sys
import urllib.parse
import urllib.request
from html.parser import HTMLParser
from pathlib import Path

_WHEEL = re.compile(r"pip-([0-9.]+)-py3-none-any\.whl")


class _Links(HTMLParser):
    """Version → address of every final release that was not withdrawn."""

    def __init__(self) -> None:
        super().__init__()
        self.wheels: dict[tuple[int, ...], str] = {}

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        attributes = dict(attrs)
        address = attributes.get("href") or ""
        match = _WHEEL.search(address.split("#")[0].rsplit("/", 1)[-1])
        if tag == "a" and match and "data-yanked" not in attributes:
            self.wheels[tuple(int(part) for part in match[1].split("."))] = address


def fetch(directory: Path) -> Path:
    """Fetch the newest release; its checksum is compared with the one in the index."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    request = urllib.request.Request(f"{index}/pip/", headers={"Accept": "text/html"})
    links = _Links()
    with urllib.request.urlopen(request, timeout=60) as answer:
        links.feed(answer.read().decode())
        base = answer.geturl()
    if not links.wheels:
        raise ValueError(f"{base} lists no release of pip")
    address, fragment = urllib.parse.urldefrag(urllib.parse.urljoin(base, links.wheels[max(links.wheels)]))
    with urllib.request.urlopen(address, timeout=300) as answer:
        content = answer.read()
    expected = urllib.parse.parse_qs(fragment).get("sha256")
    if expected and hashlib.sha256(content).hexdigest() != expected[0]:
        raise ValueError(f"{address} is damaged: its checksum is wrong")
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / address.rsplit("/", 1)[-1]
    target.write_bytes(content)
    return target


if __name__ == "__main__":
    try:
        print(fetch(Path(sys.argv[1])))
    except (OSError, ValueError) as error:
        sys.exit(f"pip could not be fetched: {error}")

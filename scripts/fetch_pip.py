"""Download pip's wheel from the package index and print its path: for scripts/setup, standard library only.

    python fetch_pip.py DIRECTORY

The index is PIP_INDEX_URL (default https://pypi.org/simple), read in its JSON form.
"""

import hashlib
import json
import os
import re
import sys
import urllib.parse
import urllib.request
from pathlib import Path

_JSON = "application/vnd.pypi.simple.v1+json"


def fetch(directory: Path) -> Path:
    """Fetch the newest final release; its checksum is compared with the index's."""
    index = os.environ.get("PIP_INDEX_URL", "https://pypi.org/simple").rstrip("/")
    request = urllib.request.Request(f"{index}/pip/", headers={"Accept": _JSON})
    with urllib.request.urlopen(request, timeout=60) as answer:
        page = json.load(answer)
        base = answer.geturl()
    wheels = {}
    for file in page["files"]:
        match = re.fullmatch(r"pip-([0-9.]+)-py3-none-any\.whl", file["filename"])
        if match and not file.get("yanked"):
            wheels[tuple(int(part) for part in match[1].split("."))] = file
    newest = wheels[max(wheels)]
    with urllib.request.urlopen(urllib.parse.urljoin(base, newest["url"]), timeout=300) as answer:
        content = answer.read()
    expected = newest.get("hashes", {}).get("sha256")
    if expected and hashlib.sha256(content).hexdigest() != expected:
        raise ValueError(f"{newest['filename']} is damaged: its checksum is wrong")
    directory.mkdir(parents=True, exist_ok=True)
    target = directory / newest["filename"]
    target.write_bytes(content)
    return target


if __name__ == "__main__":
    try:
        print(fetch(Path(sys.argv[1])))
    except (OSError, ValueError, KeyError) as error:
        sys.exit(f"pip could not be fetched: {error}")

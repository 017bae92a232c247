"""The documentation as a site: it builds without a warning, and has every page."""

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.long
def test_the_site_has_every_page_and_builds_without_a_warning(tmp_path: Path) -> None:
    pytest.importorskip("material")
    # Its announcements of a new version are no warnings of ours.
    shown = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(tmp_path)],
        cwd=ROOT,
        env={"PATH": "/usr/bin:/bin", "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert shown.returncode == 0, shown.stderr
    for page in (ROOT / "docs").glob("*.md"):
        built = tmp_path / ("index.html" if page.stem == "index" else f"{page.stem}/index.html")
        assert built.exists(), page.name
    start = (tmp_path / "index.html").read_text(encoding="utf-8")
    assert 'class="mermaid"' in start and "fonts.googleapis" not in start

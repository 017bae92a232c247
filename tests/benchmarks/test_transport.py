"""The benchmark of the transport: both ways carry everything in order, and are compared load by load."""

import re

import pytest
from click.testing import CliRunner

from pgsb.benchmarks.transport import main

pytestmark = pytest.mark.one_postgres


@pytest.mark.long
def test_the_quick_form_compares_all_loads_with_the_floor() -> None:
    shown = CliRunner().invoke(main, ["--quick", "--backlog", "100"])
    assert shown.exit_code == 0, shown.output
    ratios = re.findall(r"^(.+), backlog 100 .*\| ([0-9.]+) / \2 / \2$", shown.output, re.MULTILINE)
    assert [name for name, _ in ratios] == [
        "dialogs: 1",
        "dialogs: 50",
        "dialogs: 1,000",
        "a new dialog each",
    ]
    assert all(float(ratio) > 0 for _, ratio in ratios)

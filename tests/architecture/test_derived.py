"""SQL that a script makes of a table is what the script makes."""

import runpy
from pathlib import Path

ROOT = Path(__file__).parents[2]
SCRIPT = ROOT / "scripts" / "derive_conversions.py"


def test_derived_conversions_are_what_the_script_makes() -> None:
    made = runpy.run_path(str(SCRIPT))
    written = made["TARGET"].read_text(encoding="utf-8")
    assert written == made["derived"](), "python scripts/derive_conversions.py writes it"


def test_no_conversion_is_written_twice() -> None:
    """What the script makes stands in no other file."""
    folder = ROOT / "runtime_sql" / "functions" / "conversion"
    derived = (folder / "derived.sql").read_text(encoding="utf-8")
    names = {line.split("sys.")[1] for line in derived.splitlines() if line.startswith("CREATE")}
    assert len(names) == 9
    for path in folder.glob("*.sql"):
        if path.name != "derived.sql":
            lines = path.read_text(encoding="utf-8").splitlines()
            made = {line.split("sys.")[1] for line in lines if line.startswith("CREATE") and "sys." in line}
            assert not made & names, path.name

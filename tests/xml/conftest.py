"""Makes xml_documents importable: `xml` as a package name belongs to Python's own library."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

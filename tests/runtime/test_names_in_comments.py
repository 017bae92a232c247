"""A function, table or type of the runtime that a comment of the runtime or of pgsb names is there.

Callers are named in the headers of the files ("Called by"): one that is gone leads a reader astray.
"""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from support import Connection

ROOT = Path(__file__).parents[2]
FOLDERS = ("runtime_sql", "compiler", "server", "daemon", "bulk", "observe", "security", "client", "cli")
_NAME = re.compile(r"(?<![\w./'])((?:ssb|ssb_internal)\.[a-z]\w*[a-z0-9])(?![\w*.{])")
_THERE = """
SELECT n.nspname || '.' || f.name
  FROM pg_namespace AS n
 CROSS JOIN LATERAL (SELECT p.proname FROM pg_proc AS p WHERE p.pronamespace = n.oid
                     UNION SELECT c.relname FROM pg_class AS c WHERE c.relnamespace = n.oid
                     UNION SELECT t.typname FROM pg_type AS t WHERE t.typnamespace = n.oid) AS f (name)
 WHERE n.nspname IN ('ssb', 'ssb_internal')
"""


def _remarks(path: Path) -> str:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".sql":
        return "\n".join(re.findall(r"^\s*--.*", text, re.MULTILINE))
    return "\n".join([*re.findall(r"#.*", text), *re.findall(r'"""(.*?)"""', text, re.DOTALL)])


@pytest.mark.one_postgres
def test_what_a_comment_names_is_there(connect: Callable[..., Connection]) -> None:
    there = {str(name) for (name,) in connect().execute(_THERE).fetchall()}
    asked, missing = 0, []
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix not in (".sql", ".py") or "migrations" in path.parts:
                continue
            for name in _NAME.findall(_remarks(path)):
                asked += 1
                if name not in there:
                    missing.append((path.relative_to(ROOT).as_posix(), name))
    assert asked > 300
    assert missing == []

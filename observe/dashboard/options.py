"""What the dashboard is told."""

import secrets
from dataclasses import dataclass, field

from ...server.connect import Target


@dataclass(frozen=True)
class Options:
    """``instances``: name in the address → where it is.

    ``token`` logs in; ``user_header`` names the header in which a reverse proxy tells who is asking, which
    then needs no login. ``needs_login``: also for looking. ``hosts``: names under which it may be called.
    ``timeout``: seconds that one statement may take. ``patience``: so long a page waits for what is wrong.
    """

    instances: dict[str, Target]
    allow_changes: bool = False
    needs_login: bool = False
    token: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    user_header: str | None = None
    hosts: tuple[str, ...] = ("localhost", "127.0.0.1", "[::1]")
    timeout: float = 5.0
    refresh: float = 3.0
    patience: float = 0.7

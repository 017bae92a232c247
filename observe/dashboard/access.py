"""Who is asking, and whether he may change things: hosts, login, sessions, and the origin of forms."""

import hmac
import secrets
import time
from dataclasses import dataclass, field

from starlette.requests import Request

from .options import Options

COOKIE = "pgsb_session"
_SESSION_SECONDS = 12 * 3600.0
# Guesses of the token: so many, then one in so many seconds.
_GUESSES = 5
_GUESS_SECONDS = 10.0


@dataclass
class Session:
    """One login. ``csrf`` is in every form that it is shown."""

    user: str
    csrf: str = field(default_factory=lambda: secrets.token_urlsafe(24))
    began: float = field(default_factory=time.monotonic)


class Access:
    """Sessions, in memory: a restart logs everybody out."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._sessions: dict[str, Session] = {}
        # By user: no cookie leads to them.
        self._named: dict[str, Session] = {}
        self._wrong: list[float] = []

    def find(self, request: Request) -> Session | None:
        """The session of a request: its cookie's, or that of the user whom the reverse proxy names."""
        header = self._options.user_header
        if header is not None and (user := request.headers.get(header)):
            # One for each user, so that his forms stay good.
            return self._named.setdefault(user, Session(user))
        found = self._sessions.get(request.cookies.get(COOKIE, ""))
        if found is not None and time.monotonic() - found.began > _SESSION_SECONDS:
            self.end(request)
            return None
        return found

    def begin(self, token: str, user: str) -> str | None:
        """Log in: the cookie's value, None for a wrong token."""
        now = time.monotonic()
        self._wrong = [at for at in self._wrong if now - at < _GUESSES * _GUESS_SECONDS]
        if len(self._wrong) >= _GUESSES:
            # Not looked at, so no guess: who goes on guessing does not keep others out for ever.
            return None
        if not hmac.compare_digest(token.encode(), self._options.token.encode()):
            self._wrong.append(now)
            return None
        cookie = secrets.token_urlsafe(32)
        self._sessions[cookie] = Session(" ".join(user.split())[:80] or "operator")
        return cookie

    def end(self, request: Request) -> None:
        """Log out."""
        self._sessions.pop(request.cookies.get(COOKIE, ""), None)

    def is_known_host(self, request: Request) -> bool:
        """Against pages of others that have their name lead here (DNS rebinding)."""
        host = request.headers.get("host", "").lower()
        name = (
            host.rpartition(":")[0] if host.rpartition(":")[2].isdigit() and not host.endswith("]") else host
        )
        return name in self._options.hosts or "*" in self._options.hosts

    def is_own_form(self, request: Request, session: Session | None, given: str) -> bool:
        """A form of ours, sent by our page: its origin and its secret are right."""
        origin = request.headers.get("origin")
        if origin is not None and origin.partition("://")[2] != request.headers.get("host"):
            return False
        return session is not None and hmac.compare_digest(session.csrf.encode(), given.encode())

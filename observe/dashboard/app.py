"""Routes, and what every request goes through: known hosts, login, headers, errors in words."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote

import jinja2
import psycopg
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import HTMLResponse, PlainTextResponse, RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from ... import __version__
from . import changes, pages, queries
from .access import COOKIE, Access, Session
from .charts import number
from .database import Busy, Instance
from .options import Options
from .site import Site

_HERE = Path(__file__).parent
_HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self';"
    " img-src 'self' data:; connect-src 'self'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "same-origin",
    "X-Frame-Options": "DENY",
}
_MOST_BYTES = 100_000


class Dashboard:
    """The application, as ASGI: ``app``."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.access = Access(options)
        self.instances = {
            name: Instance(name, target, options.timeout) for name, target in options.instances.items()
        }
        self._site = Site(options, self.instances)
        self._templates = jinja2.Environment(
            loader=jinja2.FileSystemLoader(_HERE / "templates"),
            autoescape=True,
            undefined=jinja2.StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._templates.filters.update(
            number=number, age=age, iso=iso, path=lambda text: quote(str(text), safe="")
        )
        routes = [
            Route("/", self._page(pages.start)),
            Route("/login", self._login, methods=["GET", "POST"]),
            Route("/logout", self._logout, methods=["POST"]),
            Mount("/static", StaticFiles(directory=_HERE / "static"), name="static"),
            *(Route(f"/i/{{instance}}{path}", self._page(page)) for path, page in pages.PAGES.items()),
            *(
                Route(f"/i/{{instance}}{path}", self._form(form), methods=["POST"])
                for path, form in changes.FORMS.items()
            ),
        ]
        self.app = Starlette(routes=routes, lifespan=self._lifespan)
        self.app.add_exception_handler(404, self._not_found)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        for instance in self.instances.values():
            await instance.open()
        yield
        for instance in self.instances.values():
            await instance.close()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """ASGI: hosts are checked before anything else, and headers put on every answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [
                    *message["headers"],
                    *((name.lower().encode(), value.encode()) for name, value in _HEADERS.items()),
                ]
            await send(message)

        request = Request(scope)
        if not self.access.is_known_host(request):
            refusal = PlainTextResponse(
                "This host is not known here: pgsb dashboard --host NAME allows it.\n", 421
            )
            await refusal(scope, receive, send_with_headers)
            return
        if "\0" in scope["path"] or b"%00" in scope["query_string"]:
            # The database takes none, and would be shown as the one that is at fault.
            refusal = PlainTextResponse("There is no such page: a NUL character is in no name.\n", 404)
            await refusal(scope, receive, send_with_headers)
            return
        await self.app(scope, receive, send_with_headers)

    def render(
        self, template: str, request: Request, session: Session | None, status: int = 200, **values: Any
    ) -> Response:
        """A page, with what every page needs."""
        name = request.path_params.get("instance")
        text = self._templates.get_template(template).render(
            request_path=own_path(request),
            query=request.query_params,
            # Who has to log in first learns nothing before.
            instances=list(self.instances) if session or not self.options.needs_login else [],
            instance=name,
            base=f"/i/{quote(name, safe='')}" if name else "",
            session=session,
            may_change=self.options.allow_changes and session is not None,
            allow_changes=self.options.allow_changes,
            version=__version__,
            flash=request.query_params.get("done"),
            refresh=self._refresh(name),
            **values,
        )
        return HTMLResponse(text, status, headers={"Cache-Control": "no-store"})

    def _refresh(self, name: str | None) -> int:
        """Milliseconds until a page asks again: what it costs stays below 2 % of a core."""
        load = self.instances[name].load() if name in self.instances else 0.0
        return int(1000 * max(self.options.refresh, queries.PAUSES * load))

    def _page(self, page: pages.Page) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session = self.access.find(request)
            if self.options.needs_login and session is None:
                asked = request.url.query
                target = own_path(request) + (f"?{asked}" if asked else "")
                return RedirectResponse(f"/login?next={quote(target)}", 303)
            instance = self._instance(request)
            if instance is None and "instance" in request.path_params:
                return await self._not_found(request, None)
            try:
                template, values = await page(self._site, instance, request)
            except (Busy, psycopg.Error) as error:
                return self.render("problem.html", request, session, 503, **problem(error))
            if template.startswith("/"):
                return RedirectResponse(template, 303)
            return self.render(template, request, session, values.pop("status_code", 200), **values)

        return answer

    def _form(self, form: changes.Form) -> Callable[[Request], Awaitable[Response]]:
        async def answer(request: Request) -> Response:
            session = self.access.find(request)
            instance = self._instance(request)
            if instance is None:
                return await self._not_found(request, None)
            given = await fields(request)
            if not self.options.allow_changes:
                return PlainTextResponse(
                    "Nothing can be changed here: pgsb dashboard --allow-changes.\n", 403
                )
            if session is None or not self.access.is_own_form(request, session, given.get("csrf", "")):
                return PlainTextResponse(
                    "This form was not sent by a page of this dashboard, or you were logged out.\n", 403
                )
            try:
                done = await form(instance, session.user, request, given)
            except (Busy, psycopg.Error) as error:
                return self.render("problem.html", request, session, 409, **problem(error))
            except changes.WrongInput as error:
                return self.render(
                    "problem.html",
                    request,
                    session,
                    400,
                    title="This cannot be done",
                    text=str(error),
                    hint=None,
                )
            back = local_path(given.get("back", ""), f"/i/{quote(instance.name, safe='')}/")
            separator = "&" if "?" in back else "?"
            return RedirectResponse(f"{back}{separator}done={quote(done)}", 303)

        return answer

    async def _login(self, request: Request) -> Response:
        back = local_path(request.query_params.get("next", ""), "/")
        if request.method == "GET":
            return self.render("login.html", request, self.access.find(request), back=back, wrong=False)
        given = await fields(request)
        cookie = self.access.begin(given.get("token", ""), given.get("user", ""))
        if cookie is None:
            return self.render("login.html", request, None, 403, back=back, wrong=True)
        answer = RedirectResponse(back, 303)
        answer.set_cookie(
            COOKIE, cookie, httponly=True, samesite="strict", secure=request.url.scheme == "https"
        )
        return answer

    async def _logout(self, request: Request) -> Response:
        given = await fields(request)
        if not self.access.is_own_form(request, self.access.find(request), given.get("csrf", "")):
            return PlainTextResponse("This form was not sent by a page of this dashboard.\n", 403)
        self.access.end(request)
        answer = RedirectResponse("/", 303)
        answer.delete_cookie(COOKIE)
        return answer

    async def _not_found(self, request: Request, _error: Exception | None) -> Response:
        return self.render(
            "problem.html",
            request,
            self.access.find(request),
            404,
            title="There is no such page",
            text=request.url.path,
            hint=None,
        )

    def _instance(self, request: Request) -> Instance | None:
        return self.instances.get(request.path_params.get("instance", ""))


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form; several of one name are joined by commas."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _MOST_BYTES:
            return {}
    found: dict[str, str] = {}
    for name, value in parse_qsl(body.decode("utf-8", "replace"), keep_blank_values=True):
        found[name] = f"{found[name]},{value}" if name in found else value
    return found


def own_path(request: Request) -> str:
    """The path that was asked for, as a link has it: names in it are quoted."""
    return quote(str(request.scope["path"]))


def local_path(path: str, otherwise: str) -> str:
    """A path of this dashboard without its last message; never another host."""
    if not path.startswith("/") or path.startswith(("//", "/\\")):
        return otherwise
    path, _, query = path.partition("?")
    kept = "&".join(one for one in query.split("&") if one and not one.startswith("done="))
    return f"{path}?{kept}" if kept else path


def problem(error: Exception) -> dict[str, Any]:
    """Title, text and hint of the page that tells an error."""
    if isinstance(error, psycopg.Error):
        primary = error.diag.message_primary or " ".join(str(error).split())
        if error.sqlstate in ("42883", "42P01", "3F000"):
            return {
                "title": "The runtime of this database is missing or older than this dashboard",
                "text": primary,
                "hint": "pgsb install puts it there, pgsb upgrade brings it up to date.",
            }
        return {"title": "The database refused", "text": primary, "hint": error.diag.message_hint}
    return {
        "title": "The database does not answer",
        "text": str(error),
        "hint": "The page tries again by itself.",
    }


def age(value: timedelta | float | None) -> str:
    """3 s, 12 min, 5 h, 4 d."""
    if value is None:
        return ""
    seconds = value.total_seconds() if isinstance(value, timedelta) else value
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s" if seconds >= 1 else "< 1 s"


def iso(value: datetime | None) -> str:
    """For <time datetime>."""
    return value.isoformat() if value is not None else ""

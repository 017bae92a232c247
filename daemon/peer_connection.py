"""A connection to the instance at an address: where it is, and which TLS both endpoints allow."""

import asyncio
import os
from collections.abc import Mapping

import psycopg
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from ..server.connect import read_dsn
from ..server.problems import ServerError
from .answers import short
from .readers import UNLIMITED, Connection, open_connection

SETTINGS = {
    **UNLIMITED,
    "statement_timeout": "60000",
    "idle_session_timeout": "0",
    "jit": "off",
}
FAR_SECONDS = 90.0
"""For an answer of the other instance."""
# Of the other instance as a whole, not of a message: no CONNECT, no started endpoint, no runtime, a standby.
OF_THE_INSTANCE = ("42501", "55000", "42883", "3F000", "25006")

_ENCRYPTIONS = ("DISABLED", "SUPPORTED", "REQUIRED")
# Error 28027's text; what is wrong stands behind it.
_NO_ENCRYPTION = "Connection handshake failed. There is no compatible encryption algorithm. State 22."
_TLS_MODES = ("require", "verify-ca", "verify-full")


class Unreachable(Exception):
    """The other instance: the reason, as a sentence for transmission_status."""


def find_dsn(address: str, addresses: Mapping[str, str]) -> str:
    """Where the instance with this address is. Raises Unreachable, saying what is missing."""
    if (known_as := address.lower().removesuffix("/")) in addresses:
        return addresses[known_as]
    if not address.startswith(("postgresql://", "postgres://")):
        raise Unreachable(
            f"Where '{address}' is has not been said:"
            f" pgsb broker --address {address}=DSN names the PostgreSQL database."
        )
    try:
        known = read_dsn(address, address)
    except ServerError:
        raise Unreachable("The address of the route is no connection URI that PostgreSQL can read.") from None
    if known.keys() & {"password", "sslpassword"}:
        raise Unreachable(
            "The address of the route has a password in it, which everybody can read in sys.routes."
        )
    return address


async def open_far(address: str, dsn: str, ours: str | None) -> Connection:
    """A connection that both endpoints' ENCRYPTION allow. Raises Unreachable, and what psycopg raises."""
    far = await _open(address, dsn, has_tls=ours != "DISABLED")
    try:
        theirs = await _encryption_there(far)
        if far.pgconn.ssl_in_use and theirs == "DISABLED" and ours != "REQUIRED":
            await far.close()
            far = await _open(address, dsn, has_tls=False)
        if reason := encryption_conflict(
            address, ours, theirs, has_tls=far.pgconn.ssl_in_use, is_local=_is_local(far)
        ):
            raise Unreachable(reason)
    except BaseException:
        await far.close()
        raise
    return far


async def _open(address: str, dsn: str, *, has_tls: bool) -> Connection:
    known = conninfo_to_dict(dsn)
    if not has_tls:
        mode = str(known.get("sslmode") or os.environ.get("PGSSLMODE") or "prefer")
        # What somebody has asked for on purpose is not taken away in silence.
        if mode in _TLS_MODES and not str(known.get("host") or "").startswith(("/", "@")):
            raise Unreachable(
                f"{_NO_ENCRYPTION} The connection to the instance at '{address}' is to be without TLS"
                f" (ENCRYPTION = DISABLED on an endpoint), and its DSN demands it (sslmode={mode})."
            )
        dsn = make_conninfo(dsn, sslmode="disable")
    return await open_connection(dsn, SETTINGS, application_name="pgsb transport")


async def _encryption_there(far: Connection) -> str | None:
    """None: no started endpoint, or an instance that cannot tell; what it lacks it says to the messages."""
    try:
        async with asyncio.timeout(FAR_SECONDS):
            cursor = await far.execute("SELECT ssb_internal.endpoint_encryption()")
            (theirs,) = await cursor.fetchone() or (None,)
    except psycopg.Error as error:
        if error.sqlstate not in OF_THE_INSTANCE:
            raise
        return None
    return theirs if theirs in _ENCRYPTIONS else None


def _is_local(far: Connection) -> bool:
    return far.info.host.startswith(("/", "@"))


def encryption_conflict(
    address: str, ours: str | None, theirs: str | None, *, has_tls: bool, is_local: bool
) -> str | None:
    """Why the endpoints' ENCRYPTION forbid this connection; None when they do not.

    What goes through a Unix-domain socket does not leave the machine.
    """
    if is_local:
        return None
    if {ours, theirs} == {"DISABLED", "REQUIRED"}:
        return (
            f"{_NO_ENCRYPTION} The connection to the instance at '{address}' is refused: this instance's"
            f" endpoint has ENCRYPTION = {ours}, and the endpoint there has ENCRYPTION = {theirs}."
        )
    if ours == "REQUIRED" and not has_tls:
        return (
            f"{_NO_ENCRYPTION} The connection to the instance at '{address}' has no TLS, which this"
            " instance's endpoint requires (ENCRYPTION = REQUIRED): sslmode=verify-full in its DSN."
        )
    return None


def sentence(address: str, error: BaseException) -> str:
    """Why, on one line. libpq and the server name hosts and users, never passwords."""
    primary = error.diag.message_primary if isinstance(error, psycopg.Error) else None
    hint = error.diag.message_hint if isinstance(error, psycopg.Error) else None
    words = short(" ".join((primary or str(error) or type(error).__name__).split()))
    said = (
        f"The instance at '{address}' does not take the message: {words}"
        if primary
        else (f"The instance at '{address}' cannot be reached: {words}")
    )
    return said + (f" ({' '.join(short(hint).split())})" if hint else "")

"""Where the HTTP of metrics and dashboard listens, as people say it on the command line."""

import re

from ..server.problems import ServerError


def parse_listen(text: str, default_host: str = "127.0.0.1") -> tuple[str, int]:
    """``PORT``, ``ADDRESS:PORT`` or ``[IPv6]:PORT``. Raises ServerError."""
    host, _, port = text.rpartition(":")
    if not (re.fullmatch("[0-9]{1,5}", port) and int(port) < 65536):
        raise ServerError(
            f"cannot read the address {text!r}", hint="[ADDRESS:]PORT, such as 9187 or 0.0.0.0:9187"
        )
    return host.removeprefix("[").removesuffix("]") or default_host, int(port)

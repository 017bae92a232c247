"""What is said of a server names no secret of its DSN."""

import pytest

from pgsb.server.connect import Target, connect, describe
from pgsb.server.problems import ServerError


@pytest.mark.parametrize(
    "dsn",
    [
        "postgresql://ann:hidden@db.example/shop?sslpassword=hidden",
        "host=db.example dbname=shop user=ann password='hidden' sslpassword=hidden",
    ],
)
def test_a_server_in_words(dsn: str) -> None:
    said = describe(Target(dsn, False, "--dsn"))
    assert "hidden" not in said
    assert "db.example" in said and "shop" in said and "ann" in said


def test_a_wrong_dsn_is_not_repeated() -> None:
    target = Target("host=db.example password=half hidden", False, "--dsn")
    with pytest.raises(ServerError) as caught:
        connect(target)
    assert "hidden" not in str(caught.value)

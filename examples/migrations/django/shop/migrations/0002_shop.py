"""The shop: message types, contract, queues, services and the service program."""

from pathlib import Path

from django.db import migrations

COMPILED = Path(__file__).parents[3] / "compiled"


def compiled(name: str) -> str:
    """The text of a compiled script; RunSQL hands one string to the server as it is."""
    return (COMPILED / name).read_text(encoding="utf-8")


class Migration(migrations.Migration):
    """Create the shop, or remove it."""

    dependencies = (("shop", "0001_runtime"),)
    operations = (migrations.RunSQL(compiled("shop.up.sql"), compiled("shop.down.sql")),)

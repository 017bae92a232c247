"""The shop: message types, contract, queues, services and the service program."""

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"

COMPILED = Path(__file__).parents[2] / "compiled"


def run(name: str) -> None:
    """Apply a compiled script as it is: no_parameters keeps % and : from being read as placeholders."""
    text = (COMPILED / name).read_text(encoding="utf-8")
    op.get_bind().exec_driver_sql(text, execution_options={"no_parameters": True})


def upgrade() -> None:
    """Create the shop."""
    run("shop.up.sql")


def downgrade() -> None:
    """Remove it."""
    run("shop.down.sql")

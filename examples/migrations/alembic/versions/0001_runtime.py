"""The runtime of pg-service-broker."""

from alembic import op

from pgsb.runtime_sql import installer, removal

revision = "0001"
down_revision = None


def upgrade() -> None:
    """Put the runtime into the database; there is nothing to do where it is."""
    installer.install(op.get_bind().connection.driver_connection)


def downgrade() -> None:
    """Take it out again, with every queue."""
    removal.uninstall(op.get_bind().connection.driver_connection)

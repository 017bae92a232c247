"""Alembic's entry: one connection to DATABASE_URL, one transaction for each migration."""

import os

from alembic import context
from ours import include_name
from sqlalchemy import create_engine, pool

url = os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://", 1)
engine = create_engine(url, poolclass=pool.NullPool)
with engine.connect() as connection:
    context.configure(
        connection=connection,
        transaction_per_migration=True,
        include_schemas=True,
        include_name=include_name,
    )
    with context.begin_transaction():
        context.run_migrations()
engine.dispose()

"""A PostgreSQL in a container, for who has a Docker engine: PGSB_TEST_POSTGRES=docker:17.

Nothing else needs one: the other servers of the tests are processes of their own.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest

PREFIX = "docker:"


@contextmanager
def postgres_container(wanted: str) -> Iterator[str]:
    """Run the official image of ``docker:<tag>`` and give the DSN of its database `postgres`."""
    from docker.errors import DockerException
    from testcontainers.community.postgres import PostgresContainer

    try:
        container = PostgresContainer(
            f"postgres:{wanted.removeprefix(PREFIX)}", username="pgsb", password="pgsb", dbname="postgres"
        )
        container.with_command("postgres -c max_connections=150 -c fsync=off -c autovacuum=off")
        container.start()
    except DockerException as error:
        pytest.exit(f"PGSB_TEST_POSTGRES={wanted}: no Docker engine answers ({error})", returncode=2)
    try:
        host, port = container.get_container_host_ip(), container.get_exposed_port(5432)
        yield f"postgresql://pgsb:pgsb@{host}:{port}/postgres?connect_timeout=30"
    finally:
        container.stop()

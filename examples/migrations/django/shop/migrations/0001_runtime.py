"""The runtime of pg-service-broker."""

from django.db import migrations

from pgsb.runtime_sql import installer, removal


def install(_apps: object, editor: object) -> None:
    """Put the runtime into the database; there is nothing to do where it is."""
    installer.install(editor.connection.connection)


def uninstall(_apps: object, editor: object) -> None:
    """Take it out again, with every queue."""
    removal.uninstall(editor.connection.connection)


class Migration(migrations.Migration):
    """First of all."""

    initial = True
    dependencies = ()
    operations = (migrations.RunPython(install, uninstall),)

"""What `django-admin migrate` needs, and no more. The database is the one in DATABASE_URL."""

import os

from psycopg.conninfo import conninfo_to_dict

_parts = conninfo_to_dict(os.environ["DATABASE_URL"])

INSTALLED_APPS = ["shop"]
DATABASES = {
    "default": {
        "ENGINE": "django.db.backends.postgresql",
        "NAME": _parts["dbname"],
        "USER": _parts.get("user"),
        "PASSWORD": _parts.get("password"),
        "HOST": _parts.get("host"),
        "PORT": _parts.get("port"),
    }
}
USE_TZ = True

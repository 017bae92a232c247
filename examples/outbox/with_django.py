"""Messages and the application's own table in one transaction: Django's atomic()."""

import os

import django
from django.conf import settings
from django.db import connection, models, transaction
from psycopg.conninfo import conninfo_to_dict

from pgsb import client

given = conninfo_to_dict(os.environ["DATABASE_URL"])
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": given["dbname"],
            "USER": given.get("user", ""),
            "PASSWORD": given.get("password", ""),
            "HOST": given.get("host", ""),
            "PORT": given.get("port", ""),
        }
    }
)
django.setup()


class Purchase(models.Model):
    product = models.TextField()
    receipt = models.TextField(null=True)

    class Meta:
        app_label = "outbox"
        db_table = '"dbo"."purchase"'
        managed = False


def broker() -> client.Session:
    """The broker in the transaction that is open."""
    connection.ensure_connection()
    return client.Session(connection.connection)


for product in ("tea", "poison"):
    try:
        with transaction.atomic():
            Purchase.objects.create(product=product)
            broker().send_new("//Outbox/Customer", "//Outbox/Counter", body=product)
            if product == "poison":
                raise ValueError("not sold here")
    except ValueError as error:
        print(f"{product}: {error}")

served = True
while served:
    with transaction.atomic():
        session = broker()
        served = False
        for message in session.receive("dbo.counter_queue"):
            served = True
            receipt = f"receipt for {message.text}"
            Purchase.objects.filter(product=message.text).update(receipt=receipt)
            session.reply(message, body=receipt)
            session.end(message)

with transaction.atomic():
    session = broker()
    for message in session.receive("dbo.customer_queue"):
        if message.is_end:
            session.end(message)
        else:
            print(message.text)
connection.close()

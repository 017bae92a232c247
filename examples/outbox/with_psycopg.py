"""Messages and the application's own table in one transaction: a psycopg connection."""

import os

import psycopg

from pgsb.client import Session


def buy(connection: psycopg.Connection, product: str) -> None:
    session = Session(connection)
    connection.execute("INSERT INTO dbo.purchase (product) VALUES (%s)", [product])
    session.send_new("//Outbox/Customer", "//Outbox/Counter", body=product)
    if product == "poison":
        raise ValueError("not sold here")


def serve(connection: psycopg.Connection) -> bool:
    session = Session(connection)
    messages = session.receive("dbo.counter_queue")
    for message in messages:
        receipt = f"receipt for {message.text}"
        connection.execute("UPDATE dbo.purchase SET receipt = %s WHERE product = %s", [receipt, message.text])
        session.reply(message, body=receipt)
        session.end(message)
    return bool(messages)


with psycopg.connect(os.environ["DATABASE_URL"], autocommit=True) as connection:
    for product in ("tea", "poison"):
        try:
            with connection.transaction():
                buy(connection, product)
        except ValueError as error:
            print(f"{product}: {error}")
    served = True
    while served:
        with connection.transaction():
            served = serve(connection)
    with connection.transaction():
        session = Session(connection)
        for message in session.receive("dbo.customer_queue"):
            if message.is_end:
                session.end(message)
            else:
                print(message.text)

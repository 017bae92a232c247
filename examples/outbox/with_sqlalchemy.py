"""Messages and the application's own table in one transaction: a session of SQLAlchemy's ORM."""

import os

from sqlalchemy import create_engine, select
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

from pgsb import client


class Base(DeclarativeBase):
    pass


class Purchase(Base):
    __tablename__ = "purchase"
    __table_args__ = {"schema": "dbo"}  # noqa: RUF012
    id: Mapped[int] = mapped_column(primary_key=True)
    product: Mapped[str]
    receipt: Mapped[str | None]


def broker(work: Session) -> client.Session:
    """The broker in the transaction of an ORM session."""
    work.flush()
    return client.Session(work.connection().connection.driver_connection)


engine = create_engine(os.environ["DATABASE_URL"].replace("postgresql://", "postgresql+psycopg://", 1))

for product in ("tea", "poison"):
    try:
        with Session(engine) as work, work.begin():
            work.add(Purchase(product=product))
            broker(work).send_new("//Outbox/Customer", "//Outbox/Counter", body=product)
            if product == "poison":
                raise ValueError("not sold here")
    except ValueError as error:
        print(f"{product}: {error}")

served = True
while served:
    with Session(engine) as work, work.begin():
        session = broker(work)
        served = False
        for message in session.receive("dbo.counter_queue"):
            served = True
            purchase = work.scalars(select(Purchase).where(Purchase.product == message.text)).one()
            purchase.receipt = f"receipt for {message.text}"
            session.reply(message, body=purchase.receipt)
            session.end(message)

with Session(engine) as work, work.begin():
    session = broker(work)
    for message in session.receive("dbo.customer_queue"):
        if message.is_end:
            session.end(message)
        else:
            print(message.text)
engine.dispose()

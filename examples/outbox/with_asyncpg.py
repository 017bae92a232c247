"""Messages and the application's own table in one transaction: asyncpg, by the functions of docs/api.md."""

import asyncio
import os

import asyncpg

SEND = "SELECT ssb.send_new($1, $2, 'DEFAULT', 'DEFAULT', $3::text)"
RECEIVE = "SELECT conversation_handle, message_type_name, message_body FROM ssb.receive($1)"
END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog"


async def buy(connection: asyncpg.Connection, product: str) -> None:
    await connection.execute("INSERT INTO dbo.purchase (product) VALUES ($1)", product)
    await connection.fetchval(SEND, "//Outbox/Customer", "//Outbox/Counter", product)
    if product == "poison":
        raise ValueError("not sold here")


async def serve(connection: asyncpg.Connection) -> bool:
    rows = await connection.fetch(RECEIVE, "dbo.counter_queue")
    for handle, _, body in rows:
        product = body.decode()
        receipt = f"receipt for {product}"
        await connection.execute("UPDATE dbo.purchase SET receipt = $1 WHERE product = $2", receipt, product)
        await connection.execute("SELECT ssb.send($1, body => $2::text)", handle, receipt)
        await connection.execute("SELECT ssb.end_conversation($1)", handle)
    return bool(rows)


async def main() -> None:
    connection = await asyncpg.connect(os.environ["DATABASE_URL"])
    for product in ("tea", "poison"):
        try:
            async with connection.transaction():
                await buy(connection, product)
        except ValueError as error:
            print(f"{product}: {error}")
    served = True
    while served:
        async with connection.transaction():
            served = await serve(connection)
    async with connection.transaction():
        for handle, message_type, body in await connection.fetch(RECEIVE, "dbo.customer_queue"):
            if message_type == END_DIALOG:
                await connection.execute("SELECT ssb.end_conversation($1)", handle)
            else:
                print(body.decode())
    await connection.close()


asyncio.run(main())

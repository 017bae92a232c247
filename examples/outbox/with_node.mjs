// Messages and the application's own table in one transaction: Node with npm's pg.
import { createRequire } from "node:module";

const { Client } = createRequire(import.meta.url)("pg");
const END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog";
const RECEIVE = "SELECT conversation_handle, message_type_name, message_body FROM ssb.receive($1)";

// host, port, user, database: from the PG* variables.
const client = new Client();
await client.connect();

async function transaction(work) {
  await client.query("BEGIN");
  try {
    const result = await work();
    await client.query("COMMIT");
    return result;
  } catch (error) {
    await client.query("ROLLBACK");
    throw error;
  }
}

for (const product of ["tea", "poison"]) {
  try {
    await transaction(async () => {
      await client.query("INSERT INTO dbo.purchase (product) VALUES ($1)", [product]);
      await client.query(
        "SELECT ssb.send_new('//Outbox/Customer', '//Outbox/Counter', 'DEFAULT', 'DEFAULT', $1::text)",
        [product],
      );
      if (product === "poison") throw new Error("not sold here");
    });
  } catch (error) {
    console.log(`${product}: ${error.message}`);
  }
}

async function serve() {
  const { rows } = await client.query(RECEIVE, ["dbo.counter_queue"]);
  for (const row of rows) {
    const product = row.message_body.toString("utf8");
    const receipt = `receipt for ${product}`;
    await client.query("UPDATE dbo.purchase SET receipt = $1 WHERE product = $2", [receipt, product]);
    await client.query("SELECT ssb.send($1, body => $2::text)", [row.conversation_handle, receipt]);
    await client.query("SELECT ssb.end_conversation($1)", [row.conversation_handle]);
  }
  return rows.length > 0;
}
while (await transaction(serve));

await transaction(async () => {
  const { rows } = await client.query(RECEIVE, ["dbo.customer_queue"]);
  for (const row of rows) {
    if (row.message_type_name === END_DIALOG) {
      await client.query("SELECT ssb.end_conversation($1)", [row.conversation_handle]);
    } else {
      console.log(row.message_body.toString("utf8"));
    }
  }
});

// An error of the broker: SQLSTATE S and SQL Server's number.
try {
  await client.query("SELECT ssb.send(gen_random_uuid(), body => 'x'::text)");
} catch (error) {
  console.log(error.code === "S8426" ? "no such conversation" : error.message);
}
await client.end();

// Messages and the application's own table in one transaction: .NET with Npgsql.
// dotnet new console; dotnet add package Npgsql; this file instead of Program.cs;
// dotnet run 'Host=…;Database=…;Username=…;Password=…'

using System.Text;
using Npgsql;

const string EndDialog = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog";
const string Receive = "SELECT conversation_handle, message_type_name, message_body FROM ssb.receive($1)";

await using var connection = new NpgsqlConnection(args[0]);
await connection.OpenAsync();

foreach (var product in new[] { "tea", "poison" })
{
    await using var transaction = await connection.BeginTransactionAsync();
    try
    {
        await Run("INSERT INTO dbo.purchase (product) VALUES ($1)", product);
        await Run("SELECT ssb.send_new($1, $2, 'DEFAULT', 'DEFAULT', $3::text)",
            "//Outbox/Customer", "//Outbox/Counter", product);
        if (product == "poison") throw new ArgumentException("not sold here");
        await transaction.CommitAsync();
    }
    catch (ArgumentException error)
    {
        await transaction.RollbackAsync();
        Console.WriteLine($"{product}: {error.Message}");
    }
}

for (var served = true; served;)
{
    await using var transaction = await connection.BeginTransactionAsync();
    var messages = await Messages("dbo.counter_queue");
    foreach (var (handle, _, product) in messages)
    {
        var receipt = $"receipt for {product}";
        await Run("UPDATE dbo.purchase SET receipt = $1 WHERE product = $2", receipt, product);
        await Run("SELECT ssb.send($1, body => $2::text)", handle, receipt);
        await Run("SELECT ssb.end_conversation($1)", handle);
    }
    await transaction.CommitAsync();
    served = messages.Count > 0;
}

await using (var transaction = await connection.BeginTransactionAsync())
{
    foreach (var (handle, type, text) in await Messages("dbo.customer_queue"))
    {
        if (type == EndDialog) await Run("SELECT ssb.end_conversation($1)", handle);
        else Console.WriteLine(text);
    }
    await transaction.CommitAsync();
}

try
{
    await Run("SELECT ssb.send($1, body => $2::text)", Guid.NewGuid(), "x");
}
catch (PostgresException error) when (error.SqlState == "S8426")
{
    // An error of the broker: SQLSTATE S and SQL Server's number.
    Console.WriteLine("no such conversation");
}

async Task Run(string sql, params object[] values)
{
    await using var command = new NpgsqlCommand(sql, connection);
    foreach (var value in values) command.Parameters.Add(new NpgsqlParameter { Value = value });
    await command.ExecuteNonQueryAsync();
}

async Task<List<(Guid Handle, string Type, string Text)>> Messages(string queue)
{
    // Read to the end first: a connection has one reader at a time.
    var found = new List<(Guid, string, string)>();
    await using var command = new NpgsqlCommand(Receive, connection);
    command.Parameters.Add(new NpgsqlParameter { Value = queue });
    await using var reader = await command.ExecuteReaderAsync();
    while (await reader.ReadAsync())
    {
        var body = await reader.IsDBNullAsync(2) ? [] : reader.GetFieldValue<byte[]>(2);
        found.Add((reader.GetGuid(0), reader.GetString(1), Encoding.UTF8.GetString(body)));
    }
    return found;
}

// Messages and the application's own table in one transaction: JDBC.
// java -cp postgresql.jar Outbox.java 'jdbc:postgresql://host/database?user=…&password=…'

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.UUID;

public class Outbox {
    static final String END_DIALOG = "http://schemas.microsoft.com/SQL/ServiceBroker/EndDialog";
    static final String RECEIVE =
        "SELECT conversation_handle, message_type_name, message_body FROM ssb.receive(?)";

    public static void main(String[] arguments) throws SQLException {
        try (Connection connection = DriverManager.getConnection(arguments[0])) {
            connection.setAutoCommit(false);
            for (String product : new String[] {"tea", "poison"}) {
                try {
                    buy(connection, product);
                    connection.commit();
                } catch (IllegalArgumentException error) {
                    connection.rollback();
                    System.out.println(product + ": " + error.getMessage());
                }
            }
            while (serve(connection)) {
                connection.commit();
            }
            connection.commit();
            readReceipts(connection);
            connection.commit();
            try {
                run(connection, "SELECT ssb.send(?, body => ?)", UUID.randomUUID(), "x");
            } catch (SQLException error) {
                // An error of the broker: SQLSTATE S and SQL Server's number.
                connection.rollback();
                System.out.println("S8426".equals(error.getSQLState()) ? "no such conversation" : error.getMessage());
            }
        }
    }

    static void buy(Connection connection, String product) throws SQLException {
        run(connection, "INSERT INTO dbo.purchase (product) VALUES (?)", product);
        run(connection, "SELECT ssb.send_new(?, ?, 'DEFAULT', 'DEFAULT', ?)",
            "//Outbox/Customer", "//Outbox/Counter", product);
        if (product.equals("poison")) {
            throw new IllegalArgumentException("not sold here");
        }
    }

    static boolean serve(Connection connection) throws SQLException {
        boolean served = false;
        try (PreparedStatement receive = connection.prepareStatement(RECEIVE)) {
            receive.setString(1, "dbo.counter_queue");
            try (ResultSet messages = receive.executeQuery()) {
                while (messages.next()) {
                    served = true;
                    UUID handle = messages.getObject(1, UUID.class);
                    String product = new String(messages.getBytes(3), StandardCharsets.UTF_8);
                    String receipt = "receipt for " + product;
                    run(connection, "UPDATE dbo.purchase SET receipt = ? WHERE product = ?", receipt, product);
                    run(connection, "SELECT ssb.send(?, body => ?)", handle, receipt);
                    run(connection, "SELECT ssb.end_conversation(?)", handle);
                }
            }
        }
        return served;
    }

    static void readReceipts(Connection connection) throws SQLException {
        try (PreparedStatement receive = connection.prepareStatement(RECEIVE)) {
            receive.setString(1, "dbo.customer_queue");
            try (ResultSet messages = receive.executeQuery()) {
                while (messages.next()) {
                    if (messages.getString(2).equals(END_DIALOG)) {
                        run(connection, "SELECT ssb.end_conversation(?)", messages.getObject(1, UUID.class));
                    } else {
                        System.out.println(new String(messages.getBytes(3), StandardCharsets.UTF_8));
                    }
                }
            }
        }
    }

    static void run(Connection connection, String sql, Object... values) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int index = 0; index < values.length; index++) {
                statement.setObject(index + 1, values[index]);
            }
            statement.execute();
        }
    }
}

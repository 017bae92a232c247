-- The application's own table, and two services: PostgreSQL's SQL, run once on a database with the runtime.
CREATE SCHEMA IF NOT EXISTS dbo;
CREATE TABLE dbo.purchase (id integer GENERATED ALWAYS AS IDENTITY, product text NOT NULL, receipt text);
SELECT ssb.create_queue('dbo.customer_queue'), ssb.create_queue('dbo.counter_queue');
SELECT ssb.create_service('//Outbox/Customer', 'dbo.customer_queue');
SELECT ssb.create_service('//Outbox/Counter', 'dbo.counter_queue', '{DEFAULT}');

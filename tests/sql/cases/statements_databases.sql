-- Names in the compile-time database Trader1, the default one being main.
-- given
use trader1
default main
create table dbo.stock (id int, qty int)
sql CREATE TABLE dbo.places (id integer)
sql CREATE SCHEMA trader1_sales
sql CREATE TABLE trader1_sales.regions (id integer)

-- case: table
SELECT qty FROM stock
-- expect
SELECT qty FROM trader1_dbo.stock

-- case: schema
SELECT id FROM sales.regions
-- expect
SELECT id FROM trader1_sales.regions

-- case: own name
SELECT qty FROM Trader1.dbo.stock
-- expect
SELECT qty FROM trader1_dbo.stock

-- case: default database
SELECT id FROM main.dbo.places
-- expect
SELECT id FROM dbo.places

-- case: default database without schema
SELECT id FROM main..places
-- expect
SELECT id FROM dbo.places

-- case: sys
SELECT name FROM sys.service_queues
-- expect
SELECT name FROM sys.service_queues

-- case: functions of the database
SELECT DB_NAME(), OBJECT_ID('stock'), SCHEMA_ID('dbo')
-- expect
SELECT sys.db_name(sys.db_id('trader1')), sys.object_id('stock', NULL, 'trader1'), sys.schema_id('dbo', 'trader1')

-- case: insert
INSERT INTO stock VALUES (1, 2)
-- expect
INSERT INTO trader1_dbo.stock VALUES (1, 2)

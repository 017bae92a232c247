-- SET IDENTITY_INSERT ON.
-- given
create table dbo.orders (id int identity(1,1) primary key, name nvarchar(50))
set identity_insert orders

-- case: insert
INSERT INTO orders (id, name) VALUES (5, N'x')
-- expect
INSERT INTO dbo.orders (id, name) OVERRIDING SYSTEM VALUE VALUES (5, 'x');
SELECT sys.advance_identity('dbo.orders')

-- case: insert without columns
INSERT INTO orders SELECT 6, N'y'
-- expect
PERFORM ssb_internal.refuse_implicit_identity('dbo.orders', false);
INSERT INTO dbo.orders OVERRIDING SYSTEM VALUE SELECT 6, 'y';
SELECT sys.advance_identity('dbo.orders')

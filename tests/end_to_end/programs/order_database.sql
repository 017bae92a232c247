-- An order database and its broker objects: customers, products, orders; a log of errors; a
-- procedure that takes one order; and the external system, which sends orders and keeps answers.
CREATE SCHEMA slog
GO
CREATE TABLE slog.sqleventlog (
    logid INT IDENTITY PRIMARY KEY,
    spid INT NOT NULL DEFAULT @@SPID,
    errno INT NULL,
    procname SYSNAME NULL,
    linenum INT NULL,
    msgtext NVARCHAR(2048) NULL);
GO
CREATE PROCEDURE slog.sqleventlog_sp
    @procid INT, @msgtext NVARCHAR(2048), @raiserror BIT = 1,
    @p1 NVARCHAR(400) = NULL, @p2 NVARCHAR(400) = NULL
AS
SET NOCOUNT ON
SET @msgtext = REPLACE(REPLACE(@msgtext, '%1', ISNULL(@p1, '?')), '%2', ISNULL(@p2, '?'))
INSERT INTO slog.sqleventlog (errno, procname, msgtext) VALUES (50000, OBJECT_NAME(@procid), @msgtext)
IF @raiserror = 1
    RAISERROR (N'%s', 16, 1, @msgtext)
GO
CREATE PROCEDURE slog.catchhandler_sp
    @procid INT = NULL, @reraise BIT = 1, @errno INT = NULL OUTPUT,
    @errmsg NVARCHAR(2048) = NULL OUTPUT, @errmsg_aug NVARCHAR(2048) = NULL OUTPUT
AS
SET NOCOUNT ON
SELECT @errno = ERROR_NUMBER(), @errmsg = ERROR_MESSAGE()
IF @errmsg LIKE N'{%}%'
BEGIN
    -- Raised again by a handler further in, which has logged it.
    SELECT @errmsg_aug = @errmsg,
           @errno = CONVERT(INT, SUBSTRING(@errmsg, 2, CHARINDEX(N'}', @errmsg) - 2))
END
ELSE
BEGIN
    SET @errmsg_aug = CONCAT(N'{', @errno, N'} Procedure ', ISNULL(ERROR_PROCEDURE(), OBJECT_NAME(@procid)),
                             N', Line ', ERROR_LINE(), N': ', @errmsg)
    INSERT INTO slog.sqleventlog (errno, procname, linenum, msgtext)
        VALUES (@errno, ERROR_PROCEDURE(), ERROR_LINE(), @errmsg_aug)
END
IF @reraise = 1
    RAISERROR (N'%s', 16, 1, @errmsg_aug)
GO
CREATE TABLE customers (CustomerID INT PRIMARY KEY, Orders INT NOT NULL DEFAULT 0);
CREATE TABLE products (ProductID INT PRIMARY KEY, Stock INT NOT NULL, CONSTRAINT ck_stock CHECK (Stock >= 0));
CREATE TABLE orders (
    OrderID INT IDENTITY PRIMARY KEY,
    OrderGuid UNIQUEIDENTIFIER NOT NULL CONSTRAINT uq_guid UNIQUE,
    CustomerID INT NOT NULL CONSTRAINT fk_customer REFERENCES customers (CustomerID));
CREATE TABLE order_details (
    OrderID INT NOT NULL REFERENCES orders (OrderID),
    ProductID INT NOT NULL CONSTRAINT fk_product REFERENCES products (ProductID),
    Quantity INT NOT NULL CONSTRAINT ck_quantity CHECK (Quantity > 0),
    PRIMARY KEY (OrderID, ProductID));
INSERT INTO customers (CustomerID) VALUES (1), (2), (3);
INSERT INTO products (ProductID, Stock) VALUES (10, 1000), (11, 1000), (12, 5);
GO
CREATE PROCEDURE DoOneOrderFromActivation @data XML, @OrderGuidStr NVARCHAR(400), @OrderID INT OUTPUT
AS
SET XACT_ABORT, NOCOUNT ON
DECLARE @guid UNIQUEIDENTIFIER, @customer INT, @operation VARCHAR(20), @unknown NVARCHAR(400)
BEGIN TRY
    IF @@TRANCOUNT = 0
        RAISERROR ('An order is taken in the transaction that received it.', 16, 1)
    SELECT @guid = CONVERT(UNIQUEIDENTIFIER, @OrderGuidStr),
           @customer = @data.value('(/Order/@CustomerID)[1]', 'int'),
           @operation = @data.value('(/Order/@Operation)[1]', 'varchar(20)')
    IF @guid IS NULL
        RAISERROR ('An order needs an OrderID.', 16, 1)
    IF @operation = 'DELETE'
    BEGIN
        SELECT @OrderID = OrderID FROM orders WHERE OrderGuid = @guid
        IF @@ROWCOUNT = 0
            RAISERROR ('There is no order "%s" to delete.', 16, 1, @OrderGuidStr)
        DELETE order_details WHERE OrderID = @OrderID
        DELETE orders WHERE OrderID = @OrderID
        RETURN
    END
    UPDATE customers SET Orders = Orders + 1 WHERE CustomerID = @customer
    INSERT INTO orders (OrderGuid, CustomerID) VALUES (@guid, @customer)
    SELECT @OrderID = SCOPE_IDENTITY()
    SELECT TOP (1) @unknown = line.value('@ProductID', 'nvarchar(400)')
        FROM @data.nodes('/Order/Line') AS lines (line)
        WHERE NOT EXISTS (SELECT * FROM products p WHERE p.ProductID = line.value('@ProductID', 'int'))
    IF @unknown IS NOT NULL
        RAISERROR ('Product "%s" is unknown.', 16, 1, @unknown)
    INSERT INTO order_details (OrderID, ProductID, Quantity)
        SELECT @OrderID, line.value('@ProductID', 'int'), line.value('@Quantity', 'int')
        FROM @data.nodes('/Order/Line') AS lines (line)
    UPDATE products SET Stock = products.Stock - d.Quantity
        FROM products JOIN order_details d ON d.ProductID = products.ProductID
        WHERE d.OrderID = @OrderID
END TRY
BEGIN CATCH
    IF @@TRANCOUNT > 0 ROLLBACK TRANSACTION
    EXEC slog.catchhandler_sp @@PROCID
    RETURN 55555
END CATCH
GO
CREATE TABLE held_readers (spid INT PRIMARY KEY);
GO
-- How long a reader waits before its next message: nothing. But a reader that has logged an
-- error first waits for its row of held_readers, when the test holds that.
CREATE FUNCTION dbo.get_waittime() RETURNS DATETIME AS
BEGIN
    DECLARE @held INT
    IF EXISTS (SELECT * FROM slog.sqleventlog WHERE spid = @@SPID)
        SELECT @held = spid FROM held_readers WITH (UPDLOCK) WHERE spid = @@SPID
    RETURN CONVERT(DATETIME, '19000101')
END
GO
CREATE MESSAGE TYPE OrderRequest VALIDATION = NONE
CREATE MESSAGE TYPE OrderResponse VALIDATION = WELL_FORMED_XML
CREATE CONTRACT OrderContract (OrderRequest SENT BY INITIATOR, OrderResponse SENT BY TARGET)
CREATE QUEUE OrderRequests
CREATE QUEUE OrderResponses
CREATE SERVICE OrderRequests ON QUEUE OrderRequests (OrderContract)
CREATE SERVICE OrderResponses ON QUEUE OrderResponses
GO
-- The external system.
CREATE TABLE outbox (name VARCHAR(40) PRIMARY KEY, dialog UNIQUEIDENTIFIER, body NVARCHAR(MAX));
CREATE TABLE answers (id INT IDENTITY PRIMARY KEY, dialog UNIQUEIDENTIFIER, body NVARCHAR(MAX));
GO
CREATE PROCEDURE send_order @name VARCHAR(40), @body NVARCHAR(MAX)
AS
SET NOCOUNT ON
DECLARE @dialog UNIQUEIDENTIFIER
BEGIN TRANSACTION
BEGIN DIALOG @dialog FROM SERVICE OrderResponses TO SERVICE 'OrderRequests' ON CONTRACT OrderContract
    WITH ENCRYPTION = OFF
;SEND ON CONVERSATION @dialog MESSAGE TYPE OrderRequest (@body)
INSERT INTO outbox (name, dialog, body) VALUES (@name, @dialog, @body)
COMMIT TRANSACTION
GO
CREATE PROCEDURE collect_answers
AS
SET NOCOUNT ON
DECLARE @dialog UNIQUEIDENTIFIER, @type SYSNAME, @body VARBINARY(MAX)
WHILE 1 = 1
BEGIN
    BEGIN TRANSACTION
    SET @dialog = NULL
    ;RECEIVE TOP (1) @dialog = conversation_handle, @type = message_type_name, @body = message_body
        FROM OrderResponses
    IF @dialog IS NULL
    BEGIN
        COMMIT TRANSACTION
        RETURN
    END
    IF @type = 'OrderResponse'
        INSERT INTO answers (dialog, body) VALUES (@dialog, CAST(CAST(@body AS XML) AS NVARCHAR(MAX)))
    ELSE
        END CONVERSATION @dialog
    COMMIT TRANSACTION
END
GO
CREATE TABLE BadMessages (
    DialogHandle UNIQUEIDENTIFIER NOT NULL,
    MsgSeqNo BIGINT NOT NULL,
    Response XML NULL,
    PRIMARY KEY (DialogHandle, MsgSeqNo) WITH (IGNORE_DUP_KEY = ON))
GO

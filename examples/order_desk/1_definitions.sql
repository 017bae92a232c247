-- An order desk: the desk takes an order and asks stock, billing and carrier at the same time.
-- All dialogs of one order form one conversation group, so that no two readers ever work on
-- the same order, and its state is found by the group's id.

USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'OrderDesk')
    DROP DATABASE OrderDesk;
GO
CREATE DATABASE OrderDesk;
GO
USE OrderDesk;
GO

CREATE MESSAGE TYPE [//Orders/Request] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Orders/Yes] VALIDATION = WELL_FORMED_XML;
CREATE MESSAGE TYPE [//Orders/No] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT [//Orders/Asking] (
    [//Orders/Request] SENT BY INITIATOR,
    [//Orders/Yes] SENT BY TARGET,
    [//Orders/No] SENT BY TARGET
);

CREATE QUEUE dbo.DeskQueue;
CREATE QUEUE dbo.StockQueue;
CREATE QUEUE dbo.BillingQueue;
CREATE QUEUE dbo.CarrierQueue;
CREATE SERVICE [//Orders/Desk] ON QUEUE dbo.DeskQueue;
CREATE SERVICE [//Orders/Stock] ON QUEUE dbo.StockQueue ([//Orders/Asking]);
CREATE SERVICE [//Orders/Billing] ON QUEUE dbo.BillingQueue ([//Orders/Asking]);
CREATE SERVICE [//Orders/Carrier] ON QUEUE dbo.CarrierQueue ([//Orders/Asking]);
GO

-- What the desk remembers of an order while its answers come in, in any order.
CREATE TABLE dbo.Orders (
    OrderId INT NOT NULL PRIMARY KEY,
    GroupId UNIQUEIDENTIFIER NOT NULL UNIQUE,
    Customer NVARCHAR(50) NOT NULL,
    Asked INT NOT NULL,
    Agreed INT NOT NULL DEFAULT 0,
    Refused NVARCHAR(200) NULL
);
CREATE TABLE dbo.Stock (Product NVARCHAR(20) PRIMARY KEY, Quantity INT NOT NULL);
CREATE TABLE dbo.Credit (Customer NVARCHAR(50) PRIMARY KEY, Amount MONEY NOT NULL);
INSERT INTO dbo.Stock VALUES ('chair', 10), ('table', 1);
INSERT INTO dbo.Credit VALUES (N'Ada', 500), (N'Grace', 50);
GO

USE [master]
GO
/****** Object:  Database [OrderHub]    Script Date: 3/14/2019 10:21:07 AM ******/
IF DB_ID(N'OrderHub') IS NOT NULL
BEGIN
	ALTER DATABASE [OrderHub] SET SINGLE_USER WITH ROLLBACK IMMEDIATE
	DROP DATABASE [OrderHub]
END
GO
CREATE DATABASE [OrderHub]
 CONTAINMENT = NONE
 ON  PRIMARY 
( NAME = N'OrderHub', FILENAME = N'C:\Data\OrderHub.mdf' , SIZE = 8192KB , MAXSIZE = UNLIMITED, FILEGROWTH = 65536KB ), 
 FILEGROUP [SECOND] 
( NAME = N'OrderHub2', FILENAME = N'C:\Data\OrderHub2.ndf' , SIZE = 8192KB , FILEGROWTH = 10%)
 LOG ON 
( NAME = N'OrderHub_log', FILENAME = N'C:\Data\OrderHub_log.ldf' , SIZE = 8192KB , MAXSIZE = 2048GB , FILEGROWTH = 65536KB )
 COLLATE SQL_Latin1_General_CP1_CI_AS
 WITH CATALOG_COLLATION = DATABASE_DEFAULT, LEDGER = OFF
GO
IF (1 = FULLTEXTSERVICEPROPERTY('IsFullTextInstalled'))
begin
EXEC [OrderHub].[dbo].[sp_fulltext_database] @action = 'enable'
end
GO
ALTER DATABASE [OrderHub] SET COMPATIBILITY_LEVEL = 140
GO
ALTER DATABASE [OrderHub] SET ANSI_NULL_DEFAULT OFF 
GO
ALTER DATABASE [OrderHub] SET ANSI_NULLS OFF 
GO
ALTER DATABASE [OrderHub] SET ANSI_PADDING OFF 
GO
ALTER DATABASE [OrderHub] SET ARITHABORT OFF 
GO
ALTER DATABASE [OrderHub] SET AUTO_CLOSE OFF 
GO
ALTER DATABASE [OrderHub] SET AUTO_SHRINK OFF 
GO
ALTER DATABASE [OrderHub] SET AUTO_UPDATE_STATISTICS ON 
GO
ALTER DATABASE [OrderHub] SET CURSOR_CLOSE_ON_COMMIT OFF 
GO
ALTER DATABASE [OrderHub] SET CURSOR_DEFAULT  GLOBAL 
GO
ALTER DATABASE [OrderHub] SET RECURSIVE_TRIGGERS OFF 
GO
ALTER DATABASE [OrderHub] SET  ENABLE_BROKER 
GO
ALTER DATABASE [OrderHub] SET DATE_CORRELATION_OPTIMIZATION OFF 
GO
ALTER DATABASE [OrderHub] SET TRUSTWORTHY OFF 
GO
ALTER DATABASE [OrderHub] SET ALLOW_SNAPSHOT_ISOLATION OFF 
GO
ALTER DATABASE [OrderHub] SET PARAMETERIZATION SIMPLE 
GO
ALTER DATABASE [OrderHub] SET READ_COMMITTED_SNAPSHOT OFF 
GO
ALTER DATABASE [OrderHub] SET HONOR_BROKER_PRIORITY OFF 
GO
ALTER DATABASE [OrderHub] SET RECOVERY FULL 
GO
ALTER DATABASE [OrderHub] SET  MULTI_USER 
GO
ALTER DATABASE [OrderHub] SET PAGE_VERIFY CHECKSUM  
GO
ALTER DATABASE [OrderHub] SET DB_CHAINING OFF 
GO
ALTER DATABASE [OrderHub] SET FILESTREAM( NON_TRANSACTED_ACCESS = OFF ) 
GO
ALTER DATABASE [OrderHub] SET TARGET_RECOVERY_TIME = 60 SECONDS 
GO
ALTER DATABASE [OrderHub] SET DELAYED_DURABILITY = DISABLED 
GO
ALTER DATABASE [OrderHub] SET ACCELERATED_DATABASE_RECOVERY = OFF  
GO
EXEC sys.sp_db_vardecimal_storage_format N'OrderHub', N'ON'
GO
ALTER DATABASE [OrderHub] SET QUERY_STORE = OFF
GO
ALTER DATABASE [OrderHub] SET QUERY_STORE (OPERATION_MODE = READ_WRITE, CLEANUP_POLICY = (STALE_QUERY_THRESHOLD_DAYS = 30), MAX_STORAGE_SIZE_MB = 1000)
GO
USE [OrderHub]
GO
ALTER DATABASE SCOPED CONFIGURATION SET LEGACY_CARDINALITY_ESTIMATION = OFF;
GO
ALTER DATABASE SCOPED CONFIGURATION FOR SECONDARY SET MAXDOP = PRIMARY;
GO
/****** Object:  User [hubuser] ******/
IF NOT EXISTS (SELECT * FROM sys.database_principals WHERE name = N'hubuser')
CREATE USER [hubuser] WITHOUT LOGIN WITH DEFAULT_SCHEMA=[dbo]
GO
ALTER ROLE [db_datareader] ADD MEMBER [hubuser]
GO
EXEC sys.sp_addrolemember N'db_datawriter', N'hubuser'
GO
/****** Object:  Schema [Hub] ******/
IF NOT EXISTS (SELECT * FROM sys.schemas WHERE name = N'Hub')
EXEC sys.sp_executesql N'CREATE SCHEMA [Hub]'

GO
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
SET ANSI_PADDING ON
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[Hub].[Orders]') AND type in (N'U'))
BEGIN
CREATE TABLE [Hub].[Orders](
	[OrderId] [int] IDENTITY(1,1) NOT FOR REPLICATION NOT NULL,
	[Customer] [nvarchar](100) COLLATE SQL_Latin1_General_CP1_CI_AS NOT NULL,
	[Payload] [xml] NULL,
	[Amount] [decimal](18, 2) NOT NULL CONSTRAINT [DF_Orders_Amount]  DEFAULT ((0)),
	[CreatedAt] [datetime2](7) NOT NULL,
	[RowGuid] [uniqueidentifier] ROWGUIDCOL  NOT NULL,
	[Ver] [timestamp] NOT NULL,
	[Total]  AS ([Amount]*(1.2)) PERSISTED,
 CONSTRAINT [PK_Orders] PRIMARY KEY CLUSTERED 
(
	[OrderId] ASC
)WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, IGNORE_DUP_KEY = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON, OPTIMIZE_FOR_SEQUENTIAL_KEY = OFF) ON [PRIMARY]
) ON [PRIMARY] TEXTIMAGE_ON [PRIMARY]
END
GO
SET ANSI_PADDING OFF
GO
IF NOT EXISTS (SELECT * FROM sys.indexes WHERE object_id = OBJECT_ID(N'[Hub].[Orders]') AND name = N'IX_Orders_Customer')
CREATE NONCLUSTERED INDEX [IX_Orders_Customer] ON [Hub].[Orders]
(
	[Customer] ASC,
	[CreatedAt] DESC
)
INCLUDE([Amount]) WITH (PAD_INDEX = OFF, STATISTICS_NORECOMPUTE = OFF, SORT_IN_TEMPDB = OFF, DROP_EXISTING = OFF, ONLINE = OFF, ALLOW_ROW_LOCKS = ON, ALLOW_PAGE_LOCKS = ON, FILLFACTOR = 80) ON [PRIMARY]
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[Hub].[DF_Orders_CreatedAt]') AND type = 'D')
BEGIN
ALTER TABLE [Hub].[Orders] ADD  CONSTRAINT [DF_Orders_CreatedAt]  DEFAULT (sysutcdatetime()) FOR [CreatedAt]
END
GO
ALTER TABLE [Hub].[Orders] ADD  CONSTRAINT [DF_Orders_RowGuid]  DEFAULT (newid()) FOR [RowGuid]
GO
ALTER TABLE [Hub].[Orders]  WITH CHECK ADD  CONSTRAINT [CK_Orders_Amount] CHECK  (([Amount]>=(0)))
GO
ALTER TABLE [Hub].[Orders] CHECK CONSTRAINT [CK_Orders_Amount]
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[Hub].[OrderLines]') AND type in (N'U'))
BEGIN
CREATE TABLE [Hub].[OrderLines](
	[OrderId] [int] NOT NULL,
	[Line] [smallint] NOT NULL,
	[Sku] [varchar](30) NULL
) ON [PRIMARY]
END
GO
IF NOT EXISTS (SELECT * FROM sys.foreign_keys WHERE object_id = OBJECT_ID(N'[Hub].[FK_OrderLines_Orders]') AND parent_object_id = OBJECT_ID(N'[Hub].[OrderLines]'))
ALTER TABLE [Hub].[OrderLines]  WITH CHECK ADD  CONSTRAINT [FK_OrderLines_Orders] FOREIGN KEY([OrderId])
REFERENCES [Hub].[Orders] ([OrderId])
ON UPDATE CASCADE
ON DELETE CASCADE
GO
IF  EXISTS (SELECT * FROM sys.foreign_keys WHERE object_id = OBJECT_ID(N'[Hub].[FK_OrderLines_Orders]') AND parent_object_id = OBJECT_ID(N'[Hub].[OrderLines]'))
ALTER TABLE [Hub].[OrderLines] CHECK CONSTRAINT [FK_OrderLines_Orders]
GO
IF NOT EXISTS (SELECT * FROM sys.fn_listextendedproperty(N'MS_Description' , N'SCHEMA',N'Hub', N'TABLE',N'Orders', N'COLUMN',N'OrderId'))
	EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'Number of an order' , @level0type=N'SCHEMA',@level0name=N'Hub', @level1type=N'TABLE',@level1name=N'Orders', @level2type=N'COLUMN',@level2name=N'OrderId'
GO
IF NOT EXISTS (SELECT * FROM sys.service_message_types WHERE name = N'//hub/Order')
CREATE MESSAGE TYPE [//hub/Order] AUTHORIZATION [dbo] VALIDATION = WELL_FORMED_XML
GO
IF NOT EXISTS (SELECT * FROM sys.service_contracts WHERE name = N'//hub/OrderContract')
CREATE CONTRACT [//hub/OrderContract] AUTHORIZATION [dbo] ([//hub/Order] SENT BY INITIATOR)
GO
SET ANSI_NULLS ON
GO
SET QUOTED_IDENTIFIER ON
GO
IF NOT EXISTS (SELECT * FROM sys.objects WHERE object_id = OBJECT_ID(N'[Hub].[ProcessOrders]') AND type in (N'P', N'PC'))
BEGIN
EXEC dbo.sp_executesql @statement = N'CREATE PROCEDURE [Hub].[ProcessOrders] AS' 
END
GO
ALTER PROCEDURE [Hub].[ProcessOrders]
AS
BEGIN
	SET NOCOUNT ON;
	DECLARE @h uniqueidentifier, @mt sysname, @b xml
	RECEIVE TOP(1) @h = conversation_handle, @mt = message_type_name, @b = message_body FROM [Hub].[OrderQueue]
	IF @mt = N'//hub/Order'
		INSERT INTO Hub.Orders (Customer, Payload, Amount) VALUES (@b.value('(/o/@c)[1]','nvarchar(100)'), @b, 10)
	END CONVERSATION @h
END
GO
IF NOT EXISTS (SELECT * FROM sys.service_queues WHERE name = N'OrderQueue')
CREATE QUEUE [Hub].[OrderQueue] WITH STATUS = ON , RETENTION = OFF , ACTIVATION (  STATUS = ON , PROCEDURE_NAME = [Hub].[ProcessOrders] , MAX_QUEUE_READERS = 4 , EXECUTE AS OWNER  ), POISON_MESSAGE_HANDLING (STATUS = ON)  ON [PRIMARY] 
GO
IF NOT EXISTS (SELECT * FROM sys.service_queues WHERE name = N'SenderQueue')
CREATE QUEUE [Hub].[SenderQueue] WITH STATUS = ON , RETENTION = OFF , POISON_MESSAGE_HANDLING (STATUS = ON)  ON [PRIMARY] 
GO
IF NOT EXISTS (SELECT * FROM sys.services WHERE name = N'//hub/OrderService')
CREATE SERVICE [//hub/OrderService]  AUTHORIZATION [dbo]  ON QUEUE [Hub].[OrderQueue] ([//hub/OrderContract])
GO
IF NOT EXISTS (SELECT * FROM sys.services WHERE name = N'//hub/Sender')
CREATE SERVICE [//hub/Sender]  AUTHORIZATION [dbo]  ON QUEUE [Hub].[SenderQueue] 
GO
IF NOT EXISTS (SELECT * FROM sys.routes WHERE name = N'AutoCreatedLocal')
CREATE ROUTE [AutoCreatedLocal]   AUTHORIZATION [dbo]   WITH  ADDRESS  = N'LOCAL' 
GO
GRANT SEND ON SERVICE::[//hub/OrderService] TO [public] AS [dbo]
GO
GRANT RECEIVE ON [Hub].[OrderQueue] TO [hubuser] AS [dbo]
GO
GRANT REFERENCES ON CONTRACT::[//hub/OrderContract] TO [hubuser]
GO
GRANT VIEW DEFINITION ON MESSAGE TYPE::[//hub/Order] TO [hubuser]
GO
declare @p1 uniqueidentifier
begin dialog conversation @p1 from service [//hub/Sender] to service N'//hub/OrderService', N'CURRENT DATABASE' on contract [//hub/OrderContract] with encryption=off
;send on conversation @p1 message type [//hub/Order] (N'<o c="ann"/>')
exec Hub.ProcessOrders
select OrderId, Customer, Amount, Total from Hub.Orders
GO
EXEC sys.sp_addextendedproperty @name=N'MS_Description', @value=N'Queue of orders' , @level0type=N'SCHEMA',@level0name=N'Hub', @level1type=N'QUEUE',@level1name=N'OrderQueue'
GO
USE [master]
GO
ALTER DATABASE [OrderHub] SET  READ_WRITE 
GO

-- Indexed views and stored CONCATs, as schemas bring them along.
SET NOCOUNT ON;
SET ANSI_NULLS, QUOTED_IDENTIFIER ON;
GO
CREATE TABLE dbo.Entry (
    Account char(3) NOT NULL,
    Amount decimal(9,2) NOT NULL,
    BookedOn date NULL,
    Label AS CONCAT(Account, '/', Amount, '/', BookedOn) PERSISTED,
    Parts AS CONCAT_WS(', ', Account, BookedOn, Amount),
    Seal AS CAST(HASHBYTES('MD5', CONCAT(Account, N'|', Amount)) AS binary(16)) PERSISTED
);
CREATE INDEX IX_Entry_Label ON dbo.Entry (Label);
GO
CREATE VIEW dbo.Totals WITH SCHEMABINDING
AS
SELECT Account, SUM(Amount) AS Total, COUNT_BIG(*) AS Entries FROM dbo.Entry GROUP BY Account;
GO
IF NOT EXISTS (SELECT * FROM sys.indexes WHERE object_id = OBJECT_ID(N'[dbo].[Totals]') AND name = N'CX_Totals')
CREATE UNIQUE CLUSTERED INDEX [CX_Totals] ON [dbo].[Totals]
(
    [Account] ASC
) WITH (PAD_INDEX = OFF, IGNORE_DUP_KEY = OFF, ONLINE = OFF) ON [PRIMARY];
GO
CREATE NONCLUSTERED INDEX IX_Totals_Total ON dbo.Totals (Total DESC);
GO
INSERT dbo.Entry (Account, Amount, BookedOn) VALUES ('ann', 12.5, '20300102'), ('ann', -2, NULL), ('bob', 1, '20291231');
SELECT Account, Total, Entries FROM dbo.Totals WITH (NOEXPAND) ORDER BY Account;
SELECT Label, Parts, CONVERT(char(32), Seal, 2) AS Seal FROM dbo.Entry ORDER BY Label;
GO
DROP INDEX IX_Totals_Total ON dbo.Totals;
DROP INDEX dbo.Totals.CX_Totals;
DROP VIEW dbo.Totals;
GO
-- What changes with the session's settings cannot be stored.
CREATE TABLE dbo.Loose (Moment datetimeoffset, Read_ AS CAST(Moment AS datetime));
GO
-- Table variables say which statement failed.
DECLARE @t TABLE (a int NOT NULL, b int);
INSERT @t VALUES (1, 2);
UPDATE @t SET a = NULLIF(a, 1);
INSERT @t (b) VALUES (2);
SELECT a, b FROM @t;
GO

-- A trade desk: the front office asks for trades, the back office books or refuses them.
-- Two databases of one instance; dialogs between them are delivered at once.

USE master;
GO
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'FrontOffice')
    DROP DATABASE FrontOffice;
IF EXISTS (SELECT * FROM sys.databases WHERE name = 'BackOffice')
    DROP DATABASE BackOffice;
GO
CREATE DATABASE FrontOffice;
CREATE DATABASE BackOffice;
GO

-- Both databases know the messages and the contract: each checks what it sends and receives.
USE FrontOffice;
GO
CREATE XML SCHEMA COLLECTION TradeSchema AS N'
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:trade-desk" elementFormDefault="qualified">
  <xs:element name="trade">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="symbol">
          <xs:simpleType>
            <xs:restriction base="xs:string"><xs:pattern value="[A-Z]{1,5}"/></xs:restriction>
          </xs:simpleType>
        </xs:element>
        <xs:element name="quantity" type="xs:positiveInteger"/>
        <xs:element name="price" type="xs:decimal"/>
      </xs:sequence>
      <xs:attribute name="id" type="xs:int" use="required"/>
    </xs:complexType>
  </xs:element>
</xs:schema>';
GO
CREATE MESSAGE TYPE [//TradeDesk/Trade] VALIDATION = VALID_XML WITH SCHEMA COLLECTION TradeSchema;
CREATE MESSAGE TYPE [//TradeDesk/Booked] VALIDATION = EMPTY;
CREATE MESSAGE TYPE [//TradeDesk/Refused] VALIDATION = NONE;
CREATE CONTRACT [//TradeDesk/Trading] (
    [//TradeDesk/Trade] SENT BY INITIATOR,
    [//TradeDesk/Booked] SENT BY TARGET,
    [//TradeDesk/Refused] SENT BY TARGET
);
CREATE QUEUE dbo.FrontQueue WITH STATUS = ON;
CREATE SERVICE [//TradeDesk/Front] ON QUEUE dbo.FrontQueue;
CREATE TABLE dbo.Trades (
    TradeId INT IDENTITY(1, 1) PRIMARY KEY,
    Symbol NVARCHAR(10) NOT NULL,
    Quantity INT NOT NULL,
    Price DECIMAL(12, 4) NOT NULL,
    Dialog UNIQUEIDENTIFIER NULL,
    Answer NVARCHAR(200) NOT NULL DEFAULT 'open',
);
GO

USE BackOffice;
GO
CREATE XML SCHEMA COLLECTION TradeSchema AS N'
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:trade-desk" elementFormDefault="qualified">
  <xs:element name="trade">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="symbol">
          <xs:simpleType>
            <xs:restriction base="xs:string"><xs:pattern value="[A-Z]{1,5}"/></xs:restriction>
          </xs:simpleType>
        </xs:element>
        <xs:element name="quantity" type="xs:positiveInteger"/>
        <xs:element name="price" type="xs:decimal"/>
      </xs:sequence>
      <xs:attribute name="id" type="xs:int" use="required"/>
    </xs:complexType>
  </xs:element>
</xs:schema>';
GO
CREATE MESSAGE TYPE [//TradeDesk/Trade] VALIDATION = VALID_XML WITH SCHEMA COLLECTION TradeSchema;
CREATE MESSAGE TYPE [//TradeDesk/Booked] VALIDATION = EMPTY;
CREATE MESSAGE TYPE [//TradeDesk/Refused] VALIDATION = NONE;
CREATE CONTRACT [//TradeDesk/Trading] (
    [//TradeDesk/Trade] SENT BY INITIATOR,
    [//TradeDesk/Booked] SENT BY TARGET,
    [//TradeDesk/Refused] SENT BY TARGET
);
CREATE QUEUE dbo.BackQueue WITH STATUS = ON;
CREATE SERVICE [//TradeDesk/Back] ON QUEUE dbo.BackQueue ([//TradeDesk/Trading]);
CREATE TABLE dbo.Positions (
    Symbol NVARCHAR(10) PRIMARY KEY,
    Quantity INT NOT NULL CHECK (Quantity >= 0),
    Limit MONEY NOT NULL
);
INSERT INTO dbo.Positions (Symbol, Quantity, Limit)
VALUES ('ACME', 0, 50000), ('BOLT', 100, 2000);
GO

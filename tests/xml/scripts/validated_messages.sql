-- VALID_XML: the target's side judges the message, the sender reads the reason in an Error message.
CREATE XML SCHEMA COLLECTION dbo.Shipping AS N'<?xml version="1.0"?>
<xs:schema xmlns:xs="http://www.w3.org/2001/XMLSchema" targetNamespace="urn:shipping" xmlns="urn:shipping"
           elementFormDefault="qualified">
  <xs:element name="parcel">
    <xs:complexType>
      <xs:sequence>
        <xs:element name="to" type="xs:string"/>
        <xs:element name="weight" type="Weight" minOccurs="0"/>
      </xs:sequence>
      <xs:attribute name="no" type="xs:positiveInteger" use="required"/>
    </xs:complexType>
  </xs:element>
  <xs:simpleType name="Weight">
    <xs:restriction base="xs:decimal"><xs:maxInclusive value="30"/><xs:fractionDigits value="2"/></xs:restriction>
  </xs:simpleType>
</xs:schema>';
CREATE MESSAGE TYPE [//Shipping/Parcel] VALIDATION = VALID_XML WITH SCHEMA COLLECTION dbo.Shipping;
CREATE MESSAGE TYPE [//Shipping/Note] VALIDATION = WELL_FORMED_XML;
CREATE CONTRACT [//Shipping/Contract] ([//Shipping/Parcel] SENT BY INITIATOR, [//Shipping/Note] SENT BY INITIATOR);
CREATE QUEUE dbo.DeskQueue;
CREATE QUEUE dbo.CarrierQueue;
CREATE SERVICE [//Shipping/Desk] ON QUEUE dbo.DeskQueue;
CREATE SERVICE [//Shipping/Carrier] ON QUEUE dbo.CarrierQueue ([//Shipping/Contract]);
GO
DECLARE @h uniqueidentifier, @parcel xml;
BEGIN DIALOG @h FROM SERVICE [//Shipping/Desk] TO SERVICE '//Shipping/Carrier' ON CONTRACT [//Shipping/Contract]
    WITH ENCRYPTION = OFF;
WITH XMLNAMESPACES (DEFAULT 'urn:shipping')
SELECT @parcel = (SELECT 7 AS '@no', 'Ann & Bob' AS 'to', CAST(2.5 AS decimal(5, 2)) AS weight FOR XML PATH('parcel'), TYPE);
SEND ON CONVERSATION @h MESSAGE TYPE [//Shipping/Parcel] (@parcel);
SEND ON CONVERSATION @h MESSAGE TYPE [//Shipping/Note] (N'two <b>roots</b> <i/>');
GO
DECLARE @type sysname, @body varbinary(max);
RECEIVE TOP (1) @type = message_type_name, @body = message_body FROM dbo.CarrierQueue;
WITH XMLNAMESPACES ('urn:shipping' AS s)
SELECT @type AS type, CAST(@body AS xml).value('(/s:parcel/@no)[1]', 'int') AS no,
       CAST(@body AS xml).value('(/s:parcel/s:to)[1]', 'nvarchar(30)') AS addressee,
       CAST(@body AS xml).value('(/s:parcel/s:weight)[1]', 'decimal(5, 2)') AS weight;
RECEIVE TOP (1) @type = message_type_name, @body = message_body FROM dbo.CarrierQueue;
SELECT @type AS type, CAST(@body AS xml).query('/i') AS i, CAST(@body AS xml).value('(/text())[1]', 'varchar(9)') AS t;
GO
DECLARE @h uniqueidentifier, @at int = 0, @body nvarchar(max);
DECLARE @bad TABLE (at int, body nvarchar(max));
INSERT INTO @bad VALUES (1, N'<parcel xmlns="urn:shipping" no="0"><to/></parcel>'),
    (2, N'<parcel xmlns="urn:shipping" no="1"><weight>1</weight></parcel>'),
    (3, N'<parcel xmlns="urn:shipping" no="1"><to/><weight>30.001</weight></parcel>'),
    (4, N'<parcel no="1"><to/></parcel>'), (5, N'<parcel xmlns="urn:shipping"><to/></parcel>'), (6, N'<parcel>');
WHILE @at < 6
BEGIN
    SET @at += 1;
    SELECT @body = body FROM @bad WHERE at = @at;
    BEGIN DIALOG @h FROM SERVICE [//Shipping/Desk] TO SERVICE '//Shipping/Carrier' ON CONTRACT [//Shipping/Contract]
        WITH ENCRYPTION = OFF;
    SEND ON CONVERSATION @h MESSAGE TYPE [//Shipping/Parcel] (@body);
    SET @body = NULL;
    RECEIVE @body = CAST(message_body AS nvarchar(max)) FROM dbo.DeskQueue WHERE conversation_handle = @h;
    DECLARE @error xml = @body;
    DECLARE @told nvarchar(3000);
    WITH XMLNAMESPACES (DEFAULT 'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
    SELECT @told = @error.value('(/Error/Description)[1]', 'nvarchar(3000)');
    SET @told = SUBSTRING(@told, CHARINDEX('service. ', @told) + 9, 3000);
    SET @told = LEFT(@told, CHARINDEX(' This occurred', @told) - 1);
    WITH XMLNAMESPACES (DEFAULT 'http://schemas.microsoft.com/SQL/ServiceBroker/Error')
    SELECT @at AS at, @error.value('(/Error/Code)[1]', 'int') AS code, @told AS reason;
    END CONVERSATION @h;
END;
SELECT COUNT(*) AS delivered FROM dbo.CarrierQueue WHERE message_type_name LIKE '//Shipping%';

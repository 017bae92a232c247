-- case: FOR XML EXPLICIT nests the rows of a universal table
CREATE TABLE dbo.c (id int, name varchar(20));
CREATE TABLE dbo.o (id int, c int, memo varchar(50), at datetime);
INSERT INTO dbo.c VALUES (1, 'Ann "A" & co'), (2, NULL);
INSERT INTO dbo.o VALUES (10, 1, '<b>x</b>', '2026-01-02'), (11, 1, NULL, NULL);
GO
SELECT 1 AS Tag, NULL AS Parent, c.id AS [Customer!1!id], c.name AS [Customer!1!Name!element], c.name AS [Customer!1!Alias],
    NULL AS [Order!2!id], NULL AS [Order!2!Memo!xml], NULL AS [Order!2!at], NULL AS [Order!2!!cdata]
FROM dbo.c
UNION ALL
SELECT 2, 1, c.id, NULL, NULL, o.id, o.memo, o.at, o.memo FROM dbo.c JOIN dbo.o ON o.c = c.id
ORDER BY [Customer!1!id], [Order!2!id]
FOR XML EXPLICIT;
-- expect
CREATE TABLE dbo.c (
    id integer,
    name varchar(20)
);

CREATE TABLE dbo.o (
    id integer,
    c integer,
    memo varchar(50),
    at timestamp(3)
);

INSERT INTO dbo.c VALUES (1, 'Ann "A" & co'), (2, NULL);

INSERT INTO dbo.o VALUES (10, 1, '<b>x</b>', '2026-01-02'), (11, 1, NULL, NULL);

SELECT d.document
FROM (SELECT sys.xml_explicit(ARRAY[['Customer', '1', 'id', ''], ['Customer', '1', 'Name', 'element'], ['Customer', '1', 'Alias', ''], ['Order', '2', 'id', ''], ['Order', '2', 'Memo', 'xml'], ['Order', '2', 'at', ''], ['Order', '2', '', 'cdata']], array_agg(ARRAY[(r.c1)::text, (r.c2)::text, sys.xml_atom(r.c3), sys.xml_atom(r.c4), sys.xml_atom(r.c5), sys.xml_atom(r.c6), (r.c7)::text, sys.xml_atom(r.c8), (r.c9)::text]))
      FROM (SELECT 1 AS tag, NULL AS parent, c.id AS "customer!1!id", c.name AS "customer!1!name!element", c.name AS "customer!1!alias", NULL AS "order!2!id", NULL AS "order!2!memo!xml", NULL AS "order!2!at", NULL AS "order!2!!cdata"
            FROM dbo.c
            UNION ALL
            SELECT 2, 1, c.id, NULL, NULL, o.id, o.memo, o.at, o.memo
            FROM dbo.c
            JOIN dbo.o ON o.c = c.id
            ORDER BY "customer!1!id" NULLS FIRST, "order!2!id" NULLS FIRST) AS r (c1, c2, c3, c4, c5, c6, c7, c8, c9)) AS d (document)
WHERE d.document IS NOT NULL;
-- shows
(2 rows affected)

(2 rows affected)

XML_<uuid>
-----------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------------
<Customer id="1" Alias="Ann &quot;A&quot; &amp; co"><Name>Ann "A" &amp; co</Name><Order id="10" at="2026-01-02T00:00:00"><Memo><b>x</b></Memo><![CDATA[<b>x</b>]]></Order><Order id="11"/></Customer><Customer id="2"/>

(1 row affected)

-- case: FOR XML EXPLICIT: hidden columns, content, nil, ROOT and TYPE
CREATE TABLE dbo.c (id int, name varchar(20));
INSERT INTO dbo.c VALUES (2, 'Bob'), (1, 'Ann');
GO
SELECT 1 AS tag, NULL AS parent, id AS [x!1!id!hide], name AS [x!1] FROM dbo.c ORDER BY id FOR XML EXPLICIT, ROOT('all'), TYPE;
DECLARE @x xml = (SELECT 1 AS tag, 0 AS parent, NULLIF(name, 'Bob') AS [c!1!n!elementxsinil] FROM dbo.c ORDER BY id FOR XML EXPLICIT);
SELECT @x;
SELECT 1 AS tag, NULL AS parent, id AS [x!1!id] FROM dbo.c WHERE 1 = 0 FOR XML EXPLICIT;
SELECT 2 AS tag, 1 AS parent, id AS [x!2!id] FROM dbo.c FOR XML EXPLICIT;
SELECT 5 AS tag, NULL AS parent, id AS [x!2!id] FROM dbo.c FOR XML EXPLICIT;
-- expect
CREATE TABLE dbo.c (
    id integer,
    name varchar(20)
);

INSERT INTO dbo.c VALUES (2, 'Bob'), (1, 'Ann');

DO $batch$
#variable_conflict use_column
DECLARE
    session ssb.session;
    result refcursor;
BEGIN
    CALL ssb_internal.begin_batch(session);
    <<batch>>
    DECLARE
        x sys.xml;
    BEGIN
        BEGIN
            result := NULL;
            OPEN result FOR SELECT sys.xml_of_content(sys.xml_element('all', '',
                                      sys.xml_explicit(ARRAY[['x', '1', 'id', 'hide'], ['x', '1', '', '']], array_agg(ARRAY[(1)::text, NULL::text, sys.xml_atom(id), sys.xml_atom(name)] ORDER BY id NULLS FIRST))))
            FROM dbo.c;
            session := ssb_internal.show(session, result, '[{"name":null,"type":"sys.xml"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 1, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            x := sys.xml_of((SELECT sys.xml_explicit(ARRAY[['c', '1', 'n', 'elementxsinil']], array_agg(ARRAY[(1)::text, (0)::text, sys.xml_atom(NULLIF(name, 'Bob'))] ORDER BY id NULLS FIRST))
            FROM dbo.c));
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 2, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT x;
            session := ssb_internal.show(session, result, '[{"name":null,"type":"sys.xml"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 3, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT d.document
            FROM (SELECT sys.xml_explicit(ARRAY[['x', '1', 'id', '']], array_agg(ARRAY[(1)::text, NULL::text, sys.xml_atom(id)]))
                  FROM dbo.c
                  WHERE 1 = 0) AS d (document)
            WHERE d.document IS NOT NULL;
            session := ssb_internal.show(session, result, '[{"name":"XML_F52E2B61-18A1-11d1-B105-00805F49916B","type":"text"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 4, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT d.document
            FROM (SELECT sys.xml_explicit(ARRAY[['x', '2', 'id', '']], array_agg(ARRAY[(2)::text, (1)::text, sys.xml_atom(id)]))
                  FROM dbo.c) AS d (document)
            WHERE d.document IS NOT NULL;
            session := ssb_internal.show(session, result, '[{"name":"XML_F52E2B61-18A1-11d1-B105-00805F49916B","type":"text"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 5, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
        BEGIN
            result := NULL;
            OPEN result FOR SELECT d.document
            FROM (SELECT sys.xml_explicit(ARRAY[['x', '2', 'id', '']], array_agg(ARRAY[(5)::text, NULL::text, sys.xml_atom(id)]))
                  FROM dbo.c) AS d (document)
            WHERE d.document IS NOT NULL;
            session := ssb_internal.show(session, result, '[{"name":"XML_F52E2B61-18A1-11d1-B105-00805F49916B","type":"text"}]');
        EXCEPTION WHEN OTHERS THEN session := ssb_internal.failed(session, 6, SQLSTATE, SQLERRM); EXIT batch WHEN session.leaving;
        END;
    END batch;
    CALL ssb_internal.end_batch(session);
END;
$batch$;
-- shows
(2 rows affected)

(No column name)
-------------------------------
<all><x>Ann</x><x>Bob</x></all>

(1 row affected)

(No column name)
-------------------------------------------------------------------------------------------------------------------------------------------------------
<c xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><n>Ann</n></c><c xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"><n xsi:nil="true"/></c>

(1 row affected)

XML_<uuid>
----------------------------------------

(0 rows affected)

Msg 6833, Level 16, State 1, Line 5
Parent tag ID 1 is not among the open tags. FOR XML EXPLICIT requires parent tags to be opened first. Check the ordering of the result set.
Msg 6806, Level 16, State 1, Line 6
Undeclared tag ID 5 is used in a FOR XML EXPLICIT query.

-- case: FOR XML EXPLICIT over columns that are no universal table
SELECT 1 AS tag, NULL AS parent FOR XML EXPLICIT;
GO
SELECT 1 AS tag, 2 AS x, 3 AS [x!1!a] FOR XML EXPLICIT;
GO
SELECT 1 AS tag, NULL AS parent, 3 AS [x!a] FOR XML EXPLICIT;
GO
SELECT 1 AS tag, NULL AS parent, 3 AS [x!1!a!xmltext] FOR XML EXPLICIT;
-- expect
case.sql:1:8: error 6801: FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, and at least one data column.
    1 | SELECT 1 AS tag, NULL AS parent FOR XML EXPLICIT;
      |        ^

case.sql:3:8: error 6820: FOR XML EXPLICIT requires column 2 to be named 'PARENT' instead of 'x'.
    3 | SELECT 1 AS tag, 2 AS x, 3 AS [x!1!a] FOR XML EXPLICIT;
      |        ^

case.sql:5:8: error 6802: FOR XML EXPLICIT query contains the invalid column name 'x!a'. Use the TAGNAME!TAGID!ATTRIBUTENAME[!..] format where TAGID is a positive integer.
    5 | SELECT 1 AS tag, NULL AS parent, 3 AS [x!a] FOR XML EXPLICIT;
      |        ^

case.sql:7:8: error: the directive 'xmltext' of FOR XML EXPLICIT is not supported
    7 | SELECT 1 AS tag, NULL AS parent, 3 AS [x!1!a!xmltext] FOR XML EXPLICIT;
      |        ^
-- shows
Msg 6801, Level 16, State 1, Line 1
case.sql:1:8: error 6801: FOR XML EXPLICIT requires at least three columns, including the tag column, the parent column, and at least one data column.
    1 | SELECT 1 AS tag, NULL AS parent FOR XML EXPLICIT;
      |        ^
Msg 6820, Level 16, State 1, Line 1
case.sql:3:8: error 6820: FOR XML EXPLICIT requires column 2 to be named 'PARENT' instead of 'x'.
    3 | SELECT 1 AS tag, 2 AS x, 3 AS [x!1!a] FOR XML EXPLICIT;
      |        ^
Msg 6802, Level 16, State 1, Line 1
case.sql:5:8: error 6802: FOR XML EXPLICIT query contains the invalid column name 'x!a'. Use the TAGNAME!TAGID!ATTRIBUTENAME[!..] format where TAGID is a positive integer.
    5 | SELECT 1 AS tag, NULL AS parent, 3 AS [x!a] FOR XML EXPLICIT;
      |        ^
Msg 102, Level 15, State 1, Line 1
case.sql:7:8: error: the directive 'xmltext' of FOR XML EXPLICIT is not supported
    7 | SELECT 1 AS tag, NULL AS parent, 3 AS [x!1!a!xmltext] FOR XML EXPLICIT;
      |        ^

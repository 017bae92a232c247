-- Which columns are identity columns: PostgreSQL's, and those that other tools make of them.
--
-- Called by  GRANT on a table (definitions/permissions.sql), catalog views, functions of identity columns

-- Whether a column takes what a sequence of its own gives, by its default: PostgreSQL's serial, as other tools make it of an identity.
CREATE OR REPLACE FUNCTION ssb_internal.is_serial(p_relation oid, p_number smallint) RETURNS boolean
LANGUAGE sql STABLE
RETURN EXISTS (
    SELECT FROM pg_depend AS own
      JOIN pg_attrdef AS d ON d.adrelid = p_relation AND d.adnum = p_number
      JOIN pg_depend AS used ON used.classid = 'pg_attrdef'::regclass AND used.objid = d.oid AND used.refclassid = 'pg_class'::regclass
                            AND used.refobjid = own.objid AND used.deptype = 'n'
     WHERE own.refclassid = 'pg_class'::regclass AND own.refobjid = p_relation AND own.refobjsubid = p_number
       AND own.classid = 'pg_class'::regclass AND own.deptype = 'a');

-- Whether a column is an identity column of T-SQL's. (PostgreSQL puts the text in its place: only a default is looked up.)
CREATE OR REPLACE FUNCTION ssb_internal.is_identity(p_column pg_attribute) RETURNS boolean
LANGUAGE sql STABLE
RETURN (p_column).attidentity <> '' OR ((p_column).atthasdef AND (p_column).attgenerated = ''
                                        AND ssb_internal.is_serial((p_column).attrelid, (p_column).attnum));

-- The sequence of a table's identity column; NULL without one.
CREATE OR REPLACE FUNCTION sys.identity_sequence(target regclass) RETURNS regclass
LANGUAGE sql STABLE
RETURN (
    SELECT pg_get_serial_sequence(target::text, a.attname)::regclass
    FROM pg_attribute AS a
    WHERE a.attrelid = target AND a.attnum > 0 AND NOT a.attisdropped
      AND pg_get_serial_sequence(target::text, a.attname) IS NOT NULL
    ORDER BY a.attidentity DESC, a.attnum LIMIT 1);

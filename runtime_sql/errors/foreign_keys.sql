-- Errors 1767 to 1778: what is wrong with a foreign key that PostgreSQL does not make.
--
-- Called by  ssb_internal.native_error (errors/native_errors.sql)

-- p_name: of a constraint that the script names, else as PostgreSQL names it.
CREATE OR REPLACE FUNCTION ssb_internal.foreign_key_name(p_name text, p_table text, p_columns text[])
RETURNS text
LANGUAGE sql IMMUTABLE
BEGIN ATOMIC
    SELECT coalesce(p_name, concat_ws('_', sys.fold(p_table), sys.fold(array_to_string(p_columns, '_')), 'fkey'));
END;

-- The first of p_columns, as the script spells them, that a relation does not have.
CREATE OR REPLACE FUNCTION ssb_internal.missing_column(p_relation regclass, p_columns text[])
RETURNS text
LANGUAGE sql STABLE
BEGIN ATOMIC
    SELECT c.name
      FROM unnest(p_columns) WITH ORDINALITY AS c (name, n)
     WHERE NOT EXISTS (SELECT FROM pg_attribute AS a
                        WHERE a.attrelid = p_relation AND a.attname = sys.fold(c.name) AND a.attnum > 0 AND NOT a.attisdropped)
     ORDER BY c.n
     LIMIT 1;
END;

-- p_keys: the foreign keys of the statement, of each its constraint's name, the table as the script has it and as SQL has it, the
-- columns, and the same of the table to which it refers. NULL: PostgreSQL meant none of them.
CREATE OR REPLACE FUNCTION ssb_internal.foreign_key_error(sqlstate_code text, p_message text, p_detail text, p_keys jsonb)
RETURNS ssb.error
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_error ssb.error;
    v_name text;
    v_table text;
    v_relation regclass;
    v_columns text[];
    v_folded text[];
    v_other text;
    v_other_relation regclass;
    v_other_columns text[];
    v_primary integer;
    v_column text;
    v_text text;
    v_number integer;
    v_own boolean;
    v_name_in_message CONSTANT text := ssb_internal.quoted_name(p_message, 1);
BEGIN
    FOR v_name, v_table, v_relation, v_columns, v_other, v_other_relation, v_other_columns, v_own IN
        SELECT k->>0, k->>1, to_regclass(k->>2), ARRAY(SELECT jsonb_array_elements_text(k->3)),
               k->>4, to_regclass(k->>5), ARRAY(SELECT jsonb_array_elements_text(k->6)), k->>2 = k->>5
          FROM jsonb_array_elements(p_keys) WITH ORDINALITY AS f (k, n) ORDER BY f.n
    LOOP
        v_name := ssb_internal.foreign_key_name(v_name, v_table, v_columns);
        v_folded := ARRAY(SELECT sys.fold(c.name) FROM unnest(v_columns) WITH ORDINALITY AS c (name, n) ORDER BY c.n);
        v_primary := (SELECT cardinality(c.conkey) FROM pg_constraint AS c WHERE c.conrelid = v_other_relation AND c.contype = 'p');
        CASE
        WHEN sqlstate_code IN ('42P01', '3F000') AND v_other_relation IS NULL AND NOT v_own THEN
            v_number := 1767;
            v_text := format('Foreign key ''%s'' references invalid table ''%s''.', v_name, v_other);
        WHEN sqlstate_code = '42809' AND (SELECT c.relkind NOT IN ('r', 'p') FROM pg_class AS c WHERE c.oid = v_other_relation) THEN
            v_number := 1768;
            v_text := format('Foreign key ''%s'' references object ''%s'' which is not a user table.', v_name, v_other);
        WHEN sqlstate_code = '42703' AND v_other_relation IS NOT NULL
             AND ssb_internal.missing_column(v_other_relation, v_other_columns) IS NOT NULL THEN
            v_number := 1770;
            v_text := format('Foreign key ''%s'' references invalid column ''%s'' in referenced table ''%s''.', v_name,
                             ssb_internal.missing_column(v_other_relation, v_other_columns), v_other);
        -- Of a table that CREATE TABLE has not made PostgreSQL's message alone tells it.
        WHEN sqlstate_code = '42703' AND v_name_in_message = ANY (v_folded)
             AND (v_relation IS NULL OR ssb_internal.missing_column(v_relation, v_columns) IS NOT NULL) THEN
            v_number := 1769;
            v_text := format('Foreign key ''%s'' references invalid column ''%s'' in referencing table ''%s''.', v_name,
                             v_columns[array_position(v_folded, v_name_in_message)], v_table);
        WHEN sqlstate_code = '42704' AND v_other_columns = '{}' AND v_primary IS NULL THEN
            v_number := 1773;
            v_text := format('Foreign key ''%s'' has implicit reference to object ''%s'' which does not have a primary key defined on it.',
                             v_name, v_other);
        WHEN sqlstate_code = '42830' AND v_other_columns = '{}' AND v_primary <> cardinality(v_columns) THEN
            v_number := 1774;
            v_text := format('The number of columns in the referencing column list for foreign key ''%s'' does not match those of the '
                             'primary key in the referenced table ''%s''.', v_name, v_other);
        WHEN sqlstate_code = '42830' AND v_other_columns <> '{}' AND NOT EXISTS (
             SELECT FROM pg_index AS i
              WHERE i.indrelid = v_other_relation AND i.indisunique AND i.indpred IS NULL AND i.indnkeyatts = cardinality(v_other_columns)
                AND NOT EXISTS (SELECT FROM unnest(v_other_columns) AS c (name)
                                 WHERE NOT EXISTS (SELECT FROM pg_attribute AS a
                                                    WHERE a.attrelid = i.indrelid AND a.attname = sys.fold(c.name)
                                                      AND a.attnum = ANY (i.indkey)))) THEN
            v_number := 1776;
            v_text := format('There are no primary or candidate keys in the referenced table ''%s'' that match the referencing column '
                             'list in the foreign key ''%s''.', v_other, v_name);
        WHEN sqlstate_code = '42804' AND sys.fold(v_name) = v_name_in_message THEN
            v_column := v_columns[array_position(v_folded, ssb_internal.quoted_name(p_detail, 1))];
            v_number := 1778;
            v_text := format('Column ''%s.%s'' is not the same data type as referencing column ''%s.%s'' in foreign key ''%s''.', v_other,
                             coalesce(v_other_columns[array_position(v_columns, v_column)], ssb_internal.quoted_name(p_detail, 2)),
                             v_table, v_column, v_name);
        ELSE
            CONTINUE;
        END CASE;
        v_error := ROW(v_number, v_text, 16, 0, NULL, NULL);
        RETURN v_error;
    END LOOP;
    RETURN v_error;
END;
$$;

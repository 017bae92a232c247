-- Values of type xml(collection).

-- The value itself if the collection's schemas allow it, else the error that SQL Server raises when
-- it is assigned to a variable or column of type xml(collection). p_document: xml(DOCUMENT …) takes
-- exactly one root element and no text beside it.
CREATE OR REPLACE FUNCTION ssb_internal.typed_xml(p_value sys.xml, p_compiled jsonb, p_document boolean DEFAULT false) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_fault text;
BEGIN
    IF p_value IS NULL OR p_compiled IS NULL THEN
        RETURN p_value;
    END IF;
    IF p_document AND (sys.xml_value(p_value, 'count(/*)') <> '1' OR sys.xml_exist(p_value, '/text()') = 1) THEN
        PERFORM ssb_internal.raise_error(6901, 'XML Validation: XML instance must be a document.');
    END IF;
    v_fault := ssb_internal.xml_schema_validate(p_compiled, p_value::text);
    IF v_fault IS NOT NULL THEN
        PERFORM ssb_internal.raise_error(ssb_internal.xsd_fault_number(v_fault), v_fault);
    END IF;
    RETURN p_value;
END;
$$;

-- xml(collection) and xml(DOCUMENT collection) are domains of schema ssb, named after the
-- collection: ssb."dbo.orders", ssb."dbo.orders document". They come and go with it.
CREATE OR REPLACE FUNCTION ssb_internal.create_typed_xml(p_collection_id integer)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    SELECT c.schema_name || '.' || c.name INTO v_name
      FROM ssb.xml_schema_collection AS c WHERE c.collection_id = p_collection_id;
    EXECUTE format('CREATE DOMAIN ssb.%I AS sys.xml CHECK (ssb_internal.fits_collection(VALUE, %s, false))', sys.fold(v_name), p_collection_id);
    EXECUTE format('CREATE DOMAIN ssb.%I AS sys.xml CHECK (ssb_internal.fits_collection(VALUE, %s, true))',
                   sys.fold(v_name || ' document'), p_collection_id);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.drop_typed_xml(p_collection ssb.xml_schema_collection)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text := p_collection.schema_name || '.' || p_collection.name;
    v_row_type regtype;
BEGIN
    -- Rows of the caller's table variables.
    FOR v_row_type IN
        SELECT DISTINCT c.reltype FROM pg_class AS c
          JOIN pg_attribute AS a ON a.attrelid = c.oid
          JOIN pg_type AS t ON t.oid = a.atttypid AND t.typnamespace = 'ssb'::regnamespace
         WHERE c.relkind = 'c' AND c.relnamespace = pg_my_temp_schema()
           AND t.typname IN (sys.fold(v_name), sys.fold(v_name || ' document'))
    LOOP
        EXECUTE format('DROP TYPE %s', v_row_type);
    END LOOP;
    EXECUTE format('DROP DOMAIN IF EXISTS ssb.%I, ssb.%I', sys.fold(v_name), sys.fold(v_name || ' document'));
EXCEPTION WHEN dependent_objects_still_exist THEN
    PERFORM ssb_internal.raise_error(6328, format('Specified collection ''%s'' cannot be dropped because it is used by object ''%s''.',
        p_collection.spelling, (SELECT ssb_internal.dependent_name('pg_type', t.oid) FROM pg_type AS t
                                 WHERE t.typnamespace = 'ssb'::regnamespace AND t.typname IN (sys.fold(v_name), sys.fold(v_name || ' document'))
                                   AND ssb_internal.dependent_name('pg_type', t.oid) IS NOT NULL LIMIT 1)), hint => SQLERRM);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.rename_typed_xml(p_collection ssb.xml_schema_collection, p_schema text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_was text := p_collection.schema_name || '.' || p_collection.name;
    v_name text := p_schema || '.' || p_collection.name;
BEGIN
    EXECUTE format('ALTER DOMAIN ssb.%I RENAME TO %I', sys.fold(v_was), sys.fold(v_name));
    EXECUTE format('ALTER DOMAIN ssb.%I RENAME TO %I', sys.fold(v_was || ' document'), sys.fold(v_name || ' document'));
END;
$$;

-- The CHECK of those domains: true, or the error of a value that its collection refuses.
-- Collections are looked up by number: in a database that is being restored there is none yet.
CREATE OR REPLACE FUNCTION ssb_internal.fits_collection(p_value sys.xml, p_collection_id integer, p_document boolean)
RETURNS boolean
LANGUAGE plpgsql STABLE
SECURITY DEFINER SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_value IS NOT NULL THEN
        PERFORM ssb_internal.typed_xml(p_value, (SELECT c.compiled FROM ssb.xml_schema_collection AS c
                                                  WHERE c.collection_id = p_collection_id), p_document);
    END IF;
    RETURN true;
END;
$$;

-- The message number of a text that ssb_internal.xml_schema_validate gave.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_fault_number(p_fault text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT coalesce((SELECT t.number FROM (VALUES
            (6905, 'Attribute ''%'' is not permitted in this context.%'),
            (6906, 'Required attribute ''%'' is missing.%'),
            (6965, 'Invalid content. Expected element(s): % Found: element %'),
            (6908, 'Invalid content. Expected element(s): %'),
            (6909, 'Text node is not allowed at this location,%'),
            (6911, 'Found duplicate element %'),
            (6912, 'Element % found in text only content model.%'),
            (6913, 'Declaration not found for element %'),
            (6914, 'Type definition for type % was not found,%'),
            (6917, 'Element % may not have xsi:nil="true"%'),
            (6918, 'Element % must not have character or element children,%'),
            (6919, 'The type of element % is abstract.%'),
            (6921, 'Element or attribute % was defined as fixed,%'),
            (6923, 'Unexpected element(s): %'),
            (6926, 'Invalid simple type value: %'),
            (6930, 'ID constraint check failed.%'),
            (6931, 'IDREF constraint check failed.%'),
            (6934, 'Element % requires substitution,%'),
            (6936, 'Invalid cast for element %'),
            (6947, 'Multiple ID attributes found%')
        ) AS t(number, pattern)
         WHERE substr(p_fault, length('XML Validation: ') + 1) LIKE t.pattern LIMIT 1), 6304);
END;

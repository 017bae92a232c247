-- Values of type xml(collection).

-- The value itself if the collection's schemas allow it, else the error that SQL Server raises when
-- it is assigned to a variable or column of type xml(collection). p_document: xml(DOCUMENT …) takes
-- exactly one root element and no text beside it.
CREATE OR REPLACE FUNCTION ssb.typed_xml(p_value sys.xml, p_compiled jsonb, p_document boolean DEFAULT false) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_fault text;
BEGIN
    IF p_value IS NULL OR p_compiled IS NULL THEN
        RETURN p_value;
    END IF;
    IF p_document AND (sys.xml_value(p_value, 'count(/*)') <> '1' OR sys.xml_exist(p_value, '/text()') = 1) THEN
        PERFORM ssb.raise_error(6901, 'XML Validation: XML instance must be a document.');
    END IF;
    v_fault := ssb.xml_schema_validate(p_compiled, p_value::text);
    IF v_fault IS NOT NULL THEN
        PERFORM ssb.raise_error(ssb.xsd_fault_number(v_fault), v_fault);
    END IF;
    RETURN p_value;
END;
$$;

-- The message number of a text that ssb.xml_schema_validate gave.
CREATE OR REPLACE FUNCTION ssb.xsd_fault_number(p_fault text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE
AS $$
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
         WHERE substr(p_fault, length('XML Validation: ') + 1) LIKE t.pattern LIMIT 1), 6304)
$$;

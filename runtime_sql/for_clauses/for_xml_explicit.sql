-- FOR XML EXPLICIT: the rows of a universal table become nested elements. Each row opens one element, below
-- the last one open whose tag is its parent.
--
-- Called by  compiled queries

-- p_columns: of the third column on, element, tag number, name and directive (lower case), each '' where not written.
-- p_rows: tag, parent, then the values as content (escaped, but for xml and cdata), NULL where there is none.
CREATE OR REPLACE FUNCTION sys.xml_explicit(p_columns text[], p_rows text[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_width integer := array_length(p_columns, 1);
    v_pieces text[] := '{}';
    v_tags integer[] := '{}';      -- of the open elements, outermost first
    v_names text[] := '{}';
    v_bare boolean := false;       -- the innermost one has only its start tag so far, its > not written
    v_tag integer;
    v_parent integer;
    v_value text;
    v_start text;
    v_content text;
    v_name text;
    v_depth integer;
BEGIN
    IF p_rows IS NULL THEN
        RETURN NULL;
    END IF;
    FOR v_row IN 1 .. array_length(p_rows, 1) + 1 LOOP
        IF v_row > array_length(p_rows, 1) THEN
            v_parent := 0;
        ELSE
            v_tag := p_rows[v_row][1]::integer;
            v_parent := coalesce(p_rows[v_row][2]::integer, 0);
            IF coalesce(v_tag, 0) <= 0 THEN
                PERFORM ssb_internal.raise_error(6803, 'FOR XML EXPLICIT requires the first column to hold positive integers that represent XML tag IDs.');
            END IF;
        END IF;
        v_depth := cardinality(v_tags);
        WHILE v_depth > 0 AND v_tags[v_depth] IS DISTINCT FROM v_parent LOOP
            v_pieces := v_pieces || CASE WHEN v_bare THEN '/>' ELSE '</' || v_names[v_depth] || '>' END;
            v_bare := false;
            v_depth := v_depth - 1;
        END LOOP;
        IF v_depth = 0 AND v_parent > 0 THEN
            PERFORM ssb_internal.raise_error(6833, format('Parent tag ID %s is not among the open tags. FOR XML EXPLICIT requires parent tags '
                'to be opened first. Check the ordering of the result set.', v_parent));
        END IF;
        EXIT WHEN v_row > array_length(p_rows, 1);
        v_tags := v_tags[1:v_depth];
        v_names := v_names[1:v_depth];
        v_name := NULL;
        v_start := '';
        v_content := '';
        FOR v_place IN 1 .. v_width LOOP
            CONTINUE WHEN p_columns[v_place][2]::integer <> v_tag;
            v_name := coalesce(v_name, p_columns[v_place][1]);
            v_value := p_rows[v_row][v_place + 2];
            IF v_value IS NULL THEN
                IF p_columns[v_place][4] = 'elementxsinil' THEN
                    v_content := v_content || format('<%s xsi:nil="true"/>', p_columns[v_place][3]);
                END IF;
            ELSIF p_columns[v_place][4] = 'hide' THEN
                NULL;
            ELSIF p_columns[v_place][4] = 'cdata' THEN
                v_content := v_content || '<![CDATA[' || replace(v_value, ']]>', ']]]]><![CDATA[>') || ']]>';
            ELSIF p_columns[v_place][3] = '' THEN
                v_content := v_content || v_value;
            ELSIF p_columns[v_place][4] IN ('element', 'elementxsinil', 'xml') THEN
                v_content := v_content || format('<%1$s>%2$s</%1$s>', p_columns[v_place][3], v_value);
            ELSE
                v_start := v_start || format(' %s="%s"', p_columns[v_place][3],
                                             replace(replace(replace(v_value, '"', '&quot;'), E'\n', '&#x0A;'), E'\t', '&#x09;'));
            END IF;
        END LOOP;
        IF v_name IS NULL THEN
            PERFORM ssb_internal.raise_error(6806, format('Undeclared tag ID %s is used in a FOR XML EXPLICIT query.', v_tag));
        END IF;
        IF v_bare THEN
            v_pieces := v_pieces || '>'::text;
        END IF;
        IF v_depth = 0 AND (SELECT bool_or(c.directive = 'elementxsinil')
                              FROM (SELECT p_columns[g][4] AS directive FROM generate_series(1, v_width) AS g) AS c) THEN
            v_start := v_start || ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"';
        END IF;
        v_bare := v_content = '';
        v_pieces := v_pieces || ('<' || v_name || v_start || CASE WHEN v_bare THEN '' ELSE '>' || v_content END);
        v_tags := v_tags || v_tag;
        v_names := v_names || v_name;
    END LOOP;
    RETURN array_to_string(v_pieces, '');
END;
$$;

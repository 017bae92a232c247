-- The methods of the xml type. Each has a face per kind of first argument (text, sys.xml,
-- sys.xml_node); those are SQL functions which the planner inlines, so that ssb_internal.xq_compile over
-- constants is folded into the plan: a path is parsed once per plan, not once per row.

-- A row of .nodes(): a node with as much around it as the compiler saw that paths will ask for,
-- so that a table of 1,000 rows does not carry 1,000 copies of a document. No field is ever NULL:
-- "c IS NOT NULL" asks all fields of a composite value.
DO $$
BEGIN
    IF to_regtype('sys.xml_node') IS NULL THEN
        CREATE TYPE sys.xml_node AS (
            ordinal  bigint,    -- of the row: scripts order by the column to get document order
            above    text[],    -- start tags around markup, outermost first, without their '<'
            markup   text,      -- the node or the ancestor so many levels up, whole
            id       bigint,    -- number of the node in above || markup (see xml/text/node_index.sql)
            levels   integer,   -- how far up markup reaches
            document text,      -- the whole value if paths may look further than that, else ''
            place    bigint     -- number of the node in document, else 0
        );
    END IF;
END;
$$;

-- The index of what a row of .nodes() holds and the item that its node is in it. p_levels is how
-- far up the path to be evaluated looks (see ssb_internal.xq_compile).
CREATE OR REPLACE FUNCTION ssb_internal.xml_node_index(
    p_node sys.xml_node, p_levels integer,
    OUT toks text[], OUT ends integer[], OUT opens integer[], OUT decls integer[], OUT item text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_levels > p_node.levels AND p_node.place > 0 THEN
        SELECT i.toks, i.ends, i.opens, i.decls INTO toks, ends, opens, decls FROM ssb_internal.xml_index(p_node.document) AS i;
        item := 'n' || p_node.place;
        RETURN;
    ELSIF p_levels > p_node.levels THEN
        PERFORM ssb_internal.raise_error(50000, format('XQuery: this row of nodes() reaches %s levels up, and the expression looks'
            ' further; call sys.xml_nodes with another upward.', p_node.levels));
    END IF;
    SELECT i.toks, i.ends, i.opens, i.decls INTO toks, ends, opens, decls
      FROM ssb_internal.xml_index(CASE p_node.above WHEN '{}' THEN '' ELSE '<' || array_to_string(p_node.above, '<') END
                         || p_node.markup) AS i;
    item := 'n' || p_node.id;
END;
$$;

-- ── what the methods do, on text ─────────────────────────────────────────────────────────────

CREATE OR REPLACE FUNCTION ssb_internal.xq_value(p_xml text, p_plan jsonb, p_variables jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_xml IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    -- An assignment: SELECT … FROM the function would set up an executor.
    v_index := ssb_internal.xml_index(p_xml);
    RETURN ssb_internal.xq_first_text(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
        coalesce(p_variables, '{}'), 'n2');
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_value(p_node sys.xml_node, p_plan jsonb, p_variables jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_node IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO v_index FROM ssb_internal.xml_node_index(p_node, (p_plan -> 'up')::integer) AS i;
    RETURN ssb_internal.xq_first_text(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
        coalesce(p_variables, '{}'), v_index.item);
END;
$$;

-- The string of the first item that an expression gives, NULL for none.
CREATE OR REPLACE FUNCTION ssb_internal.xq_first_text(
    p_plan jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb, p_item text)
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_op text := p_plan ->> 'op';
    v_node bigint;
BEGIN
    IF v_op = 'filter' AND p_plan -> 'e' ->> 'op' = 'path' AND NOT p_plan -> 'e' -> 'steps' -> -1 ? 'e'
       OR v_op = 'path' AND NOT p_plan -> 'steps' -> -1 ? 'e' THEN
        v_node := (ssb_internal.xq_nodes(p_plan, 1, p_toks, p_ends, p_opens, p_decls, p_env, p_item, 1, 1))[1];
        RETURN ssb_internal.xml_string(v_node, p_toks, p_ends);
    END IF;
    RETURN ssb_internal.xq_text((ssb_internal.xq_atoms(p_plan, p_toks, p_ends, p_opens, p_decls, p_env, p_item, 1, 1))[1]);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_query(p_xml text, p_plan jsonb, p_variables jsonb) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_xml IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO v_index FROM ssb_internal.xml_index(p_xml) AS i;
    RETURN ssb_internal.xq_serialise(
        ssb_internal.xq_items(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls, coalesce(p_variables, '{}'), 'n2', 1, 1),
        v_index.toks, v_index.ends, v_index.opens, v_index.decls);
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_query(p_node sys.xml_node, p_plan jsonb, p_variables jsonb) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_node IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO v_index FROM ssb_internal.xml_node_index(p_node, (p_plan -> 'up')::integer) AS i;
    RETURN ssb_internal.xq_serialise(
        ssb_internal.xq_items(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
                     coalesce(p_variables, '{}'),
                     v_index.item, 1, 1),
        v_index.toks, v_index.ends, v_index.opens, v_index.decls);
END;
$$;

-- .exist(): 1 unless the expression gives nothing; that goes for a boolean, too.
CREATE OR REPLACE FUNCTION ssb_internal.xq_exist(p_xml text, p_plan jsonb, p_variables jsonb) RETURNS sys.bit
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_xml IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO v_index FROM ssb_internal.xml_index(p_xml) AS i;
    RETURN ssb_internal.xq_gives(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls, coalesce(p_variables, '{}'), 'n2')::integer;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_exist(p_node sys.xml_node, p_plan jsonb, p_variables jsonb) RETURNS sys.bit
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_node IS NULL OR p_plan IS NULL THEN
        RETURN NULL;
    END IF;
    SELECT i.* INTO v_index FROM ssb_internal.xml_node_index(p_node, (p_plan -> 'up')::integer) AS i;
    RETURN ssb_internal.xq_gives(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
        coalesce(p_variables, '{}'),
        v_index.item)::integer;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_gives(
    p_plan jsonb, p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[], p_env jsonb, p_item text)
RETURNS boolean
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF p_plan ->> 'op' IN ('path', 'filter') AND NOT coalesce(p_plan -> 'steps' -> -1 ? 'e', false)
       AND coalesce(p_plan -> 'e' ->> 'op', 'path') = 'path' THEN
        RETURN ssb_internal.xq_nodes(p_plan, 1, p_toks, p_ends, p_opens, p_decls, p_env, p_item, 1, 1) <> '{}';
    END IF;
    RETURN ssb_internal.xq_items(p_plan, p_toks, p_ends, p_opens, p_decls, p_env, p_item, 1, 1) <> '{}';
END;
$$;

-- .nodes(): one row per node, in order, each with p_levels of what is around it. NULL: the row gets
-- its place in the document, and the caller adds that. p_first is the first piece that is whole: 1,
-- or what comes behind the start tags if the pieces are those of another row. Constructed nodes
-- become documents of their own.
CREATE OR REPLACE FUNCTION ssb_internal.xq_rows(
    p_toks text[], p_ends integer[], p_opens integer[], p_items text[], p_levels integer, p_first integer)
RETURNS SETOF sys.xml_node
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_row sys.xml_node;
    v_item text;
    v_id bigint;
    v_at integer;
    v_up integer;
    v_parent integer;           -- whose start tags are in v_row.above
    v_levels integer := coalesce(p_levels, 0);
BEGIN
    v_row.levels := v_levels;
    v_row.ordinal := 0;         -- the caller numbers the rows
    v_row.document := '';
    FOREACH v_item IN ARRAY p_items LOOP
        IF left(v_item, 1) IN ('x', 't') THEN
            v_row.above := '{}';
            v_row.markup := CASE left(v_item, 1) WHEN 'x' THEN substr(v_item, 2)
                                 ELSE ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(substr(v_item, 2))) END;
            v_row.id := CASE left(v_item, 1) WHEN 'x' THEN 4 ELSE 3 END;
            v_row.levels := 1000000;                    -- there is nothing above it
            v_row.place := 0;
            v_parent := NULL;
            RETURN NEXT v_row;
            v_row.levels := v_levels;
            CONTINUE;
        ELSIF left(v_item, 1) <> 'n' THEN
            PERFORM ssb_internal.raise_error(2374, 'XQuery [nodes()]: A node or set of nodes is required for nodes()');
        END IF;
        v_id := substr(v_item, 2)::bigint;
        v_row.id := v_id;
        v_row.place := CASE WHEN p_levels IS NULL THEN v_id ELSE 0 END;
        -- v_at: the piece whose markup the row gets; v_up: what is open around that
        v_at := ((v_id & 4294967295) >> 1)::integer;
        IF v_id & 1 = 1 AND v_levels > 0 THEN
            v_at := p_opens[v_at];
            v_id := v_at::bigint * 2;
        END IF;
        v_row.levels := v_levels;
        FOR i IN 1 .. v_levels - CASE WHEN v_row.id <> v_id OR v_id > 4294967295 THEN 1 ELSE 0 END LOOP
            EXIT WHEN v_at = 1;
            IF p_opens[v_at - 1] < p_first THEN
                v_row.levels := i - 1;
                EXIT;
            END IF;
            v_at := p_opens[v_at - 1];
        END LOOP;
        v_up := CASE WHEN v_id & 1 = 1 THEN p_opens[v_at] WHEN v_at = 1 THEN 1 ELSE p_opens[v_at - 1] END;
        IF v_up IS DISTINCT FROM v_parent THEN          -- neighbours under one parent share them
            v_parent := v_up;
            v_row.above := '{}';
            WHILE v_up > 1 LOOP
                v_row.above := array_prepend(split_part(p_toks[v_up], '>', 1) || '>', v_row.above);
                v_up := p_opens[v_up - 1];
            END LOOP;
        END IF;
        IF v_id & 1 = 1 THEN
            v_row.markup := ssb_internal.xml_tail(p_toks[v_at], v_at);
            v_row.id := cardinality(v_row.above) * 2 + 3;
        ELSE
            v_row.markup := CASE WHEN v_id > 4294967295 AND v_levels = 0
                                 THEN '<' || rtrim(split_part(p_toks[v_at], '>', 1), '/') || '/>'
                                 ELSE ssb_internal.xml_markup(v_at::bigint * 2, p_toks, p_ends) END;
            IF v_at > 1 THEN
                v_row.id := v_row.id - (v_at - cardinality(v_row.above) - 2)::bigint * 2;
            END IF;
        END IF;
        RETURN NEXT v_row;
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_node_rows(p_xml text, p_plan jsonb, p_variables jsonb, p_levels integer)
RETURNS SETOF sys.xml_node
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
BEGIN
    IF p_xml IS NOT NULL AND p_plan IS NOT NULL THEN
        SELECT i.* INTO v_index FROM ssb_internal.xml_index(p_xml) AS i;
        RETURN QUERY SELECT r.* FROM ssb_internal.xq_rows(
            v_index.toks, v_index.ends, v_index.opens,
            ssb_internal.xq_items(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
                         coalesce(p_variables, '{}'), 'n2', 1, 1),
            p_levels, 1) AS r;
    END IF;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.xq_node_rows(p_node sys.xml_node, p_plan jsonb, p_variables jsonb, p_levels integer)
RETURNS SETOF sys.xml_node
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_index record;
    v_whole boolean := p_levels IS NULL AND p_node.place > 0;
BEGIN
    IF NOT p_node IS NULL AND p_plan IS NOT NULL THEN
        -- Rows that are to know the document need its numbers.
        SELECT i.* INTO v_index
          FROM ssb_internal.xml_node_index(p_node, CASE WHEN v_whole THEN 1000000 ELSE (p_plan -> 'up')::integer END) AS i;
        RETURN QUERY SELECT r.* FROM ssb_internal.xq_rows(
            v_index.toks, v_index.ends, v_index.opens,
            ssb_internal.xq_items(p_plan, v_index.toks, v_index.ends, v_index.opens, v_index.decls,
                         coalesce(p_variables, '{}'), v_index.item, 1, 1),
            CASE WHEN v_whole THEN p_levels ELSE coalesce(p_levels, p_node.levels) END,
            CASE WHEN v_whole OR p_node.above = '{}' THEN 1 ELSE cardinality(p_node.above) + 2 END) AS r;
    END IF;
END;
$$;

-- ── the faces ────────────────────────────────────────────────────────────────────────────────

CREATE OR REPLACE FUNCTION sys.xml_value(x text, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_value($1, ssb_internal.xq_compile($2, 'value', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_value(x sys.xml, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_value($1::text, ssb_internal.xq_compile($2, 'value', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_value(x sys.xml_node, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_value($1, ssb_internal.xq_compile($2, 'value', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_query(x text, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.xml LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_query($1, ssb_internal.xq_compile($2, 'query', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_query(x sys.xml, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.xml LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_query($1::text, ssb_internal.xq_compile($2, 'query', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_query(x sys.xml_node, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.xml LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_query($1, ssb_internal.xq_compile($2, 'query', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_exist(x text, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_exist($1, ssb_internal.xq_compile($2, 'exist', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_exist(x sys.xml, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_exist($1::text, ssb_internal.xq_compile($2, 'exist', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_exist(x sys.xml_node, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.bit LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_exist($1, ssb_internal.xq_compile($2, 'exist', $3), $4);

-- Two columns, so that "AS t(c)" names the node itself and t.c is a value of type sys.xml_node.
-- The document joins the rows here, not in ssb_internal.xq_node_rows: the executor would store a copy of it
-- with each row. OFFSET 0 keeps an argument that is computed from being computed per row.
CREATE OR REPLACE FUNCTION sys.xml_nodes(
    x text, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL, upward integer DEFAULT NULL)
RETURNS TABLE (node sys.xml_node, place bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ROW(r.row, r.above, r.markup, r.id, r.levels, CASE WHEN r.place > 0 THEN d.x ELSE '' END, r.place)::sys.xml_node, r.row
      FROM (SELECT $1 AS x OFFSET 0) AS d
     CROSS JOIN LATERAL ssb_internal.xq_node_rows(d.x, ssb_internal.xq_compile($2, 'nodes', $3), $4, $5) WITH ORDINALITY
           AS r(ordinal, above, markup, id, levels, document, place, row);
END;

CREATE OR REPLACE FUNCTION sys.xml_nodes(
    x sys.xml, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL, upward integer DEFAULT NULL)
RETURNS TABLE (node sys.xml_node, place bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ROW(r.row, r.above, r.markup, r.id, r.levels, CASE WHEN r.place > 0 THEN d.x ELSE '' END, r.place)::sys.xml_node, r.row
      FROM (SELECT $1::text AS x OFFSET 0) AS d
     CROSS JOIN LATERAL ssb_internal.xq_node_rows(d.x, ssb_internal.xq_compile($2, 'nodes', $3), $4, $5) WITH ORDINALITY
           AS r(ordinal, above, markup, id, levels, document, place, row);
END;

CREATE OR REPLACE FUNCTION sys.xml_nodes(
    x sys.xml_node, path text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL, upward integer DEFAULT NULL)
RETURNS TABLE (node sys.xml_node, place bigint) LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT ROW(r.row, r.above, r.markup, r.id, r.levels, CASE WHEN r.place > 0 THEN (d.x).document ELSE '' END, r.place)::sys.xml_node, r.row
      FROM (SELECT $1 AS x OFFSET 0) AS d
     CROSS JOIN LATERAL ssb_internal.xq_node_rows(d.x, ssb_internal.xq_compile($2, 'nodes', $3), $4, $5) WITH ORDINALITY
           AS r(ordinal, above, markup, id, levels, document, place, row);
END;

-- .value('…', 'varbinary') and .value('…', 'bit') read the lexical forms of XML Schema.
CREATE OR REPLACE FUNCTION sys.xml_base64(value text) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := translate($1, E' \t\r\n', '');
    v_digits text := rtrim(v_text, '=');
BEGIN
    -- Looked at before: an EXCEPTION would need a subtransaction, which parallel queries of PostgreSQL before 17 cannot have.
    RETURN CASE WHEN length(v_text) % 4 = 0 AND length(v_text) - length(v_digits) <= 2 AND v_digits !~ '[^A-Za-z0-9+/]'
                THEN decode(v_text, 'base64') END;
END;
$$;

-- Of an expression that is hexBinary the digits are hexadecimal.
CREATE OR REPLACE FUNCTION sys.xml_base64(value text, path text, namespaces jsonb DEFAULT NULL) RETURNS bytea
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN CASE WHEN ssb_internal.xq_compile($2, 'value', $3) ->> 'ty' = 'xs:hexBinary' THEN decode($1, 'hex') ELSE sys.xml_base64($1) END;
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_boolean(value text) RETURNS sys.bit
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    CASE lower(btrim($1, E' \t\r\n') COLLATE "C")
    WHEN 'true', '1' THEN
        RETURN 1;
    WHEN 'false', '0', '' THEN
        RETURN 0;
    ELSE
        PERFORM ssb_internal.raise_error(245, format('Conversion failed when converting the nvarchar value ''%s'' to data type bit.', $1));
        RETURN NULL;
    END CASE;
END;
$$;

-- A document as the session keeps it. Its text is read as CAST reads it, but what is wrong with it is another error, 6602, after
-- which a batch goes on and its transaction can be committed. No text is a document without elements: a setting that is empty
-- would be one that nobody uses.
CREATE OR REPLACE FUNCTION ssb_internal.document_text(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    RETURN coalesce(nullif(sys.xml_of(p_text)::text, ''), ' ');
EXCEPTION
    WHEN OTHERS THEN
        IF ssb.error_number_of(SQLSTATE) BETWEEN 9400 AND 9499 THEN
            PERFORM ssb_internal.raise_error(6602, format('The error description is ''%s''.', regexp_replace(SQLERRM, '^XML parsing: ', '')),
                                             state => 2);
        END IF;
        RAISE;
END;
$$;

-- sp_xml_preparedocument and OPENXML: the session keeps documents in settings, by number. A number that is free again is the
-- next one's: settings never go, and each makes the next slower for a program that prepares a document for every message.
CREATE OR REPLACE FUNCTION sys.prepare_document(p_text text)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_free CONSTANT integer[] := coalesce(nullif(current_setting('pgsb.free_documents', true), ''), '{}')::integer[];
    v_number integer := v_free[1];
BEGIN
    IF v_number IS NULL THEN
        v_number := coalesce(nullif(current_setting('pgsb.documents', true), '')::integer, 0) + 1;
        PERFORM set_config('pgsb.documents', v_number::text, false);
    ELSE
        PERFORM set_config('pgsb.free_documents', v_free[2:]::text, false);
    END IF;
    PERFORM set_config('pgsb.document_' || v_number, ssb_internal.document_text(p_text), false);
    RETURN v_number;
END;
$$;

-- Its third argument is an element, which declares the prefixes that paths may use. A document without it knows mp alone, whose
-- metaproperties OPENXML does not have here.
CREATE OR REPLACE FUNCTION sys.prepare_document_with(p_text text, p_namespaces text)
RETURNS integer
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_number integer := sys.prepare_document(p_text);
BEGIN
    PERFORM set_config('pgsb.namespaces_' || v_number,
                       coalesce((SELECT jsonb_object_agg(m.parts[1], coalesce(m.parts[2], m.parts[3]))::text
                                   FROM regexp_matches((regexp_match(ssb_internal.document_text(p_namespaces), '<[^>]*>'))[1],
                                                       '\sxmlns:([^\s=]+)\s*=\s*(?:"([^"]*)"|''([^'']*)'')', 'g') AS m (parts)), ''), false);
    RETURN v_number;
END;
$$;

-- The namespaces that OPENXML's paths with prefixes are compiled with.
CREATE OR REPLACE FUNCTION sys.document_namespaces(p_number integer)
RETURNS jsonb
LANGUAGE sql STABLE
RETURN nullif(current_setting('pgsb.namespaces_' || p_number, true), '')::jsonb;

CREATE OR REPLACE FUNCTION sys.remove_document(p_number integer)
RETURNS void
LANGUAGE plpgsql VOLATILE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF coalesce(current_setting('pgsb.document_' || p_number, true), '') = '' THEN
        PERFORM ssb_internal.raise_error(6607, 'sp_xml_removedocument: The value supplied for parameter number 1 is invalid.', state => 3);
    END IF;
    PERFORM set_config('pgsb.document_' || p_number, '', false),
            set_config('pgsb.namespaces_' || p_number, '', false),
            set_config('pgsb.free_documents',
                       (coalesce(nullif(current_setting('pgsb.free_documents', true), ''), '{}')::integer[] || p_number)::text, false);
END;
$$;

CREATE OR REPLACE FUNCTION sys.document(p_number integer)
RETURNS sys.xml
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_text text := nullif(current_setting('pgsb.document_' || p_number, true), '');
BEGIN
    IF v_text IS NULL THEN
        PERFORM ssb_internal.raise_error(8179, format('Could not find prepared statement with handle %s.', coalesce(p_number, 0)));
    END IF;
    RETURN v_text::sys.xml;
END;
$$;

-- XML Schema, first part: schema documents as a tree of jsonb, names, refusals.
--
-- What is supported is what SQL Server supports, without substitution of types by 'block' and
-- 'final', which are read and not enforced. Include, redefine, key, keyref, unique and notation
-- are refused here as there.

-- Raises with the message prefix of schema errors.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_error(p_number integer, p_message text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(p_number, p_message);
END;
$$;

-- The elements of a text with one or several schema documents as jsonb trees, one per root:
-- {"n": local name, "u": namespace, "a": {attribute: value}, "c": [children], "at": place,
-- "ns": {prefix: uri in scope}}. Character data is dropped, as are xs:annotation elements.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_trees(p_text text) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_toks text[];
    v_ends integer[];
    v_opens integer[];
    v_decls integer[];
    v_tok text;
    v_name text;
    v_parts text[];
    v_attribute text;
    v_attributes jsonb;
    v_scope jsonb;
    v_node jsonb;
    v_nodes jsonb[] := '{}';                        -- children found so far of all open elements, one behind the other
    v_top integer := 0;                             -- so many of them
    v_first integer[] := ARRAY[1];                  -- where those of each open element begin
    v_places text[] := ARRAY[''];                   -- of each open element
    v_counts jsonb[] := ARRAY['{}'::jsonb];         -- of each open element: its children so far by name
    v_local text;
    v_open jsonb[] := ARRAY['{"ns": {"xml": "http://www.w3.org/XML/1998/namespace"}}'::jsonb];
    v_depth integer := 1;
    v_skip integer := 0;                            -- beyond this piece an annotation ends
BEGIN
    SELECT i.toks, i.ends, i.opens, i.decls INTO v_toks, v_ends, v_opens, v_decls
      FROM ssb_internal.xml_index(ssb_internal.xml_normalise(p_text)) AS i;
    FOR i IN 2 .. cardinality(v_toks) LOOP
        CONTINUE WHEN i <= v_skip;
        v_tok := split_part(v_toks[i], '>', 1);
        CONTINUE WHEN v_toks[i] LIKE '!%' OR v_toks[i] LIKE '?%';
        IF v_tok LIKE '/%' THEN
            v_node := v_open[v_depth] || jsonb_build_object('c', (
                SELECT coalesce(jsonb_agg(v_nodes[n] ORDER BY n), '[]') FROM generate_series(v_first[v_depth], v_top) AS n));
            v_top := v_first[v_depth];
            v_nodes[v_top] := v_node;
            v_depth := v_depth - 1;
            CONTINUE;
        END IF;
        v_scope := v_open[v_depth] -> 'ns';
        v_attributes := '{}';
        v_name := rtrim(split_part(v_tok, ' ', 1), '/');
        IF strpos(v_tok, ' ') > 0 THEN
            v_parts := string_to_array(substr(v_tok, strpos(v_tok, ' ')), '"');
            FOR k IN 1 .. cardinality(v_parts) - 1 BY 2 LOOP
                v_attribute := btrim(v_parts[k], ' =');
                IF v_attribute = 'xmlns' OR v_attribute LIKE 'xmlns:%' THEN
                    v_scope := v_scope || jsonb_build_object(substr(v_attribute, 7), ssb_internal.xml_unescape(v_parts[k + 1]));
                ELSE
                    v_attributes := v_attributes || jsonb_build_object(v_attribute, ssb_internal.xml_unescape(v_parts[k + 1]));
                END IF;
            END LOOP;
        END IF;
        v_local := substr(v_name, strpos(v_name, ':') + 1);
        v_counts[v_depth] := v_counts[v_depth] || jsonb_build_object(v_local, coalesce((v_counts[v_depth] -> v_local)::integer, 0) + 1);
        v_node := jsonb_build_object(
            'n', v_local,
            'u', coalesce(v_scope ->> left(v_name, greatest(strpos(v_name, ':') - 1, 0)), ''),
            'a', v_attributes, 'ns', v_scope, 'at', format('%s/*:%s[%s]', v_places[v_depth], v_local, v_counts[v_depth] ->> v_local));
        IF v_node @> '{"n": "annotation", "u": "http://www.w3.org/2001/XMLSchema"}' THEN
            v_skip := v_ends[i];
            CONTINUE;
        END IF;
        IF v_ends[i] = i THEN
            v_top := v_top + 1;
            v_nodes[v_top] := v_node || '{"c": []}';
        ELSE
            v_depth := v_depth + 1;
            v_open[v_depth] := v_node;
            v_first[v_depth] := v_top + 1;
            v_places[v_depth] := v_node ->> 'at';
            v_counts[v_depth] := '{}';
        END IF;
    END LOOP;
    RETURN (SELECT coalesce(jsonb_agg(v_nodes[n] ORDER BY n), '[]') FROM generate_series(1, v_top) AS n);
END;
$$;

-- A node's place as SQL Server writes it: /*:a[1]/*:b[2], an attribute /*:a[1]/@*:c.
CREATE OR REPLACE FUNCTION ssb_internal.xml_location(p_node bigint, p_toks text[], p_ends integer[], p_opens integer[])
RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ((p_node & 4294967295) >> 1)::integer;
    v_path text := '';
    v_parent integer;
    v_child integer;
    v_count integer;
    v_name text;
BEGIN
    IF p_node > 4294967295 THEN
        v_name := split_part(substr(p_toks[v_at], (p_node >> 32)::integer + 1), '=', 1);
        v_path := '/@*:' || substr(v_name, strpos(v_name, ':') + 1);
    END IF;
    WHILE v_at > 1 LOOP
        v_name := split_part(split_part(split_part(p_toks[v_at], '>', 1), ' ', 1), '/', 1);
        v_name := substr(v_name, strpos(v_name, ':') + 1);
        v_parent := p_opens[v_at - 1];
        v_count := 0;
        v_child := v_parent + 1;
        WHILE v_child <= v_at LOOP
            IF p_toks[v_child] ~ ('^(?:[^ />:]*:)?' || regexp_replace(v_name, '([.])', '\\\1', 'g') || '[ />]') THEN
                v_count := v_count + 1;
            END IF;
            v_child := p_ends[v_child] + 1;
        END LOOP;
        v_path := '/*:' || v_name || '[' || v_count || ']' || v_path;
        v_at := v_parent;
    END LOOP;
    RETURN CASE v_path WHEN '' THEN '/' ELSE v_path END;
END;
$$;

-- A QName in an attribute of p_node as '{uri}local'; 2229 for an undeclared prefix.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_name(p_node jsonb, p_value text) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_prefix text := CASE WHEN strpos(p_value, ':') > 0 THEN split_part(btrim(p_value, E' \t\n'), ':', 1) ELSE '' END;
    v_uri text := p_node -> 'ns' ->> v_prefix;
BEGIN
    IF v_uri IS NULL AND v_prefix <> '' THEN
        PERFORM ssb_internal.xsd_error(2229, format('The name "%s" does not denote a namespace.', v_prefix));
    END IF;
    RETURN '{' || coalesce(v_uri, '') || '}' || btrim(substr(p_value, strpos(p_value, ':') + 1), E' \t\n');
END;
$$;

-- '{uri}local' as messages show it: the bare name where there is no namespace.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_shown(p_name text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN p_name LIKE '{}%' THEN substr(p_name, 3) ELSE p_name END;

-- Refuses a construct by its name and place (9336).
CREATE OR REPLACE FUNCTION ssb_internal.xsd_refuse(p_node jsonb, p_what text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.xsd_error(9336, format('The XML Schema syntax ''%s'' is not supported. Location: ''%s''.', p_what, p_node ->> 'at'));
END;
$$;

-- The children of p_node that are XML Schema elements; anything else is no schema syntax.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_children(p_node jsonb) RETURNS SETOF jsonb
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_child jsonb;
BEGIN
    FOR v_child IN SELECT c FROM jsonb_array_elements(p_node -> 'c') AS c LOOP
        IF v_child ->> 'u' <> 'http://www.w3.org/2001/XMLSchema' THEN
            PERFORM ssb_internal.xsd_error(2297, format('Element <%s> is not valid at location ''%s''.', v_child ->> 'n', v_child ->> 'at'));
        END IF;
        RETURN NEXT v_child;
    END LOOP;
END;
$$;

-- Attributes that p_node may have; another unprefixed one is an error (2298).
CREATE OR REPLACE FUNCTION ssb_internal.xsd_check_attributes(p_node jsonb, p_allowed text[]) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_name text;
BEGIN
    FOR v_name IN SELECT k FROM jsonb_object_keys(p_node -> 'a') AS k LOOP
        IF strpos(v_name, ':') = 0 AND v_name <> 'id' AND NOT v_name = ANY (p_allowed) THEN
            PERFORM ssb_internal.xsd_error(2298, format('Attribute ''%s'' is not valid at location ''%s''.', v_name, p_node ->> 'at'));
        END IF;
    END LOOP;
END;
$$;

-- minOccurs and maxOccurs of a particle; most IS NULL is unbounded.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_occurs(p_node jsonb, OUT fewest integer, OUT most integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_least text := coalesce(p_node -> 'a' ->> 'minOccurs', '1');
    v_greatest text := coalesce(p_node -> 'a' ->> 'maxOccurs', '1');
BEGIN
    IF v_least !~ '^[0-9]{1,9}$' THEN
        PERFORM ssb_internal.xsd_error(2383, format('Invalid value ''%s'' for the minOccurs attribute. The value has to be between 0 and 2147483647.', v_least));
    ELSIF v_greatest !~ '^(?:[0-9]{1,9}|unbounded)$' THEN
        PERFORM ssb_internal.xsd_error(2383, format('Invalid value ''%s'' for the maxOccurs attribute. The value has to be between 0 and 2147483647.', v_greatest));
    END IF;
    fewest := v_least::integer;
    most := CASE WHEN v_greatest <> 'unbounded' THEN v_greatest::integer END;
    IF fewest > most THEN
        PERFORM ssb_internal.xsd_error(2382, format('Invalid combination of minOccurs and maxOccurs values, minOccurs has to be less than'
                                                    ' or equal to maxOccurs. Location: ''%s''.', p_node ->> 'at'));
    END IF;
END;
$$;

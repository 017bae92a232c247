-- .modify(): insert, delete, replace value of. The document is changed as pieces of text: what a
-- statement does not touch keeps its characters.

-- Constructed or copied items as content for p_where an insertion stands: attributes (items still)
-- and markup apart, because attributes go into the start tag.
CREATE OR REPLACE FUNCTION ssb_internal.xq_insertion(
    p_items text[], p_toks text[], p_ends integer[], p_opens integer[], p_decls integer[],
    OUT attributes text[], OUT markup text)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_item text;
    v_node bigint;
    v_text text := '';
    v_space boolean := false;
BEGIN
    attributes := '{}';
    markup := '';
    FOREACH v_item IN ARRAY p_items LOOP
        v_node := CASE left(v_item, 1) WHEN 'n' THEN substr(v_item, 2)::bigint END;
        IF left(v_item, 1) = 'a' OR v_node > 4294967295 THEN
            attributes := attributes || v_item;
            v_space := false;
        ELSIF v_node = 2 THEN
            PERFORM ssb_internal.raise_error(2207, 'XQuery [modify()]: Only non-document nodes can be inserted. Found "document-node()".');
        ELSIF left(v_item, 1) = 't' OR v_node & 1 = 1 THEN
            v_text := v_text || CASE left(v_item, 1) WHEN 't' THEN substr(v_item, 2)
                                     ELSE ssb_internal.xml_string(v_node, p_toks, p_ends) END;
            v_space := false;
        ELSIF left(v_item, 1) IN ('n', 'x') THEN
            markup := markup || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(v_text))
                      || CASE left(v_item, 1) WHEN 'x' THEN substr(v_item, 2)
                              ELSE ssb_internal.xml_standalone(v_node, p_toks, p_ends, p_opens, p_decls) END;
            v_text := '';
            v_space := false;
        ELSE
            v_text := v_text || CASE WHEN v_space THEN ' ' ELSE '' END || ssb_internal.xq_text(v_item);
            v_space := true;
        END IF;
    END LOOP;
    markup := markup || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(v_text));
END;
$$;

-- What insertions and deletions can leave behind: an element without content, and white space
-- that only now stands alone, or no longer does, in its text node.
CREATE OR REPLACE FUNCTION ssb_internal.xml_tidy(p_text text) RETURNS text
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF ssb_internal.xml_is_ours(p_text) AND p_text !~ '<[^/<>!?](?:[^<>]*[^/<>])?></|&#x(?:20|A|9);[^<"]|[^<>" \t\n]&#x(?:20|A|9);<' THEN
        RETURN p_text;
    END IF;
    RETURN ssb_internal.xml_normalise(p_text, 1);
END;
$$;

-- What messages call a node: a text, an element or attribute with its name …
CREATE OR REPLACE FUNCTION ssb_internal.xml_found(p_target bigint, p_token text) RETURNS text
LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p_target > 4294967295
                THEN format('attribute(%s,xdt:untypedAtomic)', btrim(split_part(substr(p_token, (p_target >> 32)::integer), '=', 1)))
                WHEN p_target & 1 = 1 THEN 'text'
                WHEN p_token LIKE '!%' THEN 'comment'
                WHEN p_token LIKE '?%' THEN 'processing-instruction'
                ELSE format('element(%s,xdt:untyped)', substring(p_token FROM '^[^\s/>]+')) END;
END;

CREATE OR REPLACE FUNCTION ssb_internal.xq_modify(p_xml text, p_plan jsonb, p_variables jsonb) RETURNS sys.xml
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_env jsonb := coalesce(p_variables, '{}');
    v_toks text[];
    v_ends integer[];
    v_opens integer[];
    v_decls integer[];
    v_targets bigint[];
    v_target bigint;
    v_at integer;
    v_new record;
    v_items text[];
    v_where text := p_plan ->> 'where';
    v_tag text;
    v_tail text;
    v_attribute text;
    v_name text;
    v_scope jsonb;
BEGIN
    IF p_plan IS NULL THEN
        RETURN p_xml;
    ELSIF p_xml IS NULL THEN
        PERFORM ssb_internal.raise_error(5302, 'Mutator ''modify()'' on ''xml'' cannot be called on a null value.');
    END IF;
    SELECT i.toks, i.ends, i.opens, i.decls INTO v_toks, v_ends, v_opens, v_decls FROM ssb_internal.xml_index(p_xml) AS i;
    v_targets := ssb_internal.xq_nodes(p_plan -> 'target', NULL, v_toks, v_ends, v_opens, v_decls, v_env, 'n2', 1, 1);

    IF p_plan ->> 'op' = 'delete' THEN
        -- From the last to the first, so that the numbers of those still to come stay right. Texts
        -- before elements: what stands behind an element that goes joins the text before it.
        FOREACH v_target IN ARRAY ARRAY(
            SELECT t.node FROM unnest(v_targets) WITH ORDINALITY AS t(node, i)
             ORDER BY t.node & 1 = 1 AND t.node < 4294967296 DESC, t.i DESC)
        LOOP
            v_at := ((v_target & 4294967295) >> 1)::integer;
            IF v_target = 2 THEN
                PERFORM ssb_internal.raise_error(2264, 'XQuery [modify()]: Only non-document nodes may be deleted, found ''document-node()''');
            ELSIF v_target > 4294967295 THEN
                v_tag := substr(v_toks[v_at], (v_target >> 32)::integer);
                v_toks[v_at] := left(v_toks[v_at], (v_target >> 32)::integer - 1)
                                || substr(v_tag, length(split_part(v_tag, '"', 1)) + length(split_part(v_tag, '"', 2)) + 3);
            ELSIF v_target & 1 = 1 THEN
                v_toks[v_at] := left(v_toks[v_at], length(v_toks[v_at]) - length(ssb_internal.xml_tail(v_toks[v_at], v_at)));
            ELSE
                v_tail := ssb_internal.xml_tail(v_toks[v_ends[v_at]], v_ends[v_at]);
                FOR k IN v_at .. v_ends[v_at] LOOP
                    v_toks[k] := NULL;
                END LOOP;
                -- the character data behind it joins what stands before it
                v_at := v_at - 1;
                WHILE v_toks[v_at] IS NULL LOOP
                    v_at := v_at - 1;
                END LOOP;
                v_toks[v_at] := v_toks[v_at] || v_tail;
            END IF;
        END LOOP;
        RETURN ssb_internal.xml_tidy(array_to_string(v_toks, '<'));
    END IF;

    IF v_targets = '{}' THEN
        RETURN p_xml;
    END IF;
    v_target := v_targets[1];
    v_at := ((v_target & 4294967295) >> 1)::integer;

    IF p_plan ->> 'op' = 'replace' THEN
        v_items := ssb_internal.xq_atoms(p_plan -> 'what', v_toks, v_ends, v_opens, v_decls, v_env, 'n2', 1, 1);
        IF v_items = '{}' AND NOT p_plan -> 'what' @> '{"op": "seq", "items": []}' AND p_plan -> 'what' ->> 'op' <> 'sql' THEN
            PERFORM ssb_internal.raise_error(6325, 'XQuery: Replacing the value of a node with an empty sequence is allowed only if'
                ' ''()'' is used as the new value expression. The new value expression evaluated to an empty sequence but it is not ''()''.');
        END IF;
        SELECT coalesce(string_agg(ssb_internal.xq_text(u.item), ' ' ORDER BY u.i), '') INTO v_tail
          FROM unnest(v_items) WITH ORDINALITY AS u(item, i);
        IF v_target > 4294967295 THEN
            v_tag := substr(v_toks[v_at], (v_target >> 32)::integer);
            v_toks[v_at] := left(v_toks[v_at], (v_target >> 32)::integer - 1)
                || split_part(v_tag, '"', 1) || '"' || ssb_internal.xml_escape_attribute(v_tail) || '"'
                || substr(v_tag, length(split_part(v_tag, '"', 1)) + length(split_part(v_tag, '"', 2)) + 3);
        ELSE
            v_toks[v_at] := left(v_toks[v_at], length(v_toks[v_at]) - length(ssb_internal.xml_tail(v_toks[v_at], v_at)))
                            || ssb_internal.xml_protect_space(ssb_internal.xml_escape_text(v_tail));
        END IF;
        RETURN ssb_internal.xml_tidy(array_to_string(v_toks, '<'));
    END IF;

    -- insert
    IF cardinality(v_targets) > 1 THEN
        PERFORM ssb_internal.raise_error(2226, format('XQuery [modify()]: The target of ''insert'' must be a single node, found ''%s *''',
                                             ssb_internal.xml_found(v_target, v_toks[v_at])));
    END IF;
    SELECT n.* INTO v_new
      FROM ssb_internal.xq_insertion(ssb_internal.xq_items(p_plan -> 'what', v_toks, v_ends, v_opens, v_decls, v_env, 'n2', 1, 1),
                            v_toks, v_ends, v_opens, v_decls) AS n;
    IF v_where IN ('into', 'first', 'last') AND (v_target & 1 = 1 OR v_target > 4294967295 OR v_at > 1 AND v_toks[v_at] ~ '^[!?]') THEN
        PERFORM ssb_internal.raise_error(2240, format('XQuery [modify()]: The target of ''insert into'' must be an element/document node, '
                                             'found ''%s ?''', ssb_internal.xml_found(v_target, v_toks[v_at])));
    ELSIF v_where IN ('before', 'after') AND v_new.attributes <> '{}' THEN
        PERFORM ssb_internal.raise_error(2258, 'XQuery [modify()]: The position may not be specified when inserting an attribute node, found ''attribute''');
    ELSIF v_at = 1 AND v_new.attributes <> '{}' THEN
        PERFORM ssb_internal.raise_error(6307, 'XML well-formedness check: Attribute cannot appear outside of element declaration.'
                                      ' Rewrite your XQuery so it returns well-formed XML.');
    END IF;

    IF v_new.attributes <> '{}' THEN
        v_tag := substring(v_toks[v_at] from '^[^>]*?(?=/?>)');
        v_tail := substr(v_toks[v_at], length(v_tag) + 1);
        v_scope := ssb_internal.xml_scope(v_at, v_toks, v_opens, v_decls);
        FOREACH v_attribute IN ARRAY v_new.attributes LOOP
            SELECT a.attribute, a.scope INTO v_attribute, v_scope
              FROM ssb_internal.xq_attribute_in_scope(v_attribute, v_scope, v_toks, v_ends, v_opens, v_decls) AS a;
            v_name := substring(v_attribute from '([^ =]+)="[^"]*"$');
            IF strpos(v_tag, ' ' || v_name || '="') > 0
               OR strpos(v_name, ':') > 0
                  AND ssb_internal.xq_attributes(v_at::bigint * 2, substr(v_name, strpos(v_name, ':') + 1),
                                                 v_scope ->> split_part(v_name, ':', 1), v_toks, v_opens, v_decls) <> '{}' THEN
                PERFORM ssb_internal.raise_error(6308, format('XML well-formedness check: Duplicate attribute ''%s''. Rewrite your'
                    ' XQuery so it returns well-formed XML.', v_name));
            END IF;
            v_tag := v_tag || v_attribute;
        END LOOP;
        v_toks[v_at] := v_tag || v_tail;
    END IF;
    IF v_new.markup <> '' THEN
        IF v_target & 1 = 1 THEN
            v_tail := ssb_internal.xml_tail(v_toks[v_at], v_at);
            v_toks[v_at] := CASE v_where
                WHEN 'before' THEN left(v_toks[v_at], length(v_toks[v_at]) - length(v_tail)) || v_new.markup || v_tail
                ELSE v_toks[v_at] || v_new.markup END;
        ELSIF v_where = 'before' THEN
            v_toks[v_at - 1] := v_toks[v_at - 1] || v_new.markup;
        ELSIF v_where = 'after' THEN
            v_at := v_ends[v_at];
            v_tail := ssb_internal.xml_tail(v_toks[v_at], v_at);
            v_toks[v_at] := left(v_toks[v_at], length(v_toks[v_at]) - length(v_tail)) || v_new.markup || v_tail;
        ELSIF v_at = 1 THEN
            IF v_where = 'first' THEN
                v_toks[1] := v_new.markup || v_toks[1];
            ELSE
                v_toks[cardinality(v_toks)] := v_toks[cardinality(v_toks)] || v_new.markup;
            END IF;
        ELSIF v_ends[v_at] = v_at THEN                                              -- <a/>
            v_tag := substring(v_toks[v_at] from '^[^>]*(?=/>)');
            v_toks[v_at] := v_tag || '>' || v_new.markup || '</' || split_part(v_tag, ' ', 1) || '>'
                            || substr(v_toks[v_at], length(v_tag) + 3);
        ELSIF v_where = 'first' THEN
            v_tail := ssb_internal.xml_tail(v_toks[v_at], v_at);
            v_toks[v_at] := left(v_toks[v_at], length(v_toks[v_at]) - length(v_tail)) || v_new.markup || v_tail;
        ELSE
            v_toks[v_ends[v_at] - 1] := v_toks[v_ends[v_at] - 1] || v_new.markup;
        END IF;
    END IF;
    RETURN ssb_internal.xml_tidy(array_to_string(v_toks, '<'));
END;
$$;

CREATE OR REPLACE FUNCTION sys.xml_modify(x text, dml text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.xml LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_modify($1, ssb_internal.xq_compile($2, 'modify', $3), $4);

CREATE OR REPLACE FUNCTION sys.xml_modify(x sys.xml, dml text, namespaces jsonb DEFAULT NULL, variables jsonb DEFAULT NULL)
RETURNS sys.xml LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ssb_internal.xq_modify($1::text, ssb_internal.xq_compile($2, 'modify', $3), $4);

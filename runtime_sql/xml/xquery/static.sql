-- XQuery, first half: text → a jsonb tree, once per plan. Shared pieces of the parser.
--
-- Every node of the tree is an object: "op" what it is, "c" how many items it can give
-- ('1' one, '?' at most one, '*' any), "ty" its static type as SQL Server names it in messages.
-- The static context travels as jsonb: "m" the method that is compiled (for messages), "ns"
-- prefix → uri, "de" the default element namespace, "vars" variable → {"c","ty"}, "in" whether we
-- stand inside a predicate or step (so that position(), last() and '.' mean something).

CREATE OR REPLACE FUNCTION ssb_internal.xq_error(p_context jsonb, p_number integer, p_message text) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    PERFORM ssb_internal.raise_error(p_number, format('XQuery [%s()]: %s', p_context ->> 'm', p_message));
END;
$$;

-- What stands at p_at, for "Syntax error near '…'".
CREATE OR REPLACE FUNCTION ssb_internal.xq_near(p_source text, p_at integer) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p_at > pg_catalog.length(p_source) THEN '<eof>'
           ELSE substring(substr(p_source, p_at) from '^(?:[A-Za-z0-9_:.\u00B7-\U0010FFFF-]+|.)') END;
END;

-- The first character at or after p_at that is neither white space nor inside a (: comment :).
CREATE OR REPLACE FUNCTION ssb_internal.xq_skip(p_source text, p_at integer) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_depth integer;
    v_mark text;
BEGIN
    LOOP
        p_at := p_at + length(substring(substr(p_source, p_at) from '^[ \t\r\n\u00A0]*'));
        EXIT WHEN substr(p_source, p_at, 2) <> '(:';
        v_depth := 1;
        p_at := p_at + 2;
        WHILE v_depth > 0 LOOP
            v_mark := substring(substr(p_source, p_at) from '\(:|:\)');
            IF v_mark IS NULL THEN
                RETURN length(p_source) + 1;
            END IF;
            p_at := p_at + strpos(substr(p_source, p_at), v_mark) + 1;
            v_depth := v_depth + CASE v_mark WHEN '(:' THEN 1 ELSE -1 END;
        END LOOP;
    END LOOP;
    RETURN p_at;
END;
$$;

-- A qualified name at p_at ('a', 'p:a'), or with p_wildcard also '*', 'p:*', '*:a'. NULL: none.
CREATE OR REPLACE FUNCTION ssb_internal.xq_name(p_source text, p_at integer, p_wildcard boolean DEFAULT false) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    c_name CONSTANT text := '[A-Z_a-z\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u02FF\u0370-\u037D\u037F-\u1FFF\u200C\u200D'
        '\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD]'
        '[A-Z_a-z0-9.\u00B7\u00C0-\u00D6\u00D8-\u00F6\u00F8-\u037D\u037F-\u1FFF\u200C\u200D\u203F-\u2040'
        '\u2070-\u218F\u2C00-\u2FEF\u3001-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD-]*';
BEGIN
    IF p_wildcard THEN
        RETURN substring(substr(p_source, p_at)
                         from '^(?:\*(?::' || c_name || ')?|' || c_name || ':\*|' || c_name || '(?::' || c_name || ')?)');
    END IF;
    RETURN substring(substr(p_source, p_at) from '^' || c_name || '(?::' || c_name || ')?');
END;
$$;

-- prefix → uri in the static context; 2229 when there is none.
CREATE OR REPLACE FUNCTION ssb_internal.xq_namespace(p_prefix text, p_context jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_uri text := p_context -> 'ns' ->> p_prefix;
BEGIN
    IF v_uri IS NULL THEN
        v_uri := CASE p_prefix
            WHEN 'xml' THEN 'http://www.w3.org/XML/1998/namespace'
            WHEN 'xs' THEN 'http://www.w3.org/2001/XMLSchema'
            WHEN 'xsi' THEN 'http://www.w3.org/2001/XMLSchema-instance'
            WHEN 'fn' THEN 'http://www.w3.org/2004/07/xpath-functions'
            WHEN 'xdt' THEN 'http://www.w3.org/2004/07/xpath-datatypes'
            WHEN 'sqltypes' THEN 'http://schemas.microsoft.com/sqlserver/2004/sqltypes' END;
    END IF;
    IF v_uri IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 2229, format('The name "%s" does not denote a namespace.', p_prefix));
    END IF;
    RETURN v_uri;
END;
$$;

-- The type of a node as a message shows it: 'element(b,xdt:untyped) *'.
CREATE OR REPLACE FUNCTION ssb_internal.xq_type(p_node jsonb) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (p_node ->> 'ty') || CASE p_node ->> 'c' WHEN '1' THEN '' ELSE ' ' || (p_node ->> 'c') END;

-- An operand that has to be a singleton: 2389 names the operator, .value() as 'value()'.
CREATE OR REPLACE FUNCTION ssb_internal.xq_require_one(p_node jsonb, p_operator text, p_context jsonb) RETURNS void
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type text := ssb_internal.xq_type(p_node);
BEGIN
    IF p_node ->> 'c' = '*' THEN
        -- Operators see values, functions and axes see nodes.
        IF p_operator NOT LIKE '%()' OR p_operator = 'value()' THEN
            v_type := regexp_replace(v_type, '^(element\(.*\)|attribute\(.*\)|text|node\(\))', 'xdt:untypedAtomic');
        END IF;
        PERFORM ssb_internal.xq_error(p_context, 2389,
            format('''%s'' requires a singleton (or empty sequence), found operand of type ''%s''', p_operator, v_type));
    END IF;
END;
$$;

-- The greater of two cardinalities where either branch may be taken.
CREATE OR REPLACE FUNCTION ssb_internal.xq_either(p_left text, p_right text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT CASE WHEN p_left = '*' OR p_right = '*' THEN '*'
                WHEN p_left = '?' OR p_right = '?' THEN '?' ELSE '1' END;
END;

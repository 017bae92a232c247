-- XQuery parser: everything above path expressions, by precedence climbing.

-- Expr: one or more expressions separated by commas. at is the place after it.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse(p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_items jsonb;
BEGIN
    SELECT s.node, s.at INTO node, at FROM ssb_internal.xq_parse_single(p_source, p_at, p_context) AS s;
    v_items := jsonb_build_array(node);
    WHILE substr(p_source, at, 1) = ',' LOOP
        SELECT s.node, s.at INTO node, at FROM ssb_internal.xq_parse_single(p_source, at + 1, p_context) AS s;
        v_items := v_items || node;
    END LOOP;
    IF jsonb_array_length(v_items) > 1 THEN
        node := jsonb_build_object('op', 'seq', 'items', v_items, 'c', '*', 'ty', v_items -> 0 ->> 'ty');
    END IF;
END;
$$;

-- ExprSingle: FLWOR, some/every, if, or an operator expression. at comes back behind white space.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_single(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_at integer := ssb_internal.xq_skip(p_source, p_at);
    v_rest text := substr(p_source, v_at, 40);
    v_condition jsonb;
    v_then jsonb;
BEGIN
    IF v_rest ~ '^(?:for|let|some|every)[ \t\r\n]+\$' THEN
        IF v_rest ~ '^[fl]' THEN
            SELECT f.node, f.at INTO node, at FROM ssb_internal.xq_parse_flwor(p_source, v_at, p_context) AS f;
        ELSE
            SELECT f.node, f.at INTO node, at FROM ssb_internal.xq_parse_quantified(p_source, v_at, p_context) AS f;
        END IF;
    ELSIF v_rest ~ '^if[ \t\r\n]*\(' THEN
        SELECT e.node, e.at INTO v_condition, v_at
          FROM ssb_internal.xq_parse(p_source, v_at + strpos(v_rest, '('), p_context) AS e;
        v_at := ssb_internal.xq_expect(p_source, v_at, ')', p_context);
        v_at := ssb_internal.xq_expect(p_source, v_at, 'then', p_context);
        SELECT e.node, e.at INTO v_then, v_at FROM ssb_internal.xq_parse_single(p_source, v_at, p_context) AS e;
        IF substr(p_source, v_at) !~ '^else[^A-Za-z0-9_.:-]' THEN
            PERFORM ssb_internal.xq_error(p_context, 2355, '''else'' expected');
        END IF;
        SELECT e.node, e.at INTO node, at FROM ssb_internal.xq_parse_single(p_source, v_at + 4, p_context) AS e;
        node := jsonb_build_object('op', 'if', 'if', v_condition, 'then', v_then, 'else', node,
                                   'c', ssb_internal.xq_either(v_then ->> 'c', node ->> 'c'), 'ty', v_then ->> 'ty');
    ELSE
        SELECT b.node, b.at INTO node, at FROM ssb_internal.xq_parse_operators(p_source, v_at, p_context, 1) AS b;
    END IF;
END;
$$;

-- Passes over p_token (a symbol or keyword) and what space follows; 2205 when it is not there.
CREATE OR REPLACE FUNCTION ssb_internal.xq_expect(p_source text, p_at integer, p_token text, p_context jsonb) RETURNS integer
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    p_at := ssb_internal.xq_skip(p_source, p_at);
    IF substr(p_source, p_at, length(p_token)) <> p_token
       OR p_token ~ '^[a-z]' AND substr(p_source, p_at + length(p_token), 1) ~ '[A-Za-z0-9_.:-]' THEN
        IF p_at > length(p_source) THEN
            PERFORM ssb_internal.xq_error(p_context, 2205, format('"%s" was expected.', p_token));
        END IF;
        PERFORM ssb_internal.xq_error(p_context, 9303, format('Syntax error near ''%s'', expected ''%s''.',
                                                              ssb_internal.xq_near(p_source, p_at), p_token));
    END IF;
    RETURN ssb_internal.xq_skip(p_source, p_at + length(p_token));
END;
$$;

-- Operators of at least precedence p_floor: or 1, and 2, comparison 3, additive 4,
-- multiplicative 5, union 6, cast/instance 7, unary 8.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_operators(
    p_source text, p_at integer, p_context jsonb, p_floor integer, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_operator text;
    v_level integer;
    v_right jsonb;
    v_type text;
BEGIN
    at := ssb_internal.xq_skip(p_source, p_at);
    IF substr(p_source, at, 1) IN ('-', '+') THEN
        v_operator := substr(p_source, at, 1);
        SELECT o.node, o.at INTO node, at FROM ssb_internal.xq_parse_operators(p_source, at + 1, p_context, 7) AS o;
        PERFORM ssb_internal.xq_require_one(node, v_operator, p_context);
        IF v_operator = '-' THEN
            node := jsonb_build_object('op', 'negate', 'e', node, 'c', node -> 'c', 'ty', 'xs:decimal');
        END IF;
    ELSE
        SELECT p.node, p.at INTO node, at FROM ssb_internal.xq_parse_path(p_source, at, p_context) AS p;
    END IF;
    LOOP
        at := ssb_internal.xq_skip(p_source, at);
        v_operator := substring(substr(p_source, at, 12) from
            '^(?:(?:or|and|eq|ne|lt|le|gt|ge|is|div|idiv|mod|union|cast|castable|instance)(?![A-Za-z0-9_.:-])|<<|>>|!=|<=|>=|[=<>+*|-])');
        v_level := CASE
            WHEN v_operator IS NULL THEN 0
            WHEN v_operator = 'or' THEN 1
            WHEN v_operator = 'and' THEN 2
            WHEN v_operator IN ('+', '-') THEN 4
            WHEN v_operator IN ('*', 'div', 'idiv', 'mod') THEN 5
            WHEN v_operator IN ('|', 'union') THEN 6
            WHEN v_operator IN ('cast', 'castable', 'instance') THEN 7
            ELSE 3 END;
        EXIT WHEN v_level < p_floor OR v_level = 0;
        at := at + length(v_operator);
        IF v_level = 7 THEN
            SELECT c.node, c.at INTO node, at FROM ssb_internal.xq_parse_type_operator(p_source, at, p_context, node, v_operator) AS c;
            CONTINUE;
        END IF;
        SELECT o.node, o.at INTO v_right, at FROM ssb_internal.xq_parse_operators(p_source, at, p_context, v_level + 1) AS o;
        IF v_operator IN ('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'is', '<<', '>>') OR v_level IN (4, 5) THEN
            PERFORM ssb_internal.xq_require_one(node, v_operator, p_context);
            PERFORM ssb_internal.xq_require_one(v_right, v_operator, p_context);
        END IF;
        IF v_level = 3 THEN
            node := jsonb_build_object(
                'op', CASE WHEN v_operator IN ('is', '<<', '>>') THEN 'order' ELSE 'compare' END,
                'by', CASE v_operator WHEN 'eq' THEN '=' WHEN 'ne' THEN '!=' WHEN 'lt' THEN '<' WHEN 'le' THEN '<='
                                      WHEN 'gt' THEN '>' WHEN 'ge' THEN '>=' ELSE v_operator END,
                'l', node, 'r', v_right, 'c', '1', 'ty', 'xs:boolean');
        ELSIF v_level = 6 THEN
            node := jsonb_build_object('op', 'union', 'l', node, 'r', v_right, 'c', '*', 'ty', node ->> 'ty');
        ELSE
            v_type := CASE WHEN v_level < 3 THEN 'xs:boolean'
                           WHEN node ->> 'ty' = 'xs:integer' AND v_right ->> 'ty' = 'xs:integer' AND v_operator <> 'div'
                               THEN 'xs:integer'
                           WHEN node ->> 'ty' IN ('xs:integer', 'xs:decimal')
                                AND v_right ->> 'ty' IN ('xs:integer', 'xs:decimal') THEN 'xs:decimal'
                           ELSE 'xs:double' END;
            IF v_level > 3 AND 'xs:string' IN (node ->> 'ty', v_right ->> 'ty') THEN
                PERFORM ssb_internal.xq_error(p_context, 2234, format(
                    'The operator "%s" cannot be applied to "%s" and "%s" operands.', v_operator,
                    ssb_internal.xq_type(node), ssb_internal.xq_type(v_right)));
            END IF;
            node := jsonb_build_object('op', CASE WHEN v_level < 3 THEN v_operator ELSE 'arithmetic' END,
                'by', v_operator, 'l', node, 'r', v_right,
                'c', CASE WHEN v_level < 3 THEN '1' ELSE ssb_internal.xq_either(node ->> 'c', v_right ->> 'c') END,
                'ty', v_type);
        END IF;
    END LOOP;
END;
$$;

-- cast as type ?, instance of type: the operand is parsed, p_at is behind the first keyword.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_type_operator(
    p_source text, p_at integer, p_context jsonb, p_operand jsonb, p_operator text, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type text;
BEGIN
    at := ssb_internal.xq_expect(p_source, p_at, CASE p_operator WHEN 'instance' THEN 'of' ELSE 'as' END, p_context);
    v_type := ssb_internal.xq_name(p_source, at);
    IF v_type IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 9328, format('Type specification expected, found ''%s''.',
                                                              ssb_internal.xq_near(p_source, at)));
    END IF;
    at := ssb_internal.xq_skip(p_source, at + length(v_type));
    IF p_operator = 'instance' AND substr(p_source, at, 1) = '(' THEN
        at := ssb_internal.xq_expect(p_source, at + 1, ')', p_context);
        v_type := v_type || '()';
    END IF;
    IF substr(p_source, at, 1) = '?' THEN
        at := ssb_internal.xq_skip(p_source, at + 1);
    ELSIF p_operator = 'cast' THEN
        PERFORM ssb_internal.xq_error(p_context, 9301, format('In this version of the server, ''cast as <type>'' is not available.'
                                                              ' Please use the ''cast as <type> ?'' syntax.'));
    END IF;
    IF p_operator = 'instance' THEN
        node := jsonb_build_object('op', 'instance', 'e', p_operand, 'as', v_type, 'c', '1', 'ty', 'xs:boolean');
    ELSE
        PERFORM ssb_internal.xq_require_one(p_operand, 'cast as', p_context);
        node := jsonb_build_object('op', 'cast', 'e', p_operand, 'as', ssb_internal.xq_known_type(v_type, p_context),
                                   'c', '?', 'ty', v_type);
    END IF;
END;
$$;

-- One of the atomic types we compute with, from a type name: its letter in values (see 545).
CREATE OR REPLACE FUNCTION ssb_internal.xq_known_type(p_name text, p_context jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_local text := CASE WHEN split_part(p_name, ':', 1) IN ('xs', 'xdt') THEN split_part(p_name, ':', 2) END;
    v_letter text;
BEGIN
    v_letter := CASE
        WHEN v_local IN ('integer', 'int', 'long', 'short', 'byte', 'nonNegativeInteger', 'positiveInteger',
                         'nonPositiveInteger', 'negativeInteger', 'unsignedInt', 'unsignedLong', 'unsignedShort',
                         'unsignedByte') THEN 'i'
        WHEN v_local = 'decimal' THEN 'd'
        WHEN v_local IN ('double', 'float') THEN 'f'
        WHEN v_local IN ('string', 'token', 'normalizedString', 'anyURI', 'NCName', 'Name', 'NMTOKEN', 'language',
                         'duration', 'gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay')
            THEN 's'
        WHEN v_local = 'base64Binary' THEN 'B'
        WHEN v_local = 'hexBinary' THEN 'H'
        WHEN v_local = 'untypedAtomic' THEN 'u'
        WHEN v_local = 'boolean' THEN 'b'
        WHEN v_local = 'dateTime' THEN 'D'
        WHEN v_local = 'date' THEN 'E'
        WHEN v_local = 'time' THEN 'T' END;
    IF v_letter IS NULL THEN
        PERFORM ssb_internal.xq_error(p_context, 2232, format('The name "%s" does not denote a defined type.', p_name));
    END IF;
    RETURN v_letter;
END;
$$;

-- for/let … where … order by … return …
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_flwor(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context jsonb := p_context;
    v_clauses jsonb := '[]';
    v_where jsonb;
    v_keys jsonb := '[]';
    v_kind text;
    v_name text;
    v_every jsonb;
    v_one boolean := true;
BEGIN
    at := p_at;
    LOOP
        v_kind := substring(substr(p_source, at, 10) from '^(?:for|let)(?=[ \t\r\n]+\$)');
        EXIT WHEN v_kind IS NULL;
        at := at + 3;
        LOOP
            at := ssb_internal.xq_expect(p_source, at, '$', v_context);
            v_name := ssb_internal.xq_name(p_source, at);
            IF v_name IS NULL THEN
                PERFORM ssb_internal.xq_error(v_context, 2241, 'Variable expected: ''$name''');
            END IF;
            at := ssb_internal.xq_skip(p_source, at + length(v_name));
            IF v_kind = 'for' AND substr(p_source, at) ~ '^at[ \t\r\n]+\$' THEN
                PERFORM ssb_internal.xq_error(v_context, 9335, 'The XQuery syntax ''at'' is not supported.');
            END IF;
            at := ssb_internal.xq_expect(p_source, at, CASE v_kind WHEN 'for' THEN 'in' ELSE ':=' END, v_context);
            SELECT s.node, s.at INTO v_every, at FROM ssb_internal.xq_parse_single(p_source, at, v_context) AS s;
            v_clauses := v_clauses || jsonb_build_object('kind', v_kind, 'name', '$' || v_name, 'e', v_every);
            v_one := v_one AND (v_kind = 'let' OR v_every ->> 'c' <> '*');
            v_context := jsonb_set(v_context, ARRAY['vars', '$' || v_name],
                jsonb_build_object('c', CASE v_kind WHEN 'for' THEN '1' ELSE v_every ->> 'c' END, 'ty', v_every -> 'ty'));
            EXIT WHEN substr(p_source, at, 1) <> ',';
            at := ssb_internal.xq_skip(p_source, at + 1);
        END LOOP;
    END LOOP;
    IF substr(p_source, at) ~ '^where[^A-Za-z0-9_.:-]' THEN
        SELECT s.node, s.at INTO v_where, at FROM ssb_internal.xq_parse_single(p_source, at + 5, v_context) AS s;
    END IF;
    IF substr(p_source, at) ~ '^(?:stable[ \t\r\n]+)?order[ \t\r\n]+by[^A-Za-z0-9_.:-]' THEN
        at := at + length(substring(substr(p_source, at) from '^(?:stable[ \t\r\n]+)?order[ \t\r\n]+by'));
        LOOP
            SELECT s.node, s.at INTO v_every, at FROM ssb_internal.xq_parse_single(p_source, at, v_context) AS s;
            PERFORM ssb_internal.xq_require_one(v_every, 'order by', p_context);
            v_name := substring(substr(p_source, at) from '^(?:ascending|descending)(?![A-Za-z0-9_.:-])');
            IF v_name IS NOT NULL THEN
                at := ssb_internal.xq_skip(p_source, at + length(v_name));
            END IF;
            v_keys := v_keys || jsonb_build_object('e', v_every, 'down', v_name IS NOT DISTINCT FROM 'descending');
            EXIT WHEN substr(p_source, at, 1) <> ',';
            at := at + 1;
        END LOOP;
    END IF;
    IF substr(p_source, at) !~ '^return(?![A-Za-z0-9_.:-])' THEN
        PERFORM ssb_internal.xq_error(p_context, 9332, format(
            'Syntax error near ''%s'', expected ''where'', ''(stable) order by'' or ''return''.',
            ssb_internal.xq_near(p_source, at)));
    END IF;
    SELECT s.node, s.at INTO v_every, at FROM ssb_internal.xq_parse_single(p_source, at + 6, v_context) AS s;
    node := jsonb_build_object('op', 'flwor', 'clauses', v_clauses, 'where', v_where, 'order', v_keys, 'return', v_every,
                               'c', CASE WHEN v_one AND v_every ->> 'c' <> '*' THEN '?' ELSE '*' END,
                               'ty', v_every -> 'ty');
END;
$$;

-- some/every $x in …, $y in … satisfies …
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_quantified(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_context jsonb := p_context;
    v_kind text := substring(substr(p_source, p_at) from '^(?:some|every)');
    v_clauses jsonb := '[]';
    v_name text;
    v_every jsonb;
BEGIN
    at := p_at + length(v_kind);
    LOOP
        at := ssb_internal.xq_expect(p_source, at, '$', v_context);
        v_name := ssb_internal.xq_name(p_source, at);
        IF v_name IS NULL THEN
            PERFORM ssb_internal.xq_error(v_context, 2241, 'Variable expected: ''$name''');
        END IF;
        at := ssb_internal.xq_expect(p_source, at + length(v_name), 'in', v_context);
        SELECT s.node, s.at INTO v_every, at FROM ssb_internal.xq_parse_single(p_source, at, v_context) AS s;
        v_clauses := v_clauses || jsonb_build_object('kind', 'for', 'name', '$' || v_name, 'e', v_every);
        v_context := jsonb_set(v_context, ARRAY['vars', '$' || v_name],
                               jsonb_build_object('c', '1', 'ty', v_every -> 'ty'));
        EXIT WHEN substr(p_source, at, 1) <> ',';
        at := ssb_internal.xq_skip(p_source, at + 1);
    END LOOP;
    at := ssb_internal.xq_expect(p_source, at, 'satisfies', v_context);
    SELECT s.node, s.at INTO v_every, at FROM ssb_internal.xq_parse_single(p_source, at, v_context) AS s;
    node := jsonb_build_object('op', v_kind, 'clauses', v_clauses, 'test', v_every, 'c', '1', 'ty', 'xs:boolean');
END;
$$;

-- XML Schema: simple types → {"k": "s", "p": primitive, "ws": white space, facets…}.
--
-- A derived type holds the facets of its bases, too, so that a value is checked against one object:
-- "min" "max" (inclusive), "above" "below" (exclusive), "length" "minLength" "maxLength",
-- "digits" "fraction", "enum" [values], "patterns" [[alternatives], …] all of which must match;
-- "list" the item type, "union" [member types] as keys of the collection's types. "b" is the base.

-- The built-in types. NULL: no such type.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_builtin(p_name text) RETURNS jsonb
LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT jsonb_build_object('k', 's', 'p', t.p, 'ws', t.ws)
           || jsonb_strip_nulls(jsonb_build_object('min', t.min, 'max', t.max, 'list', t.list,
                                                   'minLength', CASE WHEN t.list IS NOT NULL THEN 1 END))
      FROM (VALUES
        ('anySimpleType', 'string', 'preserve', NULL, NULL, NULL),
        ('string', 'string', 'preserve', NULL, NULL, NULL),
        ('normalizedString', 'string', 'replace', NULL, NULL, NULL),
        ('token', 'string', 'collapse', NULL, NULL, NULL),
        ('language', 'language', 'collapse', NULL, NULL, NULL),
        ('Name', 'Name', 'collapse', NULL, NULL, NULL),
        ('NCName', 'NCName', 'collapse', NULL, NULL, NULL),
        ('ID', 'ID', 'collapse', NULL, NULL, NULL),
        ('IDREF', 'IDREF', 'collapse', NULL, NULL, NULL),
        ('ENTITY', 'NCName', 'collapse', NULL, NULL, NULL),
        ('NMTOKEN', 'NMTOKEN', 'collapse', NULL, NULL, NULL),
        ('NMTOKENS', 'list', 'collapse', NULL, NULL, 'xs:NMTOKEN'),
        ('IDREFS', 'list', 'collapse', NULL, NULL, 'xs:IDREF'),
        ('ENTITIES', 'list', 'collapse', NULL, NULL, 'xs:ENTITY'),
        ('anyURI', 'string', 'collapse', NULL, NULL, NULL),
        ('QName', 'QName', 'collapse', NULL, NULL, NULL),
        ('boolean', 'boolean', 'collapse', NULL, NULL, NULL),
        ('decimal', 'decimal', 'collapse', NULL, NULL, NULL),
        ('integer', 'integer', 'collapse', NULL, NULL, NULL),
        ('nonPositiveInteger', 'integer', 'collapse', NULL, '0', NULL),
        ('negativeInteger', 'integer', 'collapse', NULL, '-1', NULL),
        ('long', 'integer', 'collapse', '-9223372036854775808', '9223372036854775807', NULL),
        ('int', 'integer', 'collapse', '-2147483648', '2147483647', NULL),
        ('short', 'integer', 'collapse', '-32768', '32767', NULL),
        ('byte', 'integer', 'collapse', '-128', '127', NULL),
        ('nonNegativeInteger', 'integer', 'collapse', '0', NULL, NULL),
        ('unsignedLong', 'integer', 'collapse', '0', '18446744073709551615', NULL),
        ('unsignedInt', 'integer', 'collapse', '0', '4294967295', NULL),
        ('unsignedShort', 'integer', 'collapse', '0', '65535', NULL),
        ('unsignedByte', 'integer', 'collapse', '0', '255', NULL),
        ('positiveInteger', 'integer', 'collapse', '1', NULL, NULL),
        ('float', 'double', 'collapse', NULL, NULL, NULL),
        ('double', 'double', 'collapse', NULL, NULL, NULL),
        ('duration', 'duration', 'collapse', NULL, NULL, NULL),
        ('dateTime', 'dateTime', 'collapse', NULL, NULL, NULL),
        ('time', 'time', 'collapse', NULL, NULL, NULL),
        ('date', 'date', 'collapse', NULL, NULL, NULL),
        ('gYearMonth', 'gYearMonth', 'collapse', NULL, NULL, NULL),
        ('gYear', 'gYear', 'collapse', NULL, NULL, NULL),
        ('gMonthDay', 'gMonthDay', 'collapse', NULL, NULL, NULL),
        ('gDay', 'gDay', 'collapse', NULL, NULL, NULL),
        ('gMonth', 'gMonth', 'collapse', NULL, NULL, NULL),
        ('hexBinary', 'hexBinary', 'collapse', NULL, NULL, NULL),
        ('base64Binary', 'base64Binary', 'collapse', NULL, NULL, NULL)
      ) AS t(name, p, ws, min, max, list)
     WHERE t.name = p_name;
END;

-- A pattern of XML Schema as a regular expression of PostgreSQL that matches the whole value.
-- Refused: character class subtraction and Unicode blocks.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_pattern(p_pattern text, p_node jsonb) RETURNS text
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    -- All but punctuation, separators and control characters (P, Z and C of Unicode).
    c_word CONSTANT text := 'A-Za-z0-9$+<=>^`|~\u00A2-\u00A6\u00A8-\u00AA\u00AC\u00AE-\u00B5\u00B8-\u00BA\u00BC-\u00BE\u00C0-\u1FFF'
        '\u2044\u2052\u2070-\u2FFF\u3004-\u3007\u3012-\u301C\u3020-\uD7FF\uF900-\uFDCF\uFDF0-\uFFFD\U00010000-\U000EFFFF';
    v_rest text := p_pattern;
    v_piece text;
    v_result text := '';
    v_class boolean := false;
    v_property text;
    v_atom integer;                 -- where in v_result what a quantifier would repeat begins; NULL: there is none
    v_groups integer[] := '{}';     -- where the open groups begin
    v_least integer;
    v_most integer;
    v_match text[];
BEGIN
    WHILE v_rest <> '' LOOP
        v_piece := substring(v_rest from '^(?:\\[pP]\{[A-Za-z0-9-]+\}|\\.|\{[0-9]+(?:,[0-9]*)?\}|.)');
        v_rest := substr(v_rest, length(v_piece) + 1);
        IF NOT v_class AND left(v_piece, 1) IN ('*', '+', '?', '{') THEN
            v_match := regexp_match(v_piece, '^\{([0-9]{1,5})(,?)([0-9]{0,5})\}$');
            IF v_atom IS NULL OR v_piece LIKE '{%' AND v_match IS NULL THEN
                PERFORM ssb_internal.xsd_error(6945, format('Invalid facet value for facet ''pattern'' in type definition ''%s''', p_node ->> 'at'));
            END IF;
            -- PostgreSQL counts to 255: {1,300} is {1,255}{0,45} of the same.
            v_least := v_match[1]::integer;
            v_most := CASE WHEN v_match[2] = '' THEN v_least ELSE nullif(v_match[3], '')::integer END;
            IF greatest(v_least, v_most) > 255 THEN
                v_property := substr(v_result, v_atom);
                v_result := left(v_result, v_atom - 1) || '(?:';
                WHILE v_least > 255 OR v_most > 255 LOOP
                    v_result := v_result || v_property || format('{%s,255}', least(v_least, 255));
                    v_least := v_least - least(v_least, 255);
                    v_most := v_most - 255;
                END LOOP;
                v_piece := v_property || format('{%s,%s}', v_least, v_most) || ')';
            END IF;
            v_result := v_result || v_piece;
            v_atom := NULL;
            CONTINUE;
        END IF;
        IF NOT v_class THEN
            CASE v_piece
            WHEN '(' THEN
                v_groups := v_groups || length(v_result) + 1;
                v_atom := NULL;
            WHEN ')' THEN
                v_atom := v_groups[cardinality(v_groups)];
                v_groups := v_groups[: cardinality(v_groups) - 1];
            WHEN '|' THEN
                v_atom := NULL;
            ELSE
                v_atom := length(v_result) + 1;
            END CASE;
        END IF;
        IF v_piece ~ '^\\[pP]' THEN
            v_property := substring(v_piece from '\{(.*)\}');
            v_property := CASE v_property
                WHEN 'L' THEN '[:alpha:]' WHEN 'Lu' THEN '[:upper:]' WHEN 'Ll' THEN '[:lower:]'
                WHEN 'N' THEN '[:digit:]' WHEN 'Nd' THEN '[:digit:]' WHEN 'P' THEN '[:punct:]'
                WHEN 'Z' THEN '[:space:]' WHEN 'Zs' THEN '[:blank:]'
                WHEN 'IsBasicLatin' THEN '\u0001-\u007F' WHEN 'IsLatin-1Supplement' THEN '\u0080-\u00FF' END;
            IF v_property IS NULL OR left(v_piece, 2) = '\P' AND v_class THEN
                PERFORM ssb_internal.xsd_refuse(p_node, 'pattern ' || v_piece);
            END IF;
            v_piece := CASE WHEN v_class THEN v_property
                            WHEN left(v_piece, 2) = '\P' THEN '[^' || v_property || ']'
                            ELSE '[' || v_property || ']' END;
        ELSIF left(v_piece, 1) = '\' THEN
            v_piece := CASE substr(v_piece, 2, 1)
                WHEN 'd' THEN CASE WHEN v_class THEN '0-9' ELSE '[0-9]' END
                WHEN 'D' THEN '[^0-9]'
                WHEN 'w' THEN CASE WHEN v_class THEN c_word ELSE '[' || c_word || ']' END
                WHEN 'W' THEN '[^' || c_word || ']'
                WHEN 's' THEN CASE WHEN v_class THEN ' \t\n\r' ELSE '[ \t\n\r]' END
                WHEN 'S' THEN '[^ \t\n\r]'
                WHEN 'i' THEN CASE WHEN v_class THEN ':A-Z_a-z\u00C0-\uFFFD' ELSE '[:A-Z_a-z\u00C0-\uFFFD]' END
                WHEN 'I' THEN '[^:A-Z_a-z\u00C0-\uFFFD]'
                WHEN 'c' THEN CASE WHEN v_class THEN '.:A-Z_a-z0-9\u00B7-\uFFFD\-' ELSE '[.:A-Z_a-z0-9\u00B7-\uFFFD-]' END
                WHEN 'C' THEN '[^.:A-Z_a-z0-9\u00B7-\uFFFD-]'
                WHEN 'n' THEN '\n' WHEN 'r' THEN '\r' WHEN 't' THEN '\t'
                WHEN '-' THEN CASE WHEN v_class THEN '\-' ELSE '-' END
                ELSE CASE WHEN substr(v_piece, 2, 1) ~ '[].\\?*+{}()[|^$]' THEN v_piece END END;
            IF v_piece IS NULL THEN
                PERFORM ssb_internal.xsd_error(6945, format('Invalid facet value for facet ''pattern'' in type definition ''%s''', p_node ->> 'at'));
            END IF;
            IF v_class AND v_piece LIKE '[^%' THEN
                PERFORM ssb_internal.xsd_refuse(p_node, 'pattern with a negated character class inside a character class');
            END IF;
        ELSIF v_class THEN
            IF v_piece = ']' THEN
                v_class := false;
            ELSIF v_piece = '[' THEN
                PERFORM ssb_internal.xsd_refuse(p_node, 'pattern with character class subtraction');
            ELSIF v_piece = '-' AND left(v_rest, 1) = '[' THEN
                PERFORM ssb_internal.xsd_refuse(p_node, 'pattern with character class subtraction');
            END IF;
        ELSIF v_piece = '[' THEN
            v_class := true;
            IF left(v_rest, 1) = '^' THEN
                v_piece := '[^';
                v_rest := substr(v_rest, 2);
            END IF;
        ELSIF v_piece IN ('^', '$') THEN
            v_piece := '\' || v_piece;
        ELSIF v_piece = '.' THEN
            v_piece := '[^\n\r]';
        ELSIF v_piece = '(' THEN
            v_piece := '(?:';
        END IF;
        v_result := v_result || v_piece;
    END LOOP;
    v_result := '^(?:' || v_result || ')$';
    BEGIN
        PERFORM '' ~ v_result;
    EXCEPTION
        WHEN invalid_regular_expression THEN
            PERFORM ssb_internal.xsd_error(6945, format('Invalid facet value for facet ''pattern'' in type definition ''%s''', p_node ->> 'at'));
    END;
    RETURN v_result;
END;
$$;

-- One restriction: p_base with the facets among p_node's children.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_restrict(p_types jsonb, p_base jsonb, p_node jsonb) RETURNS jsonb
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_type jsonb := p_base;
    v_facet jsonb;
    v_name text;
    v_value text;
    v_key text;
    v_seen text[] := '{}';
    v_patterns jsonb := '[]';
    v_values jsonb := '[]';
BEGIN
    FOR v_facet IN SELECT c FROM ssb_internal.xsd_children(p_node) AS c LOOP
        v_name := v_facet ->> 'n';
        v_value := v_facet -> 'a' ->> 'value';
        CONTINUE WHEN v_name IN ('simpleType', 'attribute', 'attributeGroup', 'anyAttribute');
        v_key := CASE v_name WHEN 'minInclusive' THEN 'min' WHEN 'maxInclusive' THEN 'max' WHEN 'minExclusive' THEN 'above'
            WHEN 'maxExclusive' THEN 'below' WHEN 'totalDigits' THEN 'digits' WHEN 'fractionDigits' THEN 'fraction'
            WHEN 'length' THEN 'length' WHEN 'minLength' THEN 'minLength' WHEN 'maxLength' THEN 'maxLength'
            WHEN 'whiteSpace' THEN 'ws' WHEN 'pattern' THEN 'patterns' WHEN 'enumeration' THEN 'enum' END;
        IF v_key IS NULL THEN
            PERFORM ssb_internal.xsd_error(2297, format('Element <%s> is not valid at location ''%s''.', v_name, v_facet ->> 'at'));
        ELSIF v_value IS NULL THEN
            PERFORM ssb_internal.xsd_error(2299, format('Required attribute "value" of XSD element "%s" is missing.', v_name));
        ELSIF v_name = ANY (v_seen) AND v_key NOT IN ('patterns', 'enum') THEN
            PERFORM ssb_internal.xsd_error(2320, format('Duplicate facet ''%s'' found at location ''%s''.', v_name, v_facet ->> 'at'));
        ELSIF (CASE p_base ->> 'p'
                WHEN 'list' THEN v_key IN ('min', 'max', 'above', 'below', 'digits', 'fraction')
                WHEN 'union' THEN v_key NOT IN ('patterns', 'enum')
                WHEN 'boolean' THEN v_key NOT IN ('patterns', 'ws')
                ELSE v_key IN ('digits', 'fraction') AND p_base ->> 'p' NOT IN ('decimal', 'integer')
                     OR v_key IN ('length', 'minLength', 'maxLength')
                        AND p_base ->> 'p' IN ('decimal', 'integer', 'double', 'dateTime', 'date', 'time', 'duration',
                                               'gYear', 'gYearMonth', 'gMonth', 'gMonthDay', 'gDay')
                     OR v_key IN ('min', 'max', 'above', 'below')
                        AND p_base ->> 'p' IN ('string', 'language', 'Name', 'NCName', 'NMTOKEN', 'ID', 'IDREF', 'QName',
                                               'hexBinary', 'base64Binary') END) THEN
            PERFORM ssb_internal.xsd_error(2319, format('This type may not have a ''%s'' facet. Location: ''%s''.', v_name, v_facet ->> 'at'));
        ELSIF v_key IN ('length', 'minLength', 'maxLength', 'digits', 'fraction') AND v_value !~ '^[0-9]{1,9}$'
              OR v_key = 'ws' AND v_value NOT IN ('preserve', 'replace', 'collapse')
              OR v_key IN ('min', 'max', 'above', 'below') AND ssb_internal.xsd_value_fault(p_types, p_base - '{min,max,above,below,patterns,enum}'::text[], v_value) IS NOT NULL
              OR v_key = 'enum' AND ssb_internal.xsd_value_fault(p_types, p_base, v_value) IS NOT NULL THEN
            PERFORM ssb_internal.xsd_error(6945, format('Invalid facet value for facet ''%s'' in type definition ''%s''', v_name, v_facet ->> 'at'));
        END IF;
        IF v_name <> ALL (v_seen) THEN
            v_seen := v_seen || v_name;
        END IF;
        CASE v_key
        WHEN 'patterns' THEN
            v_patterns := v_patterns || to_jsonb(ssb_internal.xsd_pattern(v_value, v_facet));
        WHEN 'enum' THEN
            v_values := v_values || to_jsonb(ssb_internal.xsd_collapse(v_value, coalesce(v_type ->> 'ws', 'preserve')));
        ELSE
            -- a bound replaces the other kind of bound on its side
            v_type := CASE v_key WHEN 'min' THEN v_type - 'above' WHEN 'above' THEN v_type - 'min'
                                 WHEN 'max' THEN v_type - 'below' WHEN 'below' THEN v_type - 'max' ELSE v_type END
                      || jsonb_build_object(v_key, CASE WHEN v_key IN ('length', 'minLength', 'maxLength', 'digits', 'fraction')
                                                        THEN to_jsonb(v_value::integer) ELSE to_jsonb(btrim(v_value)) END);
        END CASE;
    END LOOP;
    IF v_patterns <> '[]' THEN
        v_type := v_type || jsonb_build_object('patterns', coalesce(v_type -> 'patterns', '[]') || jsonb_build_array(v_patterns));
    END IF;
    IF v_values <> '[]' THEN
        v_type := v_type || jsonb_build_object('enum', v_values);
    END IF;
    IF (v_type -> 'minLength')::integer > (v_type -> 'maxLength')::integer THEN
        PERFORM ssb_internal.xsd_error(6946, format('Invalid type definition for type ''%s'', ''minLength'' can not be greater than ''maxLength''', p_node ->> 'at'));
    ELSIF (v_type -> 'fraction')::integer > (v_type -> 'digits')::integer THEN
        PERFORM ssb_internal.xsd_error(6950, format('Invalid type definition for type ''%s'', ''fractionDigits'' can not be greater than ''totalDigits''', p_node ->> 'at'));
    ELSIF v_type ? 'min' AND v_type ? 'max' AND ssb_internal.xsd_order(v_type ->> 'p', v_type ->> 'min', v_type ->> 'max') > 0 THEN
        PERFORM ssb_internal.xsd_error(6951, format('Invalid type definition for type ''%s'', ''minInclusive'' must be less than or equal to ''maxInclusive'' and less than ''maxExclusive''', p_node ->> 'at'));
    END IF;
    RETURN v_type;
END;
$$;

-- A xs:simpleType element as a type. p_state is the compilation (564); anonymous types inside get
-- keys of their own in p_state's types.
CREATE OR REPLACE FUNCTION ssb_internal.xsd_simple_type(p_state jsonb, p_node jsonb, OUT state jsonb, OUT type jsonb)
LANGUAGE plpgsql IMMUTABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_how jsonb;
    v_inner jsonb;
    v_key text;
    v_member text;
    v_members jsonb := '[]';
BEGIN
    state := p_state;
    PERFORM ssb_internal.xsd_check_attributes(p_node, ARRAY['name', 'final']);
    SELECT c INTO v_how FROM ssb_internal.xsd_children(p_node) AS c LIMIT 1;
    IF v_how IS NULL OR v_how ->> 'n' NOT IN ('restriction', 'list', 'union') THEN
        PERFORM ssb_internal.xsd_error(2327, format('The content or definition of <simpleType> is missing. Location: ''%s''.', p_node ->> 'at'));
    END IF;
    CASE v_how ->> 'n'
    WHEN 'restriction' THEN
        PERFORM ssb_internal.xsd_check_attributes(v_how, ARRAY['base']);
        IF v_how -> 'a' ? 'base' THEN
            SELECT r.state, r.key INTO state, v_key FROM ssb_internal.xsd_type_key(state, v_how, v_how -> 'a' ->> 'base', true) AS r;
            type := ssb_internal.xsd_type(state, v_key);
        ELSE
            SELECT c INTO v_inner FROM ssb_internal.xsd_children(v_how) AS c WHERE c ->> 'n' = 'simpleType' LIMIT 1;
            IF v_inner IS NULL THEN
                PERFORM ssb_internal.xsd_error(2316, format('The required ''base'' attribute is missing. Location: ''%s''.', v_how ->> 'at'));
            END IF;
            SELECT r.state, r.type INTO state, type FROM ssb_internal.xsd_simple_type(state, v_inner) AS r;
        END IF;
        IF type ->> 'k' <> 's' THEN
            PERFORM ssb_internal.xsd_error(2317, format('The base type "%s" defined on XSD element "restriction" is not a simple type.', v_how -> 'a' ->> 'base'));
        END IF;
        type := ssb_internal.xsd_restrict(state -> 'types', type, v_how) || jsonb_strip_nulls(jsonb_build_object('b', v_key));
    WHEN 'list' THEN
        PERFORM ssb_internal.xsd_check_attributes(v_how, ARRAY['itemType']);
        IF v_how -> 'a' ? 'itemType' THEN
            SELECT r.state, r.key INTO state, v_key FROM ssb_internal.xsd_type_key(state, v_how, v_how -> 'a' ->> 'itemType', true) AS r;
        ELSE
            SELECT c INTO v_inner FROM ssb_internal.xsd_children(v_how) AS c WHERE c ->> 'n' = 'simpleType' LIMIT 1;
            IF v_inner IS NULL THEN
                PERFORM ssb_internal.xsd_error(2393, format('Either an itemType attribute or a simpleType child must be present. Location: ''%s''.', v_how ->> 'at'));
            END IF;
            SELECT r.state, r.type INTO state, v_inner FROM ssb_internal.xsd_simple_type(state, v_inner) AS r;
            SELECT r.state, r.key INTO state, v_key FROM ssb_internal.xsd_add_type(state, v_inner) AS r;
        END IF;
        v_inner := ssb_internal.xsd_type(state, v_key);
        IF v_inner ->> 'k' <> 's' THEN
            PERFORM ssb_internal.xsd_error(2367, format('The item type of an XSD list type must be a simple type. Location: ''%s''.', v_how ->> 'at'));
        ELSIF v_inner ->> 'p' = 'list' THEN
            PERFORM ssb_internal.xsd_error(6978, format('Invalid item type for list type ''%s''. The item type of a list may not itself be a list, and'
                ' types derived from ID may not be used as item types in this release.', v_how ->> 'at'));
        END IF;
        type := jsonb_build_object('k', 's', 'p', 'list', 'ws', 'collapse', 'list', v_key);
    ELSE
        PERFORM ssb_internal.xsd_check_attributes(v_how, ARRAY['memberTypes']);
        FOREACH v_member IN ARRAY regexp_split_to_array(btrim(coalesce(v_how -> 'a' ->> 'memberTypes', ''), E' \t\n'), '[ \t\n]+') LOOP
            CONTINUE WHEN v_member = '';
            SELECT r.state, r.key INTO state, v_key FROM ssb_internal.xsd_type_key(state, v_how, v_member, true) AS r;
            v_members := v_members || to_jsonb(v_key);
        END LOOP;
        FOR v_inner IN SELECT c FROM ssb_internal.xsd_children(v_how) AS c WHERE c ->> 'n' = 'simpleType' LOOP
            SELECT r.state, r.type INTO state, v_inner FROM ssb_internal.xsd_simple_type(state, v_inner) AS r;
            SELECT r.state, r.key INTO state, v_key FROM ssb_internal.xsd_add_type(state, v_inner) AS r;
            v_members := v_members || to_jsonb(v_key);
        END LOOP;
        IF v_members = '[]' THEN
            PERFORM ssb_internal.xsd_error(2339, format('Either a memberType attribute or a simpleType child must be present. Location: ''%s''.', v_how ->> 'at'));
        END IF;
        FOR v_member IN SELECT m FROM jsonb_array_elements_text(v_members) AS m LOOP
            IF ssb_internal.xsd_type(state, v_member) ->> 'k' <> 's' THEN
                PERFORM ssb_internal.xsd_error(6977, format('Invalid member type ''%s'' in union type ''%s''. Unions may not have complex member types.',
                                                            v_member, v_how ->> 'at'));
            END IF;
        END LOOP;
        type := jsonb_build_object('k', 's', 'p', 'union', 'ws', 'preserve', 'union', v_members);
    END CASE;
END;
$$;

-- XML DML parser: insert, delete, replace value of.
CREATE OR REPLACE FUNCTION ssb_internal.xq_parse_modification(
    p_source text, p_at integer, p_context jsonb, OUT node jsonb, OUT at integer)
LANGUAGE plpgsql IMMUTABLE PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_verb text := substring(substr(p_source, p_at) from '^(?:insert|delete|replace)(?![A-Za-z0-9_.:-])');
    v_what jsonb;
    v_where text;
    v_target jsonb;
BEGIN
    IF v_verb IS NULL THEN
        PERFORM ssb_internal.raise_error(6305, 'XQuery data manipulation expression required in XML data type method.');
    END IF;
    at := p_at + length(v_verb);
    IF v_verb = 'delete' THEN
        SELECT e.node, e.at INTO v_target, at FROM ssb_internal.xq_parse(p_source, at, p_context) AS e;
        IF v_target ->> 'ty' IN ('document-node()') OR v_target ->> 'ty' ~ '^xs:|^xdt:' THEN
            PERFORM ssb_internal.xq_error(p_context, 2264, format('Only non-document nodes may be deleted, found ''%s''',
                                                                  ssb_internal.xq_type(v_target)));
        END IF;
        node := jsonb_build_object('op', 'delete', 'target', v_target);
    ELSIF v_verb = 'replace' THEN
        at := ssb_internal.xq_expect(p_source, at, 'value', p_context);
        at := ssb_internal.xq_expect(p_source, at, 'of', p_context);
        SELECT e.node, e.at INTO v_target, at FROM ssb_internal.xq_parse_single(p_source, at, p_context) AS e;
        at := ssb_internal.xq_expect(p_source, at, 'with', p_context);
        SELECT e.node, e.at INTO v_what, at FROM ssb_internal.xq_parse_single(p_source, at, p_context) AS e;
        IF v_target ->> 'c' = '*' THEN
            PERFORM ssb_internal.xq_error(p_context, 2337, format('The target of ''replace'' must be at most one node, found ''%s''',
                                                                  ssb_internal.xq_type(v_target)));
        ELSIF v_target ->> 'ty' !~ '^(?:attribute|text)' THEN
            -- Untyped elements have mixed content: only their text() can be given a value.
            PERFORM ssb_internal.xq_error(p_context, 2356, format('The target of ''replace value of'' must be a non-metadata'
                ' attribute or an element with simple typed content, found ''%s''', ssb_internal.xq_type(v_target)));
        ELSIF v_what ->> 'op' IN ('element', 'attribute', 'markup', 'text') THEN
            PERFORM ssb_internal.xq_error(p_context, 9310, 'The ''with'' clause of ''replace value of'' cannot contain constructed XML.');
        END IF;
        node := jsonb_build_object('op', 'replace', 'target', v_target, 'what', v_what);
    ELSE
        SELECT e.node, e.at INTO v_what, at FROM ssb_internal.xq_parse(p_source, at, p_context) AS e;
        v_where := substring(substr(p_source, at) from
            '^(?:as[ \t\r\n]+(?:first|last)[ \t\r\n]+into|into|after|before)(?![A-Za-z0-9_.:-])');
        IF v_where IS NULL THEN
            PERFORM ssb_internal.xq_error(p_context, 2248, format('Syntax error near ''%s'', expected ''as'', ''into'', ''before'' or ''after''.',
                                                                  ssb_internal.xq_near(p_source, at)));
        END IF;
        SELECT e.node, e.at INTO v_target, at FROM ssb_internal.xq_parse_single(p_source, at + length(v_where), p_context) AS e;
        v_where := coalesce(substring(v_where from '^as[ \t\r\n]+(first|last)'), v_where);
        IF v_target ->> 'c' = '*' THEN
            PERFORM ssb_internal.xq_error(p_context, 2226, format('The target of ''insert'' must be a single node, found ''%s''',
                                                                  ssb_internal.xq_type(v_target)));
        ELSIF v_target ->> 'op' IN ('element', 'attribute', 'markup', 'text') THEN
            PERFORM ssb_internal.xq_error(p_context, 2359, 'The target of ''insert'' may not be a constructed node');
        ELSIF v_where IN ('into', 'first', 'last') AND v_target ->> 'ty' ~ '^(?:attribute|text|comment|processing|xs:|xdt:)' THEN
            PERFORM ssb_internal.xq_error(p_context, 2240, format('The target of ''insert into'' must be an element/document node, found ''%s''',
                                                                  ssb_internal.xq_type(v_target)));
        ELSIF v_where IN ('before', 'after') AND v_target ->> 'ty' ~ '^(?:attribute|document-node|xs:|xdt:)' THEN
            PERFORM ssb_internal.xq_error(p_context, 2249, format('The target of ''insert before/after'' must be an'
                ' element/PI/comment/text node, found ''%s''', ssb_internal.xq_type(v_target)));
        ELSIF v_where IN ('before', 'after') AND v_what ->> 'ty' ~ '^attribute' THEN
            PERFORM ssb_internal.xq_error(p_context, 2258, format('The position may not be specified when inserting an attribute node, found ''%s''',
                                                                  ssb_internal.xq_type(v_what)));
        END IF;
        node := jsonb_build_object('op', 'insert', 'what', v_what, 'where', v_where, 'target', v_target);
    END IF;
    node := node || '{"c": "1", "ty": "empty"}';
END;
$$;

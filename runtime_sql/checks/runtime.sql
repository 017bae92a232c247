-- Check 115: is everything that was installed still there? What ssb.runtime_version remembers is compared with what there is.

-- What the runtime consists of, one line each: whatever a hand, a tool or half a restoration can take away. What belongs to a table is
-- the statement that makes it: an upgrade makes tables anew that are missing, and does not look into those that are there. Of privileges there are
-- those without which nothing works or too much is allowed: a REVOKE that somebody has added is his own decision.
--
-- Asked for their number alone, the lines are not written: that takes a tenth of the time. Nor is has_function_privilege asked, which looks
-- up each function by itself.
--
-- Functions without quotes: which words need them is another question in each version of PostgreSQL (json_value since 17), and databases go
-- from one to the next.
CREATE OR REPLACE VIEW ssb_internal.runtime_object AS
    WITH ours AS MATERIALIZED (SELECT n.oid, n.nspname, n.nspacl FROM pg_namespace AS n WHERE n.nspname IN ('ssb', 'ssb_internal', 'ssb_locks', 'sys'))
    SELECT format('%s %s', CASE p.prokind WHEN 'p' THEN 'procedure' WHEN 'a' THEN 'aggregate' ELSE 'function' END,
                  replace(p.oid::regprocedure::text, '"', '')) AS line
      FROM ours AS n JOIN pg_proc AS p ON p.pronamespace = n.oid
    UNION ALL
    SELECT format('REVOKE EXECUTE ON ROUTINE %s FROM PUBLIC', replace(p.oid::regprocedure::text, '"', ''))
      FROM ours AS n JOIN pg_proc AS p ON p.pronamespace = n.oid
     WHERE n.nspname = 'ssb_internal' AND p.proacl IS NOT NULL AND NOT EXISTS (SELECT FROM aclexplode(p.proacl) AS a WHERE a.grantee = 0)
    UNION ALL
    SELECT format('%s %s', CASE WHEN c.relkind = 'v' THEN 'view' WHEN c.relkind = 'i' THEN 'index' WHEN c.relkind = 'S' THEN 'sequence'
                                ELSE 'table' END, c.oid::regclass)
      FROM ours AS n JOIN pg_class AS c ON c.relnamespace = n.oid
      LEFT JOIN pg_index AS i ON i.indexrelid = c.oid
     WHERE CASE c.relkind WHEN 'i' THEN i.indisvalid AND NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = c.oid AND k.contype IN ('p', 'u'))
                          -- Each queue has two of its own.
                          WHEN 'S' THEN c.relname !~ '^queue_(order|state)_\d+$'
                          ELSE c.relkind IN ('r', 'v') END
    UNION ALL
    SELECT format('ALTER TABLE %s SET LOGGED;', c.oid::regclass)
      FROM ours AS n JOIN pg_class AS c ON c.relnamespace = n.oid WHERE c.relkind = 'r' AND c.relpersistence = 'p'
    UNION ALL
    SELECT format('GRANT SELECT ON %s TO PUBLIC', c.oid::regclass)
      FROM ours AS n JOIN pg_class AS c ON c.relnamespace = n.oid WHERE c.relkind IN ('r', 'v') AND EXISTS (SELECT FROM aclexplode(c.relacl) AS a WHERE a.grantee = 0 AND a.privilege_type = 'SELECT')
    UNION ALL
    SELECT format('GRANT USAGE ON SCHEMA %I TO PUBLIC', n.nspname) FROM ours AS n WHERE EXISTS (SELECT FROM aclexplode(n.nspacl) AS a WHERE a.grantee = 0 AND a.privilege_type = 'USAGE')
    UNION ALL
    SELECT format('ALTER TABLE %s ADD CONSTRAINT %I %s;', k.conrelid::regclass, k.conname, pg_get_constraintdef(k.oid))
      FROM ours AS n JOIN pg_constraint AS k ON k.connamespace = n.oid WHERE k.contype IN ('p', 'u', 'f')
    UNION ALL
    SELECT format('trigger %I on %s', t.tgname, t.tgrelid::regclass)
      FROM ours AS n JOIN pg_class AS c ON c.relnamespace = n.oid JOIN pg_trigger AS t ON t.tgrelid = c.oid
     WHERE NOT t.tgisinternal AND t.tgenabled IN ('O', 'A');
REVOKE ALL ON ssb_internal.runtime_object FROM PUBLIC;

-- Of these lines those that were there when the runtime was installed and are no more. Whoever puts as many things of his own into
-- our schemas as he takes out is not found out.
CREATE OR REPLACE FUNCTION ssb_internal.missing_objects()
RETURNS SETOF text
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
SET quote_all_identifiers = off
AS $$
DECLARE
    v_known CONSTANT text[] := (SELECT r.objects FROM ssb.runtime_version AS r);
BEGIN
    IF cardinality(v_known) <> (SELECT count(*) FROM ssb_internal.runtime_object) THEN
        RETURN QUERY SELECT k.line FROM unnest(v_known) AS k (line) EXCEPT SELECT o.line FROM ssb_internal.runtime_object AS o;
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.missing_objects() FROM PUBLIC;

CREATE OR REPLACE FUNCTION ssb_internal.check_runtime()
RETURNS TABLE (number integer, object text, detail text, remedy text, run_with text)
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
#variable_conflict use_column
DECLARE
    v_missing CONSTANT text[] := ARRAY(SELECT m.line FROM ssb_internal.missing_objects() AS m (line));
BEGIN
    IF cardinality(v_missing) = 0 THEN
        RETURN;
    END IF;
    RETURN QUERY
    WITH missing AS MATERIALIZED (
        SELECT m.line, substring(m.line FROM '^ALTER TABLE (\S+) ') AS altered,
               substring(m.line FROM ' ON (?:ROUTINE |SCHEMA )?(.*) (?:FROM|TO) PUBLIC$') AS privilege_on
          FROM unnest(v_missing) AS m (line)),
    -- With an object what belongs to it is missing: that is not worth a word.
    whole AS (SELECT split_part(m.line, ' ', 2) AS name FROM missing AS m WHERE num_nonnulls(m.altered, m.privilege_on) = 0),
    told AS (SELECT m.line, m.altered IS NOT NULL AS is_statement
               FROM missing AS m WHERE coalesce(m.altered, m.privilege_on, '') NOT IN (SELECT w.name FROM whole AS w))
    SELECT 115, 'the runtime', format('%s missing: %s%s', count(*), string_agg(s.line, '; ' ORDER BY s.line) FILTER (WHERE s.place <= 5),
                                      CASE WHEN count(*) > 5 THEN '; …' END), 'pgsb upgrade', 'shell'
      FROM (SELECT t.line, row_number() OVER (ORDER BY t.line) AS place FROM told AS t WHERE NOT t.is_statement) AS s
    HAVING count(*) > 0
    UNION ALL
    SELECT 115, 'the runtime''s tables', format('%s of their properties missing', count(*)),
           string_agg(t.line, ' ' ORDER BY t.line ~ ' FOREIGN KEY ', t.line), 'psql'
      FROM told AS t WHERE t.is_statement
    HAVING count(*) > 0;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.check_runtime() FROM PUBLIC;

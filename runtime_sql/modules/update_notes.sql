-- UPDATE(column) and COLUMNS_UPDATED(): triggers on the columns note which an UPDATE names, for the trigger p_trigger, which takes
-- the notes when it begins. They are AFTER triggers whose names come before its own. The first of them forgets older notes, and tells by its
-- arguments which columns are noted: those that are named, or all of them (''): so the notes follow ALTER TABLE, which
-- PostgreSQL would refuse for a column that a trigger names. Between them and the trigger runs nothing of whoever does the UPDATE, so the
-- setting in which they write is not his to change.
--
-- Called by  compiled CREATE TRIGGER, ALTER TABLE; the triggers that these make
-- Locks      the table, as CREATE TRIGGER and DROP TRIGGER do
CREATE OR REPLACE FUNCTION ssb_internal.setting_of_updates(p_table oid, p_trigger text)
RETURNS text
LANGUAGE sql IMMUTABLE
RETURN 'pgsb.updates_' || p_table || '_' || md5(p_trigger);

-- A note of a column: the trigger, the column's name, and its number behind a # where the trigger asks for all.
CREATE OR REPLACE FUNCTION ssb_internal.note_update()
RETURNS trigger
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_setting text := ssb_internal.setting_of_updates(TG_RELID, TG_ARGV[0]);
BEGIN
    PERFORM set_config(v_setting, CASE WHEN TG_NARGS = 1 OR TG_ARGV[1] = '' THEN '{}'
                                       ELSE (current_setting(v_setting)::text[] || array_remove(TG_ARGV[1:], ''))::text END, true);
    RETURN NULL;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.columns_named(p_table oid, p_trigger text)
RETURNS text[]
LANGUAGE sql STABLE
RETURN current_setting(ssb_internal.setting_of_updates(p_table, p_trigger))::text[];

-- The arguments of a trigger, which pg_trigger keeps with a zero byte behind each.
CREATE OR REPLACE FUNCTION ssb_internal.trigger_arguments(arguments bytea)
RETURNS text[]
LANGUAGE sql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
    SELECT string_to_array(convert_from(decode(replace(regexp_replace(encode(arguments, 'hex'), '(..)', '\1 ', 'g'), '00 ', '0a '),
                                               'hex'), getdatabaseencoding()), E'\n')
$$;

-- Notes of all columns that the table's triggers ask for and that have none. p_trigger: this one was just made, and what it names must be there.
CREATE OR REPLACE FUNCTION ssb_internal.note_updates(p_table regclass, p_trigger text DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_note record;
BEGIN
    FOR v_note IN
        SELECT r.wanted[1] AS trigger, a.attname AS name, a.attnum AS number, min(w.name) AS wanted,
               CASE WHEN bool_or(w.name = '') THEN '#' || a.attnum ELSE '' END AS numbered
          FROM (SELECT t.tgrelid, (ssb_internal.trigger_arguments(t.tgargs))[1 : t.tgnargs] AS wanted FROM pg_trigger AS t
                 WHERE t.tgrelid = p_table AND t.tgfoid = 'ssb_internal.note_update'::regproc AND t.tgnargs > 2) AS r
         CROSS JOIN LATERAL unnest(r.wanted[3:]) AS w (name)
          LEFT JOIN pg_attribute AS a ON a.attrelid = r.tgrelid AND a.attnum > 0 AND NOT a.attisdropped
                                     AND CASE w.name WHEN '' THEN a.attgenerated = '' ELSE a.attname = w.name END
         WHERE r.wanted[2] = ''
           AND (a.attnum IS NOT NULL OR r.wanted[1] = p_trigger)
           AND NOT EXISTS (SELECT FROM pg_trigger AS t
                            WHERE t.tgrelid = r.tgrelid AND t.tgfoid = 'ssb_internal.note_update'::regproc AND a.attnum = ANY (t.tgattr)
                              AND (ssb_internal.trigger_arguments(t.tgargs))[1] = r.wanted[1])
         GROUP BY r.wanted[1], a.attname, a.attnum
         ORDER BY r.wanted[1], a.attnum NULLS FIRST
    LOOP
        IF v_note.number IS NULL THEN
            PERFORM ssb_internal.raise_error(207, format('Invalid column name ''%s''.', v_note.wanted));
        END IF;
        EXECUTE format('CREATE TRIGGER %I AFTER UPDATE OF %I ON %s FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update(%L, %L, %L) ;',
                       sys.fold('!' || ssb_internal.stem(v_note.trigger) || '@' || v_note.name), v_note.name, p_table, v_note.trigger, v_note.name,
                       v_note.numbered);
    END LOOP;
END;
$$;

-- The notes of a trigger, or of columns: before these are dropped or altered. Triggers that are older than ssb_internal.note_updates do not
-- tell what they ask for: it is what they note.
CREATE OR REPLACE FUNCTION ssb_internal.drop_update_notes(p_table regclass, p_trigger text DEFAULT NULL, p_columns text[] DEFAULT NULL)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_older record;
    v_note name;
BEGIN
    FOR v_older IN
        SELECT t.tgname AS name, r.trigger,
               (SELECT string_agg(quote_literal((ssb_internal.trigger_arguments(o.tgargs))[2]), ', ' ORDER BY o.tgname) FROM pg_trigger AS o
                 WHERE o.tgrelid = p_table AND o.tgfoid = t.tgfoid AND o.tgnargs > 1
                   AND (ssb_internal.trigger_arguments(o.tgargs))[1] = r.trigger) AS wanted
          FROM pg_trigger AS t
         CROSS JOIN LATERAL (SELECT (ssb_internal.trigger_arguments(t.tgargs))[1] AS trigger) AS r
         WHERE t.tgrelid = p_table AND t.tgfoid = 'ssb_internal.note_update'::regproc AND t.tgnargs = 1 AND p_columns IS NOT NULL
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s ;', v_older.name, p_table);
        EXECUTE format('CREATE TRIGGER %I AFTER UPDATE ON %s FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.note_update(%L, %L, %s) ;',
                       v_older.name, p_table, v_older.trigger, '', v_older.wanted);
    END LOOP;
    FOR v_note IN
        SELECT t.tgname FROM pg_trigger AS t
         WHERE t.tgrelid = p_table AND t.tgfoid = 'ssb_internal.note_update'::regproc
           AND (p_trigger IS NULL OR (ssb_internal.trigger_arguments(t.tgargs))[1] = p_trigger)
           AND (p_columns IS NULL OR EXISTS (SELECT FROM pg_attribute AS a
                                              WHERE a.attrelid = p_table AND a.attname = ANY (p_columns) AND a.attnum = ANY (t.tgattr)))
    LOOP
        EXECUTE format('DROP TRIGGER %I ON %s ;', v_note, p_table);
    END LOOP;
END;
$$;

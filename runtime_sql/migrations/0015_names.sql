-- Functions that have other names now. What was bound to them goes on with them.
DO $$
DECLARE
    v_function record;
BEGIN
    FOR v_function IN
        SELECT p.oid::regprocedure AS old, n.new_name
          FROM (VALUES ('xml_looks_usual', 'xml_is_canonical'), ('receive_carefully', 'receive_slow_path'),
                       ('send_carefully', 'send_slow_path'), ('begin_usual_dialog', 'begin_dialog_fast_path'),
                       ('send_usual_first', 'send_first_fast_path'), ('usual_ends', 'fast_path_ends'),
                       ('find_farther', 'find_first_beyond'), ('usual_name', 'normal_name'), ('usual_state', 'default_state'),
                       ('fail_from_afar', 'fail_by_remote'), ('make_target_from_afar', 'make_target_for_remote'),
                       ('send_away', 'forward_to_remote'), ('send_further_away', 'send_to_known_remote'), ('usual_hash', 'builtin_hash'),
                       ('is_usual_datetime', 'is_default_datetime'), ('usual_datetime', 'default_datetime')
               ) AS n (old_name, new_name)
          JOIN pg_catalog.pg_proc AS p ON p.proname = n.old_name
           AND p.pronamespace IN ('ssb_internal'::regnamespace, 'sys'::regnamespace)
    LOOP
        EXECUTE format('ALTER FUNCTION %s RENAME TO %I', v_function.old, v_function.new_name);
    END LOOP;
END;
$$;

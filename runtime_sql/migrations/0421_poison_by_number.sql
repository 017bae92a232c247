-- It takes the queue's number. Up to version 137 the view of the queues used it, which is made anew.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_depend AS d
                WHERE d.refclassid = 'pg_proc'::regclass AND d.classid = 'pg_rewrite'::regclass
                  AND d.refobjid = to_regprocedure('ssb_internal.is_seen_poisoned(ssb.queue)')) THEN
        DROP VIEW sys.service_queues;
    END IF;
END;
$$;
DROP FUNCTION IF EXISTS ssb_internal.is_seen_poisoned(ssb.queue);

-- What the names of a BEGIN DIALOG lead to, where its dialogs may take the fast path: both
-- services are in one T-SQL database and have one owner, the target is the only service of its name, and the
-- routes lead here for good; with the levels of both sides. Rights, states and the
-- contract's message types are not kept: each dialog looks at those.
--
-- A queue knows the levels that its messages may have. Who keeps a path notes those of its two, so whoever sees the path sees
-- them there.
--
-- Also where its dialogs leave for another instance, always the same and for good: no route lapses, none is as good as the one
-- taken, nobody is asked for routes, the initiator's level is 5. Then far_service_id, far_queue_id, far_order and far_state are NULL, so that what looks for a target
-- here passes the row.
--
-- Only a memory, which nobody waits for. A definition that changes draws a new epoch at once, and paths of
-- earlier ones count no more; it holds a lock on ssb_locks.definitions to the end of its transaction, and
-- while somebody holds that, nothing is kept: what a filler reads then may be about to change. So a path of
-- the current epoch was read after the last change was committed. The same path may
-- be kept twice: a unique index would make fillers wait for each other's transactions. Who meets that removes all but one.
CREATE SEQUENCE IF NOT EXISTS ssb.dialog_path_epoch;
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.dialog_path (
    database_id  integer  NOT NULL,
    from_service text     COLLATE "C" NOT NULL,
    to_service   text     COLLATE "C" NOT NULL,
    contract     text     COLLATE "C" NOT NULL,
    service_id   integer  NOT NULL,
    queue_id     integer  NOT NULL,
    near_order   regclass NOT NULL,                -- the sequences of the initiator's queue
    near_state   regclass NOT NULL,
    contract_id  integer  NOT NULL,
    far_service_id integer,
    far_queue_id integer,
    far_order    regclass,                -- and of the target's
    far_state    regclass,
    broker_guid  text     NOT NULL,                -- of the database
    epoch        bigint   NOT NULL,
    -- Of dialogs that leave:
    peer_id      integer,
    address      text,
    mirror_address text,
    near_priority smallint NOT NULL DEFAULT 5,     -- of new dialogs' sides
    far_priority smallint  NOT NULL DEFAULT 5
);
CREATE INDEX IF NOT EXISTS dialog_path_by_names ON ssb.dialog_path (from_service, to_service, contract, database_id);

CREATE OR REPLACE FUNCTION ssb_internal.forget_dialog_paths()
RETURNS trigger
LANGUAGE plpgsql SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    -- First the lock, then the epoch: see ssb_internal.find_dialog_path.
    LOCK TABLE ssb_locks.definitions IN ROW SHARE MODE;
    PERFORM nextval('ssb.dialog_path_epoch');
    RETURN NULL;
END;
$$;

DO $$
DECLARE
    v_table text;
BEGIN
    FOREACH v_table IN ARRAY '{database, service, contract, service_contract_usage, route, broker_priority}'::text[] LOOP
        EXECUTE format('DROP TRIGGER IF EXISTS forget_dialog_paths ON ssb.%I', v_table);
        EXECUTE format('CREATE TRIGGER forget_dialog_paths AFTER INSERT OR UPDATE OR DELETE OR TRUNCATE ON ssb.%I '
                       'FOR EACH STATEMENT EXECUTE FUNCTION ssb_internal.forget_dialog_paths()', v_table);
    END LOOP;
END;
$$;

CREATE OR REPLACE FUNCTION ssb_internal.keep_dialog_path(p_path ssb.dialog_path)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    INSERT INTO ssb.dialog_path SELECT p_path.*;
    DELETE FROM ssb.dialog_path AS p
     WHERE p.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.dialog_path AS o
                                WHERE o.epoch < p_path.epoch LIMIT 100 FOR UPDATE SKIP LOCKED));
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.keep_dialog_path(ssb.dialog_path) FROM PUBLIC;

-- Leaves one of the paths that sessions have kept at once, the one that lies first: so nobody removes the last one. What another
-- session removes at this moment is passed.
-- Called by  ssb_internal.send_first_fast_path
CREATE OR REPLACE FUNCTION ssb_internal.thin_dialog_paths(p_database_id integer, p_service text, p_far_service text, p_contract text)
RETURNS void
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
AS $$
BEGIN
    -- A snapshot that stays would meet rows that are gone, and fail.
    IF current_setting('transaction_isolation') = 'read committed' THEN
        DELETE FROM ssb.dialog_path AS p
         WHERE p.ctid = ANY (ARRAY(SELECT o.ctid FROM ssb.dialog_path AS o
                                    WHERE o.database_id = p_database_id AND o.from_service = p_service AND o.to_service = p_far_service
                                      AND o.contract = p_contract
                                      AND EXISTS (SELECT FROM ssb.dialog_path AS f
                                                   WHERE f.database_id = p_database_id AND f.from_service = p_service
                                                     AND f.to_service = p_far_service AND f.contract = p_contract
                                                     AND f.epoch >= o.epoch AND f.ctid < o.ctid)
                                      FOR UPDATE OF o SKIP LOCKED));
    END IF;
END;
$$;
REVOKE EXECUTE ON FUNCTION ssb_internal.thin_dialog_paths(integer, text, text, text) FROM PUBLIC;

-- The path, found by all that it depends on, and kept; a row of NULLs where there is none. NULL arguments have none.
-- Called by  the functions of conversations/dialog_fast_path.sql, where ssb.dialog_path has no row
CREATE OR REPLACE FUNCTION ssb_internal.find_dialog_path(p_database_id integer, p_service text, p_far_service text, p_contract text)
RETURNS ssb.dialog_path
LANGUAGE plpgsql
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET jit = off
SET join_collapse_limit = 1
AS $$
DECLARE
    v_epoch bigint;
    v_may_keep boolean;
    v_path ssb.dialog_path;
BEGIN
    -- The target is elsewhere, or not there yet.
    PERFORM FROM ssb.service AS f WHERE f.name = p_far_service AND f.database_id = p_database_id;
    IF NOT FOUND THEN
        RETURN NULL;
    END IF;
    -- The first look finds out whether there is a path at all: the locks would cost more than all the rest. Then the
    -- epoch, whether somebody is changing definitions, and the look that counts, with a snapshot of its own. Who
    -- begins to change them after the first of these draws another epoch; who had begun before and is through, is seen.
    FOR v_look IN 1..2 LOOP
        SELECT p_database_id, s.name, f.name, c.name, s.service_id, q.queue_id, q.order_sequence, q.state_sequence, c.contract_id,
               f.service_id, g.queue_id, g.order_sequence, g.state_sequence, d.service_broker_guid::text, v_epoch,
               NULL, NULL, NULL, l.near_priority, l.far_priority
          INTO v_path
          FROM ssb.service AS s
          JOIN ssb.database AS d ON d.database_id = s.database_id
          JOIN ssb.queue AS q ON q.queue_id = s.queue_id
          JOIN ssb.contract AS c ON c.name = p_contract AND coalesce(c.database_id, 0) IN (0, p_database_id)
          JOIN ssb.service AS f ON f.name = p_far_service AND f.database_id = s.database_id AND f.owner = s.owner
          JOIN ssb.queue AS g ON g.queue_id = f.queue_id
          JOIN ssb.service_contract_usage AS u ON u.service_id = f.service_id AND u.contract_id = c.contract_id
         CROSS JOIN LATERAL (SELECT ssb_internal.priority_for(p_database_id, c.contract_id, s.service_id, f.name) AS near_priority,
                                    ssb_internal.priority_for(p_database_id, c.contract_id, f.service_id, s.name) AS far_priority
                            OFFSET 0) AS l
         WHERE s.name = p_service AND s.database_id = p_database_id AND d.is_broker_enabled
           AND NOT EXISTS (SELECT FROM ssb.service AS o WHERE o.name = p_far_service AND o.database_id <> p_database_id)
           -- Of the routes that match, the best is taken: here they all lead here.
           AND (SELECT bool_and(upper(r.address COLLATE "C") = 'LOCAL' AND r.expires_at IS NULL) FROM ssb.route AS r
                 WHERE r.database_id = p_database_id AND coalesce(r.service_name, p_far_service) = p_far_service);
        IF NOT FOUND THEN
            RETURN NULL;
        END IF;
        EXIT WHEN v_look = 2;
        v_epoch := coalesce(pg_sequence_last_value('ssb.dialog_path_epoch'), 0);
        v_may_keep := current_setting('transaction_isolation') = 'read committed'
                      AND NOT EXISTS (
                          SELECT FROM pg_locks AS l
                           WHERE l.locktype = 'relation' AND l.relation = 'ssb_locks.definitions'::regclass
                             AND l.mode = 'RowShareLock' AND l.pid IS DISTINCT FROM pg_backend_pid()
                             AND l.database = (SELECT d.oid FROM pg_database AS d WHERE d.datname = current_database()));
    END LOOP;
    IF v_may_keep THEN
        PERFORM ssb_internal.note_priority(v_path.queue_id, v_path.near_priority);
        PERFORM ssb_internal.note_priority(v_path.far_queue_id, v_path.far_priority);
        PERFORM ssb_internal.keep_dialog_path(v_path);
    END IF;
    RETURN v_path;
END;
$$;

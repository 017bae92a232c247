"""What every script for a database stands in: the lock, the search_path, no timeouts."""

from typing import Any

import psycopg

EXTENSION_NAME = "pg_service_broker"
"""The name for CREATE EXTENSION."""

# One installation at a time, under an advisory lock: any constant that is ours. Anybody may take it and keep
# it, so only those are waited for who may create schemas here.
LOCK = 0x5353_4200
TAKE_LOCK = f"""\
DO $$
BEGIN
    WHILE NOT pg_catalog.pg_try_advisory_xact_lock({LOCK}) LOOP
        PERFORM pg_catalog.pg_stat_clear_snapshot();
        EXIT WHEN NOT EXISTS (
            SELECT FROM pg_catalog.pg_locks AS l
              JOIN pg_catalog.pg_stat_activity AS a ON a.pid OPERATOR(pg_catalog.=) l.pid
             WHERE l.locktype OPERATOR(pg_catalog.=) 'advisory' AND l.granted
               AND l.classid OPERATOR(pg_catalog.=) 0 AND l.objid OPERATOR(pg_catalog.=) {LOCK}
               AND a.datname OPERATOR(pg_catalog.=) pg_catalog.current_database()
               AND pg_catalog.has_database_privilege(a.usesysid, a.datname, 'CREATE'));
        PERFORM pg_catalog.pg_sleep(0.1);
    END LOOP;
END;
$$;
"""

# Views, defaults and SQL-standard bodies are bound to what is found when they are made: to nothing
# that somebody put into public. The transaction may be a migration tool's, which goes on in its own path.
# Looking into the bodies of functions takes a fifth of an installation: a test does it, for each function of
# each version. What is recorded (_RECORD) is compared with what other sessions see, in whatever way this one
# quotes.
PATH = """\
DO $$
BEGIN
    PERFORM pg_catalog.set_config('pgsb.path_before', pg_catalog.current_setting('search_path'), true);
    PERFORM pg_catalog.set_config(
        'pgsb.bodies_before', pg_catalog.current_setting('check_function_bodies'), true);
    PERFORM pg_catalog.set_config(
        'pgsb.quotes_before', pg_catalog.current_setting('quote_all_identifiers'), true);
    SET LOCAL search_path = pg_catalog, pg_temp;
    SET LOCAL check_function_bodies = off;
    SET LOCAL quote_all_identifiers = off;
END;
$$;
"""
PATH_BACK = """\
DO $$
BEGIN
    PERFORM set_config('quote_all_identifiers', current_setting('pgsb.quotes_before'), true);
    PERFORM set_config('check_function_bodies', current_setting('pgsb.bodies_before'), true);
    PERFORM set_config('search_path', current_setting('pgsb.path_before'), true);
END;
$$;
"""

# Sessions that send, receive and wait lock views and tables in orders of their own. So all are taken before
# anything is changed, and given back where one is not free soon, well within deadlock_timeout: else either
# side would wait for the other, and the upgrade or a client be ended as a deadlock's victim. ALTER VIEW, as
# it stands: LOCK TABLE of a view would take the server's own tables, too. Of others' there is nothing to
# take: schema/schemas.sql says whose they are.
TAKE_TABLES = """\
DO $$
DECLARE
    v_relation record;
    v_before text := current_setting('lock_timeout');
    v_patience integer := (SELECT s.setting FROM pg_settings AS s WHERE s.name = 'lock_timeout');
    v_until timestamptz := clock_timestamp() + coalesce(nullif(v_patience, 0), 60000) * interval '1 ms';
BEGIN
    LOOP
        BEGIN
            PERFORM set_config('lock_timeout', '200ms', true);
            FOR v_relation IN
                SELECT c.oid::regclass AS name, c.relkind = 'v' AS is_view,
                       pg_get_userbyid(c.relowner) AS owner
                  FROM pg_class AS c JOIN pg_namespace AS n ON n.oid = c.relnamespace
                 WHERE n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_locks') AND c.relkind IN ('v', 'r')
                   AND pg_has_role(c.relowner, 'USAGE')
                 ORDER BY c.relkind DESC, c.oid
            LOOP
                IF v_relation.is_view THEN
                    EXECUTE format('ALTER VIEW %s OWNER TO %I', v_relation.name, v_relation.owner);
                ELSE
                    EXECUTE format('LOCK TABLE %s IN ACCESS EXCLUSIVE MODE', v_relation.name);
                END IF;
            END LOOP;
            EXIT;
        EXCEPTION WHEN lock_not_available THEN
            IF clock_timestamp() > v_until THEN
                RAISE EXCEPTION USING ERRCODE = 'lock_not_available',
                    MESSAGE = 'sessions have used the runtime in transactions that do not end',
                    DETAIL = (
                        WITH holders AS (
                            SELECT l.pid, l.virtualtransaction FROM pg_locks AS l
                              JOIN pg_class AS c ON c.oid = l.relation
                              JOIN pg_namespace AS n ON n.oid = c.relnamespace
                             WHERE l.granted AND n.nspname IN ('ssb', 'ssb_internal', 'sys', 'ssb_locks'))
                        SELECT string_agg(t.what, E'\\n' ORDER BY t.since)
                          FROM (SELECT a.xact_start,
                                       format('process %s of %s, since %s', a.pid, a.usename, a.xact_start)
                                  FROM pg_stat_activity AS a
                                 WHERE a.datname = current_database() AND a.pid <> pg_backend_pid()
                                   AND a.pid IN (SELECT h.pid FROM holders AS h)
                                UNION ALL
                                SELECT p.prepared,
                                       format('prepared transaction %s of %s, since %s',
                                              p.gid, p.owner, p.prepared)
                                  FROM pg_prepared_xacts AS p
                                 WHERE p.database = current_database()
                                   AND EXISTS (
                                       SELECT FROM pg_locks AS k
                                         JOIN holders AS h ON h.virtualtransaction = k.virtualtransaction
                                        WHERE k.transactionid = p.transaction AND h.pid IS NULL)
                               ) AS t (since, what)),
                    HINT = 'pg_terminate_backend ends a session, ROLLBACK PREPARED a prepared transaction;'
                           ' nothing was changed here.';
            END IF;
        END;
        PERFORM pg_sleep(0.1), pg_stat_clear_snapshot();
    END LOOP;
    PERFORM set_config('lock_timeout', v_before, true);
END;
$$;
"""

# As with pg_dump: what settings of the role or the database say of queries is not said of this. Waiting still
# ends: for the lock above by statement_timeout, for others by lock_timeout, because behind them others wait.
NO_TIMEOUTS = """\
SELECT pg_catalog.set_config(s.name, '0', true) FROM pg_catalog.pg_settings AS s
 WHERE s.name OPERATOR(pg_catalog.=) ANY (
           '{statement_timeout,idle_in_transaction_session_timeout,transaction_timeout}'::pg_catalog.text[])
"""


def has_tables(connection: psycopg.Connection[Any]) -> bool:
    """Whether this database has the table that names the runtime, with or without a row."""
    with connection.cursor(row_factory=psycopg.rows.tuple_row) as cursor:
        found = cursor.execute("SELECT pg_catalog.to_regclass('ssb.runtime_version') IS NOT NULL")
        return found.fetchone() == (True,)

-- WAITFOR DELAY, WAITFOR TIME, and the TIMEOUT of WAITFOR (RECEIVE …).
--
-- Called by  compiled WAITFOR

-- When a TIMEOUT of so many milliseconds is over; negative: never.
CREATE OR REPLACE FUNCTION ssb_internal.deadline(milliseconds bigint)
RETURNS timestamptz
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT CASE WHEN milliseconds < 0 THEN 'infinity'
                ELSE clock_timestamp() + coalesce(milliseconds, 0) * interval '1 millisecond' END;
END;

-- 'hh:mm[:ss[.mmm]]', as WAITFOR reads it: up to 24 hours.
CREATE OR REPLACE FUNCTION ssb_internal.time_of_day(value text)
RETURNS interval
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := regexp_match(btrim(value), '^(?:\d{4}-?\d\d-?\d\d[ T])?(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:[.:](\d{1,9}))?)?$');
BEGIN
    IF v_parts IS NULL OR v_parts[1]::integer > 23 OR v_parts[2]::integer > 59 OR v_parts[3]::integer > 59 THEN
        PERFORM ssb_internal.raise_error(148, format('Incorrect time syntax in time string ''%s'' used with WAITFOR.', value), 15);
    END IF;
    RETURN make_interval(hours => v_parts[1]::integer, mins => v_parts[2]::integer,
                         secs => concat('0', v_parts[3], '.', coalesce(v_parts[4], '0'))::double precision);
END;
$$;

-- The moment at which WAITFOR DELAY ends. A datetime counts by its time of day.
CREATE OR REPLACE FUNCTION ssb_internal.delay_end(delay text)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN clock_timestamp() + ssb_internal.time_of_day(delay);

CREATE OR REPLACE FUNCTION ssb_internal.delay_end(delay timestamp)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN clock_timestamp() + delay::time::interval;

CREATE OR REPLACE FUNCTION ssb_internal.delay_end(delay time)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN clock_timestamp() + delay::interval;

-- The next moment at which the clock shows a time of day.
CREATE OR REPLACE FUNCTION ssb_internal.next_time(moment interval)
RETURNS timestamptz
LANGUAGE sql VOLATILE
BEGIN ATOMIC
    SELECT date_trunc('day', clock_timestamp()) + moment
           + CASE WHEN date_trunc('day', clock_timestamp()) + moment < clock_timestamp() THEN interval '1 day' ELSE interval '0' END;
END;

CREATE OR REPLACE FUNCTION ssb_internal.next_time(moment text)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN ssb_internal.next_time(ssb_internal.time_of_day(moment));

CREATE OR REPLACE FUNCTION ssb_internal.next_time(moment timestamp)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN ssb_internal.next_time(moment::time::interval);

CREATE OR REPLACE FUNCTION ssb_internal.next_time(moment time)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN ssb_internal.next_time(moment::interval);

-- Sleeps. Where no transaction is open it ends PostgreSQL's own every second, so
-- that a long wait does not hold back vacuum; and brings about what fell due meanwhile: a script that waits for a
-- conversation timer or for the end of a LIFETIME looks into the queue then, daemon or not.
CREATE OR REPLACE PROCEDURE ssb_internal.wait_until(deadline timestamptz, may_commit boolean DEFAULT false)
LANGUAGE plpgsql
AS $$
DECLARE
    v_left double precision;
BEGIN
    LOOP
        v_left := pg_catalog.date_part('epoch', deadline OPERATOR(pg_catalog.-) pg_catalog.clock_timestamp());
        EXIT WHEN v_left IS NULL OR v_left OPERATOR(pg_catalog.<=) 0;
        IF may_commit THEN
            COMMIT;
            PERFORM ssb_internal.pin_search_path();
            v_left := least(v_left, 1);
        END IF;
        PERFORM pg_catalog.pg_sleep(v_left);
    END LOOP;
    IF may_commit THEN
        PERFORM ssb_internal.deliver_all_due();
        COMMIT;
        PERFORM ssb_internal.pin_search_path();
    END IF;
END;
$$;

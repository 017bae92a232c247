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

-- 'hh:mm[:ss[.mmm]] [AM]', as WAITFOR reads it: up to 24 hours. Behind a dot stand decimals, behind a colon milliseconds. An empty
-- string is no time at all; NULL is waited for by nobody.
CREATE OR REPLACE FUNCTION ssb_internal.time_of_day(value text)
RETURNS interval
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_parts text[] := regexp_match(upper(value COLLATE "C"), '^\s*(\d{1,2}):(\d{1,2})(?::(\d{1,2})(?:\.(\d{1,3})|:(\d{1,3}))?)?\s*([AP]M)?\s*$');
    v_hour integer := v_parts[1];
BEGIN
    IF value IS NULL OR value ~ '^\s*$' THEN
        RETURN CASE WHEN value IS NOT NULL THEN interval '0' END;
    ELSIF v_parts IS NULL OR v_hour > 23 OR v_parts[2]::integer > 59 OR v_parts[3]::integer > 59 OR v_parts[6] = 'AM' AND v_hour > 12 THEN
        PERFORM ssb_internal.raise_error(241, 'Conversion failed when converting date and/or time from character string.');
    END IF;
    v_hour := CASE WHEN v_parts[6] = 'AM' AND v_hour = 12 THEN 0 WHEN v_parts[6] = 'PM' AND v_hour < 12 THEN v_hour + 12 ELSE v_hour END;
    RETURN make_interval(hours => v_hour, mins => v_parts[2]::integer,
                         secs => concat('0', v_parts[3], '.', coalesce(v_parts[4], '0'))::double precision + coalesce(v_parts[5]::integer, 0) / 1000.0);
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

-- Seconds; fewer than none never end.
CREATE OR REPLACE FUNCTION ssb_internal.delay_end(delay integer)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN clock_timestamp() + CASE WHEN delay < 0 THEN interval '100 years' ELSE make_interval(secs => delay) END;

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

CREATE OR REPLACE FUNCTION ssb_internal.next_time(moment integer)
RETURNS timestamptz
LANGUAGE sql VOLATILE
RETURN CASE WHEN moment < 0 THEN clock_timestamp() + interval '100 years' ELSE ssb_internal.next_time(make_interval(secs => moment)) END;

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

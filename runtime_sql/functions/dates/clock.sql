-- The clock. T-SQL's is the wall clock of the statement, not of the
-- transaction; inside a DO block or procedure PostgreSQL's statement is the
-- whole call, so these read the clock itself. STABLE, so that
-- WHERE created < GETDATE() can use an index; COST 1, so that functions around
-- them are inlined.
CREATE OR REPLACE FUNCTION sys.getdate() RETURNS timestamp
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
AS $$
DECLARE
    v_now timestamp := pg_catalog.clock_timestamp();
BEGIN
    RETURN sys.round_datetime(v_now);
END;
$$;
CREATE OR REPLACE FUNCTION sys.getutcdate() RETURNS timestamp
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
AS $$
DECLARE
    v_now timestamp := pg_catalog.clock_timestamp() AT TIME ZONE 'UTC';
BEGIN
    RETURN sys.round_datetime(v_now);
END;
$$;
CREATE OR REPLACE FUNCTION sys.sysdatetime() RETURNS timestamp
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
AS $$
BEGIN
    RETURN pg_catalog.clock_timestamp();
END;
$$;
CREATE OR REPLACE FUNCTION sys.sysutcdatetime() RETURNS timestamp
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
AS $$
BEGIN
    RETURN pg_catalog.clock_timestamp() AT TIME ZONE 'UTC';
END;
$$;
CREATE OR REPLACE FUNCTION sys.sysdatetimeoffset() RETURNS timestamptz
LANGUAGE plpgsql STABLE PARALLEL SAFE COST 1
AS $$
BEGIN
    RETURN pg_catalog.clock_timestamp();
END;
$$;
CREATE OR REPLACE FUNCTION sys.current_timezone() RETURNS text
LANGUAGE sql STABLE PARALLEL SAFE RETURN current_setting('TimeZone');

-- AT TIME ZONE, SWITCHOFFSET, TODATETIMEOFFSET.
-- A timestamptz is a moment without the offset it was written with. Each function
-- answers the moment; its twin …_clock answers the wall clock at the offset or in
-- the zone, which is what shows when T-SQL converts the datetimeoffset to
-- datetime, date, time or a string.

-- Minutes of an offset '+hh:mm'; error 9812 for what is none.
CREATE OR REPLACE FUNCTION sys.offset_minutes(value text) RETURNS integer
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_match text[] := regexp_match(btrim(value), '^([+-])([0-9]{1,2}):?([0-9]{2})$');
    v_minutes integer := v_match[2]::integer * 60 + v_match[3]::integer;
BEGIN
    IF v_minutes IS NULL OR v_minutes > 840 OR v_match[3]::integer > 59 THEN
        PERFORM ssb_internal.raise_error(9812, 'The timezone provided to builtin function switchoffset is invalid.');
    END IF;
    RETURN CASE WHEN v_match[1] = '-' THEN - v_minutes ELSE v_minutes END;
END;
$$;

-- SWITCHOFFSET keeps the moment. A value without offset of its own is in UTC.
CREATE OR REPLACE FUNCTION sys.switchoffset(value timestamptz, utc_offset integer) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN utc_offset IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value timestamptz, utc_offset integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN ((value) AT TIME ZONE 'UTC') + utc_offset * interval '1 minute';
CREATE OR REPLACE FUNCTION sys.switchoffset(value timestamptz, utc_offset text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN sys.offset_minutes(utc_offset) IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value timestamptz, utc_offset text) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((value) AT TIME ZONE 'UTC') + sys.offset_minutes(utc_offset) * interval '1 minute';
CREATE OR REPLACE FUNCTION sys.switchoffset(value timestamp, utc_offset integer) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN utc_offset IS NOT NULL THEN value AT TIME ZONE 'UTC' END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value timestamp, utc_offset integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((value AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') + utc_offset * interval '1 minute';
CREATE OR REPLACE FUNCTION sys.switchoffset(value timestamp, utc_offset text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN sys.offset_minutes(utc_offset) IS NOT NULL THEN value AT TIME ZONE 'UTC' END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value timestamp, utc_offset text) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN ((value AT TIME ZONE 'UTC') AT TIME ZONE 'UTC') + sys.offset_minutes(utc_offset) * interval '1 minute';
CREATE OR REPLACE FUNCTION sys.switchoffset(value text, utc_offset integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE WHEN utc_offset IS NOT NULL THEN sys.convert_datetimeoffset(value) END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value text, utc_offset integer) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ((sys.convert_datetimeoffset(value)) AT TIME ZONE 'UTC') + utc_offset * interval '1 minute';
CREATE OR REPLACE FUNCTION sys.switchoffset(value text, utc_offset text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN sys.offset_minutes(utc_offset) IS NOT NULL THEN sys.convert_datetimeoffset(value) END;
CREATE OR REPLACE FUNCTION sys.switchoffset_clock(value text, utc_offset text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN ((sys.convert_datetimeoffset(value)) AT TIME ZONE 'UTC') + sys.offset_minutes(utc_offset) * interval '1 minute';

-- TODATETIMEOFFSET: the wall clock is given, the offset says which moment it is.
CREATE OR REPLACE FUNCTION sys.todatetimeoffset(value timestamp, utc_offset integer) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN (value - utc_offset * interval '1 minute') AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.todatetimeoffset_clock(value timestamp, utc_offset integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN utc_offset IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.todatetimeoffset(value timestamp, utc_offset text) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN (value - sys.offset_minutes(utc_offset) * interval '1 minute') AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.todatetimeoffset_clock(value timestamp, utc_offset text) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN CASE WHEN sys.offset_minutes(utc_offset) IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.todatetimeoffset(value text, utc_offset integer) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (sys.convert_datetime2(value) - utc_offset * interval '1 minute') AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.todatetimeoffset_clock(value text, utc_offset integer) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE WHEN utc_offset IS NOT NULL THEN sys.convert_datetime2(value) END;
CREATE OR REPLACE FUNCTION sys.todatetimeoffset(value text, utc_offset text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE
RETURN (sys.convert_datetime2(value) - sys.offset_minutes(utc_offset) * interval '1 minute') AT TIME ZONE 'UTC';
CREATE OR REPLACE FUNCTION sys.todatetimeoffset_clock(value text, utc_offset text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN sys.offset_minutes(utc_offset) IS NOT NULL THEN sys.convert_datetime2(value) END;

-- The IANA zone of a Windows zone name (Unicode CLDR's pairs); the name itself
-- where it is an IANA zone; error 9820 otherwise.
CREATE OR REPLACE FUNCTION sys.time_zone(name text) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    v_zone text := CASE lower(name COLLATE "C")
        WHEN 'utc' THEN 'UTC'
        WHEN 'gmt standard time' THEN 'Europe/London'
        WHEN 'greenwich standard time' THEN 'Atlantic/Reykjavik'
        WHEN 'w. europe standard time' THEN 'Europe/Berlin'
        WHEN 'central europe standard time' THEN 'Europe/Budapest'
        WHEN 'romance standard time' THEN 'Europe/Paris'
        WHEN 'central european standard time' THEN 'Europe/Warsaw'
        WHEN 'w. central africa standard time' THEN 'Africa/Lagos'
        WHEN 'morocco standard time' THEN 'Africa/Casablanca'
        WHEN 'gtb standard time' THEN 'Europe/Bucharest'
        WHEN 'e. europe standard time' THEN 'Europe/Chisinau'
        WHEN 'fle standard time' THEN 'Europe/Kiev'
        WHEN 'kaliningrad standard time' THEN 'Europe/Kaliningrad'
        WHEN 'egypt standard time' THEN 'Africa/Cairo'
        WHEN 'south africa standard time' THEN 'Africa/Johannesburg'
        WHEN 'israel standard time' THEN 'Asia/Jerusalem'
        WHEN 'middle east standard time' THEN 'Asia/Beirut'
        WHEN 'jordan standard time' THEN 'Asia/Amman'
        WHEN 'syria standard time' THEN 'Asia/Damascus'
        WHEN 'turkey standard time' THEN 'Europe/Istanbul'
        WHEN 'belarus standard time' THEN 'Europe/Minsk'
        WHEN 'russian standard time' THEN 'Europe/Moscow'
        WHEN 'arabic standard time' THEN 'Asia/Baghdad'
        WHEN 'arab standard time' THEN 'Asia/Riyadh'
        WHEN 'e. africa standard time' THEN 'Africa/Nairobi'
        WHEN 'iran standard time' THEN 'Asia/Tehran'
        WHEN 'arabian standard time' THEN 'Asia/Dubai'
        WHEN 'azerbaijan standard time' THEN 'Asia/Baku'
        WHEN 'georgian standard time' THEN 'Asia/Tbilisi'
        WHEN 'caucasus standard time' THEN 'Asia/Yerevan'
        WHEN 'mauritius standard time' THEN 'Indian/Mauritius'
        WHEN 'afghanistan standard time' THEN 'Asia/Kabul'
        WHEN 'west asia standard time' THEN 'Asia/Tashkent'
        WHEN 'ekaterinburg standard time' THEN 'Asia/Yekaterinburg'
        WHEN 'pakistan standard time' THEN 'Asia/Karachi'
        WHEN 'india standard time' THEN 'Asia/Kolkata'
        WHEN 'sri lanka standard time' THEN 'Asia/Colombo'
        WHEN 'nepal standard time' THEN 'Asia/Kathmandu'
        WHEN 'central asia standard time' THEN 'Asia/Almaty'
        WHEN 'bangladesh standard time' THEN 'Asia/Dhaka'
        WHEN 'myanmar standard time' THEN 'Asia/Yangon'
        WHEN 'n. central asia standard time' THEN 'Asia/Novosibirsk'
        WHEN 'se asia standard time' THEN 'Asia/Bangkok'
        WHEN 'north asia standard time' THEN 'Asia/Krasnoyarsk'
        WHEN 'china standard time' THEN 'Asia/Shanghai'
        WHEN 'north asia east standard time' THEN 'Asia/Irkutsk'
        WHEN 'singapore standard time' THEN 'Asia/Singapore'
        WHEN 'w. australia standard time' THEN 'Australia/Perth'
        WHEN 'taipei standard time' THEN 'Asia/Taipei'
        WHEN 'ulaanbaatar standard time' THEN 'Asia/Ulaanbaatar'
        WHEN 'tokyo standard time' THEN 'Asia/Tokyo'
        WHEN 'korea standard time' THEN 'Asia/Seoul'
        WHEN 'yakutsk standard time' THEN 'Asia/Yakutsk'
        WHEN 'cen. australia standard time' THEN 'Australia/Adelaide'
        WHEN 'aus central standard time' THEN 'Australia/Darwin'
        WHEN 'e. australia standard time' THEN 'Australia/Brisbane'
        WHEN 'aus eastern standard time' THEN 'Australia/Sydney'
        WHEN 'tasmania standard time' THEN 'Australia/Hobart'
        WHEN 'west pacific standard time' THEN 'Pacific/Port_Moresby'
        WHEN 'vladivostok standard time' THEN 'Asia/Vladivostok'
        WHEN 'central pacific standard time' THEN 'Pacific/Guadalcanal'
        WHEN 'new zealand standard time' THEN 'Pacific/Auckland'
        WHEN 'fiji standard time' THEN 'Pacific/Fiji'
        WHEN 'tonga standard time' THEN 'Pacific/Tongatapu'
        WHEN 'samoa standard time' THEN 'Pacific/Apia'
        WHEN 'azores standard time' THEN 'Atlantic/Azores'
        WHEN 'cape verde standard time' THEN 'Atlantic/Cape_Verde'
        WHEN 'argentina standard time' THEN 'America/Argentina/Buenos_Aires'
        WHEN 'e. south america standard time' THEN 'America/Sao_Paulo'
        WHEN 'greenland standard time' THEN 'America/Nuuk'
        WHEN 'montevideo standard time' THEN 'America/Montevideo'
        WHEN 'newfoundland standard time' THEN 'America/St_Johns'
        WHEN 'atlantic standard time' THEN 'America/Halifax'
        WHEN 'venezuela standard time' THEN 'America/Caracas'
        WHEN 'central brazilian standard time' THEN 'America/Cuiaba'
        WHEN 'sa western standard time' THEN 'America/La_Paz'
        WHEN 'pacific sa standard time' THEN 'America/Santiago'
        WHEN 'paraguay standard time' THEN 'America/Asuncion'
        WHEN 'eastern standard time' THEN 'America/New_York'
        WHEN 'us eastern standard time' THEN 'America/Indiana/Indianapolis'
        WHEN 'sa pacific standard time' THEN 'America/Bogota'
        WHEN 'cuba standard time' THEN 'America/Havana'
        WHEN 'central standard time' THEN 'America/Chicago'
        WHEN 'central standard time (mexico)' THEN 'America/Mexico_City'
        WHEN 'central america standard time' THEN 'America/Guatemala'
        WHEN 'canada central standard time' THEN 'America/Regina'
        WHEN 'mountain standard time' THEN 'America/Denver'
        WHEN 'us mountain standard time' THEN 'America/Phoenix'
        WHEN 'mountain standard time (mexico)' THEN 'America/Mazatlan'
        WHEN 'pacific standard time' THEN 'America/Los_Angeles'
        WHEN 'pacific standard time (mexico)' THEN 'America/Tijuana'
        WHEN 'alaskan standard time' THEN 'America/Anchorage'
        WHEN 'hawaiian standard time' THEN 'Pacific/Honolulu'
        WHEN 'dateline standard time' THEN 'Etc/GMT+12'
    END;
BEGIN
    IF v_zone IS NULL THEN
        v_zone := (SELECT z.name FROM pg_catalog.pg_timezone_names AS z
                    WHERE lower(z.name) = lower(time_zone.name) LIMIT 1);
        IF v_zone IS NULL THEN
            PERFORM ssb_internal.raise_error(9820, format(
                'The time zone parameter ''%s'' provided to AT TIME ZONE clause is invalid.', name));
        END IF;
    END IF;
    RETURN v_zone;
END;
$$;

-- AT TIME ZONE: a value without offset is that zone's wall clock; a datetimeoffset
-- keeps its moment.
CREATE OR REPLACE FUNCTION sys.at_time_zone(value timestamp, zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN value AT TIME ZONE sys.time_zone(zone);
CREATE OR REPLACE FUNCTION sys.at_time_zone_clock(value timestamp, zone text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE WHEN sys.time_zone(zone) IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.at_time_zone(value date, zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN value::timestamp AT TIME ZONE sys.time_zone(zone);
CREATE OR REPLACE FUNCTION sys.at_time_zone_clock(value date, zone text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE WHEN sys.time_zone(zone) IS NOT NULL THEN value::timestamp END;
CREATE OR REPLACE FUNCTION sys.at_time_zone(value text, zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.convert_datetime2(value) AT TIME ZONE sys.time_zone(zone);
CREATE OR REPLACE FUNCTION sys.at_time_zone_clock(value text, zone text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN sys.time_zone(zone) IS NOT NULL THEN sys.convert_datetime2(value) END;
CREATE OR REPLACE FUNCTION sys.at_time_zone(value timestamptz, zone text) RETURNS timestamptz
LANGUAGE sql STABLE PARALLEL SAFE RETURN CASE WHEN sys.time_zone(zone) IS NOT NULL THEN value END;
CREATE OR REPLACE FUNCTION sys.at_time_zone_clock(value timestamptz, zone text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN value AT TIME ZONE sys.time_zone(zone);

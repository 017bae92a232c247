-- + and - where the compiler does not know the types of both operands. PostgreSQL
-- chooses the version when it plans, and inlines it: the operator itself is what
-- runs. T-SQL's rules: two strings are joined; a string beside a number or a date
-- becomes one; a number added to a datetime counts days; two datetimes add up
-- from 1900-01-01.
CREATE OR REPLACE FUNCTION sys.add(a text, b text) RETURNS text
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a || b;
CREATE OR REPLACE FUNCTION sys.add(a bytea, b bytea) RETURNS bytea
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a || b;

-- +
CREATE OR REPLACE FUNCTION sys.add(a smallint, b smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a integer, b integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a real, b real) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a double precision, b double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b;
CREATE OR REPLACE FUNCTION sys.add(a text, b integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_int(a) + b;
CREATE OR REPLACE FUNCTION sys.add(a integer, b text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + sys.convert_int(b);
CREATE OR REPLACE FUNCTION sys.add(a text, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_bigint(a) + b;
CREATE OR REPLACE FUNCTION sys.add(a bigint, b text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + sys.convert_bigint(b);
CREATE OR REPLACE FUNCTION sys.add(a text, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(a, 'numeric') + b;
CREATE OR REPLACE FUNCTION sys.add(a numeric, b text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + sys.read_number_of(b, 'numeric');
CREATE OR REPLACE FUNCTION sys.add(a text, b double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_float(a) + b;
CREATE OR REPLACE FUNCTION sys.add(a double precision, b text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + sys.convert_float(b);
CREATE OR REPLACE FUNCTION sys.add(a timestamp, b integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b * interval '1 day';
CREATE OR REPLACE FUNCTION sys.add(a integer, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN b + a * interval '1 day';
CREATE OR REPLACE FUNCTION sys.add(a timestamp, b double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(a + b * interval '1 day');
CREATE OR REPLACE FUNCTION sys.add(a double precision, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(b + a * interval '1 day');
CREATE OR REPLACE FUNCTION sys.add(a timestamp, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + (b - timestamp '1900-01-01');
CREATE OR REPLACE FUNCTION sys.add(a timestamp, b time) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a + b::interval;
CREATE OR REPLACE FUNCTION sys.add(a timestamp, b text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.add(a, sys.convert_datetime(b));
CREATE OR REPLACE FUNCTION sys.add(a text, b timestamp) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.add(sys.convert_datetime(a), b);

-- -
CREATE OR REPLACE FUNCTION sys.subtract(a smallint, b smallint) RETURNS smallint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a integer, b integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a bigint, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a numeric, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a real, b real) RETURNS real
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a double precision, b double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b;
CREATE OR REPLACE FUNCTION sys.subtract(a text, b integer) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_int(a) - b;
CREATE OR REPLACE FUNCTION sys.subtract(a integer, b text) RETURNS integer
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - sys.convert_int(b);
CREATE OR REPLACE FUNCTION sys.subtract(a text, b bigint) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_bigint(a) - b;
CREATE OR REPLACE FUNCTION sys.subtract(a bigint, b text) RETURNS bigint
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - sys.convert_bigint(b);
CREATE OR REPLACE FUNCTION sys.subtract(a text, b numeric) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.read_number_of(a, 'numeric') - b;
CREATE OR REPLACE FUNCTION sys.subtract(a numeric, b text) RETURNS numeric
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - sys.read_number_of(b, 'numeric');
CREATE OR REPLACE FUNCTION sys.subtract(a text, b double precision) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_float(a) - b;
CREATE OR REPLACE FUNCTION sys.subtract(a double precision, b text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - sys.convert_float(b);
CREATE OR REPLACE FUNCTION sys.subtract(a text, b text) RETURNS double precision
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.convert_float(a) - sys.convert_float(b);
CREATE OR REPLACE FUNCTION sys.subtract(a timestamp, b integer) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN a - b * interval '1 day';
CREATE OR REPLACE FUNCTION sys.subtract(a integer, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN timestamp '1900-01-01' + (a * interval '1 day') - (b - timestamp '1900-01-01');
CREATE OR REPLACE FUNCTION sys.subtract(a timestamp, b double precision) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN sys.round_datetime(a - b * interval '1 day');
CREATE OR REPLACE FUNCTION sys.subtract(a double precision, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN timestamp '1900-01-01' + (a * interval '1 day') - (b - timestamp '1900-01-01');
CREATE OR REPLACE FUNCTION sys.subtract(a timestamp, b timestamp) RETURNS timestamp
LANGUAGE sql IMMUTABLE PARALLEL SAFE RETURN timestamp '1900-01-01' + (a - b);
CREATE OR REPLACE FUNCTION sys.subtract(a timestamp, b text) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.subtract(a, sys.convert_datetime(b));
CREATE OR REPLACE FUNCTION sys.subtract(a text, b timestamp) RETURNS timestamp
LANGUAGE sql STABLE PARALLEL SAFE RETURN sys.subtract(sys.convert_datetime(a), b);

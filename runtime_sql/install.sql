-- Contents of the runtime. The installer applies these files in this order;
-- so does psql -f install.sql (in one transaction: psql -1).

-- Schemas, version, types, errors
\ir 010_schemas.sql
\ir 011_runtime_version.sql
\ir 012_types.sql
\ir 015_errors.sql

-- T-SQL built-in functions
\ir 401_choice.sql
\ir 410_read_numbers.sql
\ir 411_convert_integers.sql
\ir 412_convert_decimals.sql
\ir 413_read_dates.sql
\ir 414_convert_dates.sql
\ir 415_date_text.sql
\ir 416_convert_varchar.sql
\ir 417_convert_varbinary.sql
\ir 419_parse.sql
\ir 430_strings.sql
\ir 431_patterns.sql
\ir 432_format.sql
\ir 433_formatmessage.sql
\ir 434_hashes.sql
\ir 440_numbers.sql
\ir 441_operators.sql
\ir 450_date_arithmetic.sql
\ir 451_clock.sql
\ir 452_date_construction.sql
\ir 453_time_zones.sql
\ir 460_json.sql

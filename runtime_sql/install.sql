-- Contents of the runtime. The installer applies these files in this order;
-- so does psql -f install.sql (in one transaction: psql -1).

-- Schemas, version, types, errors
\ir 010_schemas.sql
\ir 011_runtime_version.sql
\ir 012_types.sql
\ir 015_errors.sql

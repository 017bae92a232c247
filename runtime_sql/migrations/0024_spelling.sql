-- Names of DEFAULT constraints as scripts write them.
ALTER TABLE ssb.default_name ADD COLUMN IF NOT EXISTS spelling text;
-- It keeps the names of constraints and indexes too.
DROP FUNCTION IF EXISTS ssb_internal.keep_spelling(text, text, text[]);
-- It compares the parameters of a procedure that is altered.
DROP FUNCTION IF EXISTS ssb_internal.prepare_module(text, text, text, text);
-- What is being altered (modules/alterations.sql).
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.altered_module (
    schema_name text        NOT NULL,
    name        text        NOT NULL,
    session_id  integer     NOT NULL,
    noted_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (schema_name, name)
);

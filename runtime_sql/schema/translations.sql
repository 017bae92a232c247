-- PostgreSQL text for T-SQL that only the run time knew, on its way from a client to
-- one of its sessions (session/runtime_compiled_sql.sql). A row lives for moments. Nobody but the
-- functions there may touch it: what stands here is run.
CREATE TABLE IF NOT EXISTS ssb.translation (
    token      uuid        PRIMARY KEY,           -- known to the session that asks and its client alone
    requester  text        NOT NULL DEFAULT session_user,
    statements text[],
    number     integer,                            -- of the error, where there can be no text
    message    text,
    line       integer,
    severity   integer     NOT NULL DEFAULT 15,
    state      integer     NOT NULL DEFAULT 1,
    made_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "an answer is text to run or an error" CHECK ((statements IS NULL) <> (number IS NULL))
);
REVOKE ALL ON ssb.translation FROM PUBLIC;

-- What the activation daemon is doing, for the dynamic management views. Unlogged:
-- after a crash there is nothing of it left to describe.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.queue_monitor (
    queue_id               integer     PRIMARY KEY,
    state                  text        NOT NULL DEFAULT 'INACTIVE',
    last_empty_rowset_time timestamptz,
    last_activated_time    timestamptz,
    CONSTRAINT "a monitor is inactive, notified or seeing receives"
        CHECK (state IN ('INACTIVE', 'NOTIFIED', 'RECEIVES_OCCURRING'))
);
-- backend_start tells a reader from a later backend with the same pid.
CREATE UNLOGGED TABLE IF NOT EXISTS ssb.activated_task (
    pid            integer     PRIMARY KEY,
    backend_start  timestamptz NOT NULL,
    queue_id       integer     NOT NULL,
    procedure_name text        NOT NULL,
    execute_as     text        NOT NULL,
    started_at     timestamptz NOT NULL DEFAULT now()
);

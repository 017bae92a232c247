-- One row: which runtime is installed. Written by the installer, read by
-- `pgsb version` and by every later installer.
CREATE TABLE IF NOT EXISTS ssb.runtime_version (
    version      integer     NOT NULL,
    content_hash text        NOT NULL,
    installed_at timestamptz NOT NULL DEFAULT now(),
    only_row     boolean     PRIMARY KEY DEFAULT true CONSTRAINT "there is one version" CHECK (only_row),
    parts        text        NOT NULL DEFAULT 'all' CONSTRAINT "parts are broker or all" CHECK (parts IN ('broker', 'all')),
    owner        text,                                  -- whose the runtime was then; see definitions/follow_owner.sql
    objects      text[]      NOT NULL DEFAULT '{}',     -- what it consisted of; see checks/runtime.sql
    lineage      text,                                  -- where a daemon last led here (ssb_internal.lineage), and, if it was another
    lineage_since timestamptz,                          -- place before, since when
    migrations   integer[]                              -- those it has been through, or was made with; NULL: all up to its version
);
-- Whoever runs scripts asks whether it is there.
GRANT SELECT ON ssb.runtime_version TO PUBLIC;

-- Where only the broker is installed, a text that needs more says so before it does anything.
--
-- Called by  the first statement of texts that `pgsb compile -o` writes
CREATE OR REPLACE FUNCTION ssb_internal.require_parts(needed text)
RETURNS void
LANGUAGE plpgsql STABLE
SET search_path = pg_catalog, pg_temp
AS $$
BEGIN
    IF needed = 'all' AND NOT EXISTS (SELECT FROM ssb.runtime_version AS r WHERE r.parts = 'all') THEN
        PERFORM ssb_internal.raise_error(15281,
            'The text needs all parts of the runtime; this database has only the part broker.',
            hint => 'pgsb install --parts all adds the others. Queues and messages stay.');
    END IF;
END;
$$;

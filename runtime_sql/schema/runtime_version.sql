-- One row: which runtime is installed. Written by the installer, read by
-- `pgsb version` and by every later installer.
CREATE TABLE IF NOT EXISTS ssb.runtime_version (
    version      integer     NOT NULL,
    content_hash text        NOT NULL,
    installed_at timestamptz NOT NULL DEFAULT now(),
    only_row     boolean     PRIMARY KEY DEFAULT true CONSTRAINT "there is one version" CHECK (only_row)
);
-- Whoever runs scripts asks whether it is there.
GRANT SELECT ON ssb.runtime_version TO PUBLIC;

"""Changes to tables that are installed already: `0002_what_changes.sql`, applied in order by `upgrade`."""

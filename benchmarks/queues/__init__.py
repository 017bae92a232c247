"""Our queue beside its peers, in one run: `python -m benchmarks.queues` (or `make bench`).

- `server`     a PostgreSQL of the harness's own, and its pgbench
- `peer`       what a queue must offer to take part, and the scripts that pgbench runs
- `peers/`     one file a queue; third-party code is fetched from public registries, never kept here
- `scenarios`  what is measured, and against which target
- `run`        the rounds, interleaved, and the check of every message
- `report`     ratios with min/median/max, as text, JSON and a plot
"""

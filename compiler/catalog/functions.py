"""Names of built-in functions that analysis and translation ask for alike."""

from __future__ import annotations

__all__ = ["AGGREGATES"]

AGGREGATES = frozenset(
    """
    COUNT COUNT_BIG SUM AVG MIN MAX STDEV STDEVP VAR VARP STRING_AGG CHECKSUM_AGG GROUPING GROUPING_ID
    APPROX_COUNT_DISTINCT
    """.split()
)

"""Spans for OpenTelemetry: `pgsb broker --traces`."""

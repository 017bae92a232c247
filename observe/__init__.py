"""For those who run it: what is wrong, how it goes, and how much.

The measures and checks are the runtime's (runtime_sql/measures, runtime_sql/checks), so that SQL, the
command line, the metrics and the pages never disagree. Here is what asks and shows them:

- findings.py: what ssb.diagnose finds, and conversations followed as they go.
- hung_servers.py: a limit to looks at a server that hangs.
- listen_address.py: the address that metrics and dashboard serve.
- metrics/: Prometheus, and the daemon's health over HTTP.
- dashboard/: the web page.
- terminal/: the overview in a terminal.
- traces/: spans for OpenTelemetry.
"""

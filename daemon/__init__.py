"""The activation daemon: starts service programs when messages arrive.

In order of control flow:

- config.py: what the daemon is told, and which external programs it may run.
- loop.py: one daemon from its start to its end, and what it does while it leads.
- leader.py: one leader for a database; the heartbeat, and the end of a leader that hangs.
- control.py: the connection for everything that is asked and told.
- supervisor.py: the monitors of all queues; definitions, the slow sweep.
- monitor.py: one queue: when it wants a reader, and how many.
- readers.py: connections of readers, and one run of a service program.
- runs.py: all programs that run; the drain at the end.
- watchdog.py: reports programs that make no progress.
- programs.py: external programs, Python callables and command lines; program_checks.py: are they there.
- counts.py: what it counts, for metrics and the database's counters.
- log.py: structured lines on stderr and in ssb.broker_log.
- transport.py: messages on their way to other instances; peer.py: one of those, peer_connection.py: how it is
  reached; pacing.py: when the next set is read; settling.py: what becomes of its answers (answers.py);
  transport_sets.py: sets on their way, of values that stay binary (transport_values.py); transport_choice.py:
  a stand-in without the library for keys.
- dialog_security.py: seals what leaves (sealed_sets.py) and opens what comes (sealed_arrivals.py);
  open_keys.py: keys in memory.
- spans.py: activations and transport, for OpenTelemetry.
- embedded.py: the same daemon in a thread, for `pgsb run --activate`.
"""

"""The activation daemon: starts service programs when messages arrive.

In order of control flow:

- config.py: what the daemon is told, and which external programs it may run.
- loop.py: one leader for a database; LISTEN, the slow sweep, the drain at the end.
- monitor.py: one queue: when it wants a reader, and how many.
- readers.py: connections of readers, and one run of a service program.
- programs.py: external programs: Python callables and command lines.
- log.py: structured lines on stderr and in ssb.broker_log.
- transport.py: messages on their way to other instances.
- embedded.py: the same daemon in a thread, for `pgsb run --activate`.
"""

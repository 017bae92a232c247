"""Benchmarks: each file says what it measures and how it is run. The figures are in docs/benchmarks*.md.

queues/ compares the queue with its peers; tsql.py and queues/server.py are what the others share.
"""

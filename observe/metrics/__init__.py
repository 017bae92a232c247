"""Prometheus metrics and the daemon's health over HTTP: collector.py what is told, endpoint.py how."""

"""The overview in a terminal: overview.py what it shows, app.py keys and looking again."""

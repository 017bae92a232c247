"""Keys, certificates and sealed messages: what needs a private key and no server.

The primitives are those of the library ``cryptography``. PostgreSQL never sees a key in the clear: the
runtime asks the client for what needs one (statements.py), and the daemon seals what leaves (dialogs.py).
"""

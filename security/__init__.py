"""Keys, certificates and sealed messages: what needs a private key and no server.

The primitives are those of the library ``cryptography``. PostgreSQL never sees a key in the clear: the
runtime asks the client for what needs one (statements.py), and the daemon seals what leaves (dialogs.py).
certificates.py and private_keys.py make, read and write the files; keys.py has keys under keys, problems.py
what can be wrong, by SQL Server's numbers.
"""

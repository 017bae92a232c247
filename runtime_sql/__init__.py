"""What runs in the server, as SQL files, and the installer that applies them.

`install.sql` is the contents page. Nothing in a script's output needs Python at
run time: the files are all there is.
"""

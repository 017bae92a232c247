"""The command ``pgsb``: each module is one command, or a family of them."""

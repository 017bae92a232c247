"""The Python interface to the broker."""

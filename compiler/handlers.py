"""The handlers of all statements: registered when this module is imported.

`lower/` registers its own; the folders above it are imported here, for nothing below imports them.
"""

from .lower import dynamic, system

__all__ = ["dynamic", "system"]

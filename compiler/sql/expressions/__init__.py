"""Scalar expressions and search conditions: every module, so that its handlers are registered."""

from . import arithmetic, calls, conditions, json, names, windows

__all__ = ["arithmetic", "calls", "conditions", "json", "names", "windows"]

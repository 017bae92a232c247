"""Lark tree → typed nodes: the last files that know Lark."""

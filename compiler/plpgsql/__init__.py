"""The target: the tree of PL/pgSQL and its emitter, the only place that quotes."""

"""Questions about nodes, answered once for the lowering passes."""

"""The graph, its splits, relations and statistics."""

"""Labels that were asked for: which nodes to label next, adding their labels, what more of them bring."""

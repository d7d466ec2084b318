"""Which nodes to label next: choosers, each a file of its own, and what further labels are expected to bring."""

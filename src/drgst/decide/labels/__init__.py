"""Which nodes to label next, why each, and what further labels are expected to gain."""

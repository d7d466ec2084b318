"""Select: which unlabelled nodes get a pseudo-label."""

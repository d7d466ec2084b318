"""Stop: when to end, and why."""

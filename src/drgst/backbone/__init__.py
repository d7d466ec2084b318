"""backbone."""

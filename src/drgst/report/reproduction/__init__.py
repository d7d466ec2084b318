"""All of the paper's experiments, and a page that says which of its claims held."""

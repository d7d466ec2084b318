"""All experiments of the paper, and a page with the verdict on each of its claims."""

"""The parts of drgst-plus: lenses on a graph, a committee of linear readers, and what is known of each."""

"""The parts of the loop, one module per slot; learners have a package of their own."""

"""The parts of the loop, one module per slot; learners and postprocess parts have packages of their own."""

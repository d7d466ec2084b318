"""Postprocess: what is done to the predictions of the result."""

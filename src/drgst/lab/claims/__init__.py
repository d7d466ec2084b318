"""The claims of the paper: held, refuted or too small to tell, each with its effects and their intervals."""

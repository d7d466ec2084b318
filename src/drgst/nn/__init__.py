"""Networks, and the training of one network."""

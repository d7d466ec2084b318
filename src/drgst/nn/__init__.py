"""What can learn: networks, and the training of one network."""

"""Learning curves: labels are revealed batch by batch as a chooser asks for them."""

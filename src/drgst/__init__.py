"""drgst: self-training on graphs with a handful of labels."""

__version__ = "0.1.0"

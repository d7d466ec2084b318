"""The figures of the paper, from a store of runs or from runs made for them."""
